"""A design whose columns appear several times, as overlapping groups need it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import FloatArray
from .checks import check_length
from .scaled import ScaledDesign, sweep_through
from .sweep import Sweep, Visit


class ExpandedDesign:
    """X[:, columns], without a copy of X; the coefficients of one column of X add up."""

    def __init__(self, design: ScaledDesign, columns: NDArray[np.intp]) -> None:
        self.design = design
        self.columns = columns

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.shape[0], len(self.columns)

    def matvec(self, w: FloatArray) -> FloatArray:
        check_length(w, self.shape[1], "w")
        return self.design.matvec(self._fold(w))

    def rmatvec(self, r: FloatArray) -> FloatArray:
        expanded: FloatArray = self.design.rmatvec(r)[self.columns]
        return expanded

    def column_moments(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, variance = self.design.column_moments(weight)
        return mean[self.columns], variance[self.columns]

    def in_units_of_X(self, w: FloatArray) -> FloatArray:
        """Return the coefficients of the columns of X."""
        return self.design.in_units_of_X(self._fold(w))

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        """Return the gradient in these columns of one in the columns of X."""
        expanded: FloatArray = self.design.pull_back(gradient)[self.columns]
        return expanded

    def sweep(self, visit: Visit, y: Any, weight: FloatArray | None = None) -> Sweep:
        return sweep_through(self, visit, y, weight)

    def _fold(self, w: FloatArray) -> FloatArray:
        folded = np.zeros((self.design.shape[1], *w.shape[1:]))
        np.add.at(folded, self.columns, w)
        return folded
