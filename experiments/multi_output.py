"""The columns of Table 2: each method on a split of several outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import MultiTaskLasso
from sklearn.metrics import f1_score

from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV
from singleindex.structures import RowSparse

from .baselines import GroupLogisticRegression
from .splits import Split

PENALTIES = 2.0 ** np.arange(-10, 11)
N_GROUPS = 5
ALPHAS = (0.01, 0.1, 1.0, 10.0)
Predicted = tuple[np.ndarray, dict[str, Any]]


def chosen(models: Iterable[Any], split: Split, loss: Callable[[Any, np.ndarray], float], Y=None) -> Any:
    """Return the model with the least loss on the validation part, fitted to training and validation part."""
    Y = split.y if Y is None else Y
    best, least = None, np.inf
    for model in models:
        model.fit(split.X[split.train], Y[split.train])
        reached = loss(model, split.validate)
        if reached < least:
            best, least = model, reached
    return clone(best).fit(split.X[split.both], Y[split.both])


def least_squares_models(split: Split) -> Iterable[MultiTaskLasso]:
    """MALSAR does not divide the loss by the number of rows, scikit-learn does."""
    return (MultiTaskLasso(alpha=p / len(split.train), max_iter=3000, tol=1e-4) for p in PENALTIES)


# ---------------------------------------------------------------- numbers


def mean_squared_error(split: Split, predict: Callable[[Any, Any], np.ndarray]):
    def loss(model, rows):
        return float(np.mean((predict(model, split.X[rows]) - split.y[rows]) ** 2))

    return loss


def linear_numbers(split: Split, seed: int) -> Predicted:
    loss = mean_squared_error(split, lambda model, X: model.predict(X))
    model = chosen(least_squares_models(split), split, loss)
    return model.predict(split.X[split.test]), {"alpha": model.alpha, "n_groups": rows_used(model.coef_.T)}


def logistic_numbers(split: Split, seed: int) -> Predicted:
    """A logistic curve between the least and the largest target, by logistic loss with fractional labels."""
    known = split.y[split.both]
    low, high = known.min(axis=0), known.max(axis=0)
    shares = np.clip((split.y - low) / (high - low), 0, 1)

    def predict(model, X):
        return low + (high - low) * model.predict_proba(X)

    models = (GroupLogisticRegression(p) for p in PENALTIES)
    model = chosen(models, split, mean_squared_error(split, predict), shares)
    return predict(model, split.X[split.test]), {"alpha": model.alpha, "n_groups": rows_used(model.coef_)}


def single_index_numbers(split: Split, n_groups: list[int] | None) -> Predicted:
    model = SingleIndexRegressorCV(
        n_groups, structure=RowSparse(), cv=split.as_cv, penalties=[] if n_groups else None,
        alphas=ALPHAS, column_scales=(0.5,), max_iter=10,
    ).fit(split.X[split.both], split.y[split.both])  # fmt: skip
    return model.predict(split.X[split.test]), model.best_params_ | {"n_groups": rows_used(model.coef_)}


def forest_numbers(split: Split, seed: int) -> Predicted:
    model = RandomForestRegressor(300, random_state=seed).fit(split.X[split.both], split.y[split.both])
    return model.predict(split.X[split.test]), {}


def mean_numbers(split: Split, seed: int) -> Predicted:
    return np.tile(split.y[split.both].mean(axis=0), (len(split.test), 1)), {}


# ---------------------------------------------------------------- labels


def f1_loss(split: Split, predict: Callable[[Any, Any], np.ndarray]):
    def loss(model, rows):
        return -f1_score(split.y[rows], predict(model, split.X[rows]), average="micro", zero_division=0)

    return loss


def linear_labels(split: Split, seed: int) -> Predicted:
    """Least squares on labels −1 and 1; a label is given where the fit is above 0."""
    signs = np.where(split.y > 0, 1.0, -1.0)

    def predict(model, X):
        return (model.predict(X) > 0).astype(int)

    model = chosen(least_squares_models(split), split, f1_loss(split, predict), signs)
    settings = {"alpha": model.alpha, "n_groups": rows_used(model.coef_.T)}
    return predict(model, split.X[split.test]), settings


def logistic_labels(split: Split, seed: int) -> Predicted:
    def predict(model, X):
        return (model.predict_proba(X) > 0.5).astype(int)

    model = chosen((GroupLogisticRegression(p) for p in PENALTIES), split, f1_loss(split, predict))
    settings = {"alpha": model.alpha, "n_groups": rows_used(model.coef_)}
    return predict(model, split.X[split.test]), settings


def single_index_labels(split: Split, n_groups: list[int] | None) -> Predicted:
    model = SingleIndexClassifierCV(
        n_groups, structure=RowSparse(), cv=split.as_cv, penalties=[] if n_groups else None,
        alphas=ALPHAS, column_scales=(0.5,), max_iter=10, scoring="f1_micro",
    ).fit(split.X[split.both], split.y[split.both])  # fmt: skip
    return model.predict(split.X[split.test]), model.best_params_ | {"n_groups": rows_used(model.coef_)}


def forest_labels(split: Split, seed: int) -> Predicted:
    model = RandomForestClassifier(300, random_state=seed).fit(split.X[split.both], split.y[split.both])
    return model.predict(split.X[split.test]), {}


def majority_labels(split: Split, seed: int) -> Predicted:
    return np.tile((split.y[split.both].mean(axis=0) > 0.5).astype(int), (len(split.test), 1)), {}


def rows_used(coef: np.ndarray) -> int:
    return int(np.count_nonzero(coef.any(axis=1)))


NUMBER_METHODS: dict[str, Callable[[Split, int], Predicted]] = {
    "Logistic": logistic_numbers,
    "Linear": linear_numbers,
    "CSI, 5 groups": lambda split, seed: single_index_numbers(split, [N_GROUPS]),
    "CSI, chosen groups": lambda split, seed: single_index_numbers(split, None),
    "random forest": forest_numbers,
    "null": mean_numbers,
}
LABEL_METHODS: dict[str, Callable[[Split, int], Predicted]] = {
    "Logistic": logistic_labels,
    "Linear": linear_labels,
    "CSI, 5 groups": lambda split, seed: single_index_labels(split, [N_GROUPS]),
    "CSI, chosen groups": lambda split, seed: single_index_labels(split, None),
    "random forest": forest_labels,
    "null": majority_labels,
}
