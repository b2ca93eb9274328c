"""The fitted link: a monotone, piecewise linear curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._certificate import mark_corners
from .base import FloatArray, Link


class MonotoneCurve(Link):
    """A piecewise linear curve through `(x, y)`, constant beyond its ends.

    Parameters
    ----------
    x : array of shape (n_points,)
        Strictly increasing.
    y : array of shape (n_points,)
        Values at `x`.

    Attributes
    ----------
    x, y : arrays of shape (n_points,)
    knots_ : array of shape (n_knots, 2)
        The corners of the curve: the points that cannot be left out without changing it.

    Examples
    --------
    >>> from singleindex.link import MonotoneCurve
    >>> curve = MonotoneCurve([0.0, 1.0, 2.0, 4.0], [0.0, 0.5, 1.0, 1.0])
    >>> curve([-1.0, 0.5, 3.0])
    array([0.  , 0.25, 1.  ])
    >>> curve.knots_
    array([[0., 0.],
           [2., 1.],
           [4., 1.]])
    """

    def __init__(self, x: ArrayLike, y: ArrayLike) -> None:
        self.x: FloatArray = np.ascontiguousarray(x, dtype=np.float64)
        self.y: FloatArray = np.ascontiguousarray(y, dtype=np.float64)
        # The kernels that read them rely on it.
        if self.x.ndim != 1 or self.x.shape != self.y.shape or not len(self.x):
            raise ValueError(
                "x and y of a curve must be lists of numbers of equal length, one number at least; "
                f"got shapes {np.shape(x)} and {np.shape(y)}."
            )

    def check(self) -> None:
        """Raise where this is no monotone curve: for what comes from a file."""
        if not (np.isfinite(self.x).all() and np.isfinite(self.y).all()):
            raise ValueError("a curve must go through finite numbers.")
        # Shifting and scaling may round neighbours to the same number, and the fit rounds its values.
        slack = 1e-9 * np.ptp(self.y) + 8 * np.finfo(np.float64).eps * np.max(np.abs(self.y))
        if (np.diff(self.x) < 0).any() or (np.diff(self.y) < -slack).any():
            raise ValueError("a curve must not fall, and its points must be in order.")

    def __call__(self, index: ArrayLike) -> FloatArray:
        index = np.asarray(index)
        with np.errstate(over="ignore", invalid="ignore"):
            values: FloatArray = np.interp(index, self.x, self.y)
        if not np.isfinite(values).all():
            # numpy goes by slopes, and this one is too large for a number.
            values = np.where(np.isfinite(values), values, self._between(index))
        return values

    def _between(self, index: FloatArray) -> FloatArray:
        """Interpolate by parts of the values on both sides."""
        left = np.clip(np.searchsorted(self.x, index, side="right") - 1, 0, max(len(self.x) - 2, 0))
        right = np.minimum(left + 1, len(self.x) - 1)
        # At the ends of the numbers the difference of two is none; a quarter of it is.
        unit = 1.0 if np.max(np.abs(self.x)) < 2.0**1020 else 0.25
        gap = unit * self.x[right] - unit * self.x[left]
        along = unit * np.clip(index, self.x[0], self.x[-1]) - unit * self.x[left]
        part = np.divide(along, gap, out=np.zeros_like(gap), where=gap > 0).clip(0, 1)
        values: FloatArray = (1 - part) * self.y[left] + part * self.y[right]
        return values

    @property
    def knots_(self) -> FloatArray:
        keep = np.empty(len(self.x), dtype=np.uint8)
        # The largest numbers are at the ends, since it is monotone. Beyond the limit the difference of two is
        # none; a quarter of it is.
        sizes = [max(abs(float(v[0])), abs(float(v[-1]))) for v in (self.x, self.y)]
        units = [1.0 if size < 2.0**1020 else 0.25 for size in sizes]
        x, y = (v if unit == 1 else unit * v for v, unit in zip((self.x, self.y), units, strict=True))
        mark_corners(x, y, 4 * np.finfo(np.float64).eps * sizes[1] * units[1], keep)
        corners = np.flatnonzero(keep)
        knots = np.empty((len(corners), 2))
        knots[:, 0], knots[:, 1] = self.x[corners], self.y[corners]
        return knots

    @property
    def range_(self) -> tuple[float, float]:
        """The smallest and the largest value of the curve."""
        return float(self.y[0]), float(self.y[-1])

    def shift(self, by: float) -> MonotoneCurve:
        """Return the curve of an index that has been moved by `by`."""
        return MonotoneCurve(self.x + by, self.y)

    def clip(self, low: float, high: float) -> MonotoneCurve:
        """Return the curve with its values at the knots kept within bounds."""
        return MonotoneCurve(self.x, np.clip(self.y, low, high))

    def rescale(self, by: float) -> MonotoneCurve:
        """Return the curve with both axes multiplied by `by` > 0: the same slopes in other units of y."""
        return MonotoneCurve(self.x * by, self.y * by)

    def crossing(self, level: float) -> float:
        """Return the largest index at which the curve is not above `level`.

        Where the curve lies wholly above or below it, a point well before or after all knots, so that
        an index somewhat outside of them still falls on the right side.
        """
        beyond = self.x[-1] - self.x[0] + 1.0
        above = np.flatnonzero(self.y > level)
        if len(above) == 0:
            return float(self.x[-1] + beyond)
        i = int(above[0])
        if i == 0:
            return float(self.x[0] - beyond)
        part = (level - self.y[i - 1]) / (self.y[i] - self.y[i - 1])
        return float(self.x[i - 1] + part * (self.x[i] - self.x[i - 1]))

    def __repr__(self) -> str:
        low, high = self.range_
        return (
            f"MonotoneCurve({len(self.knots_)} knots, index {self.x[0]:.4g} to {self.x[-1]:.4g}, "
            f"value {low:.4g} to {high:.4g})"
        )
