"""The plain model to compare with: ridge-penalised linear or logistic regression, on the same folds."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import StratifiedKFold

from ..scores import Predictions, outcomes

# In units of the spread of all columns together, so that they mean the same for few and for many.
_STRENGTHS = 10.0 ** np.arange(-4, 3)
_INNER_FOLDS = 3
# Up to so many rows it pays to turn wide data into square ones first.
_MAX_TURNED = 3000


@dataclass(frozen=True)
class Baseline:
    """Predictions of rows that were held out, and of test rows where there are any."""

    name: str
    held_out: Predictions
    test: Predictions | None


def make_baseline(model: Any, splits: Any, train: Any, test: Any) -> Baseline:
    """Fit the plain model without each fold in turn, its penalty chosen inside; and to all rows for the test.

    `train` and `test` are (X, y, weight); test may be None.
    """
    X, y, weight = train[0], np.asarray(train[1]), train[2]
    Z, Z_test = features(X, None if test is None else test[0])
    shape = outcomes(model, y).shape
    value, rank = np.full(shape, np.nan), np.full(shape, np.nan)
    for rows, left_out in splits:
        found = fit_plain(model, Z[rows], y[rows], None if weight is None else weight[rows])(Z[left_out])
        value[left_out], rank[left_out] = found.value, found.rank
    predicted = None if Z_test is None else fit_plain(model, Z, y, weight)(Z_test)
    name = "logistic regression" if is_classifier(model) else "linear regression"
    return Baseline(name, Predictions(value, rank), predicted)


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


def fit_plain(model: Any, Z: Any, y: Any, weight: Any) -> Any:
    """Return a function from rows to predictions."""
    if not is_classifier(model):
        ridge = RidgeCV(alphas=_STRENGTHS * Z.shape[0]).fit(Z, outcomes(model, y), sample_weight=weight)

        def predict(rows: Any) -> Predictions:
            value = ridge.predict(rows).reshape(rows.shape[0], -1)
            return Predictions(value, value)

        return predict
    if model.multilabel_:
        each = [fit_logistic(Z, y[:, k], weight) for k in range(y.shape[1])]
        return lambda rows: stacked([one(rows) for one in each])
    return fit_logistic(Z, y, weight)


def fit_logistic(Z: Any, y: Any, weight: Any) -> Any:
    least = int(np.unique(y, return_counts=True)[1].min())
    strength = _STRENGTHS[len(_STRENGTHS) // 2]
    if least >= 2:
        splitter = StratifiedKFold(min(_INNER_FOLDS, least), shuffle=True, random_state=0)
        folds = list(splitter.split(np.zeros(len(y)), y))
        strength = min(_STRENGTHS, key=lambda s: sum(loss_without(Z, y, weight, s, *fold) for fold in folds))
    return predictor(logistic(Z, y, weight, strength))


def logistic(Z: Any, y: Any, weight: Any, strength: float) -> LogisticRegression:
    model = LogisticRegression(C=1 / (strength * Z.shape[0]), max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of penalties too weak to be chosen
        return model.fit(Z, y, sample_weight=weight)


def loss_without(Z: Any, y: Any, weight: Any, strength: float, train: Any, test: Any) -> float:
    """Return the Brier score, which our own search goes by too, of rows that were left out."""
    model = logistic(Z[train], y[train], None if weight is None else weight[train], strength)
    return float(np.sum((model.predict_proba(Z[test]) - (y[test, None] == model.classes_)) ** 2))


def predictor(model: LogisticRegression) -> Any:
    def predict(rows: Any) -> Predictions:
        value, rank = model.predict_proba(rows), model.decision_function(rows)
        if rank.ndim == 1:
            return Predictions(value[:, 1:], rank[:, None])
        return Predictions(value, value)

    return predict


def stacked(parts: list[Predictions]) -> Predictions:
    return Predictions(np.hstack([p.value for p in parts]), np.hstack([p.rank for p in parts]))
