"""Sparse matrices on a GPU."""

from __future__ import annotations

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
# The most rows of a chunk: they are counted in two bytes.
_MOST_ROWS = 1 << 16


class GpuCsrDesign(GpuDesign):
    """A sparse matrix of CuPy. Other formats than CSR are converted.

    Its entries are copied once, sorted by blocks of columns: the copy takes as much memory as the matrix does
    in single precision. The gradient is summed up in whole numbers, the same in every run.
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
        sums = self.sorted.gradient(r)
        return sums if point is None else sums - r.sum() * point

    def _moments(self, weight: Any, some_row: int) -> tuple[FloatArray, FloatArray]:
        cp, entries = cupy(), self.sorted
        values, columns = entries.values(), entries.all_columns()
        ones = cp.ones(entries.n_entries)
        mean = entries.gradient(weight)
        variance = entries.sums_of(weight, cp.square(values - mean[columns]))
        # What is not stored is zero.
        stored, used = entries.sums_of(weight, ones), (weight > 0).astype(np.float64)
        missing = entries.sums_of(used, ones) < used.sum() - 0.5
        variance += cp.where(missing, cp.maximum(1 - stored, 0) * mean**2, 0)
        low, high = self._extremes(values, columns, weight)
        low = cp.where(missing, cp.minimum(low, 0), low)
        high = cp.where(missing, cp.maximum(high, 0), high)
        constant = low == high
        return cp.where(constant, low, mean).get(), cp.where(constant, 0.0, variance).get()

    def _extremes(self, values: Any, columns: Any, weight: Any) -> tuple[Any, Any]:
        """Return the least and the highest stored entry of every column, over rows of positive weight."""
        cp, d = cupy(), self.shape[1]
        used = (weight > 0)[self.sorted.all_rows()]
        low, high = cp.full(d, np.inf), cp.full(d, -np.inf)
        cp.minimum.at(low, columns[used], values[used])
        cp.maximum.at(high, columns[used], values[used])
        empty = low > high
        return cp.where(empty, 0, low), cp.where(empty, 0, high)

    def device_visit(self, models: Models, y: Any, weight: Any, index: Any, gradient: Any) -> Found:
        self.sorted.index(models.w[0], out=index[0])
        residual, found, sizes = link_residuals(models.links, index[0], y, weight)
        self.sorted.gradient(residual, sizes, out=gradient[0])
        return found

    def take(self, rows: NDArray[np.intp]) -> GpuCsrDesign:
        with self.device:
            return GpuCsrDesign(self.X[cupy().asarray(rows)])

    def device_columns(self, which: NDArray[np.intp]) -> Any:
        return self.X[:, cupy().asarray(which)].toarray().astype(np.float64)


class SortedEntries:
    """The entries of a CSR matrix by blocks of columns, and by rows within a block.

    Columns are in units of about the sum of the sizes of their entries, a power of two, so that whole numbers
    have as many digits for each of them.
    """

    def __init__(self, X: Any) -> None:
        cp = cupy()
        self.n, self.d = X.shape
        self.n_entries = X.nnz
        self.n_blocks = max(-(-self.d // WIDTH), 1)
        if self.n_blocks > _MOST_BLOCKS:
            raise ValueError(
                f"X has {self.d} columns, and sparse data on a GPU may have {WIDTH * _MOST_BLOCKS} at most; "
                "pass it as a matrix of scipy, or hash its columns."
            )
        check_room((X.dtype.itemsize + 28) * X.nnz + 8 * self.n_blocks * self.n, "the entries, sorted,")
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
        self.chunk = self._rows_of_chunk()
        self.rows = (self.all_rows() % self.chunk).astype(np.uint16)
        self.units = cp.ones(self.d)
        sizes = self.sums_of(cp.ones(self.n), abs(self.data.astype(np.float64)))
        self.units = cp.where(sizes > 0, cp.ldexp(1.0, cp.frexp(sizes)[1]), 1.0)
        self.data = (self.data / self.units[self.all_columns()]).astype(X.dtype)

    def _rows_of_chunk(self) -> int:
        """Return how many rows a block of threads adds up: so many that all multiprocessors have as much."""
        rounds = 1
        while True:
            chunk: int = max(-(-self.n // max(rounds * n_blocks() // self.n_blocks, 1)), 1)
            if chunk <= _MOST_ROWS:
                return chunk
            rounds += 1

    def index(self, w: Any, out: Any = None) -> Any:
        """Return X w in double."""
        cp, kind = cupy(), str(self.data.dtype)
        partial = cp.empty((self.n_blocks, self.n), dtype=self.data.dtype)
        kernel, room = csr_kernel("csr_index", kind), WIDTH * self.data.dtype.itemsize
        chunk = max(-(-self.n // max(2 * n_blocks() // self.n_blocks, 1)), 1)
        kernel.max_dynamic_shared_size_bytes = room
        kernel(
            (-(-self.n // chunk), self.n_blocks), (1024,),
            (np.int64(self.n), np.int64(self.d), np.int32(self.lanes), np.int64(chunk), address(self.data),
             address(self.columns), address(self.starts), address((w * self.units).astype(w.dtype)),
             address(partial)),
            shared_mem=room,
        )  # fmt: skip
        out = cp.empty(self.n) if out is None else out
        csr_kernel("csr_add", kind)(
            (4 * n_blocks(),), (256,),
            (np.int64(self.n), np.int32(self.n_blocks), address(partial), address(out)),
        )  # fmt: skip
        return out

    def gradient(self, r: Any, sizes: Any = None, out: Any = None) -> Any:
        """Return Xᵀ r in double; `sizes` are the largest sizes of parts of r, where they are known."""
        return self._add_up(r, self.data, 1.0, self.units, sizes, out)

    def sums_of(self, r: Any, values: Any) -> Any:
        """Return the same for other values than the entries of X."""
        largest = float(abs(values).max()) * self.n if len(values) else 1.0
        values = values.astype(self.data.dtype)
        return self._add_up(r, values, largest, cupy().ones(self.d), None, None)

    def _add_up(self, r: Any, data: Any, bound: float, units: Any, sizes: Any, out: Any) -> Any:
        cp, kind = cupy(), str(self.data.dtype)
        sizes = abs(r).max().reshape(1) if sizes is None else sizes
        # The scale stays on the device: nobody waits for it.
        scale, sums = cp.empty(1), cp.zeros(self.d, dtype=np.int64)
        csr_kernel("csr_scale", kind)(
            (1,), (512,), (address(sizes), np.int32(len(sizes)), np.float64(bound), address(scale))
        )
        kernel, room = csr_kernel("csr_gradient", kind), 8 * WIDTH
        kernel.max_dynamic_shared_size_bytes = room
        kernel(
            (-(-self.n // self.chunk), self.n_blocks), (1024,),
            (np.int64(self.n), np.int64(self.d), np.int64(self.chunk), address(data), address(self.columns),
             address(self.rows), address(self.starts), address(r), address(scale), address(sums)),
            shared_mem=room,
        )  # fmt: skip
        out = cp.empty(self.d) if out is None else out
        csr_kernel("csr_as_numbers", kind)(
            (-(-self.d // 256),), (256,),
            (np.int64(self.d), address(sums), address(scale), address(units), address(out)),
        )  # fmt: skip
        return out

    def values(self) -> Any:
        """Return the entries in double, as they were given."""
        return self.data.astype(np.float64) * self.units[self.all_columns()]

    def all_columns(self) -> Any:
        """Return the column of every entry."""
        cp = cupy()
        block = cp.searchsorted(self.starts[:, -1], cp.arange(self.n_entries), side="right")
        return block * WIDTH + self.columns

    def all_rows(self) -> Any:
        """Return the row of every entry."""
        cp = cupy()
        rows = cp.empty(self.n_entries, dtype=np.int64)
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
    """Return how many lanes share the entries of a row in a block: three entries or more for each."""
    lanes = 1
    while lanes < 32 and 6 * lanes <= entries:
        lanes *= 2
    return lanes
