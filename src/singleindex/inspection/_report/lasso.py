"""L1-penalised linear or logistic regression, with many penalties in the data's own scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import is_classifier
from sklearn.linear_model import LassoCV, LogisticRegression

from ..scores import Predictions, outcomes
from .penalties import best_level, fitted_quietly, held_out_loss, inner_folds

# From the least penalty without a feature down to a share of it, in so many levels. Weak ones take longest
# and are rarely best: none is tried after so many that were not.
_N_LEVELS, _LEAST, _LEAST_WIDE, _PATIENCE = 50, 1e-3, 1e-2, 8
# Of the intercept, which liblinear penalises with the weights: hardly, this way.
_INTERCEPT = 100.0
_MOST_ENTRIES = 2e7


def why_no_lasso(X: Any) -> str:
    n_entries = X.nnz if sparse.issparse(X) else X.shape[0] * X.shape[1]
    return "it would take too long on so many numbers" if n_entries > _MOST_ENTRIES else ""


def standardised(X: Any, X_test: Any) -> tuple[Any, Any]:
    """Return both in columns of mean zero and variance one, those of the first; sparse ones are not moved."""
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        mean = np.asarray(X.mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2, 0))
        scale = sparse.diags_array(1 / np.where(spread > 0, spread, np.inf))
        return X @ scale, None if X_test is None else sparse.csr_array(X_test) @ scale
    X = np.asarray(X, dtype=np.float64)
    mean, spread = X.mean(axis=0), X.std(axis=0)
    spread = np.where(spread > 0, spread, np.inf)
    test = None if X_test is None else (np.asarray(X_test, dtype=np.float64) - mean) / spread
    return (X - mean) / spread, test


def fit_lasso(model: Any, Z: Any, y: Any, weight: Any) -> Any:
    """Return a function from rows to predictions."""
    if not is_classifier(model):
        return fit_numbers(Z, outcomes(model, y), weight)
    if not model.multilabel_:
        return fit_classes(Z, y, weight)
    each = [fit_classes(Z, y[:, k], weight) for k in range(y.shape[1])]

    def predict(rows: Any) -> Predictions:
        parts = [one(rows) for one in each]
        return Predictions(np.hstack([p.value for p in parts]), np.hstack([p.rank for p in parts]))

    return predict


def fit_numbers(Z: Any, Y: np.ndarray, weight: Any) -> Any:
    folds = inner_folds(Y, classes=False)
    eps = _LEAST_WIDE if Z.shape[1] > Z.shape[0] else _LEAST
    each = [fitted_quietly(LassoCV(eps=eps, cv=folds), Z, column, weight) for column in Y.T]

    def predict(rows: Any) -> Predictions:
        value = np.column_stack([one.predict(rows) for one in each])
        return Predictions(value, value)

    return predict


def fit_classes(Z: Any, y: Any, weight: Any) -> Any:
    levels, folds = levels_of(Z, y), inner_folds(y)
    level = float(levels[len(levels) // 2])
    if folds:
        level = best_level(held_out_loss(OneAgainstRest, Z, y, weight, folds), levels, _PATIENCE)
    chosen = OneAgainstRest(Z, y, weight, level)

    def predict(rows: Any) -> Predictions:
        value = chosen.predict_proba(rows)
        return (
            Predictions(value, value)
            if value.shape[1] > 2
            else Predictions(value[:, 1:], chosen.scores(rows))
        )

    return predict


def levels_of(Z: Any, y: Any) -> np.ndarray:
    """Return penalties per row, from the least at which no feature has a weight down to a share of it."""
    n, d = Z.shape
    happened = np.equal.outer(y, np.unique(y)).astype(np.float64)
    largest = float(np.abs(Z.T @ (happened - happened.mean(axis=0))).max()) / n
    levels: np.ndarray = (largest or 1.0) * np.geomspace(1, _LEAST_WIDE if d > n else _LEAST, _N_LEVELS)
    return levels


class OneAgainstRest:
    """Classes by L1-penalised logistic regressions of one penalty; probabilities of several sum to one."""

    def __init__(self, Z: Any, y: Any, weight: Any, level: float) -> None:
        self.classes_ = np.unique(y)
        shown = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        self.models = [fitted_quietly(l1_logistic(level * len(y)), Z, y == label, weight) for label in shown]

    def scores(self, rows: Any) -> np.ndarray:
        return np.column_stack([one.decision_function(rows) for one in self.models])

    def predict_proba(self, rows: Any) -> np.ndarray:
        p: np.ndarray = expit(self.scores(rows))
        p = np.hstack([1 - p, p]) if p.shape[1] == 1 else p / p.sum(axis=1, keepdims=True)
        return p


def l1_logistic(penalty: float) -> LogisticRegression:
    # From scikit-learn 1.8 on the ratio alone says which penalty it is.
    kind = {"l1_ratio": 1.0} if LogisticRegression().penalty == "deprecated" else {"penalty": "l1"}
    return LogisticRegression(
        C=1 / penalty, **kind, solver="liblinear", intercept_scaling=_INTERCEPT, random_state=0
    )
