"""Columns in the metric of a quadratic: centred, and multiplied by the roots of the row weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._descent import descend_dense, descend_sparse
from .result import FloatArray

# Up to so many dense columns their products pay: n·k² operations by BLAS, after which a sweep costs k² in place
# of n·k. Measured for n = 400 to 20,000: at 500 it takes ten sweeps for that, and half of it at 250.
_FEW = 500


@dataclass(frozen=True, eq=False)
class DenseBlock:
    """Columns as the rows of an array."""

    values: FloatArray

    @property
    def is_small(self) -> bool:
        """Whether to work with products of the columns from the start."""
        return len(self.values) <= _FEW

    def joined(self, other: DenseBlock | SparseBlock) -> DenseBlock:
        return DenseBlock(np.concatenate([self.values, other.toarray()]))

    def taken(self, which: NDArray[np.intp]) -> DenseBlock:
        return DenseBlock(self.values[which])

    def toarray(self) -> FloatArray:
        return self.values

    def matvec(self, u: FloatArray) -> FloatArray:
        product: FloatArray = u @ self.values
        return product

    def rmatvec(self, r: FloatArray) -> FloatArray:
        product: FloatArray = self.values @ r
        return product

    def gram(self) -> FloatArray:
        gram: FloatArray = self.values @ self.values.T
        return gram

    def descend(self, r: FloatArray, u: FloatArray, *rest: Any) -> tuple[float, int]:
        gap, n_sweeps = descend_dense(self.values, r, u, *rest)
        return gap, n_sweeps


@dataclass(frozen=True, eq=False)
class SparseBlock:
    """Columns as stored entries; from each, `mean` times `root` is still to be taken off."""

    data: FloatArray
    indices: NDArray[np.int32]
    indptr: NDArray[np.intp]
    mean: FloatArray
    root: FloatArray

    # A sweep costs as much as there are entries, which products cannot beat.
    is_small = False

    def joined(self, other: DenseBlock | SparseBlock) -> DenseBlock | SparseBlock:
        if isinstance(other, DenseBlock):
            return DenseBlock(np.concatenate([self.toarray(), other.values]))
        return SparseBlock(
            np.concatenate([self.data, other.data]),
            np.concatenate([self.indices, other.indices]),
            np.concatenate([self.indptr, self.indptr[-1] + other.indptr[1:]]),
            np.concatenate([self.mean, other.mean]),
            self.root,
        )

    @property
    def stored(self) -> Any:
        return sparse.csc_array(
            (self.data, self.indices, self.indptr), shape=(len(self.root), len(self.mean))
        )

    def taken(self, which: NDArray[np.intp]) -> SparseBlock:
        some = self.stored[:, which]
        return SparseBlock(some.data, some.indices, some.indptr, self.mean[which], self.root)

    def toarray(self) -> FloatArray:
        return self.stored.T.toarray() - np.outer(self.mean, self.root)

    def matvec(self, u: FloatArray) -> FloatArray:
        product: FloatArray = self.stored @ u - (self.mean @ u) * self.root
        return product

    def rmatvec(self, r: FloatArray) -> FloatArray:
        # r is orthogonal to the roots.
        product: FloatArray = self.stored.T @ r
        return product

    def gram(self) -> FloatArray:
        stored = self.stored
        gram: FloatArray = (stored.T @ stored).toarray()
        gram -= np.outer(self.mean, self.mean) * (self.root @ self.root)
        return gram

    def descend(self, r: FloatArray, u: FloatArray, *rest: Any) -> tuple[float, int]:
        gap, n_sweeps = descend_sparse(
            self.data, self.indices, self.indptr, self.mean, self.root, r, u, *rest
        )
        return gap, n_sweeps
