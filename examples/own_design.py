"""Data of one's own kind: genotypes packed into two bits each, never unpacked as a whole.

An estimator takes any object that inherits from `Design` and knows its shape, its products and the moments
of its columns; with `take` its rows can be held out, so that searches work on it as well. Here a block of
rows is unpacked at a time: a matrix of a million genotypes takes 250 kB instead of 8 MB.
"""

from __future__ import annotations

import numpy as np

from singleindex import SingleIndexClassifierCV, SingleIndexRegressor
from singleindex.design import Design


class Genotypes(Design):
    """Numbers 0, 1 and 2, four to a byte."""

    block = 256  # rows that are unpacked at a time

    def __init__(self, packed, n_features):
        self.packed, self.n_features = packed, n_features

    @classmethod
    def of(cls, X):
        bits = np.stack([X >> 1, X & 1], axis=2).reshape(len(X), -1).astype(np.uint8)
        return cls(np.packbits(bits, axis=1), X.shape[1])

    @property
    def shape(self):
        return len(self.packed), self.n_features

    def matvec(self, w):
        return np.concatenate([rows @ w for _, rows in self._blocks()])

    def rmatvec(self, r):
        return sum(rows.T @ r[at] for at, rows in self._blocks())

    def column_moments(self, weight):
        mean, square = (sum(weight[at] @ rows**k for at, rows in self._blocks()) for k in (1, 2))
        variance = square - mean**2
        return mean, np.where(variance > 1e-12, variance, 0.0)

    def take(self, rows):
        return Genotypes(self.packed[rows], self.n_features)

    def _blocks(self):
        for start in range(0, len(self.packed), self.block):
            at = slice(start, start + self.block)
            bits = np.unpackbits(self.packed[at], axis=1, count=2 * self.n_features)
            yield at, (2.0 * bits[:, ::2] + bits[:, 1::2])


def main():
    rng = np.random.default_rng(0)
    X = rng.binomial(2, rng.uniform(0.1, 0.5, 500), size=(1000, 500))
    risk = X[:, :4] @ np.array([1.0, -0.7, 0.8, 0.6])
    y = (rng.random(1000) < 1 / (1 + np.exp(-2 * (risk - risk.mean())))).astype(int)
    packed = Genotypes.of(X)
    print(f"{packed.packed.nbytes / 1e3:.0f} kB in place of {8 * X.size / 1e3:.0f} kB")
    model = SingleIndexClassifierCV(n_atoms=[2, 4, 8, 16], penalty=[]).fit(packed, y)
    found = np.flatnonzero(model.coef_)
    print(f"n_atoms={model.best_params_['n_atoms']}, of them the first four: {np.sum(found < 4)}")
    plain = SingleIndexRegressor(4).fit(X.astype(float), y)
    same = SingleIndexRegressor(4).fit(packed, y)
    print(
        f"largest difference to the fit of the unpacked array: {np.abs(plain.coef_ - same.coef_).max():.1e}"
    )


if __name__ == "__main__":
    main()
