"""Dense data: numpy arrays and memory maps, read in place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._products import dense_gather, dense_matvec_by_columns, dense_matvec_by_rows
from ._sweep import dense_sweep
from .arrays import FloatArray
from .base import Design, even_columns
from .checks import as_vector, check_length, check_numbers
from .columns import DenseColumns, as_positions
from .many_products import DenseProducts
from .sweep import Visit, cut_rows, run_kernel

# Below this share of columns, picking them one by one beats BLAS over all: measured for C and F order.
_SPARSE_BELOW = {"C": 1 / 8, "F": 1 / 2}
# Rows are read in blocks of about this many numbers where a temporary as large as X must be avoided.
_BLOCK = 1 << 17
# Squared distances, in variances, from which the mean is too far away to measure a variance from.
_FAR = 100.0


class DenseDesign(Design):
    """A two-dimensional array of float32 or float64. Never copied."""

    def __init__(self, X: NDArray[np.floating]) -> None:
        check_numbers(X)
        self.X = X
        self.order = "F" if X.flags.f_contiguous and not X.flags.c_contiguous else "C"

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return n, d

    def matvec(self, w: FloatArray) -> FloatArray:
        check_length(w, self.shape[1], "w")
        if w.ndim == 1:
            columns = np.flatnonzero(w)
            if len(columns) < _SPARSE_BELOW[self.order] * len(w):
                return self._matvec_of(columns, np.ascontiguousarray(w[columns], dtype=np.float64))
        return (self.X @ w.astype(self.X.dtype, copy=False)).astype(np.float64, copy=False)

    def _matvec_of(self, columns: NDArray[np.intp], values: FloatArray) -> FloatArray:
        out = np.zeros(self.X.shape[0])
        product = dense_matvec_by_rows if self.order == "C" else dense_matvec_by_columns
        product(self.X, columns, values, out)
        return out

    def rmatvec(self, r: FloatArray) -> FloatArray:
        check_length(r, self.shape[0], "r")
        return (self.X.T @ r.astype(self.X.dtype, copy=False)).astype(np.float64, copy=False)

    def column_moments(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        weight = as_vector(weight, self.shape[0], "weight")
        # Measured from the first row, so that a constant column has its value as mean, exactly.
        first = self.X[int(np.argmax(weight > 0))].astype(np.float64)
        shift, square = self._moments_about(first, weight)
        variance = square - shift**2
        # Where the first row lies far out the difference has lost digits: once more, about the mean.
        far = np.flatnonzero(shift**2 > _FAR * variance)
        far = far[square[far] > 0]
        if len(far):
            variance[far] = DenseDesign(self.X[:, far])._moments_about(first[far] + shift[far], weight)[1]
        return first + shift, np.where(square > 0, variance, 0.0)

    def _moments_about(self, point: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the weighted means of the distances from a point, and of their squares, by columns."""
        n, d = self.shape
        mean, square = np.zeros(d), np.zeros(d)
        rows = max(1, _BLOCK // max(d, 1))
        for start in range(0, n, rows):
            block = slice(start, start + rows)
            gap = self.X[block] - point
            mean += weight[block] @ gap
            square += weight[block] @ np.square(gap, out=gap)
        return mean, square

    def visit_rows(
        self, visit: Visit, index_old: FloatArray | None, y: FloatArray, weight: FloatArray | None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the index, the sum of weight × residual × row, and the sums of a sweep."""
        if self.X.strides[1] != self.X.itemsize or self.X.strides[0] % self.X.itemsize:
            # The entries of a row lie apart: two products by columns read less than one visit by rows. Or the
            # rows are parts of records, and do not begin at multiples of an entry.
            return super().visit_rows(visit, index_old, y, weight)
        cuts = cut_rows(*self.shape, self.X.size)
        return run_kernel(dense_sweep, (self.X,), self.shape, cuts, visit, index_old, y, weight, self.X.size)

    def many_products(self, W: FloatArray) -> DenseProducts:
        return DenseProducts(self.X, W)

    def take(self, rows: NDArray[np.intp]) -> DenseDesign:
        return DenseDesign(self.X[rows])

    def columns(self, which: NDArray[np.intp]) -> FloatArray:
        return self.pack(which).values.T

    def pack(self, which: NDArray[np.intp]) -> DenseColumns:
        which = as_positions(which, self.shape[1])
        values = np.empty((len(which), self.shape[0]))
        dense_gather(self.X, which, values)
        return DenseColumns(values, np.ones(len(which)))

    def gram(self, which: NDArray[np.intp], weight: FloatArray) -> FloatArray:
        which, weight = as_positions(which, self.shape[1]), as_vector(weight, self.shape[0], "weight")
        some = self if len(which) == self.shape[1] and (which == np.arange(len(which))).all() else None
        some = some or DenseDesign(self.X[:, which])
        mean, root = some.column_moments(weight)[0], np.sqrt(weight)
        n, d = some.shape
        rows = min(n, max(256, _BLOCK // max(d, 1)))
        buffer = even_columns(rows, d)
        products = np.zeros((buffer.shape[1], buffer.shape[1]))
        for start in range(0, n, rows):
            block = slice(start, start + rows)
            centred = buffer[: min(rows, n - start)]
            np.multiply(some.X[block] - mean, root[block, None], out=centred[:, :d])
            products += centred.T @ centred
        return np.ascontiguousarray(products[:d, :d])
