"""What coordinate descent needs to know of a structure: a penalty that is a sum over blocks of w."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Separable:
    """The norm Σ factor_b ‖w_b‖ over disjoint blocks of coordinates, within bounds.

    Attributes
    ----------
    factor : array of shape (n_blocks,)
        What the penalty of each block is multiplied by: 0 for one that is never penalised, infinity for one
        that is left out.
    block : array of shape (n_coordinates,) or None
        The block of each coordinate, as a number; None where every coordinate is one. With several outputs
        a coordinate is a row of w.
    lower, upper : array of shape (n_coordinates,) or None
        Bounds of the coefficients, lower ≤ 0 ≤ upper; None for no bounds. With blocks, or with several
        outputs, there are none.
    """

    factor: FloatArray
    block: NDArray[np.intp] | None = None
    lower: FloatArray | None = None
    upper: FloatArray | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether there are bounds."""
        return not (self.lower is None and self.upper is None)

    def only(self, support: NDArray[np.intp]) -> Separable:
        """Return the same norm of w that may use the blocks of these coordinates, and no others."""
        used = np.zeros(len(self.factor), dtype=bool)
        used[support if self.block is None else self.block[support]] = True
        return replace(self, factor=np.where(used, self.factor, np.inf))
