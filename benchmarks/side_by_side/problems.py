"""The problems: generated data whose truth is known, written to a folder that every solver reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from singleindex.datasets import make_completion, make_single_index

# Penalties of a path, as shares of the least at which w is zero, and numbers of features.
SHARES = np.geomspace(0.5, 0.05, 10)
SIZES = np.unique(np.geomspace(10, 1000, 10).astype(int))[::-1]
# Splicing takes minutes beyond these.
SPLICED_SIZES = [10.0, 20.0, 50.0]


@dataclass(frozen=True)
class Problem:
    """Data, the tasks that are set on them, and what is known of the truth.

    Attributes
    ----------
    name : str
    text : str
        One sentence for the page.
    make : callable
        Returns the arrays that solvers read, and those that only scoring may see.
    kind : str
        The family of solvers it is for.
    limit_s : float
        Longest fit that is waited for.
    with_start : bool
        Whether a search for settings and a cold start are set on it too.
    """

    name: str
    text: str
    kind: str
    make: Callable[[], tuple[dict[str, Any], dict[str, Any]]]
    limit_s: float = 20.0
    with_start: bool = False


def classification(n, d, *, held_out=2000, **options):
    """Return rows for training, for choosing a level and for testing, of one single-index model."""
    data = make_single_index(n + 2 * held_out, d, random_state=0, **options)
    X = sparse.csr_matrix(data.X) if sparse.issparse(data.X) else data.X
    train, validation, test = slice(0, n), slice(n, n + held_out), slice(n + held_out, None)
    y = np.asarray(data.y)
    seen = {"X": X[train], "y": y[train], "X_validation": X[validation], "X_test": X[test]}
    if data.groups is not None:
        seen["groups"] = data.groups
    hidden = {
        "y_validation": y[validation], "y_test": y[test], "mean_test": data.mean[test], "coef": data.coef,
    }  # fmt: skip
    return seen, hidden


def multi_task(n, d):
    data = make_single_index(
        n + 2000, d, structure="rows", n_outputs=6, n_atoms=10, link="clipped", noise="gaussian",
        random_state=0,
    )  # fmt: skip
    validation, test = slice(n, n + 1000), slice(n + 1000, None)
    seen = {
        "X": data.X[:n], "y": data.y[:n], "X_validation": data.X[validation], "X_test": data.X[test],
    }  # fmt: skip
    hidden = {
        "y_validation": data.y[validation], "y_test": data.y[test], "mean_test": data.mean[test],
        "coef": data.coef.T,
    }  # fmt: skip
    return seen, hidden


def completion(n_rows, n_cols, n_ratings):
    data = make_completion(n_rows, n_cols, n_ratings, n_atoms=5, random_state=0)
    order = np.random.default_rng(0).permutation(len(data.y))
    test, train = order[: len(order) // 10], order[len(order) // 10 :]
    seen = {
        "pairs": data.pairs[train], "y": data.y[train], "pairs_test": data.pairs[test],
        "graph": sparse.csr_matrix(data.row_graph), "shape": np.array([n_rows, n_cols]), "rank": np.array(5),
    }  # fmt: skip
    return seen, {"y_test": data.y[test]}


def curves(n):
    """Return kinds of data for isotonic regression: x in random order, but for the alternating labels."""
    rng = np.random.default_rng(0)
    x = rng.random(n)
    return {
        "noisy binary": (x, (rng.random(n) < x).astype(float)),
        "noisy smooth": (x, np.tanh(4 * x - 2) + 0.3 * rng.standard_normal(n)),
        "alternating ±1": (np.arange(n) / n, np.where(np.arange(n) % 2, 1.0, -1.0)),
    }


def isotonic(kind, n):
    x, y = curves(n)[kind]
    return {"x": x, "y": y}, {}


def words(n, d, link):
    return lambda: classification(
        n, d, n_atoms=50, design="counts", density=115 / d, link=link, signal=4.0, held_out=n
    )


def problems(quick: bool) -> list[Problem]:
    """Return the problems of a run, small ones first."""
    small = [
        Problem(
            f"sparse 2000 × 20000, {link}",
            f"Counts, 115 a row, 50 features that matter, {link} response.",
            "linear",
            words(2000, 20_000, link),
            40.0,
            with_start=link == "logistic",
        )
        for link in ("logistic", "clipped")
    ]
    dense = Problem(
        "dense 200 × 10000",
        "Normal features, 10 that matter, clipped response.",
        "linear",
        lambda: classification(200, 10_000, n_atoms=10, link="clipped"),
    )
    searches = [
        _search(800, 200, "ramp", 0.7),
        _search(800, 200, "logistic", 0.7),
        _search(300, 1000, "clipped", 0.0),
    ]
    if quick:
        smallest = [
            small[0], searches[0], *_curves(quick), _groups(500, 2000), _multi_task(200, 500),
            _completion(300, 200, 6000),
        ]  # fmt: skip
        return [replace(problem, limit_s=4.0) for problem in smallest]
    return [
        *small, dense, *searches, *_curves(quick), _groups(1000, 10_000), _multi_task(500, 2000),
        _completion(3000, 2000, 100_000), *_large(),
    ]  # fmt: skip


def _curves(quick):
    sizes = (10**4, 10**5) if quick else (10**4, 10**5, 10**6, 10**7)
    return [
        Problem(
            f"isotonic, {family}, n = {n:.0e}".replace("e+0", "e"),
            f"Lipschitz isotonic regression, {family} data in random order.",
            "isotonic",
            lambda family=family, n=n: isotonic(family, n),
            10.0,
        )
        for n in sizes
        for family in (
            ("noisy binary",) if quick or n == 10**7 else ("noisy binary", "noisy smooth", "alternating ±1")
        )
    ]


def _large():
    return [
        Problem(
            "sparse 20000 × 200000",
            "Counts, 115 a row, 50 features that matter, clipped response.",
            "linear",
            words(20_000, 200_000, "clipped"),
            30.0,
        ),
        Problem(
            "dense 1000000 × 100",
            "Normal features, 20 that matter, clipped response.",
            "large n",
            lambda: classification(10**6, 100, n_atoms=20, link="clipped", held_out=50_000),
            30.0,
        ),
    ]


def _search(n, d, link, correlation):
    columns = f"columns correlated by {correlation:g}" if correlation else "independent columns"
    return Problem(
        f"search, dense {n} × {d}, {columns}, {link}",
        f"Normal features, {columns}, 10 that matter, {link} response; all choose their own settings.",
        "search",
        lambda: classification(
            n, d, n_atoms=10, link=link, correlation=correlation, block_size=d if correlation else None
        ),
        120.0,
    )


def _groups(n, d):
    return Problem(
        f"groups, dense {n} × {d}",
        "Normal features in groups of five, five groups that matter, clipped response.",
        "group",
        lambda: classification(n, d, n_atoms=5, structure="group", group_size=5, link="clipped"),
    )


def _multi_task(n, d):
    return Problem(
        f"six tasks, dense {n} × {d}",
        "Normal features, ten rows that matter to all tasks, clipped response with noise.",
        "multi-task",
        lambda: multi_task(n, d),
    )


def _completion(n_rows, n_cols, n_ratings):
    return Problem(
        f"ratings, {n_rows} × {n_cols}",
        f"{n_ratings} generated ratings of rank 5 with a graph over the rows; a tenth is held out.",
        "completion",
        lambda: completion(n_rows, n_cols, n_ratings),
    )


# ---------------------------------------------------------------- files


def write_arrays(folder: Path, arrays: dict[str, Any]) -> int:
    """Write what solvers may read, and return the bytes of the training data."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        if sparse.issparse(array):
            sparse.save_npz(folder / f"{name}.npz", array, compressed=False)
        else:
            np.save(folder / f"{name}.npy", array)
    return sum(n_bytes(arrays[name]) for name in ("X", "x", "pairs", "y") if name in arrays)


def n_bytes(array: Any) -> int:
    if sparse.issparse(array):
        return int(array.data.nbytes + array.indices.nbytes + array.indptr.nbytes)
    return int(array.nbytes)


def n_entries(arrays: dict[str, Any]) -> int:
    data = arrays.get("X", arrays.get("x", arrays.get("pairs")))
    return int(data.nnz if sparse.issparse(data) else np.asarray(data).size)
