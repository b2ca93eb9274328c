"""Sparse w: the atoms are the signed unit vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import FloatArray


@dataclass(frozen=True)
class Sparse:
    """At most `n_atoms` coefficients are not zero.

    Examples
    --------
    >>> import numpy as np
    >>> from singleindex.structures import Sparse
    >>> Sparse().project(np.array([3.0, -1.0, 2.0, -4.0]), n_atoms=2)
    array([ 3.,  0.,  0., -4.])
    """

    def project(self, w: FloatArray, n_atoms: int | None) -> FloatArray:
        return project_sparse(w, w.size if n_atoms is None else n_atoms)

    def count_atoms(self, w: FloatArray) -> int:
        return int(np.count_nonzero(w))

    def check(self, shape: tuple[int, ...]) -> int:
        return int(np.prod(shape))


def project_sparse(w: FloatArray, n_atoms: int) -> FloatArray:
    r"""Project `w` onto the vectors with at most `n_atoms` non-zeros.

    Solves :math:`\min_v \|v - w\|_2` subject to :math:`\|v\|_0 \le s`, the projection step of CSI.
    Equal magnitudes keep the lowest index, so reruns agree bit for bit. Linear time.
    """
    if n_atoms >= w.size:
        return w.copy()
    projected = np.zeros_like(w)
    if n_atoms == 0:
        return projected
    size = np.abs(w).ravel()
    threshold = np.partition(size, w.size - n_atoms)[w.size - n_atoms]
    keep = np.flatnonzero(size > threshold)
    ties = np.flatnonzero(size == threshold)[: n_atoms - len(keep)]
    for chosen in (keep, ties):
        projected.flat[chosen] = w.flat[chosen]
    return projected
