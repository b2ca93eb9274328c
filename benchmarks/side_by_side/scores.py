"""What an answer is worth. The benchmark scores, never the solver."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from singleindex import lipschitz_isotonic_regression
from singleindex.link import lpav_certificate

Arrays = dict[str, Any]


def score(task: str, answer: Arrays, seen: Arrays, hidden: Arrays) -> dict[str, float]:
    """Return the measures that a task has; where there are several levels, those of the chosen one."""
    if task == "isotonic":
        return _of_curves(answer, seen)
    if task in ("multi-task", "completion"):
        return _of_numbers(answer, hidden)
    level = best_level(answer, hidden)
    return _of_classes(answer, hidden, level)


def best_level(answer: Arrays, hidden: Arrays) -> int:
    """Return the level that ranks the validation rows best; 0 where there is but one."""
    if "validation" not in answer or answer["validation"].shape[1] == 1 or hidden["y_validation"].ndim == 2:
        return 0
    ranked = [roc_auc_score(hidden["y_validation"], column) for column in answer["validation"].T]
    return int(np.argmax(ranked))


def validation_loss(answer: Arrays, hidden: Arrays) -> float:
    """Return how badly one level does on the validation rows: by ranking, or by squared error of numbers."""
    y, predicted = hidden["y_validation"], answer["validation"]
    if y.ndim == 2:
        return float(np.mean((y - predicted) ** 2))
    return -float(roc_auc_score(y, predicted[:, 0]))


def _of_classes(answer: Arrays, hidden: Arrays, level: int) -> dict[str, float]:
    y = hidden["y_test"]
    found = {"auc": float(roc_auc_score(y, answer["score"][:, level]))}
    if "probability" in answer:
        p = answer["probability"][:, level]
        found["brier"] = float(np.mean((y - p) ** 2))
        found["log_loss"] = float(log_loss(y, np.clip(p, 1e-6, 1 - 1e-6)))
        found["link_rmse"] = float(np.sqrt(np.mean((p - hidden["mean_test"]) ** 2)))
    if "coefs" in answer:
        w = np.atleast_2d(answer["coefs"])[level]
        found["cosine"] = cosine(w, hidden["coef"])
        found["features"] = float(np.count_nonzero(w))
    elif "features" in answer:
        found["features"] = float(answer["features"])
    return found


def _of_numbers(answer: Arrays, hidden: Arrays) -> dict[str, float]:
    found = {}
    if "predicted" in answer:
        found["rmse"] = float(np.sqrt(np.mean((answer["predicted"] - hidden["y_test"]) ** 2)))
    if "mean_test" in hidden and "predicted" in answer:
        found["link_rmse"] = float(np.sqrt(np.mean((answer["predicted"] - hidden["mean_test"]) ** 2)))
    if "ranking" in answer:
        likes = hidden["y_test"] > np.mean(hidden["y_test"])
        found["auc"] = float(roc_auc_score(likes, answer["ranking"]))
    if "coefs" in answer and "coef" in hidden:
        found["cosine"] = cosine(answer["coefs"], hidden["coef"])
    return found


def _of_curves(answer: Arrays, seen: Arrays) -> dict[str, float]:
    """Return the distance from the exact Lipschitz curve, which is one because its certificate says so."""
    exact = lipschitz_isotonic_regression(seen["x"], seen["y"])
    if lpav_certificate(seen["x"], seen["y"], exact) > 1e-9:
        raise ValueError("the curve that others are measured by is not optimal")
    return {"rmse": float(np.sqrt(np.mean((answer["fitted"] - exact) ** 2)))}


def cosine(a: Any, b: Any) -> float:
    a, b = np.ravel(a), np.ravel(b)
    size = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / size) if size > 0 else 0.0


# ---------------------------------------------------------------- convex problems


def is_lasso(formulation: str) -> bool:
    """Whether it solves the logistic lasso; a stochastic descent ends elsewhere, at levels of its own."""
    return formulation.startswith("L1-logistic") and "stochastic" not in formulation


def objectives(formulation: str, answer: Arrays, seen: Arrays, levels: list[float]) -> np.ndarray | None:
    """Return the objective of each level, then that of w = 0; None for what is not a known convex problem."""
    if is_lasso(formulation):
        return _logistic(formulation, answer, seen, levels, np.abs)
    if formulation.startswith("group-lasso logistic"):
        starts = np.flatnonzero(np.diff(seen["groups"], prepend=-1))
        return _logistic(
            formulation, answer, seen, levels, lambda w: np.sqrt(np.add.reduceat(np.square(w), starts))
        )
    if formulation == "multi-task lasso":
        gap = seen["y"] - answer["intercepts"] - seen["X"] @ answer["coefs"].T
        norm = np.linalg.norm(answer["coefs"], axis=0).sum()
        zero = seen["y"] - seen["y"].mean(axis=0)
        return np.array(
            [np.mean(gap**2) * gap.shape[1] / 2 + levels[0] * norm, np.mean(zero**2) * gap.shape[1] / 2]
        )
    return None


def _logistic(formulation, answer, seen, levels, sizes):
    sign = np.where(seen["y"] > 0, 1.0, -1.0)
    found = []
    for level, w, b in zip(
        levels, np.atleast_2d(answer["coefs"]), np.ravel(answer["intercepts"]), strict=True
    ):
        loss = np.mean(np.logaddexp(0, -sign * (seen["X"] @ w + b)))
        penalty = sizes(w).sum() + (abs(b) if "penalised" in formulation else 0.0)
        found.append(loss + level * penalty)
    return np.array([*found, np.log(2)])


def suboptimality(values: np.ndarray, reference: np.ndarray) -> float:
    """Return the share of the way from w = 0 to the optimum that is left, the largest of all levels."""
    way = np.maximum(reference[-1] - reference[:-1], 1e-12)
    return float(np.max((values[:-1] - reference[:-1]) / way))
