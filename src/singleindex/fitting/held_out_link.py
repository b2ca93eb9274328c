"""The link of a completer, learned from ratings that its index has not seen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..design import EntriesDesign
from ..link import LinkFitter, MonotoneCurve
from ..solvers.completion import CompletionIterate, Parts
from ..solvers.result import FloatArray
from .cross_fit import length_for_link, spread_of
from .ratings import Ratings

# Parts in which held-out ratings are predicted by a link learned from the others.
_PARTS = 5
# The weight of a learned curve against the line is believed to be one half, give or take as much, before
# the data are asked.
_PRIOR_WEIGHT, _PRIOR_SD = 0.5, 0.5


@dataclass(frozen=True, eq=False)
class HeldOutLink:
    """A link, what it predicts for ratings that it, too, has not seen, and how far the curve is trusted."""

    link: MonotoneCurve
    predicted: FloatArray
    trust: float


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out ratings: their index, in the units of y, their values and weights, and a part for each."""

    index: FloatArray
    y: FloatArray
    weight: FloatArray | None
    fold: NDArray[np.intp]


def link_folds(n_ratings: int) -> NDArray[np.intp]:
    """Return for each rating in which part it is predicted by a link learned from the other parts."""
    return np.random.default_rng(0).permutation(n_ratings) % _PARTS


def line_through(held_out: HeldOut) -> FloatArray:
    """Return the index plus a constant: what least squares predicts."""
    shift = np.average(held_out.y - held_out.index, weights=held_out.weight)
    return held_out.index + shift


def fit_held_out_link(held_out: HeldOut, fitter: LinkFitter) -> HeldOutLink:
    """Return a link for the index, from held-out ratings.

    The index is that of least squares, or has its units, so that index + constant is a fair guess of y
    before a link is learned. The link lies between this line and the Lipschitz isotonic regression of y on
    the index, as far from the line as pays on parts that the regression was not fitted to: with few ratings,
    or an almost straight truth, a free curve would cost more than it gains.
    """
    index, y, weight, fold = held_out.index, held_out.y, held_out.weight, held_out.fold
    line = line_through(held_out)
    cap = slope_cap(index, y, weight, fitter)
    steep = fitter.at_slope(cap)
    knots = steep.fit(index, y, weight)[0].knots_
    apart = line.copy()
    for number in np.unique(fold):
        test = fold == number
        if test.all():
            break
        part = None if weight is None else weight[~test]
        apart[test] = steep.fit(index[~test], y[~test], part)[0](index[test])
    trust = trust_in_curve(apart - line, y - line, weight)
    values = (1 - trust) * (knots[:, 0] + (line[0] - index[0])) + trust * knots[:, 1]
    # A mean of y lies where y does; the line alone need not.
    low, high = np.min(y), np.max(y)
    link = MonotoneCurve(knots[:, 0], values).clip(low, high)
    return HeldOutLink(link, np.clip(line + trust * (apart - line), low, high), trust)


def slope_cap(index: FloatArray, y: FloatArray, weight: FloatArray | None, fitter: LinkFitter) -> float:
    """Return the largest slope of the curve: that at which its residuals say no more about the index."""
    if not fitter.is_bounded:
        return np.inf
    mean, sd = spread_of(index, weight)
    if not sd > 0:
        return fitter.slope
    factor = length_for_link((index - mean) / sd, y, fitter, weight, precision=0.05)
    return max(1.0, fitter.slope * factor / sd)


def trust_in_curve(gain: FloatArray, residual: FloatArray, weight: FloatArray | None) -> float:
    """Return how much of the curve's departure from the line to keep, by its success on held-out parts."""
    weight = np.ones(len(gain)) if weight is None else weight
    noise = float(np.average(residual**2, weights=weight))
    if not noise > 0:
        return 0.0
    precision = float(weight @ gain**2) / noise
    found = float(weight @ (gain * residual)) / noise
    return float(np.clip((found + _PRIOR_WEIGHT / _PRIOR_SD**2) / (precision + 1 / _PRIOR_SD**2), 0, 1))


# ---------------------------------------------------------------- in a completer


def index_at(parts: Parts, design: EntriesDesign) -> FloatArray:
    return design.index(parts.left, parts.right)


def length_in_y(index: FloatArray, start_index: FloatArray, slope: float) -> float:
    """Return the factor at which an index is as long as that of least squares, in the units of y.

    The scale of an index is determined with its link only. Least squares has the one at which the link is the
    identity, its ridges taken into account.
    """
    start, index = start_index - start_index.mean(), index - index.mean()
    spread = float(index @ index)
    along = float(start @ index) / spread if spread > 0 else 1.0
    return slope * (along if along > 0 else 1.0)


def held_out_ratings(
    ratings: Ratings, index: FloatArray, at: NDArray[np.intp], folds: NDArray[np.intp]
) -> HeldOut:
    """Return the held-out index of the ratings at these positions with what a link needs to know of them."""
    weight = ratings.design.weight
    return HeldOut(index, ratings.y[at], None if weight is None else weight[at], folds[at])


def with_held_out_link(best: CompletionIterate, held_out: HeldOut, fitter: LinkFitter) -> CompletionIterate:
    """Return the iterate with the link fitted to held-out ratings, both at the largest slope allowed."""
    link = fit_held_out_link(held_out, fitter).link
    length = length_in_y(best.index, best.start_index, fitter.slope)
    with np.errstate(divide="ignore", invalid="ignore"):
        steepest = np.max(np.diff(link.y) / np.diff(link.x), initial=0.0)
    stretch = steepest / fitter.slope if steepest > 0 and fitter.is_bounded else 1.0
    scale = stretch * length
    link = MonotoneCurve(stretch * link.x, link.y)
    return replace(best, parts=best.parts.scaled(scale), index=scale * best.index, link=link)
