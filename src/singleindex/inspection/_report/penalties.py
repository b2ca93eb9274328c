"""How a rival's setting is chosen: by the log-loss of rows that were left out, inside of each fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

_FOLDS = 3
_CERTAIN = 1e-15


def inner_folds(y: Any, classes: bool = True) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the folds to choose by; none where a class has a single row."""
    rows = np.zeros(len(y))
    if not classes:
        return list(KFold(min(_FOLDS, len(y)), shuffle=True, random_state=0).split(rows))
    least = int(np.unique(y, return_counts=True)[1].min())
    if least < 2:
        return []
    return list(StratifiedKFold(min(_FOLDS, least), shuffle=True, random_state=0).split(rows, y))


def log_loss(p: np.ndarray, y: Any, classes: Any) -> float:
    """Return the summed log-loss of probabilities, columns in the order of `classes`."""
    return -float(np.log(np.clip(p[np.equal.outer(y, classes)], _CERTAIN, 1)).sum())


def held_out_loss(
    fit: Callable[..., Any], Z: Any, y: Any, weight: Any, folds: Iterable[Any]
) -> Callable[[float], float]:
    """Return the function from a level to the log-loss of rows that were left out."""

    def loss(level: float) -> float:
        total = 0.0
        for train, test in folds:
            model = fit(Z[train], y[train], None if weight is None else weight[train], level)
            total += log_loss(model.predict_proba(Z[test]), y[test], model.classes_)
        return total

    return loss


def best_level(loss: Callable[[float], float], levels: Any, patience: int | None = None) -> float:
    """Return the level of least loss; with patience, none is tried after so many without a new least."""
    found: list[float] = []
    for level in levels:
        found.append(loss(float(level)))
        if patience is not None and len(found) - 1 - int(np.argmin(found)) >= patience:
            break
    return float(levels[int(np.argmin(found))])


def fitted_quietly(model: Any, Z: Any, y: Any, weight: Any) -> Any:
    with warnings.catch_warnings():
        # Of penalties too weak to be chosen, and of names of parameters that changed between versions.
        warnings.simplefilter("ignore")
        return model.fit(Z, y, sample_weight=weight)
