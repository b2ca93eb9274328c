"""Sparse matrices on a GPU."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from .arrays import check_room, cupy
from .base import GpuDesign
from .exchange import Models
from .kernels import address, csr_kernel, n_blocks
from .rows import Found, link_residuals

# Columns of a block, as in csr.cu, and the most blocks: beyond, where their rows begin outweighs the entries.
WIDTH, _MOST_BLOCKS = 1 << 14, 256
# Sums of this many bits at most, with one to spare for rounding.
_BITS = 61


class GpuCsrDesign(GpuDesign):
    """A sparse matrix of CuPy. Other formats than CSR are converted.

    Its entries are copied once, sorted by blocks of columns: the copy takes three quarters of what the matrix
    does in single precision. The gradient is summed up in whole numbers, the same in every run.
    """

    def __init__(self, X: Any) -> None:
        if X.dtype not in (np.float32, np.float64):
            raise ValueError(f"X holds {X.dtype}, not float32 or float64; use X.astype(np.float32).")
        super().__init__(X.data.device)
        self.dtype = self.real = np.dtype(X.dtype)
        with self.device:
            self.X = as_canonical(X)
            self.sorted = SortedEntries(self.X)

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return n, d

    def device_index(self, w: Any) -> Any:
        return self.sorted.index(w)

    def device_sums(self, r: Any, point: Any) -> Any:
        sums = self.sorted.gradient(r, self.sorted.data)
        return sums if point is None else sums - r.sum() * point

    def _moments(self, weight: Any, some_row: int) -> tuple[FloatArray, FloatArray]:
        cp, entries = cupy(), self.sorted
        mean = entries.gradient(weight, entries.data)
        columns = entries.all_columns()
        about = cp.square(entries.data.astype(np.float64) - mean[columns])
        variance = entries.gradient(weight, about.astype(self.real))
        # What is not stored is zero.
        stored = entries.gradient(weight, cp.ones_like(entries.data))
        counts = entries.gradient((weight > 0).astype(np.float64), cp.ones_like(entries.data))
        missing = counts < float((weight > 0).sum()) - 0.5
        variance += cp.where(missing, cp.maximum(1 - stored, 0) * mean**2, 0)
        low, high = self._extremes(columns, weight)
        low = cp.where(missing, cp.minimum(low, 0), low)
        high = cp.where(missing, cp.maximum(high, 0), high)
        constant = low == high
        return cp.where(constant, low, mean).get(), cp.where(constant, 0.0, variance).get()

    def _extremes(self, columns: Any, weight: Any) -> tuple[Any, Any]:
        """Return the least and the highest stored entry of every column, over rows of positive weight."""
        cp, d = cupy(), self.shape[1]
        cupyx = importlib.import_module("cupyx")
        used = (weight > 0)[self.sorted.all_rows()]
        values = self.sorted.data.astype(np.float64)
        low, high = cp.full(d, np.inf), cp.full(d, -np.inf)
        cupyx.scatter_min(low, columns[used], values[used])
        cupyx.scatter_max(high, columns[used], values[used])
        empty = low > high
        return cp.where(empty, 0, low), cp.where(empty, 0, high)

    def device_visit(self, models: Models, y: Any, weight: Any, index: Any) -> tuple[Any, Found]:
        self.sorted.index(models.w[0], out=index[0])
        residual, found = link_residuals(models.links, index[0], y, weight)
        return self.sorted.gradient(residual, self.sorted.data)[None], found

    def take(self, rows: NDArray[np.intp]) -> GpuCsrDesign:
        with self.device:
            return GpuCsrDesign(self.X[cupy().asarray(rows)])

    def device_columns(self, which: NDArray[np.intp]) -> Any:
        return self.X[:, cupy().asarray(which)].toarray().astype(np.float64)


class SortedEntries:
    """The entries of a CSR matrix by blocks of columns, and by rows within a block."""

    def __init__(self, X: Any) -> None:
        cp = cupy()
        self.n, self.d = X.shape
        self.n_blocks = max(-(-self.d // WIDTH), 1)
        if self.n_blocks > _MOST_BLOCKS:
            raise ValueError(
                f"X has {self.d} columns, and sparse data on a GPU may have {WIDTH * _MOST_BLOCKS} at most; "
                "pass it as a matrix of scipy, or hash its columns."
            )
        check_room((X.dtype.itemsize + 12) * X.nnz + 8 * self.n_blocks * self.n, "the entries, sorted,")
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
        self.lanes = lanes_for(X.nnz / max(self.n * self.n_blocks, 1))
        # Of any column, the sum of the sizes of its entries is no larger.
        sizes = self.gradient(cp.ones(self.n), abs(self.data))
        self.largest = float(sizes.max()) if X.nnz else 0.0

    def index(self, w: Any, out: Any = None) -> Any:
        """Return X w in double."""
        cp = cupy()
        partial = cp.empty((self.n_blocks, self.n), dtype=self.data.dtype)
        room = WIDTH * self.data.dtype.itemsize
        kernel = csr_kernel("csr_index", str(self.data.dtype))
        kernel.max_dynamic_shared_size_bytes = room
        grid, chunk = self._grid(2)
        kernel(
            grid, (1024,),
            (np.int64(self.n), np.int64(self.d), np.int32(self.lanes), np.int64(chunk), address(self.data),
             address(self.columns), address(self.starts), address(w), address(partial)),
            shared_mem=room,
        )  # fmt: skip
        out = cp.empty(self.n) if out is None else out
        csr_kernel("csr_add", str(self.data.dtype))(
            (4 * n_blocks(),), (256,),
            (np.int64(self.n), np.int32(self.n_blocks), address(partial), address(out)),
        )  # fmt: skip
        return out

    def gradient(self, r: Any, data: Any) -> Any:
        """Return Xᵀ r in double, for the entries `data` in place of those of X."""
        cp = cupy()
        largest = self.largest if data is self.data else float(abs(data).max()) * self.n if len(data) else 0.0
        # The scale stays on the device: nobody waits for it.
        bound = cp.maximum(abs(r).max() * largest, np.finfo(np.float64).tiny)
        scale = cp.ldexp(cp.ones(1), cp.minimum(_BITS - cp.frexp(bound)[1], 1000))
        sums = cp.zeros(self.d, dtype=np.int64)
        kernel, room = csr_kernel("csr_gradient", str(self.data.dtype)), 8 * WIDTH
        kernel.max_dynamic_shared_size_bytes = room
        grid, chunk = self._grid(1)
        kernel(
            grid, (1024,),
            (np.int64(self.n), np.int64(self.d), np.int32(self.lanes), np.int64(chunk), address(data),
             address(self.columns), address(self.starts), address(r), address(scale), address(sums)),
            shared_mem=room,
        )  # fmt: skip
        return sums / scale

    def _grid(self, per_multiprocessor: int) -> tuple[tuple[int, int], int]:
        """Return how many chunks of rows and blocks of columns there are, and the rows of a chunk."""
        wanted = max(per_multiprocessor * n_blocks() // self.n_blocks, 1)
        chunk = max(-(-self.n // wanted), 1)
        return (max(-(-self.n // chunk), 1), self.n_blocks), chunk

    def all_columns(self) -> Any:
        """Return the column of every entry."""
        cp = cupy()
        block = cp.searchsorted(self.starts[:, -1], cp.arange(len(self.data)), side="right")
        return block * WIDTH + self.columns

    def all_rows(self) -> Any:
        """Return the row of every entry."""
        cp = cupy()
        rows = cp.empty(len(self.data), dtype=np.int64)
        for starts in self.starts:
            begin, end = int(starts[0]), int(starts[-1])
            rows[begin:end] = cp.searchsorted(starts, cp.arange(begin, end), side="right") - 1
        return rows


def as_canonical(X: Any) -> Any:
    """Return X in CSR with one entry per place, in the order of columns; the given matrix is not changed."""
    same = X.format == "csr"
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy() if same else X
        X.sum_duplicates()
    return X


def lanes_for(entries: float) -> int:
    """Return how many lanes share the entries of a row in a block: a power of two of at most 32."""
    lanes = 1
    while lanes < 32 and 2 * lanes <= entries:
        lanes *= 2
    return lanes
