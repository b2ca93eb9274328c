"""The columns of Table 3: each method on a draw of ratings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsqr

SHRINKAGES = 2.0 ** np.arange(-2, 8)
Predicted = tuple[np.ndarray, dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Ratings:
    """Known entries of a matrix, the graphs beside it, and which entries are for what."""

    pairs: np.ndarray
    y: np.ndarray
    shape: tuple[int, int]
    row_graph: Any
    col_graph: Any
    train: np.ndarray
    validate: np.ndarray
    test: np.ndarray

    @property
    def both(self) -> np.ndarray:
        return np.concatenate([self.train, self.validate])


def mean_alone(ratings: Ratings) -> Predicted:
    return np.full(len(ratings.test), ratings.y[ratings.both].mean()), {}


class ShrunkenMeans:
    """A mean, and an effect of each row and of each column, drawn towards zero by a ridge."""

    def __init__(self, shrinkage: float):
        self.shrinkage = shrinkage

    def fit(self, pairs: np.ndarray, y: np.ndarray, shape: tuple[int, int]) -> ShrunkenMeans:
        self.shape, self.mean = shape, float(y.mean())
        self.effects = lsqr(self._indicators(pairs), y - self.mean, damp=np.sqrt(self.shrinkage))[0]
        return self

    def _indicators(self, pairs: np.ndarray) -> sparse.csr_matrix:
        n = len(pairs)
        columns = np.column_stack([pairs[:, 0], self.shape[0] + pairs[:, 1]]).ravel()
        return sparse.csr_matrix(
            (np.ones(2 * n), columns, np.arange(0, 2 * n + 1, 2)), shape=(n, sum(self.shape))
        )

    def predict(self, pairs: np.ndarray) -> np.ndarray:
        return self.mean + self._indicators(pairs) @ self.effects


def user_and_item_means(ratings: Ratings) -> Predicted:
    def error(shrinkage: float) -> float:
        model = ShrunkenMeans(shrinkage).fit(
            ratings.pairs[ratings.train], ratings.y[ratings.train], ratings.shape
        )
        predicted = model.predict(ratings.pairs[ratings.validate])
        return float(np.mean((predicted - ratings.y[ratings.validate]) ** 2))

    best = min(SHRINKAGES.tolist(), key=error)
    model = ShrunkenMeans(best).fit(ratings.pairs[ratings.both], ratings.y[ratings.both], ratings.shape)
    return model.predict(ratings.pairs[ratings.test]), {"shrinkage": best}


METHODS: dict[str, Callable[[Ratings], Predicted]] = {
    "null": mean_alone,
    "user and item means": user_and_item_means,
}
