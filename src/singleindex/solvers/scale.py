"""The scale of w: what direction and ridge leave open, settled after the fit."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from ..link import Lpav
from .result import FloatArray

# Rows per coefficient from which the training rows may settle the scale alone.
_ROWS_PER_COEFFICIENT = 50
_LARGEST = 1024.0
# The correlation of residual and index that counts as none.
_NONE = 1e-6


def fit_scale(
    index: FloatArray,
    y: FloatArray,
    fitter: Lpav,
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
    so would the link; the factor is then taken to a power below one. `precision` is that of its logarithm;
    a good `guess` saves fits.
    """
    if not np.isfinite(fitter.lipschitz) or n_coefficients == 0:
        return 1.0
    order = np.argsort(index, kind="stable")
    index, y = index[order], y[order]
    weight = None if sample_weight is None else sample_weight[order]
    total = float(len(y) if weight is None else weight.sum())
    centred = index - np.average(index, weights=weight)
    pull = centred if weight is None else centred * weight
    size = np.sqrt(
        (pull @ centred) * np.average((y - np.average(y, weights=weight)) ** 2, weights=weight) * total
    )
    if not size > 0:
        return 1.0

    def correlation(log_factor: float) -> float:
        _, fitted = fitter.fit(np.exp(log_factor) * index, y, weight)
        return float(pull @ (fitted - y) / size) + _NONE

    low, high = 0.0, np.log(2.0)
    if guess > 1.2 and correlation(np.log(guess / 1.2)) < 0:
        low, high = np.log(guess / 1.2), min(np.log(guess * 1.2), np.log(_LARGEST))
    elif correlation(low) >= 0:
        return 1.0
    while correlation(high) < 0:
        if high == np.log(_LARGEST):
            return float(_LARGEST ** _trust(total, n_coefficients))
        low, high = high, min(2 * high, np.log(_LARGEST))
    root = brentq(correlation, low, high, xtol=precision, rtol=max(precision, 1e-12))
    return float(np.exp(root * _trust(total, n_coefficients)))


def _trust(total: float, n_coefficients: int) -> float:
    return min(1.0, total / (_ROWS_PER_COEFFICIENT * n_coefficients))
