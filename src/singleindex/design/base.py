"""What a design is: data as an operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import FloatArray
from .columns import Columns, DenseColumns
from .many import ManySweep, ManyVisit, sweep_rows_of_many
from .many_products import ManyProducts
from .moments import Moments
from .sweep import Sweep, Visit, residuals_of, sweep_rows

# BLAS cuts columns among its threads by multiples of a few, and sums what is left over in another order: of a
# multiple of so many columns nothing is.
_EVEN = 16


class Design:
    """The data matrix X, known only by its products.

    `w` has shape (d,) or (d, n_outputs), `r` has shape (n,) or (n, n_outputs). A design of one's own inherits
    from this class and has `shape`, `matvec`, `rmatvec` and `column_moments`; it can be passed as X. With
    `take` its rows can be held out. The rest is made of the products, and worth writing where that is slow.
    """

    dtype: Any = np.dtype(np.float64)

    @property
    def shape(self) -> tuple[int, int]:
        raise NotImplementedError(f"{type(self).__name__} needs a property shape.")

    def matvec(self, w: FloatArray) -> FloatArray:
        """Return X w. Costs no more than the columns where `w` is not zero."""
        raise NotImplementedError(f"{type(self).__name__} needs a method matvec(w).")

    def rmatvec(self, r: FloatArray) -> FloatArray:
        """Return Xᵀ r, a new array: whoever asked for it may change it."""
        raise NotImplementedError(f"{type(self).__name__} needs a method rmatvec(r).")

    def column_moments(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the weighted mean and variance of every column; `weight` sums to one."""
        raise NotImplementedError(f"{type(self).__name__} needs a method column_moments(weight).")

    # ------------------------------------------------------------ rows

    def take(self, rows: NDArray[np.intp]) -> Design:
        """Return the design of some rows, by number, in this order."""
        raise ValueError(f"{type(self).__name__} needs a method take(rows) for rows to be held out.")

    def sweep(self, visit: Visit, y: Any, weight: FloatArray | None = None) -> Sweep:
        """Return all that an iteration needs, from one visit of all rows."""
        return sweep_rows(self, visit, y, weight)

    def moments(
        self, y: Sequence[Any], weight: FloatArray | None = None, which: NDArray[np.intp] | None = None
    ) -> Moments:
        """Return the moments of some columns, or of all, and of the outputs `y`, from one visit of all."""
        return Moments.of(self, np.column_stack(y), weight, which)

    def visit_rows(
        self, visit: Visit, index_old: FloatArray | None, y: FloatArray, weight: FloatArray | None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the index, the sum of weight × residual × row, and the sums of a sweep."""
        index = self.matvec(visit.w)
        residual, sums = residuals_of(visit, index, index_old, y, weight)
        return index, self.rmatvec(residual), sums

    # ------------------------------------------------------------ rows, for many models at once

    @property
    def prefers_readings(self) -> bool:
        """Whether searches of many rows read all of them for many models at once, in place of columns."""
        return False

    def moments_of_folds(
        self, Y: FloatArray, weight: FloatArray | None, fold: Any, n_folds: int
    ) -> list[Moments]:
        """Return the moments of the rows of each fold; `Y` has shape (n, n_outputs)."""
        folds = (np.flatnonzero(fold == k) for k in range(n_folds))
        return [self.moments_of_some(rows, Y, weight) for rows in folds]

    def moments_of_some(self, rows: NDArray[np.intp], Y: FloatArray, weight: FloatArray | None) -> Moments:
        """Return the moments of some rows, which may be none or without weight."""
        part = None if weight is None else weight[rows]
        if not (len(rows) if part is None else part.any()):
            return Moments.none(self.shape[1], Y.shape[1])
        return Moments.of(self.take(rows), Y[rows], part)

    def sweep_many(self, visit: ManyVisit, Y: Any, weight: FloatArray | None, fold: Any) -> ManySweep:
        """Return all that an iteration of many models needs, from one visit of all rows.

        `Y` has shape (n_outputs, n); `fold` tells which fold each row is in.
        """
        return sweep_rows_of_many(self, visit, Y, weight, fold)

    def many_products(self, W: FloatArray) -> ManyProducts:
        """Return what multiplies some rows at a time with W, and with residuals."""
        return ManyProducts(self, W)

    # ------------------------------------------------------------ columns

    @property
    def has_columns(self) -> bool:
        """Whether columns are at hand; else exact steps go by the products of all columns."""
        return True

    def at_hand(self) -> Any:
        """Return the data where columns are at hand: this design, or an array or matrix in its place."""
        return self

    def columns(self, which: NDArray[np.intp]) -> FloatArray:
        """Return some columns as they are, an array of shape (n, len(which)) with columns side by side."""
        n, d = self.shape
        block = np.empty((n, len(which)), order="F")
        for k, j in enumerate(which):
            block[:, k] = self.matvec(unit_vector(d, int(j)))
        return block

    def combine(self, which: NDArray[np.intp], w: FloatArray) -> FloatArray:
        """Return the sums of some columns with weights of shape (len(which), n_sums)."""
        sums: FloatArray = self.columns(which) @ w
        return sums

    def row_products(self, which: NDArray[np.intp], factor: FloatArray) -> FloatArray:
        """Return the products of all rows with each other over some columns, each times a factor."""
        columns = self.columns(which) * factor
        products: FloatArray = columns @ columns.T
        return products

    def pack(self, which: NDArray[np.intp]) -> Columns:
        """Return a copy of some columns in which each lies side by side: dense, or the stored entries."""
        columns = self.columns(which)
        return DenseColumns(np.ascontiguousarray(columns.T), np.ones(columns.shape[1]))

    def gram(self, which: NDArray[np.intp], weight: FloatArray) -> FloatArray:
        """Return the weighted covariances of some columns; `weight` sums to one."""
        return covariances(self.columns(which), weight)


def covariances(columns: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the weighted covariances of the columns of an array, taken about their means."""
    centred = columns - weight @ columns
    covariance: FloatArray = (centred.T * weight) @ centred
    return covariance


def even_columns(n_rows: int, n_columns: int) -> FloatArray:
    """Return zeros with columns up to a multiple of `_EVEN`: products are then the same for any threads."""
    return np.zeros((n_rows, -(-n_columns // _EVEN) * _EVEN))


def unit_vector(d: int, j: int) -> FloatArray:
    one = np.zeros(d)
    one[j] = 1.0
    return one


def by_outputs(product: Callable[[FloatArray], FloatArray], values: FloatArray, length: int) -> FloatArray:
    """Apply a product of vectors to each column of `values`."""
    out = np.empty((length, values.shape[1]), order="F")
    for k in range(values.shape[1]):
        out[:, k] = product(np.ascontiguousarray(values[:, k]))
    return out
