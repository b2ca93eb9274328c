"""What the demo holds its model against: penalised logistic regression on the same rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .data import Data

N_LEVELS, N_FOLDS = 50, 5
SETTINGS = {
    "L1-logistic": f"{N_LEVELS} penalties in the scale of the data, columns of unit variance, "
    f"{N_FOLDS} folds, by log-loss",
    "L2-logistic": f"{N_LEVELS} penalties over six decades, otherwise the same",
}


def rival_scores(model: Any, data: Data) -> dict[str, dict[str, float]]:
    """Return the scores of each rival on the rows that were held out."""
    from ..inspection.scores import Predictions, score_all

    assert data.test is not None
    train, test = np.asarray(data.train.X), np.asarray(data.test.X)
    mean, spread = train.mean(axis=0), train.std(axis=0)
    y = (data.train.y == model.classes_[1]).astype(np.float64)
    found = {}
    for name, fit in (("L1-logistic", fit_l1), ("L2-logistic", fit_l2)):
        rival = fit((train - mean) / spread, y)
        Z = (test - mean) / spread
        predictions = Predictions(rival.predict_proba(Z)[:, 1:], rival.decision_function(Z)[:, None])
        found[name] = score_all(predictions, data.test.y, model)
    return found


def fit_l1(Z: Any, y: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    levels = np.abs(Z.T @ (y - y.mean())).max() * np.geomspace(1, 0.03, N_LEVELS)
    # From scikit-learn 1.8 on the ratio alone says which penalty it is.
    kind = {"l1_ratio": 1.0} if LogisticRegression().penalty == "deprecated" else {"penalty": "l1"}
    return best_of(Z, y, levels, **kind, solver="liblinear", random_state=0)


def fit_l2(Z: Any, y: Any) -> Any:
    levels = np.linalg.norm(Z, 2) ** 2 / 4 * np.geomspace(1e2, 1e-4, N_LEVELS)
    return best_of(Z, y, levels, max_iter=500)


def best_of(Z: Any, y: Any, levels: Any, **kind: Any) -> Any:
    """Return the logistic regression of least held-out log-loss, fitted to all rows."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    losses = np.zeros(len(levels))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names of parameters that changed between versions
        for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(Z, y):
            for k, level in enumerate(levels):
                score = (
                    LogisticRegression(C=1 / level, **kind).fit(Z[train], y[train]).decision_function(Z[test])
                )
                losses[k] += np.sum(np.logaddexp(0, score) - y[test] * score)
        return LogisticRegression(C=1 / levels[losses.argmin()], **kind).fit(Z, y)
