"""Scores of held-out rows, through one link per output fitted to all of them together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score
from sklearn.utils import _safe_indexing

from ..design import take_rows
from ..solvers.result import FloatArray, squared
from .cross_fit import Weight, length_for_link
from .extremes import unit_of
from .plan import CERTAIN, Plan
from .record import Targets


def brier(fitted: FloatArray, index: FloatArray, y: FloatArray, weight: Weight) -> float:
    return -float(np.average((np.clip(fitted, CERTAIN, 1 - CERTAIN) - y) ** 2, weights=weight))


def log_likelihood(fitted: FloatArray, index: FloatArray, y: FloatArray, weight: Weight) -> float:
    p = np.clip(fitted, CERTAIN, 1 - CERTAIN)
    return float(np.average(np.where(y > 0.5, np.log(p), np.log1p(-p)), weights=weight))


def auc(fitted: FloatArray, index: FloatArray, y: FloatArray, weight: Weight) -> float:
    positive = y > 0.5
    if weight is not None:
        both = weight[positive].any() and weight[~positive].any()
        return float(roc_auc_score(positive, index, sample_weight=weight)) if both else np.nan
    n_positive = np.count_nonzero(positive)
    n_pairs = n_positive * (len(y) - n_positive)
    if n_pairs == 0:
        return np.nan
    return float((rankdata(index)[positive].sum() - n_positive * (n_positive + 1) / 2) / n_pairs)


def minus_squared_error(fitted: FloatArray, index: FloatArray, y: FloatArray, weight: Weight) -> float:
    return -float(np.average((fitted - y) ** 2, weights=weight))


QUICK_SCORES = {
    "neg_brier_score": brier,
    "neg_log_loss": log_likelihood,
    "roc_auc": auc,
    "neg_mean_squared_error": minus_squared_error,
}


def brier_of_classes(p: FloatArray, Y: FloatArray, weight: Weight) -> float:
    return -float(np.average(np.square(p - Y).sum(axis=1), weights=weight))


def log_likelihood_of_classes(p: FloatArray, Y: FloatArray, weight: Weight) -> float:
    return float(np.average(np.log(p[Y > 0]), weights=weight))


# Of several classes. scikit-learn's own ask that every class be among the rows they score.
CLASS_SCORES: dict[str, Callable[..., float]] = {
    "neg_brier_score": brier_of_classes,
    "neg_log_loss": log_likelihood_of_classes,
}


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
    is_apart : bool
        Whether every output is scored by itself: not where probabilities have yet to be made to sum to one.
    """

    name: Any
    scorer: Any
    as_model: Callable[[FloatArray, list[Any]], Any]
    is_apart: bool

    @property
    def quick(self) -> Callable[..., float] | None:
        """The same score without scikit-learn's checks, where there is one."""
        return QUICK_SCORES.get(self.name) if self.is_apart and isinstance(self.name, str) else None

    @property
    def of_classes(self) -> Callable[..., float] | None:
        """The same score of the probabilities of several classes, where there is one."""
        return None if self.is_apart or not isinstance(self.name, str) else CLASS_SCORES.get(self.name)

    def unit(self, unit: FloatArray) -> float:
        """Return what scores are to be multiplied by: squared errors are taken where they are numbers."""
        is_squared = isinstance(self.name, str) and self.name == "neg_mean_squared_error"
        return squared(1 / unit_of(unit)) if is_squared else 1.0


class Scorekeeper:
    """Scores held-out indices."""

    def __init__(
        self, plan: Plan, scoring: Scoring, X: Any, targets: Targets, weight: Weight, splits: Sequence[Any]
    ) -> None:
        self.plan, self.scoring, self.weight, self.splits = plan, scoring, weight, splits
        self.Y, self.unit = targets.Y, targets.unit
        self.last_factor = 0.0
        takes_weights = getattr(scoring.scorer, "_accept_sample_weight", bool)
        self.scorer_takes_weights = weight is not None and takes_weights()
        self.times_held_out = np.zeros(len(self.Y))
        for _, test in splits:
            self.times_held_out[test] += 1
        self.parts: list[Any] = []
        if scoring.quick is None and scoring.of_classes is None:
            self.parts = [(take_rows(X, test), _safe_indexing(targets.y, test)) for _, test in splits]

    def pooled(self, folds: Sequence[Any]) -> FloatArray:
        """Return the held-out index of every row, the mean over folds where there are several."""
        total = np.zeros(self.Y.shape)
        for (_, test), fold in zip(self.splits, folds, strict=True):
            total[test] += fold.index
        with np.errstate(invalid="ignore", divide="ignore"):
            return total / self.times_held_out[:, None]

    def mean_pooled(self, candidates: Sequence[Sequence[Any]]) -> FloatArray:
        """Return the mean of the held-out indices of several candidates; what is no number is no index."""
        with np.errstate(over="ignore"):
            mean: FloatArray = np.mean([self.pooled(folds) for folds in candidates], axis=0)
        return mean

    def score(self, folds: Sequence[Any]) -> list[float]:
        """Return the score of each fold."""
        pooled = self.pooled(folds)
        # Kept in single precision, used in double: scores are told apart by less.
        indices = [fold.index.astype(np.float64) for fold in folds]
        if self.scoring.quick is not None:
            return self._score_quickly(self.scoring.quick, pooled, indices)
        links, factors = zip(*(self._fit_link(pooled[:, k], k) for k in range(self.Y.shape[1])), strict=True)
        in_units = [link if u == 1 else link.rescale(u) for link, u in zip(links, self.unit, strict=True)]
        models = [self.scoring.as_model(i * np.array(factors) * self.unit, in_units) for i in indices]
        if self.scoring.of_classes is not None:
            return [
                self.scoring.of_classes(model.predict_proba(None), self.Y[test], self._weight(test))
                for model, (_, test) in zip(models, self.splits, strict=True)
            ]
        scores = []
        for (X_test, y_test), (_, test), model in zip(self.parts, self.splits, models, strict=True):
            weight = {"sample_weight": self._weight(test)} if self.scorer_takes_weights else {}
            scores.append(self.scoring.scorer(model, X_test, y_test, **weight))
        return scores

    def _score_quickly(
        self, score: Callable[..., float], pooled: FloatArray, indices: list[FloatArray]
    ) -> list[float]:
        scores = []
        for k, unit in enumerate(self.unit * unit_of(self.unit)):
            link, factor = self._fit_link(pooled[:, k], k)
            folds = [(test, index[:, k]) for (_, test), index in zip(self.splits, indices, strict=True)]
            scores.append([
                score(unit * link(factor * index), index, unit * self.Y[test, k], self._weight(test))
                for test, index in folds
            ])  # fmt: skip
        means: list[float] = np.mean(scores, axis=0).tolist()
        return means

    def _weight(self, test: Any) -> Weight:
        return None if self.weight is None else np.asarray(self.weight[test])

    def _fit_link(self, held_out: FloatArray, k: int) -> tuple[Any, float]:
        plan, seen = self.plan, np.isfinite(held_out)
        held_out, y = np.ascontiguousarray(held_out[seen]), np.ascontiguousarray(self.Y[seen, k])
        weight = None if self.weight is None else self.weight[seen]
        if not plan.fitter.is_learned:
            link, _ = plan.fitter.fit(held_out, y, weight)
            return link.shift(link.offset), 1.0
        factor = length_for_link(held_out, y, plan.fitter, weight, precision=0.05, guess=self.last_factor)
        self.last_factor = factor
        return plan.final_fitter.fit(factor * held_out, y, weight)[0], factor
