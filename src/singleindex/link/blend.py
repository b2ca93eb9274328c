"""The link of a finished w: between a curve of two parameters and a learned one, as held-out rows say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import FloatArray
from .curve import MonotoneCurve
from .fitters import Lpav
from .shape import Shape, Sigmoid

# Rows that the curve of two parameters counts for, as a multiple of the root of the number of rows.
_ROOTS = 10.0
# How much steeper than that curve the learned one may be.
_STEEPER = 2.0
# What a learned curve of probabilities is contradicted by at either end of the index: a part of a row.
_END = 0.3
# Parts in which the two are compared, each on rows that it was not fitted to.
_PARTS = 5
# A share of the blend below this is none.
_LEAST_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class Blend:
    """A link, and how much of it is the learned curve."""

    link: MonotoneCurve
    learned_share: float


def fit_blend(
    index: FloatArray, y: FloatArray, weight: FloatArray | None, shape: Shape, bounded: bool = True
) -> Blend:
    """Return a link for held-out rows whose index has a spread of about one.

    Two curves are fitted: a sigmoid (a line, for numbers), and an LPAV that is at most twice as steep, to
    which the first one counts as 10√n rows more. Each predicts rows it has not seen; the likelihoods of
    these weigh the two. With few rows the learned curve cannot win, with many it does wherever the truth is
    no sigmoid.
    """
    weight = np.ones(len(y)) if weight is None else weight
    index, y, weight = np.ascontiguousarray(index[weight > 0]), y[weight > 0], weight[weight > 0]
    # Equal rows are in the same part, so that weights are repetitions; equal but for rounding.
    _, row = np.unique(np.round(index, 9), return_inverse=True)
    part = (np.random.default_rng(0).permutation(row.max() + 1) % _PARTS)[row]
    losses = np.zeros((2, len(y)))
    for number in range(_PARTS):
        test = part == number
        train = ~test
        if not test.any() or not train.any():
            continue
        for k, curve in enumerate(_curves(index[train], y[train], weight[train], shape, bounded)):
            losses[k, test] = shape.loss(curve(index[test]), y[test])
    mean = losses @ weight / weight.sum()
    gain = weight.sum() * (mean[0] - mean[1]) / (2 * shape.gain_unit(float(mean.min())))
    share = float(1 / (1 + np.exp(-np.clip(gain, -50, 50))))
    plain, learned = _curves(index, y, weight, shape, bounded)
    if share < _LEAST_SHARE:
        return Blend(plain, 0.0)
    if share > 1 - _LEAST_SHARE:
        return Blend(learned, 1.0)
    return Blend(mix((plain, learned), (1 - share, share)), share)


def _curves(
    index: FloatArray, y: FloatArray, weight: FloatArray, shape: Shape, bounded: bool
) -> tuple[MonotoneCurve, MonotoneCurve]:
    parameters = shape.fit(index, y, weight)
    share = _ROOTS / np.sqrt(weight.sum())
    target = (y + share * shape.values(parameters, index)) / (1 + share)
    points, values, counts = index, target, weight * (1 + share)
    if isinstance(shape, Sigmoid):
        points = np.append(points, [index.min(), index.max()])
        values, counts = np.append(values, [1.0, 0.0]), np.append(counts, [_END, _END])
    slope = max(_STEEPER * shape.steepest(parameters), 1e-9) if bounded else np.inf
    learned, _ = Lpav(slope).fit(points, values, counts)
    return shape.tabulate(parameters, index), learned


def mix(curves: tuple[MonotoneCurve, ...], shares: tuple[float, ...]) -> MonotoneCurve:
    """Return the weighted mean of some curves, which has corners where one of them has."""
    corners = np.unique(np.concatenate([curve.knots_[:, 0] for curve in curves]))
    return MonotoneCurve(corners, sum(s * curve(corners) for s, curve in zip(shares, curves, strict=True)))
