"""Every output by itself, for the cases in which all of them are solved at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .base import FloatArray, Structure


@dataclass(frozen=True)
class EachOutput(Structure):
    """Applies a structure to each column of w."""

    structure: Structure

    joint = True

    def project(self, w: FloatArray, n_atoms: int | None) -> FloatArray:
        return self._columns(lambda column: self.structure.project(column, n_atoms), w)

    def count_atoms(self, w: FloatArray) -> int:
        return sum(self.structure.count_atoms(column) for column in w.T)

    def check(self, shape: tuple[int, ...]) -> int:
        return self.structure.check(shape[:1])

    @property
    def is_soft(self) -> bool:
        return self.structure.is_soft

    def shrink(self, w: FloatArray, amount: float) -> FloatArray:
        return self._columns(lambda column: self.structure.shrink(column, amount), w)

    def norm(self, w: FloatArray) -> float:
        return sum(self.structure.norm(column) for column in w.T)

    def dual_norm(self, gradient: FloatArray) -> float:
        return max(self.structure.dual_norm(column) for column in gradient.T)

    def _columns(self, function: Callable[[Any], FloatArray], w: FloatArray) -> FloatArray:
        return np.column_stack([function(np.ascontiguousarray(column)) for column in w.T])
