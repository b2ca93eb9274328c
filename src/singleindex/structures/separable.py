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
    def is_free(self) -> NDArray[np.bool_]:
        """Which coordinates are never penalised."""
        free: NDArray[np.bool_] = self.factor == 0
        return free if self.block is None else free[self.block]

    @property
    def is_constrained(self) -> bool:
        """Whether some w are none of the structure, however weak the penalty."""
        return self.lower is not None or self.upper is not None or bool(np.isinf(self.factor).any())

    def bounds_of(self, which: NDArray[np.intp]) -> Separable | None:
        """Return the bounds of some coordinates, without a penalty; None where none of them has any."""
        lower, upper = (None if side is None else side[which] for side in (self.lower, self.upper))
        if lower is None and upper is None:
            return None
        return Separable(np.zeros(len(which)), lower=lower, upper=upper)

    def only(self, support: NDArray[np.intp]) -> Separable:
        """Return the same norm of w that may use the blocks of these coordinates, and no others."""
        used = np.zeros(len(self.factor), dtype=bool)
        used[support if self.block is None else self.block[support]] = True
        return replace(self, factor=np.where(used, self.factor, np.inf))


# ---------------------------------------------------------------- atoms of some sizes, with factors


def amounts(factor: FloatArray, penalty: float) -> FloatArray:
    """Return penalty × factor; infinite factors stay so, whatever the penalty."""
    return penalty * factor if penalty > 0 else np.where(np.isinf(factor), np.inf, 0.0)


def norm_of(size: FloatArray, factor: FloatArray) -> float:
    """Return Σ factor × size, where nothing of an infinite factor is zero."""
    used = size > 0
    return float(size[used] @ factor[used])


def dual_norm_of(pull: FloatArray, factor: FloatArray) -> float:
    """Return the least penalty at which no atom is in use but those that are never penalised."""
    held = factor > 0
    return float(np.max(pull[held] / factor[held], initial=0.0))


def ranks_of(size: FloatArray, factor: FloatArray) -> FloatArray:
    """Return by what atoms are chosen, size / factor; zero for those that are always there, or never."""
    return np.divide(size, factor, out=np.zeros_like(size), where=factor > 0)
