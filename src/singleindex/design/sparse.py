"""Sparse data, held by columns so that a sparse w reads only its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._products import csc_matvec, csc_moments, csc_rmatvec
from ._sweep import csr_rmatvec
from .arrays import FloatArray
from .base import Design, by_outputs
from .checks import as_parts, as_sound, as_vector, check_numbers


class SparseDesign(Design):
    """A scipy sparse matrix or array. CSC is used in place, any other format is converted once.

    Where the rows are at hand as well, as in CSR, the gradient is taken from them: columns are short, and a
    processor cannot guess where each of them ends.
    """

    def __init__(self, X: Any) -> None:
        check_numbers(X)
        X = as_sound(X)
        self.X = X.tocsc()
        # The given matrix remembers what it was found to be; its copy would be looked at every time.
        if not (getattr(X, "has_canonical_format", False) or self.X.has_canonical_format):
            self.X = self.X.copy()
            self.X.sum_duplicates()
        self._parts = as_parts(self.X)
        self._rows = as_parts(X) if X.format == "csr" else None

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return n, d

    def matvec(self, w: FloatArray) -> FloatArray:
        if w.ndim == 2:
            return by_outputs(self.matvec, w, self.shape[0])
        out = np.zeros(self.shape[0])
        csc_matvec(*self._parts, as_vector(w, self.shape[1], "w"), out)
        return out

    def rmatvec(self, r: FloatArray) -> FloatArray:
        if r.ndim == 2:
            return by_outputs(self.rmatvec, r, self.shape[1])
        out = np.zeros(self.shape[1])
        product, parts = (csc_rmatvec, self._parts) if self._rows is None else (csr_rmatvec, self._rows)
        product(*parts, as_vector(r, self.shape[0], "r"), out)
        return out

    def column_moments(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, variance = np.empty(self.shape[1]), np.empty(self.shape[1])
        weight = as_vector(weight, self.shape[0], "weight")
        csc_moments(*self._parts, weight, np.count_nonzero(weight), mean, variance)
        return mean, variance

    def take(self, rows: NDArray[np.intp]) -> SparseDesign:
        return SparseDesign(self.X[rows])

    def columns(self, which: NDArray[np.intp]) -> FloatArray:
        return np.asfortranarray(self.X[:, which].toarray(), dtype=np.float64)

    def combine(self, which: NDArray[np.intp], w: FloatArray) -> FloatArray:
        return np.asarray(self.X[:, which] @ w)

    def gram(self, which: NDArray[np.intp], weight: FloatArray) -> FloatArray:
        # Without a dense copy: products of what is stored, about zero, less those of the means.
        weight = as_vector(weight, self.shape[0], "weight")
        some = self.X[:, which].astype(np.float64)
        mean = np.asarray(some.T @ weight)
        squares: FloatArray = (some.T @ some.multiply(weight[:, None]).tocsc()).toarray()
        return squares - np.outer(mean, mean)
