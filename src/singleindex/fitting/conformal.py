"""Prediction intervals and prediction sets from the residuals of held-out rows.

What is kept of them is small: the spread of the residuals along the index, and the residuals in units of it
as at most a thousand quantiles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..solvers.result import FloatArray

# The most residuals that are kept; of more, so many quantiles.
_MOST_KEPT = 1000
# Parts of the index over which the spread is told apart: half the root of the number of rows, at most so
# many.
_MOST_PARTS = 20


def calibrate_interval(index: FloatArray, residual: FloatArray, weight: FloatArray) -> dict[str, FloatArray]:
    """Return what intervals are made of: how far residuals spread along the index, and their quantiles.

    `residual` is y less its prediction.
    """
    places, spread = spread_along(index, np.abs(residual), weight)
    at = np.interp(index, places, spread)
    scaled = np.divide(residual, at, out=np.zeros_like(residual), where=at > 0)
    return {"index": places, "spread": spread, **quantiles_of(scaled, weight)}


def spread_along(index: FloatArray, size: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean size of residuals at places along the index, drawn to their common mean.

    As far as parts of the index do not differ by more than chance lets them, they do not differ here: by the
    share of the variance between their means that the variance within explains.
    """
    order = np.argsort(index, kind="stable")
    index, size, weight = index[order], size[order], weight[order]
    total = weight.sum()
    n_parts = int(np.clip(np.sqrt(total) / 2, 1, _MOST_PARTS))
    part = np.minimum((n_parts * (np.cumsum(weight) - weight / 2) / total).astype(int), n_parts - 1)
    # Equal indices must not be in different parts.
    part = part[np.searchsorted(index, index, side="left")]
    counts = np.bincount(part, weight, n_parts)
    kept = counts > 0
    counts = counts[kept]
    places, means, squares = (
        np.bincount(part, weight * values, n_parts)[kept] / counts
        for values in (index, size, np.square(size))
    )
    mean = float(weight @ size / total)
    within = np.maximum(squares - means**2, 0) / np.maximum(counts - 1, 1)
    between = counts @ np.square(means - mean) / total - counts @ within / total
    if not between > 0:
        return places[:1], np.array([mean])
    return places, mean + between / (between + within) * (means - mean)


def quantiles_of(values: FloatArray, weight: FloatArray) -> dict[str, FloatArray]:
    """Return sorted values and which share of all rows, one new one among them, lies at or below each."""
    order = np.argsort(values, kind="stable")
    total = float(weight.sum())
    share = np.cumsum(weight[order]) / (total + 1)
    kept: Any = slice(None)
    if len(values) > _MOST_KEPT:
        kept = np.unique(np.searchsorted(share, np.linspace(share[0], share[-1], _MOST_KEPT)))
        kept = np.minimum(kept, len(values) - 1)
    return {"value": values[order][kept], "share": share[kept]}


def at_most(calibration: dict[str, FloatArray], share: float) -> float:
    """Return what new values exceed in no more than 1 − `share` of the cases; infinite with few rows."""
    at = int(np.searchsorted(calibration["share"], share - 1e-12))
    return float(calibration["value"][at]) if at < len(calibration["share"]) else np.inf


def at_least(calibration: dict[str, FloatArray], share: float) -> float:
    """Return what a new value falls below in no more than `share` of the cases."""
    below = share - (1 - calibration["share"][-1])  # without the new one
    if below < -1e-12:
        return -np.inf
    at = int(np.searchsorted(calibration["share"], below + 1e-12, side="right"))
    return float(calibration["value"][min(at, len(calibration["value"]) - 1)])


def interval_at(
    calibration: dict[str, FloatArray], index: FloatArray, fitted: FloatArray, level: float
) -> FloatArray:
    """Return the ends of the prediction intervals of new rows, of shape (n_rows, 2)."""
    spread = np.interp(index, calibration["index"], calibration["spread"])
    low, high = at_least(calibration, (1 - level) / 2), at_most(calibration, (1 + level) / 2)
    with np.errstate(invalid="ignore"):
        ends = [np.where(spread > 0, spread * end, 0.0) for end in (low, high)]
    interval: FloatArray = fitted[:, None] + np.column_stack(ends)
    return interval
