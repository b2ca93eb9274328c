"""A design in other coordinates of w, as structures with a norm of their own need it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .base import FloatArray
from .checks import check_length
from .scaled import ScaledDesign, sweep_through
from .sweep import Sweep, Visit


class Coordinates(Protocol):
    """A symmetric linear map from coordinates to w."""

    def from_coordinates(self, z: FloatArray) -> FloatArray: ...


class MappedDesign:
    """X T, where w = T z, without a copy of X."""

    def __init__(self, design: ScaledDesign, coordinates: Coordinates) -> None:
        self.design = design
        self.coordinates = coordinates

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.shape

    def matvec(self, w: FloatArray) -> FloatArray:
        check_length(w, self.shape[1], "w")
        return self.design.matvec(self._map(w))

    def rmatvec(self, r: FloatArray) -> FloatArray:
        return self._map(self.design.rmatvec(r))

    def column_moments(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Costs a product for each column; nothing in a fit asks for it."""
        check_length(weight, self.shape[0], "weight")
        mean, variance = np.empty(self.shape[1]), np.empty(self.shape[1])
        for j in range(self.shape[1]):
            column = self.matvec(np.eye(1, self.shape[1], j).ravel())
            # From the first entry, so that a constant column has no variance at all.
            shifted = column - column[0]
            mean[j] = column[0] + weight @ shifted
            variance[j] = weight @ (shifted - weight @ shifted) ** 2
        return mean, variance

    def in_units_of_X(self, w: FloatArray) -> FloatArray:
        """Return the coefficients of the columns of X."""
        return self.design.in_units_of_X(self._map(w))

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        """Return the gradient in these coordinates of one in the columns of X."""
        return self._map(self.design.pull_back(gradient))

    def sweep(self, visit: Visit, y: Any, weight: FloatArray | None = None) -> Sweep:
        return sweep_through(self, visit, y, weight)

    def _map(self, w: FloatArray) -> FloatArray:
        if w.ndim == 1:
            return self.coordinates.from_coordinates(w)
        return np.column_stack([self.coordinates.from_coordinates(column) for column in w.T])
