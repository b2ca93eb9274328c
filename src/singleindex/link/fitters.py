"""How a link is fitted to (index, y): learned by LPAV or PAV, or known up to an offset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from .base import FloatArray, Link, LinkFitter, find_root
from .curve import MonotoneCurve
from .lpav import fit_lpav, solve_merged


@dataclass(frozen=True)
class Lpav(LinkFitter):
    """A learned monotone link of slope at most `lipschitz`."""

    lipschitz: float = 1.0

    is_free: ClassVar[bool] = True

    @property
    def is_bounded(self) -> bool:
        return bool(np.isfinite(self.lipschitz))

    @property
    def slope(self) -> float:
        # Without a bound there is none to give: the index is then scaled to a mean slope of one.
        return self.lipschitz if np.isfinite(self.lipschitz) else 1.0

    def fit(
        self, index: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None
    ) -> tuple[MonotoneCurve, FloatArray]:
        knots, values, fitted = fit_lpav(index, y, sample_weight, self.lipschitz)
        return MonotoneCurve(knots, values), fitted

    def at_slope(self, slope: float) -> Lpav:
        return Lpav(slope)

    def fitted_at(self, knots: FloatArray, y: FloatArray, weight: FloatArray, slope: float) -> FloatArray:
        return solve_merged(knots, y, weight, slope)

    def cautious(self) -> LinkFitter:
        from .cautious import CautiousLpav  # it is a kind of this

        return CautiousLpav(self.lipschitz)


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
class ShiftedLink(Link):
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
            raise ValueError(
                f"a known link is one of {sorted(FIXED_LINKS)} with a finite offset, got {self.name!r} and "
                f"{self.offset!r}."
            )

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
class FixedLink(LinkFitter):
    """A known increasing link; only its offset, an intercept, is fitted.

    `name` is one of "identity", "logistic", "tanh", or an increasing vectorised function, whose
    largest slope is then given as `slope_bound`.
    """

    name: str | Callable[[Any], Any] = "identity"
    slope_bound: float | None = None

    is_learned: ClassVar[bool] = False

    @property
    def slope(self) -> float:
        if self.slope_bound is not None:
            return self.slope_bound
        return 1.0 if callable(self.name) else FIXED_LINKS[self.name][1]

    @property
    def takes_any_unit(self) -> bool:
        return self.name == "identity"

    def curvature(self, fitted: FloatArray) -> FloatArray | None:
        return fitted * (1 - fitted) if self.name == "logistic" else None

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

        if self.name == "identity":
            offset = mean - centre
        elif self.name == "logistic" and 0 < mean < 1:
            offset = logistic_offset(index, mean, sample_weight)
        else:
            offset = find_root(excess, -centre)
        link = ShiftedLink(self.name, offset)
        fitted = link(index)
        if callable(self.name):
            check_link_values(index, fitted)
        return link, fitted


def logistic_offset(index: FloatArray, mean: float, weight: FloatArray | None) -> float:
    """Return the offset at which the mean of a logistic curve is `mean`, between 0 and 1.

    Newton's steps, or halves of what is left where they would leave it.
    """
    share = np.full(len(index), 1 / len(index)) if weight is None else weight / weight.sum()
    level = float(np.log(mean / (1 - mean)))
    low, high = level - float(np.max(index)), level - float(np.min(index))
    offset = min(max(level - float(share @ index), low), high)
    for _ in range(100):
        p = expit(index + offset)
        excess = float(share @ p) - mean
        if excess > 0:
            high = offset
        else:
            low = offset
        slope = float(share @ (p * (1 - p)))
        moved = offset - excess / slope if slope > 0 else np.inf
        if not low < moved < high:
            moved = 0.5 * (low + high)
        if abs(excess) <= 1e-14 or abs(moved - offset) <= 1e-15 * (1 + abs(offset)):
            break
        offset = moved
    return offset


def check_link_values(index: FloatArray, fitted: FloatArray) -> None:
    """Raise where a function given as a link is not one."""
    if fitted.shape != index.shape or not np.isfinite(fitted).all():
        raise ValueError(
            "the link function must return a finite value for every number, in an array of the same shape; "
            "it did not. Functions that are not defined everywhere, such as a logarithm, cannot be links."
        )
    if (np.diff(fitted[np.argsort(index, kind="stable")]) < -1e-9 * np.ptp(fitted)).any():
        raise ValueError("the link function must not fall anywhere; use its negative, or another function.")
