"""What to compare with on the same folds: linear or logistic regression with L2 and L1, and boosting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression, RidgeCV

from ..scores import Predictions, outcomes
from .boosting import fit_boosting, why_no_boosting
from .lasso import fit_lasso, standardised, why_no_lasso
from .penalties import best_level, fitted_quietly, held_out_loss, inner_folds

Predict = Callable[[Any], Predictions]
# In units of the spread of all columns together, so that they mean the same for few and for many: decades
# first, then between those beside the best.
_DECADES = 10.0 ** np.arange(-4, 3)
_BETWEEN = 10.0 ** (np.array([-3, -2, -1, 1, 2, 3]) / 4)
# Up to so many rows it pays to turn wide data into square ones first.
_MAX_TURNED = 3000


@dataclass(frozen=True)
class Baseline:
    """Predictions of rows that were held out, and of test rows where there are any."""

    name: str
    held_out: Predictions
    test: Predictions | None


@dataclass(frozen=True)
class Rivals:
    """All that the model is compared with, and why others are not there."""

    found: list[Baseline]
    left_out: dict[str, str]


def make_rivals(model: Any, splits: Any, train: Any, test: Any) -> Rivals:
    """Fit every rival without each fold in turn, and to all rows for the test.

    `train` and `test` are (X, y, weight); test may be None.
    """
    kind = "logistic" if is_classifier(model) else "linear"
    found, left_out = [make_baseline(model, splits, train, test)], {}
    others: tuple[tuple[str, str, Any, Any], ...] = (
        (f"L1 {kind} regression", why_no_lasso(train[0]), fit_lasso, standardised),
        ("gradient boosting", why_no_boosting(train[0]), fit_boosting, as_arrays),
    )
    for name, why_not, fit, prepared in others:
        if why_not:
            left_out[name] = why_not
            continue
        rows = prepared(train[0], None if test is None else test[0])
        found.append(in_turn(name, fit, model, splits, train, rows))
    return Rivals(found, left_out)


def make_baseline(model: Any, splits: Any, train: Any, test: Any) -> Baseline:
    """Fit the plain model with a ridge, its penalty chosen inside of each fold."""
    name = f"L2 {'logistic' if is_classifier(model) else 'linear'} regression"
    rows = features(train[0], None if test is None else test[0])
    return in_turn(name, fit_plain, model, splits, train, rows)


def in_turn(name: str, fit: Any, model: Any, splits: Any, train: Any, rows: tuple[Any, Any]) -> Baseline:
    """Return what `fit` predicts of each fold from the others, and of the test rows from all."""
    y, weight, (Z, Z_test) = np.asarray(train[1]), train[2], rows
    shape = outcomes(model, y).shape
    value, rank = np.full(shape, np.nan), np.full(shape, np.nan)
    for used, left_out in splits:
        predict = fit(model, Z[used], y[used], None if weight is None else weight[used])
        found = predict(Z[left_out])
        value[left_out], rank[left_out] = found.value, found.rank
    predicted = None if Z_test is None else fit(model, Z, y, weight)(Z_test)
    return Baseline(name, Predictions(value, rank), predicted)


def as_arrays(X: Any, X_test: Any) -> tuple[Any, Any]:
    first, second = (one.toarray() if sparse.issparse(one) else one for one in (X, X_test))
    return scaled_rows(first), None if second is None else scaled_rows(second)


def features(X: Any, X_test: Any) -> tuple[Any, Any]:
    """Return both in columns of unit variance, wide data turned so that they have as many columns as rows.

    A ridge penalty does not notice the turn: its w lies in the span of the rows.
    """
    X = scaled_rows(X)
    scale = column_spread(X)
    parts = [divide(X, scale)] + ([] if X_test is None else [divide(scaled_rows(X_test), scale)])
    n, d = X.shape
    if d > n and n <= _MAX_TURNED:
        parts = turned(parts)
    return parts[0], parts[1] if len(parts) > 1 else None


def scaled_rows(X: Any) -> Any:
    if sparse.issparse(X):
        return sparse.csr_array(X)
    return np.asarray(X, dtype=np.float64)


def column_spread(X: Any) -> np.ndarray:
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        variance = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
    else:
        variance = X.var(axis=0)
    spread = np.sqrt(np.maximum(variance, 0) * X.shape[1])
    return np.where(spread > 0, spread, np.inf)


def divide(X: Any, scale: np.ndarray) -> Any:
    # Centring is left to the intercept, so that sparse data stay sparse.
    return sparse.csr_array(X @ sparse.diags_array(1 / scale)) if sparse.issparse(X) else X / scale


def turned(parts: list[Any]) -> list[Any]:
    """Return the coordinates of all rows in the span of those of the first part."""
    first = parts[0]
    if not sparse.issparse(first):
        first = first - first.mean(axis=0)
        parts = [first, *(part - parts[0].mean(axis=0) for part in parts[1:])]
    gram = first @ first.T
    gram = gram.toarray() if sparse.issparse(gram) else gram
    values, vectors = np.linalg.eigh(gram)
    keep = values > 1e-10 * values[-1]
    basis = vectors[:, keep] / np.sqrt(values[keep])
    products = [part @ first.T for part in parts]
    return [(p.toarray() if sparse.issparse(p) else p) @ basis for p in products]


def fit_plain(model: Any, Z: Any, y: Any, weight: Any) -> Predict:
    """Return a function from rows to predictions."""
    if not is_classifier(model):
        levels = np.unique(np.multiply.outer(_DECADES, np.append(1.0, _BETWEEN[3:])))
        ridge = RidgeCV(alphas=levels * Z.shape[0]).fit(Z, outcomes(model, y), sample_weight=weight)

        def predict(rows: Any) -> Predictions:
            value = ridge.predict(rows).reshape(rows.shape[0], -1)
            return Predictions(value, value)

        return predict
    if model.multilabel_:
        each = [fit_logistic(Z, y[:, k], weight) for k in range(y.shape[1])]
        return lambda rows: stacked([one(rows) for one in each])
    return fit_logistic(Z, y, weight)


def fit_logistic(Z: Any, y: Any, weight: Any) -> Predict:
    folds, level = inner_folds(y), float(_DECADES[len(_DECADES) // 2])
    if folds:
        loss = held_out_loss(logistic, Z, y, weight, folds)
        level = best_level(loss, _DECADES)
        level = best_level(loss, [level, *(level * _BETWEEN)])
    return predictor(logistic(Z, y, weight, level))


def logistic(Z: Any, y: Any, weight: Any, level: float) -> LogisticRegression:
    return fitted_quietly(LogisticRegression(C=1 / (level * Z.shape[0]), max_iter=200), Z, y, weight)


def predictor(model: LogisticRegression) -> Predict:
    def predict(rows: Any) -> Predictions:
        value, rank = model.predict_proba(rows), model.decision_function(rows)
        if rank.ndim == 1:
            return Predictions(value[:, 1:], rank[:, None])
        return Predictions(value, value)

    return predict


def stacked(parts: list[Predictions]) -> Predictions:
    return Predictions(np.hstack([p.value for p in parts]), np.hstack([p.rank for p in parts]))
