"""Dense arrays on a GPU, read in place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from ..checks import check_length
from .arrays import cupy
from .base import GpuDesign
from .exchange import Models
from .kernels import add_parts, address, has_bulk_copies, n_blocks, plain_kernel, sweep_kernel
from .many import DeviceProducts
from .rows import Found, Residuals
from .shape import MOST_MODELS, STORAGES, is_wide, shape_for, type_of_w, vector_length

# Rows of a chunk of column sums, at least; and how many chunks there are at most.
_LEAST_CHUNK, _MOST_CHUNKS = 256, 256
# Rows that are brought to the host at once where they have to be converted.
_ROWS_TO_HOST = 1 << 12


class GpuDenseDesign(GpuDesign):
    """A two-dimensional array of CuPy. Never copied; bfloat16 lies in an array of 16-bit whole numbers."""

    def __init__(self, X: Any, storage: str) -> None:
        if X.ndim != 2:
            raise ValueError(
                f"X must have two dimensions, got {X.ndim}; use X.reshape(-1, 1) for one feature."
            )
        if storage not in STORAGES:
            raise ValueError(f"X holds {storage}, not one of {', '.join(STORAGES)}; use X.astype('float32').")
        super().__init__(X.device)
        # Rows side by side are read in place, whatever lies between them; others are brought side by side.
        with self.device:
            self.X = X if X.strides[1] == X.itemsize and X.strides[0] >= 0 else cupy().ascontiguousarray(X)
        self.storage = storage
        self.dtype = np.dtype(np.float64 if storage == "float64" else np.float32)
        self.is_packed = self._is_packed()
        self.rooms: dict[tuple[int, int], tuple[Any, Any]] = {}

    def _is_packed(self) -> bool:
        """Tell whether rows follow one another and begin where bulk copies can, on a device that has them."""
        pitch, begins = self.X.shape[1] * self.X.itemsize, self.X.data.ptr % 16 == 0
        with self.device:
            return bool((self.X.strides[0] == pitch or len(self.X) == 1) and begins and has_bulk_copies())

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return n, d

    def type_of_w(self, n_models: int = 1) -> Any:
        return type_of_w(self.shape[1], self.storage, n_models)

    @property
    def is_recordable(self) -> bool:
        return self.is_packed and shape_for(self.shape[1], self.storage) is not None

    # ------------------------------------------------------------ products

    def matvec(self, w: FloatArray) -> FloatArray:
        if w.ndim == 1 or self.storage not in ("float32", "float64"):
            return super().matvec(w)
        check_length(w, self.shape[1], "w")
        with self.device:
            product: FloatArray = (self.X @ cupy().asarray(w, dtype=self.X.dtype)).astype(np.float64).get()
        return product

    def _vector(self) -> int:
        """Return how many numbers can be read at once, by where rows begin."""
        size = STORAGES[self.storage]
        vec = vector_length(self.shape[1], self.storage)
        while (self.X.data.ptr | self.X.strides[0]) % (vec * size):
            vec //= 2
        return vec

    def device_index(self, w: Any) -> Any:
        n, d = self.shape
        index = cupy().empty(n)
        plain_kernel("row_products", self.storage, self._vector(), is_wide(d, self.storage))(
            (min(-(-n // 8), 16 * n_blocks()),), (256,),
            (address(self.X), np.int64(n), np.int64(d), np.int64(self.X.strides[0]), address(w),
             address(index)),
        )  # fmt: skip
        return index

    def device_sums(self, r: Any, point: Any) -> Any:
        return self._column_sums(r, point, with_squares=False)[0]

    def device_squares(self, r: Any, point: Any) -> tuple[Any, Any]:
        return self._column_sums(r, point, with_squares=True)

    def _column_sums(self, r: Any, point: Any, with_squares: bool) -> tuple[Any, Any]:
        cp, (n, d), vec = cupy(), self.shape, self._vector()
        chunk = max(_LEAST_CHUNK, -(-n // _MOST_CHUNKS))
        n_chunks = -(-n // chunk)
        sums = cp.empty((n_chunks, d))
        squares = cp.empty((n_chunks, d)) if with_squares else None
        plain_kernel("column_sums", self.storage, vec)(
            (-(-d // (32 * vec)), n_chunks), (256,),
            (address(self.X), np.int64(n), np.int64(d), np.int64(self.X.strides[0]), np.int64(chunk),
             address(r), address(point), address(sums), address(squares)),
        )  # fmt: skip
        return add_parts(sums), None if squares is None else add_parts(squares)

    def device_row(self, number: int) -> Any:
        return self._as_double(self.X[number])

    def _as_double(self, values: Any) -> Any:
        if self.storage == "bfloat16":
            bits = values.view(np.uint16).astype(np.uint32) << 16
            values = bits.view(np.float32)
        return values.astype(np.float64)  # a copy, always

    # ------------------------------------------------------------ one visit of all rows

    def models_at_once(self, wanted: int) -> int:
        if not self.is_packed:
            return 1
        fitting = (
            k for k in range(min(wanted, MOST_MODELS), 1, -1) if shape_for(self.shape[1], self.storage, k)
        )
        return next(fitting, 1)

    def device_visit(self, models: Models, y: Any, weight: Any, index: Any, gradient: Any) -> Found:
        shape = shape_for(self.shape[1], self.storage, len(models)) if self.is_packed else None
        if shape is None:
            return self._visit_twice(models, y, weight, index, gradient)
        n, d = self.shape
        blocks = shape.blocks(n_blocks())
        workers = shape.workers(blocks)
        parts, found = self._room_for(workers, shape.models * d)
        sweep_kernel(shape)(
            (blocks,), (shape.threads,),
            (address(self.X), np.int64(n), np.int32(d), address(models.w), address(y), address(weight),
             address(models.sent), address(index), address(parts), address(found)),
            shared_mem=shape.shared_bytes(d),
        )  # fmt: skip
        active = min(workers, -(-n // shape.rows))  # the others have written nothing
        add_parts(parts[:active], out=gradient)
        return Found(found, shape.lanes)

    def _room_for(self, workers: int, width: int) -> tuple[Any, Any]:
        """Return room for what every worker finds, the same at every visit of as many models."""
        key = workers, width
        if key not in self.rooms:
            self.rooms[key] = cupy().empty(key), cupy().empty((workers, 3, 32))
        return self.rooms[key]

    def _visit_twice(self, models: Models, y: Any, weight: Any, index: Any, gradient: Any) -> Found:
        """Do the same by two products: for older devices, and rows that bulk copies cannot read."""
        index[0] = self.device_index(models.w[0])
        residuals = Residuals(self.shape[0], "float64")
        gradient[0] = self.device_sums(residuals.fill(models.sent, index[0], y, weight), None)
        return residuals.found

    # ------------------------------------------------------------ one visit of all rows, for many models

    def device_products(self, W: FloatArray) -> DeviceProducts:
        return DeviceProducts(self, W, self.dtype)

    def device_numbers(self, rows: slice) -> Any:
        """Return some rows as cuBLAS multiplies them in their own precision: halves become singles."""
        if self.storage in ("float32", "float64"):
            return self.X[rows]
        return self._as_double(self.X[rows]).astype(np.float32)

    # ------------------------------------------------------------ rows and columns

    def take(self, rows: NDArray[np.intp]) -> GpuDenseDesign:
        with self.device:
            return GpuDenseDesign(self.X[cupy().asarray(rows)], self.storage)

    def device_block(self, rows: slice, which: Any) -> Any:
        return self._as_double(self.X[rows] if which is None else self.X[rows][:, which])

    def to_host(self) -> Any:
        if self.storage not in ("float16", "bfloat16"):
            return self.X.get()
        host = np.empty(self.shape, dtype=self.dtype)
        for begin in range(0, len(host), _ROWS_TO_HOST):
            rows = slice(begin, begin + _ROWS_TO_HOST)
            host[rows] = self._as_double(self.X[rows]).get()
        return host
