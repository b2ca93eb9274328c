"""What held-out rows say of candidates where only bins of their indices are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..design.many import points_of
from ..design.moments import Moments
from ..link import Line, Points, Shape, Sigmoid
from ..solvers.many import Mover
from ..solvers.result import FloatArray
from .bank import Scores
from .extremes import unit_of
from .plan import Plan
from .scoring import ROW_LOSSES

# Scores of estimators that have none of their own name.
_DEFAULTS = {True: "accuracy", False: "r2"}
BINNED_SCORES = (*ROW_LOSSES, "accuracy", "r2", "roc_auc")


def check_binned_scoring(name: Any, is_classifier: bool) -> str:
    """Return the name of a score that bins of the index suffice for, or raise."""
    name = _DEFAULTS[is_classifier] if name is None else name
    if not (isinstance(name, str) and name in BINNED_SCORES):
        raise ValueError(
            f"scoring={name!r} needs the predictions of single rows, and searches over files and Dask keep "
            f"bins of them; use one of {sorted(BINNED_SCORES)}."
        )
    return name


class BinnedJudge:
    """Scores candidates by the bins of rows that they have not seen.

    Parameters
    ----------
    plan : Plan
    scoring : str
    folds : list of Moments
        Of the rows of every fold.
    unit : array of shape (n_outputs,)
        What y was divided by.
    """

    def __init__(self, plan: Plan, scoring: str, folds: Sequence[Moments], unit: FloatArray) -> None:
        self.plan, self.scoring, self.folds = plan, scoring, folds
        self.shape: Shape = Sigmoid() if plan.is_classifier else Line()
        self.unit = np.square(unit * unit_of(unit)) if scoring == "neg_mean_squared_error" else unit**0

    def scores(self, candidates: Sequence[Sequence[Mover]], output: int) -> Scores:
        """Return the scores of candidates, each a model for every fold; the folds are the units."""
        losses = np.array([self.losses(movers, output) for movers in candidates])
        return Scores(losses, np.ones(losses.shape[1]), -self.unit[output] * losses)

    def losses(self, movers: Sequence[Mover], output: int) -> FloatArray:
        """Return the loss on every fold of a model that was learned without it."""
        points = [self._held_out(mover) for mover in movers]
        fitted = self._fitted(points)
        return np.array([
            self._loss(one, values, self.folds[mover.problem.rows.held], output)
            for one, values, mover in zip(points, fitted, movers, strict=True)
        ])  # fmt: skip

    def _held_out(self, mover: Mover) -> Points:
        assert mover.bins is not None
        points = points_of(mover.bins[1])
        if self.plan.fitter.is_learned:
            return points
        # A link that is known takes the index as it is.
        return Points(mover.sd * (points.index - mover.offset), points.y, points.weight)

    def _fitted(self, points: Sequence[Points]) -> list[FloatArray]:
        """Return the predictions for all bins, through one curve for all folds."""
        index, y, weight = (
            np.concatenate([getattr(one, name) for one in points]) for name in ("index", "y", "weight")
        )
        if self.plan.fitter.is_learned:
            fitted = self.shape.values(self.shape.fit(index, y, weight), index)
        else:
            fitted = self.plan.fitter.fit(index, y, weight)[1]
        return np.split(fitted, np.cumsum([len(one.index) for one in points])[:-1])

    def _loss(self, points: Points, fitted: FloatArray, fold: Moments, output: int) -> float:
        assert points.weight is not None
        share = points.weight / points.weight.sum()
        if self.scoring == "neg_log_loss":
            return float(share @ self.shape.loss(fitted, points.y))
        if self.scoring == "accuracy":
            return float(share @ np.where(fitted > 0.5, 1 - points.y, points.y))
        if self.scoring == "roc_auc":
            return 1 - _binned_auc(points)
        variance = float(fold.y_variance[output])
        within = variance - float(share @ np.square(points.y - fold.y_mean[output]))
        error = float(share @ np.square(fitted - points.y)) + max(within, 0.0)
        if self.scoring == "r2":
            return error / variance - 1 if variance > 0 else 0.0
        return error


def _binned_auc(points: Points) -> float:
    """Return the share of pairs that are ranked rightly; half of those within a bin are."""
    assert points.weight is not None
    positive, negative = points.weight * points.y, points.weight * (1 - points.y)
    below = np.cumsum(negative) - 0.5 * negative
    pairs = positive.sum() * negative.sum()
    return float(positive @ below / pairs) if pairs > 0 else float("nan")


def line_losses(movers: Sequence[Mover], folds: Sequence[Moments]) -> FloatArray:
    """Return the squared error on every fold of a model learned without it, behind one line for all folds.

    From moments alone, before any model has seen a row.
    """
    seen = np.array([_held_out_moments(mover, folds) for mover in movers])
    total, mean, variance, cross, y_mean, y_variance = seen.T
    share = total / total.sum()
    centre, y_centre = share @ mean, share @ y_mean
    spread = share @ (variance + np.square(mean - centre))
    along = share @ (cross + (mean - centre) * (y_mean - y_centre))
    slope = max(along / spread, 0.0) if spread > 0 else 0.0
    gap = y_mean - y_centre - slope * (mean - centre)
    losses: FloatArray = y_variance + slope**2 * variance - 2 * slope * cross + np.square(gap)
    return losses


def _held_out_moments(mover: Mover, folds: Sequence[Moments]) -> tuple[float, ...]:
    """Return, of the fold that a model has not seen, the weight and the moments of its index and of y."""
    k, fold, coef = mover.problem.output, folds[mover.problem.rows.held], mover.coef
    used = np.flatnonzero(coef)
    w = coef[used]
    variance = float(w @ fold.covariance[np.ix_(used, used)] @ w)
    mean = float(fold.mean[used] @ w) + mover.offset
    cross = float(fold.cross[used, k] @ w)
    return fold.total, mean, variance, cross, float(fold.y_mean[k]), float(fold.y_variance[k])
