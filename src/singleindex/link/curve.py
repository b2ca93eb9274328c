"""The fitted link: a monotone, piecewise linear curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


class MonotoneCurve:
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
        self.x: FloatArray = np.asarray(x, dtype=np.float64)
        self.y: FloatArray = np.asarray(y, dtype=np.float64)

    def __call__(self, index: ArrayLike) -> FloatArray:
        index = np.asarray(index)
        return np.interp(index, self.x, self.y)

    @property
    def knots_(self) -> FloatArray:
        keep = np.ones(len(self.x), dtype=bool)
        if len(self.x) > 2:
            keep[1:-1] = ~_on_the_chord(self.x, self.y)
        return np.column_stack([self.x[keep], self.y[keep]])

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


def _on_the_chord(x: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
    """Whether each inner point lies on the line between its neighbours, up to rounding."""
    left_rise, right_rise = np.diff(y)[:-1], np.diff(y)[1:]
    left, right = np.diff(x)[:-1], np.diff(x)[1:]
    rounding = 8 * np.finfo(np.float64).eps * np.max(np.abs(y))
    bend = np.abs(left_rise * right - right_rise * left)
    on_chord: NDArray[np.bool_] = bend <= rounding * (left + right)
    return on_chord
