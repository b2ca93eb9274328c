"""Sparse data, held by columns so that a sparse w reads only its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._products import csc_gather, csc_matvec, csc_moments, csc_rmatvec
from ._sweep import csr_rmatvec
from .arrays import FloatArray
from .base import Design, by_outputs, even_columns
from .checks import as_parts, as_sound, as_vector, check_numbers
from .columns import Columns, SparseColumns, as_positions

# Share of stored entries from which columns are quicker to visit as arrays: measured.
_FULL = 1 / 4


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
        self._by_rows = X if X.format == "csr" else None
        self._rows = None if self._by_rows is None else as_parts(X)

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return n, d

    @property
    def is_by_rows(self) -> bool:
        """Whether the rows are at hand as well."""
        return self._by_rows is not None

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
        return SparseDesign((self.X if self._by_rows is None else self._by_rows)[rows])

    def columns(self, which: NDArray[np.intp]) -> FloatArray:
        return self._entries(which).toarray()

    def pack(self, which: NDArray[np.intp]) -> Columns:
        entries = self._entries(which)
        return entries if len(entries.data) < _FULL * entries.n * len(which) else entries.as_dense()

    def _entries(self, which: NDArray[np.intp]) -> SparseColumns:
        which = as_positions(which, self.shape[1])
        starts = np.zeros(len(which) + 1, dtype=np.intp)
        np.cumsum(self._parts[2][which + 1] - self._parts[2][which], out=starts[1:])
        data, indices = np.empty(starts[-1]), np.empty(starts[-1], dtype=np.int32)
        csc_gather(*self._parts, which, starts, data, indices)
        return SparseColumns(data, indices, starts, self.shape[0], np.ones(len(which)))

    def row_products(self, which: NDArray[np.intp], factor: FloatArray) -> FloatArray:
        some = self.X[:, which].multiply(factor).tocsr()
        return np.asarray((some @ some.T).toarray())

    def combine(self, which: NDArray[np.intp], w: FloatArray) -> FloatArray:
        return np.asarray(self.X[:, which] @ w)

    def gram(self, which: NDArray[np.intp], weight: FloatArray) -> FloatArray:
        weight = as_vector(weight, self.shape[0], "weight")
        some = self.X[:, which].astype(np.float64)
        mean = np.asarray(some.T @ weight)
        # Products of what is stored, about zero, less those of the means: without a dense copy. No digits are
        # lost of columns that are zero in half of the rows, since the deviation is no less than the mean.
        squares: FloatArray = (some.T @ some.multiply(weight[:, None]).tocsc()).toarray()
        squares -= np.outer(mean, mean)
        full = np.flatnonzero(some.astype(bool).T @ weight > 0.5)
        if len(full):
            centred = some[:, full].toarray() - mean[full]
            # The columns on the other side need no centring then.
            squares[full] = (some.T @ (centred.T * weight).T).T
            squares[:, full] = squares[full].T
            even = even_columns(*centred.shape)
            even[:, : len(full)] = (centred.T * np.sqrt(weight)).T
            squares[np.ix_(full, full)] = (even.T @ even)[: len(full), : len(full)]
        return squares
