"""Sparse matrices on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from ..many import ManySweep, ManyVisit
from .arrays import check_room, cupy
from .base import GpuDesign
from .exchange import Models
from .kernels import address, csr_kernel, n_blocks
from .many import DeviceProducts, SparseProducts, sweep_by_models
from .rows import Found, Residuals

WIDTH = 1 << 14  # columns of a block, as in csr.cu


class GpuCsrDesign(GpuDesign):
    """A sparse matrix of CuPy. Other formats than CSR are converted.

    Its entries are copied twice, sorted for the two products: the copies take one and a half times as much
    memory as the matrix does in single precision. All sums have a fixed order.
    """

    def __init__(self, X: Any) -> None:
        if X.dtype not in (np.float32, np.float64):
            raise ValueError(f"X holds {X.dtype}, not float32 or float64; use X.astype(np.float32).")
        super().__init__(X.data.device)
        self.residuals: Residuals | None = None
        self.dtype = self.real = np.dtype(X.dtype)
        with self.device:
            self.X = as_canonical(X)
            self.by_rows = SortedEntries(self.X)
            self.by_columns = SortedEntries(self.X.T.tocsr())

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return n, d

    @property
    def is_recordable(self) -> bool:
        return True

    def type_of_w(self, n_models: int = 1) -> Any:
        return self.real

    def device_index(self, w: Any) -> Any:
        return self.by_rows.product(w)

    def device_sums(self, r: Any, point: Any) -> Any:
        sums = self.by_columns.product(r.astype(self.real))
        return sums if point is None else sums - r.sum() * point

    def _moments(self, weight: Any, some_row: int) -> tuple[FloatArray, FloatArray]:
        """Return the moments: what is not stored is zero, and a constant column is so exactly."""
        cp, X = cupy(), self.X
        share, used = weight.astype(self.real), (weight > 0).astype(self.real)
        mean = self.by_columns.product(share)
        about = X.copy()
        about.data = cp.square(X.data - mean[X.indices]).astype(self.real)
        variance = SortedEntries(about.T.tocsr()).product(share)
        about.data = cp.ones_like(X.data)
        ones = SortedEntries(about.T.tocsr())
        missing = ones.product(used) < used.sum() - 0.5
        variance += cp.where(missing, cp.maximum(1 - ones.product(share), 0) * mean**2, 0)
        low, high = self._extremes(weight)
        low = cp.where(missing, cp.minimum(low, 0), low)
        high = cp.where(missing, cp.maximum(high, 0), high)
        constant = low == high
        return cp.where(constant, low, mean).get(), cp.where(constant, 0.0, variance).get()

    def _extremes(self, weight: Any) -> tuple[Any, Any]:
        """Return the least and the highest stored entry of every column, over rows of positive weight."""
        cp, d, X = cupy(), self.shape[1], self.X
        row = cp.searchsorted(X.indptr, cp.arange(X.nnz), side="right") - 1
        used = (weight > 0)[row]
        columns, values = X.indices[used], X.data[used].astype(np.float64)
        low, high = cp.full(d, np.inf), cp.full(d, -np.inf)
        cp.minimum.at(low, columns, values)
        cp.maximum.at(high, columns, values)
        empty = low > high
        return cp.where(empty, 0, low), cp.where(empty, 0, high)

    def device_visit(self, models: Models, y: Any, weight: Any, index: Any, gradient: Any) -> Found:
        self.by_rows.product(models.w[0], out=index[0])
        self.residuals = self.residuals or Residuals(self.shape[0], str(self.real))
        self.by_columns.product(self.residuals.fill(models.sent, index[0], y, weight), out=gradient[0])
        return self.residuals.found

    def sweep_many(self, visit: ManyVisit, Y: Any, weight: FloatArray | None, fold: Any) -> ManySweep:
        with self.device:
            return sweep_by_models(self, visit, Y, weight, fold)

    def device_products(self, W: FloatArray) -> DeviceProducts:
        return SparseProducts(self, W, self.real)

    def take(self, rows: NDArray[np.intp]) -> GpuCsrDesign:
        with self.device:
            return GpuCsrDesign(self.X[cupy().asarray(rows)])

    def device_block(self, rows: slice, which: Any) -> Any:
        block = self.X[rows] if which is None else self.X[rows][:, which]
        return block.toarray().astype(np.float64)

    def to_host(self) -> Any:
        return self.X.get()

    @property
    def n_bytes(self) -> int:
        return int(self.X.nnz * (self.dtype.itemsize + 4))


class SortedEntries:
    """The entries of a CSR matrix by blocks of columns, and by rows within a block."""

    def __init__(self, X: Any) -> None:
        cp = cupy()
        self.n, self.d = X.shape
        self.n_blocks = max(-(-self.d // WIDTH), 1)
        check_room((X.dtype.itemsize + 14) * X.nnz + 8 * self.n_blocks * (self.n + 1), "the entries, sorted,")
        self.data = cp.empty(X.nnz, dtype=X.dtype)
        self.columns = cp.empty(X.nnz, dtype=np.uint16)
        self.starts = cp.empty((self.n_blocks, self.n + 1), dtype=np.int64)
        end = 0
        for block in range(self.n_blocks):
            chosen = cp.flatnonzero(X.indices // WIDTH == block)
            begin, end = end, end + len(chosen)
            self.data[begin:end] = X.data[chosen]
            self.columns[begin:end] = (X.indices[chosen] % WIDTH).astype(np.uint16)
            self.starts[block] = begin + cp.searchsorted(chosen, X.indptr)
        self.partial: Any = None  # made when it is first needed, and kept
        self.lanes = lanes_for(X.nnz / max(self.n * self.n_blocks, 1))
        # Two blocks of threads for each multiprocessor, or as many as there are blocks of columns.
        self.chunk = max(-(-self.n // max(2 * n_blocks() // self.n_blocks, 1)), 1)

    def product(self, vector: Any, out: Any = None) -> Any:
        """Return the product in double, of a vector of the type of the entries."""
        cp, kind = cupy(), str(self.data.dtype)
        if self.partial is None:
            self.partial = cp.empty((self.n_blocks, self.n), dtype=self.data.dtype)
        kernel, room = csr_kernel("csr_parts", kind), WIDTH * self.data.dtype.itemsize
        kernel.max_dynamic_shared_size_bytes = room
        kernel(
            (-(-self.n // self.chunk), self.n_blocks), (1024,),
            (np.int64(self.n), np.int64(self.d), np.int32(self.lanes), np.int64(self.chunk),
             address(self.data), address(self.columns), address(self.starts), address(vector),
             address(self.partial)),
            shared_mem=room,
        )  # fmt: skip
        out = cp.empty(self.n) if out is None else out
        csr_kernel("csr_add", kind)(
            (4 * n_blocks(),), (256,),
            (np.int64(self.n), np.int32(self.n_blocks), address(self.partial), address(out)),
        )  # fmt: skip
        return out


def as_canonical(X: Any) -> Any:
    """Return X in CSR with one entry per place, in the order of columns; the given matrix is not changed."""
    same = X.format == "csr"
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy() if same else X
        X.sum_duplicates()
    return X


def lanes_for(entries: float) -> int:
    """Return how many lanes share the entries of a row in a block: three entries or more for each."""
    lanes = 1
    while lanes < 32 and 6 * lanes <= entries:
        lanes *= 2
    return lanes
