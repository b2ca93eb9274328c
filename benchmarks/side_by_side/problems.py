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
SIZES = [float(k) for k in np.unique(np.geomspace(10, 1000, 10).astype(int))[::-1]]
# Splicing takes minutes beyond these.
SPLICED_SIZES = [10.0, 20.0, 50.0]


@dataclass(frozen=True)
class Problem:
    """Data and the task that is set on them.

    `text` is a sentence for the page, `kind` the family of solvers it is for. `make` returns the arrays that
    solvers read, and those that only scoring may see. No fit is waited for beyond `limit_s`. `with_start`
    sets a search for settings and a cold start on it, too.
    """

    name: str
    text: str
    kind: str
    make: Callable[[], tuple[dict[str, Any], dict[str, Any]]]
    limit_s: float = 20.0
    with_start: bool = False


# ---------------------------------------------------------------- data


def single_index(n, d, *, held_out=2000, **options):
    """Return rows for training, for choosing a level and for testing, of one single-index model."""
    data = make_single_index(n + 2 * held_out, d, random_state=0, **options)
    X = sparse.csr_matrix(data.X) if sparse.issparse(data.X) else data.X
    train, validation, test = slice(0, n), slice(n, n + held_out), slice(n + held_out, None)
    y = np.asarray(data.y)
    seen = {"X": X[train], "y": y[train], "X_validation": X[validation], "X_test": X[test]}
    if data.groups is not None:
        seen["groups"] = data.groups
    hidden = {
        "y_validation": y[validation], "y_test": y[test], "mean_test": data.mean[test], "coef": data.coef.T,
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


def isotonic(kind, n):
    """Return x in random order, but for the alternating labels, and y."""
    if kind == "alternating ±1":
        return {"x": np.arange(n) / n, "y": np.where(np.arange(n) % 2, 1.0, -1.0)}, {}
    rng = np.random.default_rng(0)
    x, uniform = rng.random(n), rng.random(n)
    binary = kind == "noisy binary"
    y = (uniform < x).astype(float) if binary else np.tanh(4 * x - 2) + 0.3 * rng.standard_normal(n)
    return {"x": x, "y": y}, {}


# ---------------------------------------------------------------- the list


def problems(quick: bool) -> list[Problem]:
    """Return the problems of a run, small ones first."""
    families = ("noisy binary", "noisy smooth", "alternating ±1")
    words, search = _words(2000, 20_000, "logistic", 40.0), _search(800, 200, "ramp", 0.7)
    curves = [_curve(family, n) for n in (10**4, 10**5, 10**6) for family in families]
    outputs = {"structure": "rows", "n_outputs": 6, "noise": "gaussian", "held_out": 1000}
    others = [
        Problem(
            "groups, dense 1000 × 10000",
            "Normal features in groups of five, five groups that matter, clipped response.",
            "group",
            lambda: single_index(1000, 10_000, n_atoms=5, structure="group", group_size=5, link="clipped"),
        ),
        Problem(
            "six tasks, dense 500 × 2000",
            "Normal features, ten rows that matter to all tasks, clipped response with noise.",
            "multi-task",
            lambda: single_index(500, 2000, n_atoms=10, link="clipped", **outputs),
        ),
        Problem(
            "ratings, 3000 × 2000",
            "100000 generated ratings of rank 5 with a graph over the rows; a tenth is held out.",
            "completion",
            lambda: completion(3000, 2000, 100_000),
        ),
    ]
    if quick:
        return [replace(problem, limit_s=4.0) for problem in (words, search, curves[0], curves[3], *others)]
    return [
        words,
        _words(2000, 20_000, "clipped", 40.0),
        _normal(200, 10_000, 10),
        search,
        _search(800, 200, "logistic", 0.7),
        _search(300, 1000, "clipped", 0.0),
        *curves,
        _curve("noisy binary", 10**7),
        *others,
        replace(_words(20_000, 200_000, "clipped", 30.0), name="sparse 20000 × 200000"),
        replace(_normal(10**6, 100, 20, held_out=50_000), kind="large n", limit_s=30.0),
    ]


def _words(n, d, link, limit_s):
    return Problem(
        f"sparse {n} × {d}, {link}",
        f"Counts, 115 a row, 50 features that matter, {link} response.",
        "linear",
        lambda: single_index(
            n, d, n_atoms=50, design="counts", density=115 / d, link=link, signal=4.0, held_out=n
        ),
        limit_s,
        with_start=link == "logistic",
    )


def _normal(n, d, n_atoms, held_out=2000):
    return Problem(
        f"dense {n} × {d}",
        f"Normal features, {n_atoms} that matter, clipped response.",
        "linear",
        lambda: single_index(n, d, n_atoms=n_atoms, link="clipped", held_out=held_out),
    )


def _search(n, d, link, correlation):
    columns = f"columns correlated by {correlation:g}" if correlation else "independent columns"
    return Problem(
        f"search, dense {n} × {d}, {columns}, {link}",
        f"Normal features, {columns}, 10 that matter, {link} response; all choose their own settings.",
        "search",
        lambda: single_index(
            n, d, n_atoms=10, link=link, correlation=correlation, block_size=d if correlation else None
        ),
        120.0,
    )


def _curve(family, n):
    order = "sorted" if family == "alternating ±1" else "in random order"
    return Problem(
        f"isotonic, {family}, n = {n:.0e}".replace("e+0", "e"),
        f"Lipschitz isotonic regression, {family} data {order}.",
        "isotonic",
        lambda: isotonic(family, n),
        10.0,
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
    parts = (array.data, array.indices, array.indptr) if sparse.issparse(array) else (array,)
    return sum(int(part.nbytes) for part in parts)


def n_entries(array: Any) -> int:
    return int(array.nnz if sparse.issparse(array) else array.size)
