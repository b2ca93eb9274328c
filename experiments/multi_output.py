"""The columns of Table 2: each method on a split of several outputs.

Every method chooses its settings in the same folds of training and validation part together: of the 129
rows of flags, the tenth that the paper chooses by is 13.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import MultiTaskLasso
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold

from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV
from singleindex.structures import RowSparse

from .baselines import GroupLogisticRegression
from .splits import Split

# From the penalty at which nothing is in use to nearly none, as a warm path goes best. A path ends where so
# many levels have not lowered the held-out loss: the weakest ones take longest.
LEVELS = np.geomspace(1, 1e-3, 50)
PATIENCE = 20
N_GROUPS = 5
N_FOLDS = 5
Predicted = tuple[np.ndarray, dict[str, Any]]


def folds(seed: int) -> KFold:
    return KFold(N_FOLDS, shuffle=True, random_state=seed)


def chosen(model: Any, predict: Callable, loss: Callable, split: Split, Y: np.ndarray, seed: int) -> Any:
    """Return the model fitted to both parts at the penalty of the least held-out loss, over all folds."""
    X, known, targets = split.X[split.both], split.y[split.both], Y[split.both]
    penalties = LEVELS * largest_penalty(X, targets)
    parts = list(folds(seed).split(X))
    paths = [clone(model) for _ in parts]
    losses: list[float] = []
    held_out = np.empty(known.shape)
    for penalty in penalties:
        for path, (train, test) in zip(paths, parts, strict=True):
            path.set_params(alpha=penalty).fit(X[train], targets[train])
            held_out[test] = predict(path, X[test])
        losses.append(loss(known, held_out))
        if len(losses) - np.argmin(losses) > PATIENCE and min(losses) < losses[0]:
            break
    return clone(model).set_params(alpha=penalties[np.argmin(losses)]).fit(X, targets)


def largest_penalty(X: np.ndarray, Y: np.ndarray) -> float:
    """Return the penalty at which nothing is in use, with logistic loss as with half of the squares."""
    return float(np.linalg.norm((X - X.mean(axis=0)).T @ (Y - Y.mean(axis=0)), axis=1).max() / len(X))


def least_squares() -> MultiTaskLasso:
    return MultiTaskLasso(max_iter=1000, tol=1e-3, warm_start=True)


def logistic() -> GroupLogisticRegression:
    return GroupLogisticRegression(1.0, max_iter=500, warm_start=True)


# ---------------------------------------------------------------- numbers


def squared_error(known: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.mean((predicted - known) ** 2))


def linear_numbers(split: Split, seed: int) -> Predicted:
    model = chosen(least_squares(), lambda m, X: m.predict(X), squared_error, split, split.y, seed)
    return model.predict(split.X[split.test]), {"alpha": model.alpha, "n_groups": rows_used(model.coef_.T)}


def logistic_numbers(split: Split, seed: int) -> Predicted:
    """A logistic curve between the least and the largest target, by logistic loss with fractional labels."""
    known = split.y[split.both]
    low, high = known.min(axis=0), known.max(axis=0)
    shares = np.clip((split.y - low) / (high - low), 0, 1)

    def predict(model, X):
        return low + (high - low) * model.predict_proba(X)

    model = chosen(logistic(), predict, squared_error, split, shares, seed)
    return predict(model, split.X[split.test]), {"alpha": model.alpha, "n_groups": rows_used(model.coef_)}


def few_groups_numbers(split: Split, seed: int) -> Predicted:
    """Hard thresholding to the paper's five groups."""
    model = SingleIndexRegressorCV(
        [N_GROUPS], structure=RowSparse(), penalty=[], alpha=(0.0, 0.001, 0.01, 0.1), cv=folds(seed),
        max_iter=50, scale_power=(0.5,), refit="all",
    )  # fmt: skip
    return searched(model, split)


def chosen_groups_numbers(split: Split, seed: int) -> Predicted:
    """The search as a user would run it."""
    return searched(SingleIndexRegressorCV(structure=RowSparse(), cv=folds(seed)), split)


def searched(model: Any, split: Split) -> Predicted:
    model.fit(split.X[split.both], split.y[split.both])
    return model.predict(split.X[split.test]), model.best_params_ | {"n_groups": rows_used(model.coef_)}


def forest_numbers(split: Split, seed: int) -> Predicted:
    model = RandomForestRegressor(200, max_features=1 / 3, random_state=seed)
    return model.fit(split.X[split.both], split.y[split.both]).predict(split.X[split.test]), {}


def mean_numbers(split: Split, seed: int) -> Predicted:
    return np.tile(split.y[split.both].mean(axis=0), (len(split.test), 1)), {}


# ---------------------------------------------------------------- labels


def minus_f1(known: np.ndarray, predicted: np.ndarray) -> float:
    return -float(f1_score(known, predicted, average="micro", zero_division=0))


def linear_labels(split: Split, seed: int) -> Predicted:
    """Least squares on labels −1 and 1; a label is given where the fit is above 0."""

    def predict(model, X):
        return (model.predict(X) > 0).astype(int)

    signs = np.where(split.y > 0, 1.0, -1.0)
    model = chosen(least_squares(), predict, minus_f1, split, signs, seed)
    settings = {"alpha": model.alpha, "n_groups": rows_used(model.coef_.T)}
    return predict(model, split.X[split.test]), settings


def logistic_labels(split: Split, seed: int) -> Predicted:
    def predict(model, X):
        return (model.predict_proba(X) > 0.5).astype(int)

    model = chosen(logistic(), predict, minus_f1, split, split.y, seed)
    settings = {"alpha": model.alpha, "n_groups": rows_used(model.coef_)}
    return predict(model, split.X[split.test]), settings


def few_groups_labels(split: Split, seed: int) -> Predicted:
    model = SingleIndexClassifierCV(
        [N_GROUPS], structure=RowSparse(), penalty=[], alpha=(0.01, 0.1, 1.0, 10.0), cv=folds(seed),
        max_iter=10, scale_power=(0.5,), scoring="neg_log_loss", refit="all",
    )  # fmt: skip
    return searched(model, split)


def chosen_groups_labels(split: Split, seed: int) -> Predicted:
    return searched(SingleIndexClassifierCV(structure=RowSparse(), cv=folds(seed)), split)


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
    "CSI (5 groups)": few_groups_numbers,
    "CSI (chosen groups)": chosen_groups_numbers,
    "random forest": forest_numbers,
    "null": mean_numbers,
}
LABEL_METHODS: dict[str, Callable[[Split, int], Predicted]] = {
    "Logistic": logistic_labels,
    "Linear": linear_labels,
    "CSI (5 groups)": few_groups_labels,
    "CSI (chosen groups)": chosen_groups_labels,
    "random forest": forest_labels,
    "null": majority_labels,
}
