"""A link fitted to rows that w has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..design import View, multiply
from ..link import Line, LinkFitter, MonotoneCurve, Sigmoid, fit_blend
from ..solvers import Iterate, fit_scale
from ..solvers.result import FloatArray
from .extremes import check_kept, unit_of
from .plan import Plan

Weight = FloatArray | None


def spread_of(index: FloatArray, weight: Weight) -> tuple[float, float]:
    """Return mean and standard deviation of an index."""
    unit = unit_of(index)
    if unit != 1:
        mean, sd = spread_of(unit * index, weight)
        return mean / unit, sd / unit
    mean = float(np.average(index, weights=weight))
    return mean, float(np.sqrt(np.average((index - mean) ** 2, weights=weight)))


def common_spread(index: FloatArray, weight: Weight) -> float:
    """Return the root of the mean variance of several indices, one a column."""
    return float(np.sqrt(np.mean([spread_of(one, weight)[1] ** 2 for one in index.T])))


def standardised(
    plan: Plan, iterates: Sequence[Iterate], to_features: Callable[[FloatArray], FloatArray], weight: Weight
) -> tuple[FloatArray, FloatArray]:
    """Return w in the units of X and what to add to Xw, one column each per output.

    So that the index has mean 0 and spread 1 over the training rows; for a known link, as that link takes it.
    """
    coef = np.column_stack([to_features(one.coef) for one in iterates])
    offset = np.zeros(len(iterates))
    for k, one in enumerate(iterates):
        if not plan.fitter.is_learned:
            offset[k] = one.link.offset
        else:
            mean, sd = spread_of(one.index, weight)
            coef[:, k] *= 1 / sd if sd > 0 else 0.0
            offset[k] = -mean / sd if sd > 0 else 0.0
    return coef, offset


def held_out_index(
    plan: Plan, iterates: Sequence[Iterate], view: View, X_test: Any, weight: Weight
) -> FloatArray:
    """Return the standardised index of held-out rows, one column per output."""
    coef, offset = standardised(plan, iterates, view.to_features, weight)
    return multiply(X_test, coef) + offset


def line_length(index: FloatArray, y: FloatArray, fitter: LinkFitter, weight: Weight) -> float:
    """Return the factor at which a line of the largest slope fits y, as in the solver's start."""
    unit = unit_of(index)
    if unit != 1:
        return unit * line_length(unit * index, y, fitter, weight)
    mean, sd = spread_of(index, weight)
    slope = np.average((index - mean) * y, weights=weight) / sd**2 if sd > 0 else 0.0
    return float(max(abs(slope), 1e-12) / fitter.slope)


def length_for_link(
    held_out: FloatArray,
    y: FloatArray,
    fitter: LinkFitter,
    weight: Weight,
    precision: float = 1e-12,
    guess: float = 0.0,
) -> float:
    """Return the factor that brings a standardised held-out index to the length its link needs.

    Where the index predicts held-out rows hardly better than chance, the factor stays near that of the
    least-squares line, which is then almost level: a steeper link would be fitted to noise.
    """
    unit = unit_of(held_out)
    if unit != 1:
        return unit * length_for_link(unit * held_out, y, fitter, weight, precision, guess / unit)
    centred = y - np.average(y, weights=weight)
    slope = float(np.average(held_out * centred, weights=weight))
    base = max(abs(slope), 1e-12) / fitter.slope
    scale = fit_scale(base * held_out, y, fitter, weight, 1, precision, guess / base)
    total = len(y) if weight is None else weight.sum()
    noise = np.average(centred**2, weights=weight) * np.average(held_out**2, weights=weight) / total
    # None at two standard errors of the slope, all of it far beyond.
    ratio = 4 * noise / slope**2 if slope**2 > 0 else np.inf
    trust = max(0.0, 1 - ratio) if slope > 0 else 0.0
    return float(base * scale**trust)


