"""What a link is, and what fits one: the base classes of links of one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


class Link:
    """An increasing function from index to prediction; one of one's own has `__call__` alone.

    Attributes
    ----------
    name : str or function
        What to call it.
    knots_ : array of shape (n_knots, 2) or None
        The corners of a link that is piecewise linear.
    offset : float
        What is added to the index before anything else.
    """

    name: Any = "own"
    knots_: Any = None
    offset: float = 0.0

    def __call__(self, index: ArrayLike) -> FloatArray:
        raise NotImplementedError(f"{type(self).__name__} needs a method __call__(index).")

    def shift(self, by: float) -> Link:
        """Return the link of an index that has been moved by `by`."""
        return AdjustedLink(self).shift(by)

    def rescale(self, by: float) -> Link:
        """Return the link with both axes multiplied by `by` > 0: the same slopes in other units of y."""
        return AdjustedLink(self).rescale(by)

    def clip(self, low: float, high: float) -> Link:
        """Return the link with its values kept within bounds."""
        return AdjustedLink(self).clip(low, high)

    def crossing(self, level: float) -> float:
        """Return the largest index at which the link is not above `level`."""
        return find_root(lambda index: float(self(index)) - level, 0.0)


@dataclass(frozen=True)
class AdjustedLink(Link):
    """Another link, moved, in other units, and within bounds."""

    link: Link
    offset: float = 0.0
    unit: float = 1.0
    low: float = -np.inf
    high: float = np.inf

    @property
    def name(self) -> Any:
        return self.link.name

    def __call__(self, index: ArrayLike) -> FloatArray:
        inner = (np.asarray(index, dtype=np.float64) + self.offset) / self.unit
        return np.clip(self.unit * self.link(inner), self.low, self.high)

    def shift(self, by: float) -> Link:
        return replace(self, offset=self.offset - by)

    def rescale(self, by: float) -> Link:
        return replace(
            self, offset=self.offset * by, unit=self.unit * by, low=self.low * by, high=self.high * by
        )

    def clip(self, low: float, high: float) -> Link:
        # Bounds that were there before are values too.
        return replace(self, low=min(max(self.low, low), high), high=max(min(self.high, high), low))


class LinkFitter:
    """Fits a link whose weighted residuals sum to zero, which makes centring X superfluous.

    A fitter of one's own inherits from this class and has `fit`; the rest has defaults.

    Attributes
    ----------
    is_learned : bool, default=True
        Whether the link adapts to any scale of the index, so that only its direction matters.
    is_free : bool, default=False
        Whether any rising curve is as good as another before the data are asked.
    is_bounded : bool, default=False
        Whether `slope` really bounds the link, so that a short w means a flat link; then `at_slope` is there.
    slope : float, default=1.0
        The largest slope a fitted link can have; it bounds the curvature of the loss.
    takes_any_unit : bool, default=True
        Whether y in other units has the same link in other units.
    """

    is_learned: ClassVar[bool] = True
    is_free: ClassVar[bool] = False

    @property
    def is_bounded(self) -> bool:
        return False

    @property
    def slope(self) -> float:
        return 1.0

    @property
    def takes_any_unit(self) -> bool:
        return True

    def fit(
        self, index: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None
    ) -> tuple[Any, FloatArray]:
        """Return the link, a :class:`Link`, and its values at `index`."""
        raise NotImplementedError(f"{type(self).__name__} needs a method fit(index, y, sample_weight).")

    def curvature(self, fitted: FloatArray) -> FloatArray | None:
        """Return the slope of the link where it has these values, None where `slope` is all that is known."""
        return None

    def of_output(self) -> LinkFitter:
        """Return what fits the link of one output, where this one fits those of several."""
        return self

    def at_slope(self, slope: float) -> LinkFitter:
        """Return the fitter of links with this largest slope."""
        return self

    def fitted_at(self, knots: FloatArray, y: FloatArray, weight: FloatArray, slope: float) -> FloatArray:
        """Return the values at sorted and distinct points of the link with this largest slope."""
        return self.at_slope(slope).fit(knots, y, weight)[1]

    def cautious(self) -> LinkFitter:
        """Return what fits the link of a finished w to probabilities that are to be believed."""
        return self


def find_root(function: Callable[[float], float], guess: float) -> float:
    """Return the largest point where an increasing function is not above zero.

    Where it has no zero, a point far out on the side where it comes nearest.
    """
    low, high, reach = guess - 1.0, guess + 1.0, 1.0
    while reach < 1e6 and (function(low) > 0 or function(high) <= 0):
        reach *= 2
        low = low if function(low) <= 0 else guess - reach
        high = high if function(high) > 0 else guess + reach
    if function(low) > 0 or function(high) <= 0:
        return low if function(low) > 0 else high
    # Enough to halve any interval of numbers down to two neighbours.
    for _ in range(2200):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        low, high = (middle, high) if function(middle) <= 0 else (low, middle)
    return low
