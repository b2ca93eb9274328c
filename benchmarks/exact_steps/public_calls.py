"""Calls of the public API on independent columns; as a script it answers each call's name with its seconds.

It imports nothing of the benchmarks, so that any version of the library can run it.
"""

import json
import sys
import time
import warnings
from functools import lru_cache

import numpy as np


@lru_cache(maxsize=2)
def rows(n, d, seed, density=1.0):
    """Return rows with ten features of effect: Gaussian, or sparse counts."""
    from scipy import sparse

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) if density == 1.0 else sparse.random(n, d, density, "csr", rng=rng)
    w = np.zeros(d)
    w[:10] = rng.choice([-1.0, 1.0], 10)
    index = X @ w
    index = (index - index.mean()) / index.std()
    return X, (rng.random(n) < np.clip(0.5 + 0.4 * index, 0, 1)).astype(int)


def fit_dense(seed):
    from singleindex import SingleIndexClassifier

    SingleIndexClassifier(10).fit(*rows(5000, 500, seed))


def fit_wide(seed):
    from singleindex import SingleIndexClassifier

    SingleIndexClassifier(10).fit(*rows(300, 5000, seed))


def fit_sparse(seed):
    from singleindex import SingleIndexClassifier

    SingleIndexClassifier(50).fit(*rows(10_000, 10_000, seed, density=0.003))


def fit_numbers(seed):
    from singleindex import SingleIndexRegressor

    X, y = rows(5000, 500, seed)
    SingleIndexRegressor(10).fit(X, y.astype(float))


def path_dense(seed):
    from singleindex import single_index_path

    single_index_path(*rows(2000, 200, seed))


def path_sparse(seed):
    from singleindex import single_index_path

    single_index_path(*rows(5000, 5000, seed, density=0.003))


CALLS = {
    "fit, 5000 × 500": fit_dense,
    "fit, 300 × 5000": fit_wide,
    "fit, sparse 10000 × 10000": fit_sparse,
    "fit of numbers, 5000 × 500": fit_numbers,
    "path, 2000 × 200": path_dense,
    "path, sparse 5000 × 5000": path_sparse,
}


def main():
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        name, seed = json.loads(line)
        began = time.perf_counter()
        CALLS[name](seed)
        print(time.perf_counter() - began, flush=True)


if __name__ == "__main__":
    main()
