"""Sparse w: the atoms are the signed unit vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import FloatArray, Structure, keep_largest
from .separable import Separable


@dataclass(frozen=True)
class Sparse(Structure):
    """At most `n_atoms` coefficients are not zero.

    Parameters
    ----------
    positive : bool, default=False
        No coefficient is negative: the atoms are the unit vectors without their negatives.

    Examples
    --------
    >>> import numpy as np
    >>> from singleindex.structures import Sparse
    >>> w = np.array([3.0, -1.0, 2.0, -4.0])
    >>> Sparse().project(w, n_atoms=2)
    array([ 3.,  0.,  0., -4.])
    >>> Sparse(positive=True).project(w, n_atoms=2)
    array([3., 0., 2., 0.])
    >>> Sparse().shrink(w, 1.5)
    array([ 1.5,  0. ,  0.5, -2.5])
    """

    positive: bool = False

    def project(self, w: FloatArray, n_atoms: int | None) -> FloatArray:
        w = np.maximum(w, 0) if self.positive else w
        return project_sparse(w, w.size if n_atoms is None else n_atoms)

    def count_atoms(self, w: FloatArray) -> int:
        return int(np.count_nonzero(w))

    def check(self, shape: tuple[int, ...]) -> int:
        return int(np.prod(shape))

    def shrink(self, w: FloatArray, amount: float) -> FloatArray:
        if self.positive:
            return np.maximum(w - amount, 0)
        # What is within the amount of zero becomes zero, anything else moves by it.
        within = np.clip(w, -amount, amount)
        return np.subtract(w, within, out=within)

    def separable(self, n_coordinates: int) -> Separable:
        lower = np.zeros(n_coordinates) if self.positive else None
        return Separable(np.ones(n_coordinates), lower=lower)

    def norm(self, w: FloatArray) -> float:
        return float(np.abs(w).sum())

    def dual_norm(self, gradient: FloatArray) -> float:
        return float(np.max(gradient if self.positive else np.abs(gradient), initial=0.0))


def project_sparse(w: FloatArray, n_atoms: int) -> FloatArray:
    r"""Project `w` onto the vectors with at most `n_atoms` non-zeros.

    Solves :math:`\min_v \|v - w\|_2` subject to :math:`\|v\|_0 \le s`, the projection step of CSI.
    Equal magnitudes keep the lowest index, so reruns agree bit for bit.
    """
    if n_atoms >= w.size:
        return w.copy()
    projected = np.zeros_like(w)
    keep = keep_largest(np.abs(w).ravel(), n_atoms)
    projected.flat[keep] = w.flat[keep]
    return projected
