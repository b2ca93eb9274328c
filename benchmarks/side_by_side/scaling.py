"""How the time of a fit grows with the rows, the columns, the entries and the atoms: fitted exponents."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from singleindex import SingleIndexClassifier, lipschitz_isotonic_regression
from singleindex.datasets import make_single_index

from ..timing import median_times
from .problems import curves
from .session import one_thread

# All fits have as many iterations: how many are needed is a matter of the data, not of their size.
_N_ITER = 20


def measure_scaling(quick: bool) -> list[dict[str, Any]]:
    """Return one curve for each kind of data and quantity, measured in a process that has one thread."""
    command = [sys.executable, "-m", __name__, *(["--quick"] if quick else [])]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=one_thread())
    curves: list[dict[str, Any]] = json.loads(done.stdout)
    return curves


def measure_here(quick: bool) -> list[dict[str, Any]]:
    """Return the curves, measured in this process."""
    least = 1 if quick else 2
    curves = []
    for task, against, sizes, make in cases(quick):
        print(f"scaling: {task} against {against}", file=sys.stderr, flush=True)
        seconds = []
        for size in sizes:
            fit = make(size)
            began = time.perf_counter()
            fit()
            repeats = int(np.clip(0.5 / (time.perf_counter() - began), least, 9))
            seconds.append(median_times({"fit": fit}, repeats)["fit"])
        curves.append(
            {
                "solver": "singleindex", "task": task, "against": against, "sizes": list(sizes),
                "seconds": seconds, "exponent": exponent(sizes, seconds),
            }
        )  # fmt: skip
    return curves


def exponent(sizes: Any, seconds: Any) -> float:
    """Return the slope of log time against log size, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def cases(quick: bool) -> list[tuple[str, str, tuple[int, ...], Callable[[int], Callable[[], Any]]]]:
    """Return what is varied, over which sizes, and how a fit of that size is made."""
    n_sizes = 3 if quick else 6

    def doubling(first, factor=2):
        return tuple(first * factor**k for k in range(n_sizes))

    return [
        ("fit, sparse rows", "n", doubling(2000), lambda n: sparse_fit(n, 20_000, 115)),
        ("fit, sparse rows", "d", doubling(5000), lambda d: sparse_fit(4000, d, 115)),
        ("fit, sparse rows", "entries", doubling(60_000), lambda e: sparse_fit(2000, 20_000, e // 2000)),
        ("fit, sparse rows", "n_atoms", doubling(10, 4), lambda k: sparse_fit(4000, 20_000, 115, k)),
        ("fit, dense rows", "n", doubling(1000, 3), lambda n: dense_fit(n, 100)),
        ("fit, dense rows", "d", doubling(250, 3), lambda d: dense_fit(1000, d)),
        ("Lipschitz isotonic, noisy binary", "n", doubling(10_000, 4), curve_fit),
    ]


def sparse_fit(n, d, per_row, n_atoms=100):
    """Return a fit of rows with as many entries each, in columns drawn at random."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, d, (n, per_row), dtype=np.int32), axis=1).ravel()
    starts = np.arange(0, n * per_row + 1, per_row, dtype=np.int32)
    X = sparse.csr_matrix((rng.random(n * per_row) + 0.5, columns, starts), shape=(n, d))
    X.sum_duplicates()
    index = X @ (rng.standard_normal(d) * (rng.random(d) < 0.05))
    y = index + rng.standard_normal(n) * index.std() > 0
    model = SingleIndexClassifier(n_atoms, max_iter=_N_ITER, tol=0.0)
    return lambda: model.fit(X, y)


def dense_fit(n, d):
    data = make_single_index(n, d, n_atoms=10, link="clipped", random_state=0)
    model = SingleIndexClassifier(10, max_iter=_N_ITER, tol=0.0)
    return lambda: model.fit(data.X, data.y)


def curve_fit(n):
    x, y = curves(n)["noisy binary"]
    return lambda: lipschitz_isotonic_regression(x, y)


if __name__ == "__main__":
    print(json.dumps(measure_here("--quick" in sys.argv)))
