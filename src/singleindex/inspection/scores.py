"""How well predictions do, by the measures people ask for, beside what knows nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import is_classifier
from sklearn.metrics import average_precision_score, roc_auc_score

from ..estimators.outputs import facts_of

# Measures, and whether more is better.
HIGHER_IS_BETTER = {
    "AUC": True, "average precision": True, "accuracy": True, "log-loss": False, "Brier score": False,
    "R²": True, "RMSE": False, "mean absolute error": False, "rank correlation": True,
}  # fmt: skip
_CERTAIN = 1e-15


@dataclass(frozen=True)
class Predictions:
    """What a model says of some rows, one column per output.

    `value` is a probability for classifiers, of two classes that of the second; `rank` is what to rank by.
    """

    value: np.ndarray
    rank: np.ndarray


def predictions_of(model: Any, X: Any) -> Predictions:
    """Return the predictions of a fitted single-index model."""
    if not is_classifier(model):
        value = columns(model.predict(X))
        return Predictions(value, columns(model.index(X)))
    value, rank = model.predict_proba(X), columns(model.decision_function(X))
    return Predictions(value[:, 1:] if rank.shape[1] == 1 else value, rank)


def null_predictions(model: Any, y: Any, n: int, weight: Any = None) -> Predictions:
    """Return the predictions of what only knows the mean of the training rows."""
    mean = np.average(outcomes(model, y), axis=0, weights=weight)
    value = np.tile(mean, (n, 1))
    return Predictions(value, np.zeros_like(value))


def outcomes(model: Any, y: Any) -> np.ndarray:
    """Return the targets with one column per output: numbers, or 1 for the class that came true."""
    y = np.asarray(y)
    facts = facts_of(model)
    if facts.kind in ("regression", "multilabel"):
        return columns(y.astype(np.float64))
    return np.column_stack([y == output.label for output in facts.outputs]).astype(np.float64)


def columns(values: Any) -> np.ndarray:
    found = np.asarray(values, dtype=np.float64)
    return found[:, None] if found.ndim == 1 else found


def score_all(predictions: Predictions, y: Any, model: Any) -> dict[str, float]:
    """Return the measures that suit the kind of model; of several outputs the mean."""
    happened, kind = outcomes(model, y), facts_of(model).kind
    if kind == "regression":
        return regression_scores(predictions, happened)
    found = ranking_scores(predictions, happened)
    if kind in ("binary", "multilabel"):
        p = np.clip(predictions.value, _CERTAIN, 1 - _CERTAIN)
        found["accuracy"] = float(np.mean((predictions.value > 0.5) == (happened > 0.5)))
        found["log-loss"] = float(-np.mean(happened * np.log(p) + (1 - happened) * np.log1p(-p)))
        found["Brier score"] = float(np.mean((predictions.value - happened) ** 2))
        return found
    p = np.clip(predictions.value, _CERTAIN, 1)
    found["accuracy"] = float(np.mean(predictions.value.argmax(axis=1) == happened.argmax(axis=1)))
    found["log-loss"] = float(-np.mean(np.log(p[happened > 0.5])))
    found["Brier score"] = float(np.mean(np.sum((predictions.value - happened) ** 2, axis=1)) / 2)
    return found


def ranking_scores(predictions: Predictions, happened: np.ndarray) -> dict[str, float]:
    both = [k for k in range(happened.shape[1]) if 0 < happened[:, k].mean() < 1]
    if not both:
        return {}
    pairs = [(happened[:, k], predictions.rank[:, k]) for k in both]
    return {
        "AUC": float(np.mean([roc_auc_score(h, rank) for h, rank in pairs])),
        "average precision": float(np.mean([average_precision_score(h, rank) for h, rank in pairs])),
    }


def regression_scores(predictions: Predictions, y: np.ndarray) -> dict[str, float]:
    error = predictions.value - y
    spread = np.sum((y - y.mean(axis=0)) ** 2, axis=0)
    found = {}
    if (spread > 0).all():
        found["R²"] = float(np.mean(1 - np.sum(error**2, axis=0) / spread))
    found["RMSE"] = float(np.sqrt(np.mean(error**2)))
    found["mean absolute error"] = float(np.mean(np.abs(error)))
    if (spread > 0).all() and (np.ptp(predictions.rank, axis=0) > 0).all():
        found["rank correlation"] = float(
            np.mean([
                np.corrcoef(rankdata(predictions.rank[:, k]), rankdata(y[:, k]))[0, 1]
                for k in range(y.shape[1])
            ])
        )  # fmt: skip
    return found
