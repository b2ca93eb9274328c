"""What is asked of w beside a small error: few atoms, a small norm, a ridge."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..structures import Structure
from .result import FloatArray


@dataclass(frozen=True)
class Simplicity:
    """How simple w has to be, and what follows for a step.

    Parameters
    ----------
    structure : Structure
    slope : float
        The largest slope L of the link, which bounds the curvature of the loss.
    n_atoms : int or None
        None for no limit.
    alpha : float
        The ridge λ of the paper.
    penalty : float
        Weight of the atomic norm.
    """

    structure: Structure
    slope: float
    n_atoms: int | None = None
    alpha: float = 0.0
    penalty: float = 0.0

    def for_one_fit(self) -> Simplicity:
        """Return a copy whose structure may carry something from one projection to the next."""
        return replace(self, structure=self.structure.fresh())

    def largest_penalty(self, correlation: FloatArray) -> float:
        """Return the least penalty at which w is zero, where Xᵀ(y − ȳ)/n is `correlation`."""
        return float(self.structure.dual_norm(correlation))

    def simplify(self, w: FloatArray, step: float) -> FloatArray:
        """Soft thresholding where there is a penalty, then the projection."""
        if self.penalty > 0:
            w = self.structure.shrink(w, step * self.penalty)
        projected: FloatArray = self.structure.project(w, self.n_atoms)
        return projected

    def step_size(self, length: float, spread: float) -> float:
        """Return that of the quadratic which bounds the loss along a move of this squared length.

        `spread` is the variance of the move of the index.
        """
        curvature = self.slope * spread + self.alpha * length
        return length / curvature if curvature > 0 else 0.0

    def objective(self, w: FloatArray, mse: float) -> float:
        r"""Return :math:`\tfrac12(\mathrm{mse} + \alpha L\|w\|^2) + L \mathrm{penalty} \|w\|_A`."""
        objective = 0.5 * (mse + self.alpha * self.slope * squared_length(w))
        if self.penalty > 0:
            objective += self.slope * self.penalty * self.structure.norm(w)
        return objective

    def count_atoms(self, w: FloatArray) -> int:
        return self.structure.count_atoms(w)


def squared_length(w: FloatArray) -> float:
    # Not by BLAS: for long vectors it wakes its threads, which costs more than the product.
    return float(np.square(w).sum())
