"""How a link is fitted to (index, y): learned by LPAV or PAV, or known up to an offset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from .curve import MonotoneCurve
from .lpav import fit_lpav

FloatArray = NDArray[np.float64]
Link = Callable[[ArrayLike], FloatArray]


class LinkFitter(Protocol):
    """Fits a link whose weighted residuals sum to zero, which makes centring X superfluous."""

    @property
    def slope(self) -> float:
        """The largest slope a fitted link can have; it bounds the curvature of the loss."""
        ...

    @property
    def is_learned(self) -> bool:
        """Whether the link adapts to any scale of the index, so that only its direction matters."""
        ...

    def fit(
        self, index: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None
    ) -> tuple[Any, FloatArray]:
        """Return the link, a callable, and its values at `index`."""
        ...


@dataclass(frozen=True)
class Lpav:
    """A learned monotone link of slope at most `lipschitz`."""

    lipschitz: float = 1.0

    is_learned = True

    @property
    def slope(self) -> float:
        # Without a bound there is none to give: the index is then scaled to a mean slope of one.
        return self.lipschitz if np.isfinite(self.lipschitz) else 1.0

    def fit(
        self, index: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None
    ) -> tuple[MonotoneCurve, FloatArray]:
        knots, values, fitted = fit_lpav(index, y, sample_weight, self.lipschitz)
        return MonotoneCurve(knots, values), fitted


class Pav(Lpav):
    """A learned monotone link without a bound on its slope: plain isotonic regression."""

    def __init__(self) -> None:
        super().__init__(lipschitz=np.inf)


# Known links with their largest slope.
FIXED_LINKS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "identity": (lambda index: index, 1.0),
    "logistic": (expit, 0.25),
    "tanh": (np.tanh, 1.0),
}


@dataclass(frozen=True)
class ShiftedLink:
    """A known increasing link behind an offset: `link(index + offset)`.

    `name` is a key of `FIXED_LINKS` or a vectorised function.
    """

    name: str | Callable[[Any], Any]
    offset: float = 0.0

    def __call__(self, index: ArrayLike) -> FloatArray:
        function = self.name if callable(self.name) else FIXED_LINKS[self.name][0]
        return np.asarray(function(np.asarray(index, dtype=np.float64) + self.offset))

    def check(self) -> None:
        """Raise where this is no link: for what comes from a file."""
        if self.name not in FIXED_LINKS or not np.isfinite(self.offset):
            raise ValueError(f"a known link has a name and an offset, got {self.name!r} and {self.offset!r}.")

    def shift(self, by: float) -> ShiftedLink:
        """Return the link of an index that has been moved by `by`."""
        return ShiftedLink(self.name, self.offset - by)

    def rescale(self, by: float) -> ShiftedLink:
        """Return the identity link in other units of y."""
        if self.name != "identity":
            raise ValueError("only the identity link keeps its shape when y is rescaled.")
        return ShiftedLink(self.name, self.offset * by)

    def crossing(self, level: float) -> float:
        """Return the largest index at which the link is not above `level`."""
        return find_root(lambda index: float(self(index)) - level, -self.offset)


@dataclass(frozen=True)
class FixedLink:
    """A known increasing link; only its offset, an intercept, is fitted.

    `name` is one of "identity", "logistic", "tanh", or an increasing vectorised function, whose
    largest slope is then given as `slope_bound`.
    """

    name: str | Callable[[Any], Any] = "identity"
    slope_bound: float | None = None

    is_learned = False

    @property
    def slope(self) -> float:
        if self.slope_bound is not None:
            return self.slope_bound
        return 1.0 if callable(self.name) else FIXED_LINKS[self.name][1]

    def fit(
        self, index: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None
    ) -> tuple[ShiftedLink, FloatArray]:
        mean = float(np.average(y, weights=sample_weight))
        centre = float(np.average(index, weights=sample_weight))

        if callable(self.name):
            with np.errstate(all="ignore"):
                check_link_values(index, ShiftedLink(self.name)(index))

        def excess(offset: float) -> float:
            fitted = ShiftedLink(self.name, offset)(index)
            return float(np.average(fitted, weights=sample_weight)) - mean

        offset = mean - centre if self.name == "identity" else find_root(excess, -centre)
        link = ShiftedLink(self.name, offset)
        fitted = link(index)
        if callable(self.name):
            check_link_values(index, fitted)
        return link, fitted


def check_link_values(index: FloatArray, fitted: FloatArray) -> None:
    """Raise where a function given as a link is not one."""
    if fitted.shape != index.shape or not np.isfinite(fitted).all():
        raise ValueError(
            "the link function must return a finite value for every number, in an array of the same shape; "
            "it did not. Functions that are not defined everywhere, such as a logarithm, cannot be links."
        )
    if (np.diff(fitted[np.argsort(index, kind="stable")]) < -1e-9 * np.ptp(fitted)).any():
        raise ValueError("the link function must not fall anywhere; use its negative, or another function.")


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
