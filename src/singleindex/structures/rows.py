"""Row-sparse w: all outputs use the same features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import FloatArray, Structure, keep_largest
from .separable import Separable


@dataclass(frozen=True)
class RowSparse(Structure):
    """At most `n_atoms` rows of w, of shape (n_features, n_outputs), are not zero.

    For y with several columns: multi-task regression and multi-label classification that share their
    features. With one output it is the same as `Sparse()`.

    Examples
    --------
    >>> import numpy as np
    >>> from singleindex.structures import RowSparse
    >>> RowSparse().project(np.array([[1.0, 1.0], [0.0, 3.0], [0.5, 0.0]]), n_atoms=1)
    array([[0., 0.],
           [0., 3.],
           [0., 0.]])
    """

    joint = True

    def project(self, w: FloatArray, n_atoms: int | None) -> FloatArray:
        projected = np.zeros_like(w)
        keep = keep_largest(row_norms(w), len(w) if n_atoms is None else n_atoms)
        projected[keep] = w[keep]
        return projected

    def count_atoms(self, w: FloatArray) -> int:
        return int(np.count_nonzero(w.any(axis=1) if w.ndim == 2 else w))

    def check(self, shape: tuple[int, ...]) -> int:
        return shape[0]

    def shrink(self, w: FloatArray, amount: float) -> FloatArray:
        return scale_rows(w, shrink_factors(row_norms(w), amount))

    def separable(self, n_coordinates: int) -> Separable:
        return Separable(np.ones(n_coordinates))

    def norm(self, w: FloatArray) -> float:
        return float(row_norms(w).sum())

    def dual_norm(self, gradient: FloatArray) -> float:
        return float(np.max(row_norms(gradient), initial=0.0))


def row_norms(w: FloatArray) -> FloatArray:
    norms: FloatArray = np.abs(w) if w.ndim == 1 else np.sqrt(np.square(w).sum(axis=1))
    return norms


def scale_rows(w: FloatArray, factors: FloatArray) -> FloatArray:
    scaled: FloatArray = (w.T * factors.astype(w.dtype, copy=False)).T
    return scaled


def shrink_factors(norms: FloatArray, amount: float | FloatArray) -> FloatArray:
    """Return the factors that shorten vectors of these lengths by `amount`, to zero at the least."""
    left = np.maximum(norms - amount, 0)
    return np.divide(left, norms, out=np.zeros_like(norms), where=norms > 0)
