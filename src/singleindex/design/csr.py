"""Sparse data held by rows, for solvers that visit each row once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..link.curve import MonotoneCurve
from ._sweep import csr_matvec, csr_moments, csr_rmatvec, csr_sweep
from .base import FloatArray, by_outputs
from .sweep import Sweep, Visit, cut_rows, run_kernel, sweep_rows


class CsrDesign:
    """A scipy sparse matrix or array. CSR is used in place, any other format is converted once."""

    def __init__(self, X: Any) -> None:
        self.X = X.tocsr()
        if self.X.indices.dtype != self.X.indptr.dtype:
            self.X = type(self.X)(
                (self.X.data, self.X.indices.astype(self.X.indptr.dtype), self.X.indptr), shape=self.X.shape
            )
        self._parts = (self.X.data, self.X.indices, self.X.indptr)
        self._cuts = cut_rows(*self.shape, self.X.nnz)

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return n, d

    def matvec(self, w: FloatArray) -> FloatArray:
        if w.ndim == 2:
            return by_outputs(self.matvec, w, self.shape[0])
        out = np.empty(self.shape[0])
        csr_matvec(*self._parts, np.ascontiguousarray(w, dtype=np.float64), out)
        return out

    def rmatvec(self, r: FloatArray) -> FloatArray:
        if r.ndim == 2:
            return by_outputs(self.rmatvec, r, self.shape[1])
        out = np.zeros(self.shape[1])
        csr_rmatvec(*self._parts, np.ascontiguousarray(r, dtype=np.float64), out)
        return out

    def column_moments(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        d = self.shape[1]
        mean, variance, stored, lowest, highest = np.zeros((5, d))
        n_stored = np.zeros(d, dtype=np.intp)
        weight = np.ascontiguousarray(weight, dtype=np.float64)
        matrix = self.X
        if not matrix.has_canonical_format:  # entries in several parts would count as several
            matrix = matrix.copy()
            matrix.sum_duplicates()
        parts = (matrix.data, matrix.indices, matrix.indptr)
        csr_moments(*parts, weight, mean, variance, stored, n_stored, lowest, highest)
        # What is not stored is zero.
        missing = n_stored < np.count_nonzero(weight)
        variance += np.where(missing, np.maximum(1 - stored, 0) * mean**2, 0)
        lowest = np.where(missing, np.minimum(lowest, 0), lowest)
        highest = np.where(missing, np.maximum(highest, 0), highest)
        constant = lowest == highest
        mean[constant], variance[constant] = lowest[constant], 0
        return mean, variance

    def visit_rows(
        self, w: FloatArray, link: MonotoneCurve, y: FloatArray, weight: FloatArray, n_threads: int | None
    ) -> tuple[FloatArray, FloatArray, float]:
        """Return the index, the sum of weight × residual × row, and that of weight × residual."""
        return run_kernel(csr_sweep, self._parts, self._cuts, w, link, y, weight, n_threads, self.X.nnz)

    def sweep(self, visit: Visit, y: FloatArray, weight: FloatArray | None = None) -> Sweep:
        return sweep_rows(self, visit, y, weight)
