"""The columns of Table 3: each method on a draw of ratings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsqr
from sklearn.model_selection import KFold

from singleindex import SingleIndexCompleterCV

N_FOLDS = 5
# The same for every column that is searched.
GRID = {
    "n_atoms": (2, 10),
    "penalty": (0.8, 0.6, 0.4, 0.2, 0.1),
    "graph_strength": (0.0, 3.0, 10.0, 30.0),
    "max_iter": 5,
}
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
    known: np.ndarray
    test: np.ndarray


def mean_alone(ratings: Ratings) -> Predicted:
    return np.full(len(ratings.test), ratings.y[ratings.known].mean()), {}


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
    known_pairs, known_y = ratings.pairs[ratings.known], ratings.y[ratings.known]

    def error(shrinkage: float) -> float:
        errors = [
            ShrunkenMeans(shrinkage)
            .fit(known_pairs[train], known_y[train], ratings.shape)
            .predict(known_pairs[test])
            - known_y[test]
            for train, test in KFold(N_FOLDS, shuffle=True, random_state=0).split(known_pairs)
        ]
        return float(np.mean(np.concatenate(errors) ** 2))

    best = min(SHRINKAGES.tolist(), key=error)
    model = ShrunkenMeans(best).fit(known_pairs, known_y, ratings.shape)
    return model.predict(ratings.pairs[ratings.test]), {"shrinkage": best}


def completed(ratings: Ratings, link: str, effects: str | None, with_graph: bool = True) -> Predicted:
    """Complete by the search of this library; `link="identity"` is the paper's least squares."""
    graphs = {"row_graph": ratings.row_graph, "col_graph": ratings.col_graph} if with_graph else {}
    model = SingleIndexCompleterCV(link=link, effects=effects, cv=N_FOLDS, random_state=0, **GRID)
    model.fit(ratings.pairs[ratings.known], ratings.y[ratings.known], shape=ratings.shape, **graphs)
    return model.predict(ratings.pairs[ratings.test]), model.best_params_


METHODS: dict[str, Callable[[Ratings], Predicted]] = {
    "null": mean_alone,
    "user and item means": user_and_item_means,
    "LS": lambda ratings: completed(ratings, "identity", None),
    "LS with effects": lambda ratings: completed(ratings, "identity", "both"),
    "CSI without effects": lambda ratings: completed(ratings, "learned", None),
    "CSI": lambda ratings: completed(ratings, "learned", "both"),
    "CSI without graph": lambda ratings: completed(ratings, "learned", "both", with_graph=False),
}
