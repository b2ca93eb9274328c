"""A structure of one's own: coefficients that are constant over stretches of neighbouring features.

Spectra and time series have features in an order, and a response that depends on the mean of a few
stretches. The atoms here are blocks of constant height. `project`, `count_atoms` and `check` make a
structure of it: few atoms are few pieces, found by a decision tree, which is greedy but one line. With
`shrink`, `norm` and `dual_norm` it can be penalised as well: the norm is the total variation of w between
zeros at both ends (fused lasso), and its proximal operator follows the pieces as they merge.
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

    def norm(self, w):
        return float(np.abs(np.diff(w, prepend=0.0, append=0.0)).sum())

    def dual_norm(self, gradient):
        sums = np.cumsum(np.concatenate([[0.0], gradient]))
        return float(np.ptp(sums)) / 2

    def shrink(self, w, amount):
        """Let every jump pull at the pieces beside it until the amount is used up; pieces that meet merge."""
        # The zeros at both ends are pieces that nothing moves.
        values, sizes = np.concatenate([[0.0], w, [0.0]]), np.array([np.inf, *np.ones(len(w)), np.inf])
        lengths = np.ones(len(values), dtype=int)
        meets = np.where(np.diff(values) == 0, 0.0, np.inf)
        step = 0.0
        while True:
            start = np.concatenate([[0], 1 + np.flatnonzero(meets > step * (1 + 1e-12))])
            values = np.where(np.isinf(np.maximum.reduceat(sizes, start)), 0.0, values[start])
            sizes, lengths = np.add.reduceat(sizes, start), np.add.reduceat(lengths, start)
            if amount <= 0 or len(values) < 3:
                return np.repeat(values, lengths)[1:-1]
            pull = np.sign(np.diff(values))
            speed = np.diff(pull, prepend=0.0, append=0.0) / sizes
            gap, closing = np.diff(values), np.diff(speed)
            meets = np.divide(-gap, closing, out=np.full(len(gap), np.inf), where=gap * closing < 0)
            step = min(float(meets.min()), amount)
            values, amount = values + step * speed, amount - step


def main():
    rng = np.random.default_rng(0)
    w = np.zeros(200)
    w[40:70], w[120:140] = 1.0, -1.5
    X = rng.standard_normal((150, 200))
    y = np.tanh(2 * X @ w / np.linalg.norm(w)) + 0.1 * rng.standard_normal(150)
    for name, model in {
        "five constant pieces": SingleIndexRegressor(n_atoms=5, structure=PiecewiseConstant()),
        "total variation": SingleIndexRegressor(penalty=0.1, structure=PiecewiseConstant()),
        "sparse": SingleIndexRegressor(n_atoms=50),
        "no structure": SingleIndexRegressor(),
    }.items():
        coef = model.fit(X, y).coef_
        cosine = coef @ w / (np.linalg.norm(coef) * np.linalg.norm(w))
        print(f"{name:20s} cosine to the true w {cosine:.3f}")


if __name__ == "__main__":
    main()
