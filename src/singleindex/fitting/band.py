"""A band for E[y | index], from rows whose index was found without them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from ..solvers.result import FloatArray

# Rows in a window, as a multiple of n^(2/3), and which part of it lies beyond the point on the side where a
# rising curve would spoil the limit. With no such part limits hold for any rising curve, and are wide.
_WINDOW, _BEYOND = 1.2, 0.35
# Rows in a window at the ends, at least.
_LEAST = 8
# Points at which limits are computed; between them they are straight.
_POINTS = 400


@dataclass(frozen=True, eq=False)
class Windows:
    """Responses in the order of their index, summed up, so that any window costs nothing.

    Attributes
    ----------
    index, total : array of shape (n,)
        The sorted index, and how many rows there are up to each, by weight.
    sums, squares : array of shape (n + 1,)
        Of the responses and their squares before each row.
    is_binary : bool
    """

    index: FloatArray
    total: FloatArray
    sums: FloatArray
    squares: FloatArray
    is_binary: bool

    def limits(self, at: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper limits of the mean response at some values of the index.

        A rising curve is below its value here in what lies to the left: a lower limit for the mean over a
        window there is one for the value, and likewise to the right. Windows reach a little beyond, but not
        at the end of a plateau at 0 or 1, where one row from beyond would end it.
        """
        n = float(self.total[-1])
        here = np.concatenate([[0.0], self.total])[np.searchsorted(self.index, at, side="right")]
        size = max(_WINDOW * n ** (2 / 3), _LEAST)
        near, far = _BEYOND * size, (1 - _BEYOND) * size
        first, last = np.maximum(here - far, 0), np.minimum(here + near, n)
        low, _ = self._interval(first, np.maximum(last, np.minimum(first + _LEAST, n)), level)
        at_zero = self.is_binary & (self._sum(self.sums, first, here) <= 0)
        first, last = np.maximum(here - near, 0), np.minimum(here + far, n)
        _, high = self._interval(np.minimum(first, np.maximum(last - _LEAST, 0)), last, level)
        at_one = self.is_binary & (self._sum(self.sums, here, last) >= (last - here) - 1e-9)
        return np.where(at_zero, 0.0, low), np.where(at_one, 1.0, high)

    def _sum(self, sums: FloatArray, first: FloatArray, last: FloatArray) -> FloatArray:
        """Return the sum over the rows between two counts of them."""
        before = np.concatenate([[0.0], self.total])
        summed: FloatArray = np.interp(last, before, sums) - np.interp(first, before, sums)
        return summed

    def _interval(self, first: FloatArray, last: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Return limits for the mean of the rows between two counts of them."""
        number = np.maximum(last - first, 1e-300)
        mean, square = (self._sum(sums, first, last) / number for sums in (self.sums, self.squares))
        if self.is_binary:
            return wilson(mean, number, level)
        variance = np.maximum(square - mean**2, 0) / np.maximum(number - 1, 1)
        half = stdtrit(np.maximum(number - 1, 1), (1 + level) / 2) * np.sqrt(variance)
        return mean - half, mean + half


def wilson(mean: FloatArray, number: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's interval for a share: it has a width where all rows agree."""
    z = float(ndtri((1 + level) / 2))
    shrink = 1 + z**2 / number
    centre = (mean + z**2 / (2 * number)) / shrink
    half = z / shrink * np.sqrt(np.maximum(mean * (1 - mean), 0) / number + (z / (2 * number)) ** 2)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def make_windows(index: FloatArray, y: FloatArray, weight: FloatArray | None) -> Windows:
    """Return the windows of some rows; rows of the same index are one."""
    weight = np.ones(len(y)) if weight is None else weight
    known = np.isfinite(index) & (weight > 0)
    index, y, weight = index[known], y[known], weight[known]
    places, which = np.unique(index, return_inverse=True)
    number, sums, squares = (np.bincount(which, v) for v in (weight, weight * y, weight * y**2))
    return Windows(
        places,
        np.cumsum(number),
        np.concatenate([[0.0], np.cumsum(sums)]),
        np.concatenate([[0.0], np.cumsum(squares)]),
        bool(np.isin(y, (0.0, 1.0)).all()),
    )


def band_at(windows: Windows, index: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper limits at any index: rising curves, level beyond the rows there are.

    Limits of a rising curve that cross one another are put in order, which brings them no farther from it
    (Chernozhukov, Fernández-Val & Galichon, 2009).
    """
    points = windows.index
    if len(points) > _POINTS:
        points = np.quantile(points, np.linspace(0, 1, _POINTS))
    low, high = (np.sort(side) for side in windows.limits(points, level))
    return np.interp(index, points, low), np.interp(index, points, high)
