"""Some columns of X, copied for solvers that visit them again and again, one column at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .arrays import FloatArray


@dataclass(frozen=True, eq=False)
class DenseColumns:
    """Columns as arrays; the k-th is `factor[k] * values[k]`.

    Attributes
    ----------
    values : array of shape (n_columns, n)
        Whoever asked for it may change it.
    factor : array of shape (n_columns,)
    """

    values: FloatArray
    factor: FloatArray

    def times(self, factor: FloatArray) -> DenseColumns:
        """Return the columns multiplied by factors; nothing is copied."""
        return replace(self, factor=self.factor * factor)

    def toarray(self) -> FloatArray:
        """Return an array of shape (n, n_columns) with columns side by side."""
        return (self.values * self.factor[:, None]).T


@dataclass(frozen=True, eq=False)
class SparseColumns:
    """Columns as their stored entries, in CSC; the k-th is multiplied by `factor[k]`.

    Attributes
    ----------
    data : array of shape (n_stored,)
        Whoever asked for it may change it.
    indices : array of shape (n_stored,), of int32
    indptr : array of shape (n_columns + 1,)
    n : int
        The number of rows.
    factor : array of shape (n_columns,)
    """

    data: FloatArray
    indices: NDArray[np.int32]
    indptr: NDArray[np.intp]
    n: int
    factor: FloatArray

    def times(self, factor: FloatArray) -> SparseColumns:
        """Return the columns multiplied by factors; nothing is copied."""
        return replace(self, factor=self.factor * factor)

    def toarray(self) -> FloatArray:
        """Return an array of shape (n, n_columns) with columns side by side."""
        return self.as_dense().toarray()

    def as_matrix(self) -> Any:
        """Return a matrix of scipy, in CSC."""
        shape = self.n, len(self.factor)
        values = self.data * np.repeat(self.factor, np.diff(self.indptr))
        return sparse.csc_array((values, self.indices, self.indptr), shape=shape)

    def as_dense(self) -> DenseColumns:
        values = np.zeros((len(self.factor), self.n))
        values[np.repeat(np.arange(len(self.factor)), np.diff(self.indptr)), self.indices] = self.data
        return DenseColumns(values, self.factor)


Columns = DenseColumns | SparseColumns
Positions = NDArray[np.intp]


def as_positions(which: Any, d: int) -> Positions:
    """Return numbers of columns as kernels read them."""
    positions: Positions = np.ascontiguousarray(which, dtype=np.intp)
    if positions.ndim != 1 or (len(positions) and not 0 <= positions.min() <= positions.max() < d):
        raise ValueError(f"columns are chosen by a flat list of numbers from 0 to {d - 1}.")
    return positions
