"""X seen through a linear map of w: scaled, repeated or mixed columns, without a copy of X."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .arrays import FloatArray
from .base import Design
from .checks import check_length
from .columns import Columns, Positions, as_positions
from .convert import as_design
from .sweep import Sweep, Visit

# Powers of two beyond which the square of a factor may be no number.
_EXTREME = 400


class LinearMap(Protocol):
    """From the coordinates in which w is learned to the coefficients of the columns of X."""

    def width(self, n_features: int) -> int:
        """Return how many coordinates there are."""
        ...

    def to_features(self, z: FloatArray) -> FloatArray:
        """Return the coefficients of the columns of X."""
        ...

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        """Return the gradient in these coordinates of one in those of X, which may be overwritten."""
        ...


@dataclass(frozen=True, eq=False)
class Scaling:
    """Coefficients of columns that were multiplied by `scale`: the preconditioner of CSI."""

    scale: FloatArray

    def width(self, n_features: int) -> int:
        return n_features

    def to_features(self, z: FloatArray) -> FloatArray:
        scaled: FloatArray = (z.T * self.scale).T
        return scaled

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        # In place: fresh memory for a long w costs more than the arithmetic.
        turned = gradient.T
        turned *= self.scale
        return turned.T

    def columns_behind(self, which: Positions) -> tuple[Positions, FloatArray]:
        return which, self.scale[which]


@dataclass(frozen=True, eq=False)
class Chain:
    """Coordinates of coordinates."""

    outer: LinearMap
    inner: LinearMap

    def width(self, n_features: int) -> int:
        return self.inner.width(self.outer.width(n_features))

    def to_features(self, z: FloatArray) -> FloatArray:
        return self.outer.to_features(self.inner.to_features(z))

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        return self.inner.pull_back(self.outer.pull_back(gradient))

    def columns_behind(self, which: Positions) -> tuple[Positions, FloatArray] | None:
        between = columns_behind(self.inner, which)
        behind = None if between is None else columns_behind(self.outer, between[0])
        return None if between is None or behind is None else (behind[0], behind[1] * between[1])


def columns_behind(linear_map: LinearMap, which: Positions) -> tuple[Positions, FloatArray] | None:
    """Return the column of X behind each of some coordinates, and its factor.

    None where coordinates are mixtures of columns, as those of a map are that does not say otherwise.
    """
    found: tuple[Positions, FloatArray] | None
    found = linear_map.columns_behind(which) if hasattr(linear_map, "columns_behind") else None
    return found


@dataclass(frozen=True, eq=False)
class View(Design):
    """X T, where the coefficients of X are T z."""

    design: Design
    linear_map: LinearMap

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.design.shape
        return n, self.linear_map.width(d)

    def matvec(self, w: FloatArray) -> FloatArray:
        check_length(w, self.shape[1], "w")
        return self.design.matvec(self.to_features(w))

    def rmatvec(self, r: FloatArray) -> FloatArray:
        return self.linear_map.pull_back(self.design.rmatvec(r))

    def column_moments(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return them by a product for each column; nothing in a fit asks for it."""
        check_length(weight, self.shape[0], "weight")
        d = self.shape[1]
        mean, variance = np.empty(d), np.empty(d)
        for j in range(d):
            column = self.matvec(np.eye(1, d, j).ravel())
            # From the first entry, so that a constant column has no variance at all.
            shifted = column - column[0]
            mean[j] = column[0] + weight @ shifted
            variance[j] = weight @ (shifted - weight @ shifted) ** 2
        return mean, variance

    def sweep(self, visit: Visit, y: Any, weight: FloatArray | None = None) -> Sweep:
        for name, vector in (("w", visit.w), ("w_old", visit.w_old)):
            check_length(vector, self.shape[1], name)
        w = self.to_features(visit.w)
        w_old = w if visit.w_old is visit.w else self.to_features(visit.w_old)
        sweep = self.design.sweep(replace(visit, w=w, w_old=w_old), y, weight)
        return replace(sweep, gradient=self.linear_map.pull_back(sweep.gradient))

    def take(self, rows: NDArray[np.intp]) -> View:
        return View(self.design.take(rows), self.linear_map)

    def at_hand(self) -> View:
        found = self.design.at_hand()
        return self if found is self.design else View(as_design(found), self.linear_map)

    def columns(self, which: Positions) -> FloatArray:
        return super().columns(which) if self._behind(which) is None else self.pack(which).toarray()

    def pack(self, which: Positions) -> Columns:
        behind = self._behind(which)
        return super().pack(which) if behind is None else self.design.pack(behind[0]).times(behind[1])

    def combine(self, which: Positions, w: FloatArray) -> FloatArray:
        behind = self._behind(which)
        if behind is None:
            return super().combine(which, w)
        columns, factor = behind
        return self.design.combine(columns, factor[:, None] * w)

    def row_products(self, which: Positions, factor: FloatArray) -> FloatArray:
        behind = self._behind(which)
        if behind is None:
            return super().row_products(which, factor)
        return self.design.row_products(behind[0], factor * behind[1])

    def gram(self, which: Positions, weight: FloatArray) -> FloatArray:
        behind = self._behind(which)
        if behind is None:
            return super().gram(which, weight)
        columns, factor = behind
        if np.abs(np.frexp(factor)[1]).max(initial=0) > _EXTREME:
            return super().gram(which, weight)  # squares of the columns themselves may be no numbers
        return self.design.gram(columns, weight) * np.outer(factor, factor)

    def _behind(self, which: Positions) -> tuple[Positions, FloatArray] | None:
        return columns_behind(self.linear_map, as_positions(which, self.shape[1]))

    def to_features(self, w: FloatArray) -> FloatArray:
        """Return the coefficients in the units of X."""
        return self.linear_map.to_features(w)

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        """Return the gradient in these coordinates of one in the columns of X."""
        return self.linear_map.pull_back(gradient.copy())


def column_factors(variance: FloatArray, power: float, unit: FloatArray | None = None) -> FloatArray:
    r"""Return the factors :math:`1 / (s\,(\sigma_j / s)^\gamma)`, s the root mean square of the σ.

    With `power` γ = 1 every column gets unit variance, with γ = 0 all are divided by the same number, so
    that their mean variance is one; γ = ½ is between the two. Constant columns get the factor 0.

    `unit` says that the variances are those of columns multiplied by it, as they themselves would overflow.
    """
    sd = np.sqrt(variance) if unit is None else np.sqrt(variance) / unit
    used = sd > 0
    scale = np.zeros_like(sd)
    if power == 1:  # without a detour by the others: columns in units of powers of two are then the same
        with np.errstate(over="ignore"):
            scale[used] = 1 / sd[used]
        return scale
    if used.any():
        with np.errstate(all="ignore"):  # what is too large or too small is for the caller to see
            if unit is None:
                typical = np.sqrt(np.mean(variance[used]))
                scale[used] = 1 / (typical * (sd[used] / typical) ** power)
            else:
                # By logarithms: of units so far apart even the ratios need not be numbers.
                top = np.max(sd)
                of_typical = np.log2(top) + 0.5 * np.log2(np.mean(np.square(sd[used] / top)))
                scale[used] = np.exp2(-power * np.log2(sd[used]) - (1 - power) * of_typical)
    return scale
