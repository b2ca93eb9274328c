"""Columns in the metric of a quadratic: centred, and multiplied by the roots of the row weights.

Where outputs have row weights of their own, each has its own columns; else all share one set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..design import DenseColumns, SparseColumns
from ._descent import centre_dense, centre_sparse, descend_dense, descend_sparse
from .result import FloatArray

# Up to so many dense columns their products pay: n·k² operations by BLAS, after which a sweep costs k² in
# place of n·k. Measured for n = 400 to 20,000: at 500 columns ten sweeps make up for it, fewer below.
_FEW = 500


@dataclass(frozen=True, eq=False)
class DenseBlock:
    """Columns as arrays, of shape (1 or n_outputs, n_columns, n)."""

    values: FloatArray

    # How many times the sweeps between two of Newton's steps, where all products were known.
    patience = 1

    @property
    def is_small(self) -> bool:
        """Whether to work with products of the columns from the start."""
        return bool(self.values.shape[1] <= _FEW)

    @classmethod
    def of(cls, columns: DenseColumns, root: FloatArray) -> tuple[DenseBlock, FloatArray]:
        """Return columns in the metric of these roots, and their squared lengths."""
        norm = np.empty((len(root), len(columns.factor)))
        values = (
            columns.values[None] if len(root) == 1 else np.repeat(columns.values[None], len(root), axis=0)
        )
        for own, own_root, own_norm in zip(values, root, norm, strict=True):
            centre_dense(own, columns.factor, own_root, own_norm)
        return cls(values), norm

    def joined(self, other: DenseBlock | SparseBlock) -> DenseBlock:
        return DenseBlock(np.concatenate([self.values, other.toarray()], axis=1))

    def taken(self, which: Any) -> DenseBlock:
        return DenseBlock(self.values[:, which])

    def toarray(self) -> FloatArray:
        return self.values

    def matvec(self, u: FloatArray) -> FloatArray:
        """Return the products with u, of shape (n_columns, n_outputs): a row for each output."""
        return times_each(u.T, self.values)

    def rmatvec(self, r: FloatArray) -> FloatArray:
        """Return those with r, of shape (n_outputs, n): a row for each output."""
        return times_each(r, self.values.transpose(0, 2, 1))

    def gram(self, known: FloatArray | None = None) -> FloatArray:
        """Return the products of the columns; those of the first ones may be known."""
        if known is None:
            return np.stack([own @ own.T for own in self.values])
        n_metrics, n_columns, _ = self.values.shape
        old = known.shape[1]
        gram = np.empty((n_metrics, n_columns, n_columns))
        gram[:, :old, :old] = known
        for own, out in zip(self.values, gram, strict=True):
            np.matmul(own[old:], own.T, out=out[old:])
            out[:old, old:] = out[old:, :old].T
        return gram

    def descend(self, r: FloatArray, u: FloatArray, *rest: Any) -> tuple[float, int]:
        gap, n_sweeps = descend_dense(self.values, r, u, *rest)
        return gap, n_sweeps


@dataclass(frozen=True, eq=False)
class SparseBlock:
    """Columns as stored entries; from each, `mean` times `unit` is still to be taken off.

    `unit` are the roots of the row weights, brought to length one.
    """

    data: FloatArray
    indices: NDArray[np.int32]
    indptr: NDArray[np.intp]
    mean: FloatArray
    unit: FloatArray

    # A sweep costs as much as there are entries, which products do not beat.
    is_small = False
    patience = 5

    @classmethod
    def of(cls, columns: SparseColumns, root: FloatArray, unit: FloatArray) -> tuple[SparseBlock, FloatArray]:
        """Return columns in the metric of these roots, and their squared lengths."""
        mean, norm = np.empty((2, len(root), len(columns.factor)))
        data = columns.data[None] if len(root) == 1 else np.repeat(columns.data[None], len(root), axis=0)
        for k, own_root in enumerate(root):
            stored = data[k], columns.indices, columns.indptr
            centre_sparse(*stored, columns.factor, own_root, mean[k], norm[k])
        return cls(data, columns.indices, columns.indptr, mean, unit), norm

    def joined(self, other: DenseBlock | SparseBlock) -> DenseBlock | SparseBlock:
        if isinstance(other, DenseBlock):
            return DenseBlock(np.concatenate([self.toarray(), other.values], axis=1))
        return SparseBlock(
            np.concatenate([self.data, other.data], axis=1),
            np.concatenate([self.indices, other.indices]),
            np.concatenate([self.indptr, self.indptr[-1] + other.indptr[1:]]),
            np.concatenate([self.mean, other.mean], axis=1),
            self.unit,
        )

    def stored(self) -> list[Any]:
        shape = (self.unit.shape[1], self.mean.shape[1])
        return [sparse.csc_array((own, self.indices, self.indptr), shape=shape) for own in self.data]

    def taken(self, which: Any) -> SparseBlock:
        some = [own[:, which] for own in self.stored()]
        data = np.stack([own.data for own in some])
        return SparseBlock(data, some[0].indices, some[0].indptr, self.mean[:, which], self.unit)

    def toarray(self) -> FloatArray:
        values = -(self.mean[:, :, None] * self.unit[:, None, :])
        column = np.repeat(np.arange(self.mean.shape[1]), np.diff(self.indptr))
        values[:, column, self.indices] += self.data
        return values

    def matvec(self, u: FloatArray) -> FloatArray:
        return np.stack([
            own @ of_one - (mean @ of_one) * unit
            for own, mean, unit, of_one in zip_outputs(self.stored(), self.mean, self.unit, u.T)
        ])  # fmt: skip

    def rmatvec(self, r: FloatArray) -> FloatArray:
        # r is orthogonal to the roots.
        return np.stack([own.T @ of_one for own, of_one in zip_outputs(self.stored(), r)])

    def gram(self) -> FloatArray:
        return np.stack([
            (own.T @ own).toarray() - np.outer(mean, mean)
            for own, mean in zip(self.stored(), self.mean, strict=True)
        ])  # fmt: skip

    def descend(self, r: FloatArray, u: FloatArray, *rest: Any) -> tuple[float, int]:
        stored = self.data, self.indices, self.indptr, self.mean, self.unit
        gap, n_sweeps = descend_sparse(*stored, r, u, *rest)
        return gap, n_sweeps


def times_each(rows: FloatArray, matrices: FloatArray) -> FloatArray:
    """Return each row times the matrix of its output, or times that of all."""
    product: FloatArray
    if len(matrices) == 1:
        product = rows @ matrices[0]
    else:
        product = np.stack([row @ own for row, own in zip(rows, matrices, strict=True)])
    return product


def zip_outputs(*parts: Any) -> Any:
    """Yield the parts of each output; the last ones are of each, those before may be common to all."""
    n_outputs = len(parts[-1])
    return zip(*(part if len(part) == n_outputs else [part[0]] * n_outputs for part in parts), strict=True)
