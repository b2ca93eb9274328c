"""Table 3: completion of a ±1 matrix of likes, from 3000 ratings and a graph of the users."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsqr
from sklearn.model_selection import KFold

from singleindex import SingleIndexCompleterCV
from singleindex import datasets as data_sets

from .splits import shuffled
from .units import Unit, timed

NAME = "table3"
EPINIONS, STANDIN = "Epinions", "stand-in (not the paper's Flixster)"
# The paper binarises "at 3" and does not say on which side a 3 falls.
VARIANTS = {"like is above 3": lambda rating: rating > 3, "like is 3 or more": lambda rating: rating >= 3}
ROWS = ((EPINIONS, "like is above 3"), (EPINIONS, "like is 3 or more"), (STANDIN, "like is above 3"))
QUICK_ROWS = ROWS[:1]
SEEDS = 3
N_KNOWN = 3000
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


# ---------------------------------------------------------------- the columns


def mean_alone(ratings: Ratings) -> Predicted:
    return np.full(len(ratings.test), ratings.y[ratings.known].mean()), {}


def shrunken_means(ratings: Ratings, known: np.ndarray, asked: np.ndarray, shrinkage: float) -> np.ndarray:
    """Predict by a mean, and an effect of each row and of each column, drawn towards zero by a ridge."""
    y = ratings.y[known]
    effects = lsqr(indicators(ratings, known), y - y.mean(), damp=np.sqrt(shrinkage))[0]
    return y.mean() + indicators(ratings, asked) @ effects


def indicators(ratings: Ratings, entries: np.ndarray) -> sparse.csr_matrix:
    """Return a matrix with two ones for each entry, at its row and at its column."""
    n = len(entries)
    columns = (ratings.pairs[entries] + [0, ratings.shape[0]]).ravel()
    return sparse.csr_matrix((np.ones(2 * n), columns, np.arange(0, 2 * n + 1, 2)), (n, sum(ratings.shape)))


def user_and_item_means(ratings: Ratings) -> Predicted:
    known = ratings.known
    folds = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(known))

    def error(shrinkage: float) -> float:
        errors = [
            shrunken_means(ratings, known[train], known[test], shrinkage) - ratings.y[known[test]]
            for train, test in folds
        ]
        return float(np.mean(np.concatenate(errors) ** 2))

    best = min(SHRINKAGES.tolist(), key=error)
    return shrunken_means(ratings, known, ratings.test, best), {"shrinkage": best}


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


# ---------------------------------------------------------------- the data


@functools.cache
def load(dataset: str) -> tuple[np.ndarray, np.ndarray, tuple[int, int], Any, Any]:
    """Return pairs, ratings, shape, and the graphs of rows and of columns."""
    if dataset == EPINIONS:
        cut = data_sets.load_epinions_cut()
        return cut.pairs, cut.target, cut.shape, cut.row_graph, None
    whole = data_sets.load_flixster_standin()
    graphs = (
        graph_of(edges, n) for edges, n in zip((whole.user_graph, whole.item_graph), whole.shape, strict=True)
    )
    return whole.data, whole.target, whole.shape, *graphs


def graph_of(edges: np.ndarray, n_nodes: int) -> Any:
    """Return the symmetric 0/1 matrix of undirected edges."""
    half = sparse.csr_matrix((np.ones(len(edges)), edges.T), shape=(n_nodes, n_nodes))
    return ((half + half.T) > 0).astype(np.float64)


def ratings_of(dataset: str, variant: str, seed: int) -> Ratings:
    """Draw 3000 ratings to learn and choose from; all others are for the test."""
    pairs, target, shape, row_graph, col_graph = load(dataset)
    y = np.where(VARIANTS[variant](target), 1.0, -1.0)
    known, test = shuffled(len(y), ((N_KNOWN + 0.5) / len(y), 0.0), seed)
    return Ratings(pairs, y, shape, row_graph, col_graph, known, test)


def measure(unit: Unit) -> tuple[dict[str, Any], dict[str, Any]]:
    ratings = ratings_of(unit.dataset, unit.variant, unit.seed)
    (predicted, settings), seconds = timed(METHODS[unit.method], ratings)
    y = ratings.y[ratings.test]
    figures = {
        "mse": float(np.mean((predicted - y) ** 2)),
        "error_rate": float(np.mean(np.where(predicted > 0, 1, -1) != y)),
        "n_test": len(ratings.test),
        "n_links": 0 if ratings.row_graph is None else int(ratings.row_graph.nnz // 2),
        "seconds": seconds,
    }
    return figures, settings
