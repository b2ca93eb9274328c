"""Sparse data held by rows, for solvers that visit each row once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._sweep import csr_count, csr_keep, csr_matvec, csr_moments, csr_rmatvec, csr_sweep
from .arrays import FloatArray
from .base import Design, by_outputs
from .checks import as_parts, as_sound, as_vector, check_numbers
from .many_products import CsrProducts
from .sparse import SparseDesign
from .sweep import Visit, cut_rows, run_kernel


class CsrDesign(Design):
    """A scipy sparse matrix or array. CSR is used in place, any other format is converted once.

    With `keeps_support` the entries of the columns that w has are copied, and copied anew only when w gets
    other ones: where w is sparse its index then costs next to nothing, and an iteration as much as the
    gradient.
    """

    def __init__(self, X: Any, keeps_support: bool = False) -> None:
        check_numbers(X)
        self.X = as_sound(X).tocsr()
        self._parts = as_parts(self.X)
        self._cuts = cut_rows(*self.shape, self.X.nnz)
        self.keeps_support = keeps_support
        self._kept: NDArray[np.uint8] = np.zeros(self.shape[1], dtype=np.uint8)
        self._kept_parts: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return n, d

    def matvec(self, w: FloatArray) -> FloatArray:
        if w.ndim == 2:
            return by_outputs(self.matvec, w, self.shape[0])
        w, out = as_vector(w, self.shape[1], "w"), np.empty(self.shape[0])
        csr_matvec(*self._parts_for(w), w, out)
        return out

    def _parts_for(self, w: FloatArray) -> Any:
        """Return data, indices and starts of the columns that w has, or of all where these are many."""
        used = w != 0
        if not self.keeps_support or 4 * np.count_nonzero(used) > len(w):
            return self._parts
        if self._kept_parts is None or not self._kept[used].all():
            data, indices, indptr = self._parts
            self._kept, starts = used.astype(np.uint8), np.empty_like(indptr)
            csr_count(indices, indptr, self._kept, starts)
            kept = np.empty(starts[-1] + 1, dtype=data.dtype), np.empty(starts[-1] + 1, dtype=indices.dtype)
            csr_keep(*self._parts, self._kept, *kept)
            self._kept_parts = (*kept, starts)
        return self._kept_parts

    def rmatvec(self, r: FloatArray) -> FloatArray:
        if r.ndim == 2:
            return by_outputs(self.rmatvec, r, self.shape[1])
        out = np.zeros(self.shape[1])
        csr_rmatvec(*self._parts, as_vector(r, self.shape[0], "r"), out)
        return out

    def column_moments(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        d = self.shape[1]
        mean, variance, stored, lowest, highest = np.zeros((5, d))
        n_stored = np.zeros(d, dtype=np.intp)
        weight = as_vector(weight, self.shape[0], "weight")
        matrix = self.X
        if not matrix.has_canonical_format:  # entries in several parts would count as several
            matrix = matrix.copy()
            matrix.sum_duplicates()
        csr_moments(*as_parts(matrix), weight, mean, variance, stored, n_stored, lowest, highest)
        # What is not stored is zero.
        missing = n_stored < np.count_nonzero(weight)
        variance += np.where(missing, np.maximum(1 - stored, 0) * mean**2, 0)
        lowest = np.where(missing, np.minimum(lowest, 0), lowest)
        highest = np.where(missing, np.maximum(highest, 0), highest)
        constant = lowest == highest
        mean[constant], variance[constant] = lowest[constant], 0
        return mean, variance

    def visit_rows(
        self, visit: Visit, index_old: FloatArray | None, y: FloatArray, weight: FloatArray | None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the index, the sum of weight × residual × row, and the sums of a sweep."""
        own = self._parts_for(as_vector(visit.w, self.shape[1], "w"))
        return run_kernel(
            csr_sweep, (*self._parts, *own), self.shape, self._cuts, visit, index_old, y, weight, self.X.nnz,
            paired=own is self._parts,
        )  # fmt: skip

    def many_products(self, W: FloatArray) -> CsrProducts:
        return CsrProducts(self._parts, W)

    def take(self, rows: NDArray[np.intp]) -> CsrDesign:
        return CsrDesign(self.X[rows], self.keeps_support)

    def gram(self, which: NDArray[np.intp], weight: FloatArray) -> FloatArray:
        return SparseDesign(self.X).gram(which, weight)
