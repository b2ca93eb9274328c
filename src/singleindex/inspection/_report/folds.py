"""What a model says of rows it has not seen: the fit, its search included, done again without each fold."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import _safe_indexing

from ...estimators.outputs import outputs_of
from ...fitting.cross_fit import spread_of
from ..scores import Predictions, columns, predictions_of


@dataclass(frozen=True)
class FoldModel:
    """A model that lacks one fold. `means` and `spreads` are those of its index over its own rows."""

    model: Any
    means: np.ndarray
    spreads: np.ndarray

    def index(self, X: Any) -> np.ndarray:
        """Return the index in units of its spread, one column per output."""
        spreads = np.where(self.spreads > 0, self.spreads, 1.0)
        scaled: np.ndarray = (full_index(self.model, X) - self.means) / spreads
        return scaled

    def curve(self, k: int, index: np.ndarray) -> np.ndarray:
        """Return the link of one output at an index in units of its spread."""
        return np.asarray(outputs_of(self.model)[k].link(self.means[k] + self.spreads[k] * index))


@dataclass(frozen=True)
class Folds:
    """The folds, a model without each of them, and what these say of the rows they lack."""

    splits: list[tuple[np.ndarray, np.ndarray]]
    models: list[FoldModel]
    index: np.ndarray
    predictions: Predictions


def full_index(model: Any, X: Any) -> np.ndarray:
    """Return the index as the link takes it, one column per output."""
    index = model.index(X)
    return columns(index + model.intercept_ if is_classifier(model) else index)


def make_folds(model: Any, X: Any, y: Any, weight: Any, n_folds: int, n_jobs: Any) -> Folds:
    """Fit the model once more without each fold in turn, settings chosen anew.

    With fewer rows than features the best held-out score of a search flatters: here neither the settings,
    nor w, nor the link of a row's prediction have seen the row.
    """
    y = np.asarray(y)
    splits = make_splits(model, X, y, n_folds)
    blank = unfitted(model)
    models = Parallel(n_jobs=n_jobs)(delayed(fit_without)(blank, X, y, weight, train) for train, _ in splits)
    index, value, rank = (np.full((len(y), len(outputs_of(model))), np.nan) for _ in range(3))
    for (_, test), one in zip(splits, models, strict=True):
        rows = _safe_indexing(X, test)
        found = predictions_of(one.model, rows)
        index[test], value[test] = one.index(rows), found.value
        # Indices of different models differ in scale; for several classes the rank is a probability.
        rank[test] = found.rank if found.rank.shape[1] > 1 and is_classifier(model) else index[test]
    return Folds(splits, models, index, Predictions(value, rank))


def unfitted(model: Any) -> Any:
    """Return a copy without what was learned; a splitter that names rows is replaced by a number of folds."""
    blank = clone(copy.copy(model)).set_params(verbose=0)
    if "cv" in blank.get_params() and not isinstance(blank.cv, int | None):
        blank.set_params(cv=5)
    return blank.set_params(n_jobs=None) if "n_jobs" in blank.get_params() else blank


def make_splits(model: Any, X: Any, y: np.ndarray, n_folds: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the folds; never more than the smallest class has rows less one, for the search inside."""
    if is_classifier(model) and y.ndim == 1:
        least = int(np.unique(y, return_counts=True)[1].min())
        splitter = StratifiedKFold(max(2, min(n_folds, least)), shuffle=True, random_state=0)
        return list(splitter.split(X, y))
    return list(KFold(max(2, min(n_folds, len(y) // 2)), shuffle=True, random_state=0).split(X, y))


def fit_without(blank: Any, X: Any, y: np.ndarray, weight: Any, train: np.ndarray) -> FoldModel:
    model = clone(blank)
    y_train = y[train]
    if blank.get_params(deep=False).get("cv") and is_classifier(model) and y.ndim == 1:
        least = int(np.unique(y_train, return_counts=True)[1].min())
        model.set_params(cv=max(2, min(model.cv, least)))
    rows, fold_weight = _safe_indexing(X, train), None if weight is None else weight[train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page tells what the folds show; the fit has warned already
        model.fit(rows, y_train, fold_weight)
    index = full_index(model, rows)
    means, spreads = zip(*(spread_of(column, fold_weight) for column in index.T), strict=True)
    return FoldModel(model, np.array(means), np.array(spreads))
