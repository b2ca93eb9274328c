"""How well predictions do, by the measures people ask for, beside what knows nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import is_classifier
from sklearn.metrics import average_precision_score, roc_auc_score

from ..estimators.outputs import facts_of
from ..fitting.row_scores import HIGHER_IS_BETTER as HIGHER_IS_BETTER
from ..fitting.row_scores import Rows, compare_scores, p_value, score_parts

# How many standard errors of the paired difference the best must be ahead of every other.
_BEYOND_ERROR = 2.0

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


def score_errors(
    model: Any, predictions: Predictions, null: Predictions, y: Any
) -> dict[str, dict[str, float]]:
    """Return the standard errors of scores, and the paired gains over other predictions with theirs.

    By measure a dict of `score`, `error`, `other`, `gain` (positive where the first is better) and
    `gain_error`; measures whose errors are not known are left out.
    """
    rows = _rows(model, y)
    ours, others = (score_parts(one.value, one.rank, rows) for one in (predictions, null))
    return compare_scores(ours, others, rows)


def best_of(model: Any, contestants: dict[str, Predictions], y: Any) -> dict[str, str]:
    """Return by measure who is better than all others beyond the error of the difference, where one is."""
    rows = _rows(model, y)
    parts = {name: score_parts(one.value, one.rank, rows) for name, one in contestants.items()}
    found = {}
    for measure in next(iter(parts.values())):
        sign = 1 if HIGHER_IS_BETTER[measure] else -1
        known = {name: sign * of_one[measure] for name, of_one in parts.items() if measure in of_one}
        first = max(known, key=lambda name: rows.mean(known[name]))
        gaps = [known[first] - other for name, other in known.items() if name != first]
        if all(rows.mean(gap) > _BEYOND_ERROR * rows.error(gap) for gap in gaps):
            found[measure] = first
    return found


def evidence(model: Any, predictions: Predictions, null: Predictions, y: Any) -> float:
    """Return the p-value of the hypothesis that nothing is predicted, by rows that were held out."""
    return p_value(predictions.value, null.value, _rows(model, y))


def _rows(model: Any, y: Any) -> Rows:
    happened = outcomes(model, y)
    return Rows(happened, facts_of(model).kind, np.ones(len(happened)))


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
