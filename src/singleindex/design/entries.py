"""Entries of a matrix as data: what was rated, seen from the rows and from the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .arrays import FloatArray

IntArray = NDArray[np.int64]

# Entries whose factors are gathered at a time: the gathered rows should stay in the cache.
_CHUNK = 1 << 14


@dataclass(frozen=True, eq=False)
class EntriesDesign:
    """Observed entries of a matrix, of which only sums and products at these entries are ever formed.

    Parameters
    ----------
    rows, cols : integer arrays of shape (n_entries,)
        Where the entries stand; the same place may come more than once.
    shape : tuple of two int
    weight : array of shape (n_entries,) or None
    """

    rows: IntArray
    cols: IntArray
    shape: tuple[int, int]
    weight: FloatArray | None = None

    def part(self, keep: IntArray) -> EntriesDesign:
        """Return some of the entries, or all in another order, of the same matrix."""
        weight = None if self.weight is None else self.weight[keep]
        return EntriesDesign(self.rows[keep], self.cols[keep], self.shape, weight)

    def index(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the entries of left @ right.T, in the order of the data."""
        return entries_of_product(self.rows, self.cols, left, right)

    def side(self, axis: int) -> Side:
        """Return the entries as seen from the rows (0) or the columns (1)."""
        own, other = (self.rows, self.cols) if axis == 0 else (self.cols, self.rows)
        order = np.argsort(own, kind="stable")
        n_own, n_other = self.shape if axis == 0 else self.shape[::-1]
        starts = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=n_own))])
        weight = None if self.weight is None else self.weight[order]
        return Side(order, other[order], starts, (n_own, n_other), weight)


@dataclass(frozen=True, eq=False)
class Side:
    """The entries sorted by row, or by column: sums over what each row has are sparse products."""

    order: IntArray
    other: IntArray
    starts: IntArray
    shape: tuple[int, int]
    weight: FloatArray | None

    def sum_features(self, values: FloatArray, features: FloatArray) -> FloatArray:
        """Return for each row the sum, over its entries, of weight · value · features of the column."""
        summed: FloatArray = self.matrix(values) @ features
        return summed

    def matrix(self, values: FloatArray) -> Any:
        """Return the sparse matrix of weight · value; values of the same entry add up in products."""
        data = values[self.order]
        return self._matrix(data if self.weight is None else data * self.weight)

    def gram(self, features: FloatArray) -> FloatArray:
        """Return for each row the sum of weight · f fᵀ over its entries, f the features of the column."""
        q = features.shape[1]
        upper = np.triu_indices(q)
        products = features[:, upper[0]] * features[:, upper[1]]
        data = np.ones(len(self.order)) if self.weight is None else self.weight
        summed = self._matrix(data) @ products
        gram = np.empty((self.shape[0], q, q))
        gram[:, upper[0], upper[1]] = summed
        gram[:, upper[1], upper[0]] = summed
        return gram

    def _matrix(self, data: FloatArray) -> Any:
        return sparse.csr_matrix((data, self.other, self.starts), shape=self.shape)


def entries_of_product(rows: IntArray, cols: IntArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Return (left @ right.T)[rows, cols], a chunk at a time."""
    out = np.empty(len(rows))
    for at in range(0, len(rows), _CHUNK):
        chunk = slice(at, at + _CHUNK)
        np.einsum("ik,ik->i", left[rows[chunk]], right[cols[chunk]], out=out[chunk])
    return out