# The share of y's spread that one jump of the link covers where the index separates two levels of y. A
# cautious link of few rows does not reach all of it.
_SEPARATED = 0.75


class IndexNotIdentifiedWarning(UserWarning):
    """The data do not tell the index, or not the shape of its link."""


def warn_if_not_identified(link: Any, y: FloatArray) -> None:
    """Warn where a learned link is constant, or where it jumps from one level to another between all rows."""
    if not isinstance(link, MonotoneCurve):
        return
    spread = np.max(y) - np.min(y)
    if np.ptp(link.y) <= 1e-9 * spread:
        warnings.warn(
            "The learned link is constant: no combination of the features predicts y, so that w means "
            "nothing. Check the features, or try more rows.",
            IndexNotIdentifiedWarning,
            stacklevel=4,
        )
    elif len(link.y) > 2 and np.max(np.diff(link.y)) >= max(0.999 * np.ptp(link.y), _SEPARATED * spread):
        warnings.warn(
            "The index separates y into two levels without a single row in between: the link's shape and the "
            "length of w are not determined by these data. Rank by the index, and do not trust the "
            "probabilities.",
            IndexNotIdentifiedWarning,
            stacklevel=4,
        )


def with_cross_fitted_link(
    best: Iterate,
    y: FloatArray,
    fitter: LinkFitter,
    final_fitter: LinkFitter,
    weight: Weight,
    held_out: FloatArray,
) -> Iterate:
    """Return the iterate with the link fitted to the held-out index, and w at the length that fits it.

    `held_out` is the standardised index of every row under a w that was learned without it, NaN for rows
    that were never held out. In-sample the index of the training rows looks better than it is, the more so
    the more coefficients there are; a link fitted to it is too steep. This one is not.
    """
    seen = np.isfinite(held_out)
    mean, sd = spread_of(best.index, weight)
    if not sd > 0 or not seen.any():
        return best
    weight = None if weight is None else weight[seen]
    held_out, y = np.ascontiguousarray(held_out[seen]), np.ascontiguousarray(y[seen])
    factor = length_for_link(held_out, y, fitter, weight)
    link, _ = final_fitter.fit(factor * held_out, y, weight)
    scale = factor / sd
    longer = best.rescaled(scale, link.shift(scale * mean))
    check_kept(best.coef, longer.coef)
    return longer


def with_blended_link(
    best: Iterate, plan: Plan, y: FloatArray, weight: Weight, held_out: FloatArray
) -> Iterate:
    """Return the iterate with a link between a sigmoid, or a line, and a curve learned from held-out rows.

    `held_out` is the index of every row under models that have not seen it, at unit spread over those they
    have seen, and NaN for rows that were never held out. The index of new rows is brought to the spread of
    the held-out ones, which is smaller than that of training rows.
    """
    seen = np.isfinite(held_out)
    mean, sd = spread_of(best.index, weight)
    part = None if weight is None else weight[seen]
    _, spread = spread_of(held_out[seen], part) if seen.any() else (0.0, 0.0)
    if not (sd > 0 and spread > 0):
        warn_if_not_identified(best.link, y)
        return best
    shape = Sigmoid() if plan.is_classifier else Line()
    y = np.ascontiguousarray(y[seen])
    link = fit_blend(held_out[seen] / spread, y, part, shape, plan.fitter.is_bounded).link
    # At the largest slope that is allowed for, which is what fixes the length of w.
    with np.errstate(divide="ignore", invalid="ignore"):
        steepest = np.max(np.diff(link.y) / np.diff(link.x), initial=0.0)
    stretch = steepest / plan.fitter.slope if steepest > 0 else 1.0
    scale = stretch / (sd * spread)
    longer = best.rescaled(scale, MonotoneCurve(stretch * link.x + scale * mean, link.y))
    check_kept(best.coef, longer.coef)
    warn_if_not_identified(longer.link, y)
    return longer
