"""Gradient boosting of trees, with as many of them as do best inside of each fold."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from ..scores import Predictions, outcomes
from .penalties import inner_folds, log_loss

_MOST_TREES, _RATE = 60, 0.15
_MOST_COLUMNS, _MOST_ENTRIES = 1000, 2e7


def why_no_boosting(X: Any) -> str:
    if X.shape[1] > _MOST_COLUMNS or X.shape[0] * X.shape[1] > _MOST_ENTRIES:
        return f"it would take too long on {X.shape[1]:,} columns of {X.shape[0]:,} rows"
    return ""


def fit_boosting(model: Any, Z: Any, y: Any, weight: Any) -> Any:
    """Return a function from rows to predictions."""
    if is_classifier(model) and not model.multilabel_:
        chosen = fitted(Z, y, weight, True)

        def predict(rows: Any) -> Predictions:
            value = chosen.predict_proba(rows)
            value = value[:, 1:] if value.shape[1] == 2 else value
            return Predictions(value, value)

        return predict
    classes = is_classifier(model)
    each = [fitted(Z, column, weight, classes) for column in outcomes(model, y).T]

    def predict_each(rows: Any) -> Predictions:
        parts = [one.predict_proba(rows)[:, 1] if classes else one.predict(rows) for one in each]
        return Predictions(np.column_stack(parts), np.column_stack(parts))

    return predict_each


def fitted(Z: Any, y: Any, weight: Any, classes: bool) -> Any:
    """Return trees in the number that predicts rows left out best."""
    folds = inner_folds(y, classes)
    losses = np.zeros(_MOST_TREES)
    for train, test in folds:
        model = trees(len(train), classes, _MOST_TREES)
        model.fit(Z[train], y[train], None if weight is None else weight[train])
        if classes:
            stages = model.staged_predict_proba(Z[test])
            losses += [log_loss(p, y[test], model.classes_) for p in stages]
        else:
            losses += [float(np.sum((value - y[test]) ** 2)) for value in model.staged_predict(Z[test])]
    return trees(len(y), classes, int(np.argmin(losses)) + 1).fit(Z, y, weight)


def trees(n_rows: int, classes: bool, n_trees: int) -> Any:
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    # Leaves of twenty rows leave few rows no tree at all, and few rows bear no large ones.
    least, leaves = max(2, min(20, n_rows // 20)), max(4, min(31, n_rows // 40))
    return kind(
        max_iter=n_trees, learning_rate=_RATE, min_samples_leaf=least, max_leaf_nodes=leaves,
        early_stopping=False, random_state=0,
    )  # fmt: skip
