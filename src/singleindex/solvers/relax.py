"""Regression without a penalty on a few columns that have been chosen."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..link import LinkFitter
from .result import FloatArray

# A ridge that keeps what is nearly undetermined from running away, as a share of the mean curvature.
_RIDGE = 1e-2
# Curvature of the loss below which a row would count for next to nothing.
_LEAST_CURVATURE = 1e-4
# By how much the index may move in a step: further out its curvature is another one.
_LONGEST = 4.0
# Steps with a known curvature, which are Newton's, and with a bound of it.
_NEWTON, _MAJORISED = 3, 6


def relax(
    columns: FloatArray, y: FloatArray, share: FloatArray, start: FloatArray, fitter: LinkFitter, alpha: float = 0.0
) -> FloatArray:
    """Return the coefficients of some columns, of shape (n, k), that fit y best through their link.

    Nearly: a few steps from `start`, and a small ridge.
    """
    centred = columns - share @ columns
    w = start.copy()
    factor, ridge = None, 0.0
    index = centred @ w
    _, fitted = fitter.fit(index, y, share)
    steps = _MAJORISED if fitter.curvature(fitted) is None else _NEWTON
    if fitter.curvature(fitted) is None and not fitter.is_learned and fitter.takes_any_unit:
        steps = 1  # least squares
    for _ in range(steps):
        known = fitter.curvature(fitted)
        if known is not None or factor is None:
            curvature = np.maximum(known, _LEAST_CURVATURE) if known is not None else np.full(len(y), fitter.slope)
            factor, ridge = _factorised(centred, share * curvature, alpha)
        gradient = centred.T @ (share * (y - fitted)) - ridge * w
        try:
            step = cho_solve(factor, gradient, check_finite=False)
        except (LinAlgError, ValueError):
            break
        move = centred @ step
        if known is not None:
            length = float(np.max(np.abs(move), initial=0.0))
            short = min(1.0, _LONGEST / length) if length > 0 else 1.0
            step, move = short * step, short * move
        w, index = w + step, index + move
        _, fitted = fitter.fit(index, y, share)
    return w


def _factorised(centred: FloatArray, weight: FloatArray, alpha: float) -> tuple[object, float]:
    total = weight.sum()
    centred = centred - (weight @ centred) / total
    curvature = (centred.T * weight) @ centred
    ridge = alpha + _RIDGE * max(float(np.mean(np.diag(curvature))), 1e-300)
    curvature[np.diag_indices_from(curvature)] += ridge
    return cho_factor(curvature, lower=True, overwrite_a=True, check_finite=False), ridge
