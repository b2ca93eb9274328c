"""By what candidates are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from ..link import Line, Sigmoid
from ..solvers.result import FloatArray


def brier(fitted: FloatArray, y: FloatArray) -> FloatArray:
    loss: FloatArray = np.square(fitted - y)
    return loss


def brier_of_classes(p: FloatArray, Y: FloatArray) -> FloatArray:
    loss: FloatArray = np.square(p - Y).sum(axis=2)
    return loss


def log_loss_of_classes(p: FloatArray, Y: FloatArray) -> FloatArray:
    loss: FloatArray = -np.log((p * Y).sum(axis=2))
    return loss


# Scores that are a mean over rows: the loss of each row, and that of several classes together.
ROW_LOSSES: dict[str, tuple[Callable[..., FloatArray], Callable[..., FloatArray] | None]] = {
    "neg_log_loss": (Sigmoid().loss, log_loss_of_classes),
    "neg_brier_score": (brier, brier_of_classes),
    "neg_mean_squared_error": (Line().loss, None),
}


def auc(index: FloatArray, y: FloatArray, weight: FloatArray) -> float:
    positive = y > 0.5
    if not (weight[positive].any() and weight[~positive].any()):
        return np.nan
    if (weight != 1).any():
        return float(roc_auc_score(positive, index, sample_weight=weight))
    n_positive = np.count_nonzero(positive)
    n_pairs = n_positive * (len(y) - n_positive)
    return float((rankdata(index)[positive].sum() - n_positive * (n_positive + 1) / 2) / n_pairs)


@dataclass(frozen=True)
class Scoring:
    """How candidates are compared.

    Attributes
    ----------
    name : str, callable or None
        As it was asked for.
    scorer : callable
        scikit-learn's scorer of it.
    as_model : callable
        From the index of some rows and the links to an estimator that predicts with these.
    kind : {"regression", "binary", "multilabel", "multiclass"}
        What is predicted.
    """

    name: Any
    scorer: Any
    as_model: Callable[[FloatArray, list[Any]], Any]
    kind: str

    @property
    def is_apart(self) -> bool:
        """Whether every output is scored by itself: not where probabilities have yet to sum to one."""
        return self.kind != "multiclass"

    @property
    def is_by_rows(self) -> bool:
        """Whether the score is a mean over rows."""
        return isinstance(self.name, str) and self.name in ROW_LOSSES

    @property
    def is_log_loss(self) -> bool:
        return isinstance(self.name, str) and self.name == "neg_log_loss"

    @property
    def is_auc(self) -> bool:
        """Whether the index alone is ranked."""
        return self.is_apart and isinstance(self.name, str) and self.name == "roc_auc"

    def loss(self, fitted: FloatArray, y: FloatArray) -> FloatArray:
        """Return the loss of every row of one output."""
        return ROW_LOSSES[self.name][0](fitted, y)

    def loss_of_classes(self, p: FloatArray, Y: FloatArray) -> FloatArray:
        """Return the loss of every row from the probabilities of all classes."""
        of_classes = ROW_LOSSES[self.name][1]
        return self.loss(p, Y).mean(axis=2) if of_classes is None else of_classes(p, Y)
