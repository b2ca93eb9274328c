"""Generated rows whose truth is known: w, the link, and the mean of y at any index of any other w."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from singleindex.datasets import make_single_index

OURS = "singleindex"
N_NEW = 500
N_ATOMS = 10
# Evenly spaced quantiles of a normal variable, over which means are taken.
_NORMAL = ndtri((np.arange(500) + 0.5) / 500)


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to learn from, new rows, and the truth; columns are normal, all pairs with one correlation."""

    X: Any
    y: Any
    X_new: Any
    y_new: Any
    coef: Any
    link: Any
    correlation: float
    seed: int

    def mean_at(self, w, index):
        """Return E[y | x·w = index], from the joint normal distribution of x·w and the true index."""
        square = self._covariance(w, w)
        slope = self._covariance(w, self.coef) / square if square > 0 else 0.0
        rest = max(self._covariance(self.coef, self.coef) - slope**2 * square, 0.0)
        return self.link(np.add.outer(slope * index, np.sqrt(rest) * _NORMAL)).mean(axis=1)

    def effect(self, feature: int, change: float) -> float:
        """Return the mean change of E[y | x] where a feature is changed, half to either side."""
        index = self.X_new @ self.coef
        half = self.coef[feature] * change / 2
        return float(np.mean(self.link(index + half) - self.link(index - half)))

    def _covariance(self, a, b) -> float:
        rho = self.correlation
        return float((1 - rho) * (a @ b) + rho * a.sum() * b.sum())


def make_problem(n: int, d: int, correlation: float, link: str, seed: int, signal: float = 2.0) -> Problem:
    options = {"correlation": correlation, "block_size": d} if correlation else {}
    data = make_single_index(
        n + N_NEW, d, n_atoms=min(N_ATOMS, d // 2), link=link, signal=signal, random_state=seed, **options
    )
    rows = data.X[:n], data.y[:n], data.X[n:], data.y[n:]
    return Problem(*rows, data.coef, data.link, correlation, seed)
