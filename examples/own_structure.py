"""A structure of one's own: coefficients that are constant over stretches of neighbouring features.

Spectra and time series have features in an order, and a response that depends on the mean of a few
stretches. The atoms here are blocks of constant height; "few atoms" means few jumps along w. The
projection is the best piecewise constant approximation with that many pieces, by dynamic programming
or, as below, by a decision tree, which is greedy but one line.

A class of its own inherits from `Structure` and has `project`, `count_atoms` and `check`.
"""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from singleindex import SingleIndexRegressor
from singleindex.structures import Structure


class PiecewiseConstant(Structure):
    """w has at most `n_atoms` constant pieces."""

    keeps_scaling = False  # scaling columns one by one would tear the pieces apart

    def project(self, w, n_atoms):
        place = np.arange(len(w))[:, None]
        if n_atoms is None or n_atoms >= len(w):
            return w.copy()
        if n_atoms < 2:
            return np.full_like(w, w.mean() if n_atoms else 0.0)
        return DecisionTreeRegressor(max_leaf_nodes=n_atoms).fit(place, w).predict(place)

    def count_atoms(self, w):
        return 1 + int(np.count_nonzero(np.diff(w)))

    def check(self, shape):
        return shape[0]


def main():
    assert isinstance(PiecewiseConstant(), Structure)
    rng = np.random.default_rng(0)
    w = np.zeros(200)
    w[40:70], w[120:140] = 1.0, -1.5
    X = rng.standard_normal((150, 200))
    index = X @ w / np.linalg.norm(w)
    y = np.tanh(2 * index) + 0.1 * rng.standard_normal(150)
    for name, model in {
        "piecewise constant": SingleIndexRegressor(n_atoms=5, structure=PiecewiseConstant()),
        "sparse": SingleIndexRegressor(n_atoms=50),
        "no structure": SingleIndexRegressor(),
    }.items():
        coef = model.fit(X, y).coef_
        cosine = coef @ w / (np.linalg.norm(coef) * np.linalg.norm(w))
        print(f"{name:20s} cosine to the true w {cosine:.3f}")


if __name__ == "__main__":
    main()
