"""What a method is given, what it gives back, and the figures of that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import train_test_split

CLIP = 1e-6


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to learn from and new rows to be judged by.

    y is 0/1, class numbers, numbers, or a matrix of 0/1 or of numbers. Of generated data there are the true
    probabilities of the new rows, and the true w, of columns divided by `units`. Rivals try penalties down
    to a share `least` of the largest (None leaves it to them), and columns divided by their standard
    deviation to each of the `powers`.
    """

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    is_numeric: bool = False
    probability: Any = None
    coef: Any = None
    units: Any = 1.0
    least: float | None = None
    powers: tuple[float, ...] = (1.0,)


@dataclass(frozen=True, eq=False)
class Answer:
    """A fitted method: predictions (probabilities or numbers) and ranking scores of rows, and w."""

    predict: Callable[[Any], Any]
    score: Callable[[Any], Any]
    coef: Any
    seconds: float


def split_task(X, y, seed: int, *, is_numeric: bool = False, **options) -> Task:
    """Return 60 % of the rows to learn from and the others to be judged by; classes keep their shares."""
    strata = y if not is_numeric and np.ndim(y) == 1 else None
    parts = train_test_split(X, y, test_size=0.4, random_state=seed, stratify=strata)
    X_train, X_test, y_train, y_test = parts
    return Task(X_train, y_train, X_test, y_test, is_numeric=is_numeric, **options)


# ---------------------------------------------------------------- figures


def task_figures(task: Task, answer: Answer) -> dict[str, float]:
    """Return what can be seen of an answer in new rows, how far it is from the truth where that is known,
    and what it takes.
    """
    figures, predicted = {}, answer.predict(task.X_test)
    if task.probability is not None:
        figures["rmse"] = float(np.sqrt(np.mean((predicted - task.probability) ** 2)))
        figures["cosine"] = cosine(np.ravel(answer.coef) * task.units, task.coef)
    if task.is_numeric:
        each = r2_score(task.y_test, predicted, multioutput="raw_values")
        figures |= {"r2": float(np.mean(each)), "median_r2": float(np.median(each))}
    else:
        auc = mean_auc(task.y_test, answer.score(task.X_test))
        figures |= {"log_loss": log_loss(task.y_test, predicted), "auc": auc}
    return figures | {"features": count_features(answer.coef), "seconds": round(answer.seconds, 4)}


def count_features(coef) -> int:
    """Return how many features are in use by any output; w has a row for each feature."""
    coef = np.asarray(coef)
    return int(np.count_nonzero(coef if coef.ndim == 1 else coef.any(axis=1)))


def cosine(a, b) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-300))


def log_loss(y, p) -> float:
    """Return the mean log-loss of 0/1 labels (one or several columns) or of class numbers, p clipped."""
    y, p = np.asarray(y), np.clip(np.asarray(p), CLIP, 1 - CLIP)
    if y.ndim == p.ndim:
        return float(-np.mean(np.where(y > 0, np.log(p), np.log1p(-p))))
    return float(-np.mean(np.log(p[np.arange(len(y)), y.astype(int)])))


def mean_auc(y, score) -> float:
    """Return the AUC, averaged over labels, or over classes one against the rest."""
    y, score = np.asarray(y), np.asarray(score)
    if score.ndim == 1:
        return float(roc_auc_score(y, score))
    truth = y if y.ndim == 2 else np.equal.outer(y, np.arange(score.shape[1]))
    told = [k for k in range(score.shape[1]) if 0 < truth[:, k].sum() < len(truth)]
    return float(np.mean([roc_auc_score(truth[:, k], score[:, k]) for k in told]))


def is_sparse(X) -> bool:
    return bool(sparse.issparse(X))
