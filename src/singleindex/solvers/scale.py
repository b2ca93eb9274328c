"""The scale of w: what direction and ridge leave open, settled after the fit."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.optimize import brentq

from ..link import LinkFitter
from ..link.lpav import merge_points
from .result import FloatArray

# Rows per coefficient from which the training rows may settle the scale alone.
_ROWS_PER_COEFFICIENT = 50
_LARGEST = 1024.0
# Points that are enough for a factor which is trusted only in part.
_COARSE = 256
# The correlation of residual and index that counts as none.
_NONE = 1e-6


def fit_scale(
    index: FloatArray,
    y: FloatArray,
    fitter: LinkFitter,
    sample_weight: FloatArray | None,
    n_coefficients: int,
    precision: float = 1e-12,
    guess: float = 1.0,
) -> float:
    """Return the factor, at least 1, by which w is too short for its link.

    Ridge and early stopping hold w back. That is wanted for its direction, but with a link of bounded slope
    a short w means a flat link. At the right length the residuals are uncorrelated with the index, which is
    the condition that the calibrated loss without ridge has along w. Where there are fewer than about
    fifty rows per coefficient the index of the training rows looks better than it is, and
    so would the link; the factor is then taken to a power below one, and neighbouring rows are summed up
    before it is sought. `precision` is that of its logarithm; a good `guess` saves fits.
    """
    if not fitter.is_bounded or n_coefficients == 0:
        return 1.0
    index, y = np.ascontiguousarray(index), np.ascontiguousarray(y)
    # Sorted once: a longer index is a steeper link.
    knots, means, weights = merge_points(index, y, sample_weight, np.argsort(index, kind="stable"))
    total = float(weights.sum())
    trust = _trust(total, n_coefficients)
    if trust < 1 and len(knots) > 2 * _COARSE:
        knots, means, weights = _coarse(knots, means, weights)
    centred = knots - weights @ knots / total
    pull = weights * centred
    spread = np.average((y - weights @ means / total) ** 2, weights=sample_weight)
    with np.errstate(over="ignore"):
        size = np.sqrt((pull @ centred) * spread * total)
    if np.isinf(size):
        size = np.sqrt(pull @ centred) * np.sqrt(spread * total)
    if not size > 0:
        return 1.0

    @cache  # brentq asks for the ends of its bracket once more
    def correlation(log_factor: float) -> float:
        fitted = fitter.fitted_at(knots, means, weights, fitter.slope * np.exp(log_factor))
        return float(pull @ (fitted - means) / size) + _NONE

    low, high = 0.0, np.log(2.0)
    if guess > 1.2 and correlation(np.log(guess / 1.2)) < 0:
        low, high = np.log(guess / 1.2), min(np.log(guess * 1.2), np.log(_LARGEST))
    elif correlation(low) >= 0:
        return 1.0
    while correlation(high) < 0:
        if high == np.log(_LARGEST):
            return float(_LARGEST**trust)
        low, high = high, min(2 * high, np.log(_LARGEST))
    root = brentq(correlation, low, high, xtol=precision, rtol=max(precision, 1e-12))
    return float(np.exp(root * trust))


def _trust(total: float, n_coefficients: int) -> float:
    return min(1.0, total / (_ROWS_PER_COEFFICIENT * n_coefficients))


def _coarse(
    knots: FloatArray, means: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return `_COARSE` points in place of many, each the mean of neighbours."""
    starts = np.arange(_COARSE) * len(knots) // _COARSE
    total, *sums = (np.add.reduceat(v, starts) for v in (weights, weights * knots, weights * means))
    return sums[0] / total, sums[1] / total, total
