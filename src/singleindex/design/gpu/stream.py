"""Dense data in the memory of the machine, sent through a GPU in chunks."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from ..many import ManySweep, ManyVisit
from .arrays import cupy
from .base import GpuDesign
from .dense import GpuDenseDesign
from .exchange import Models, pinned_bytes
from .rows import Found
from .shape import STORAGES, type_of_w

# Places for chunks on the device: one is computed on, one is being filled, one waits.
_PLACES = 3


class GpuStreamedDesign(GpuDesign):
    """An array of numpy whose rows visit the GPU chunk after chunk; copies and arithmetic overlap.

    The memory of the array is pinned while the design lives, so that the bus reads it directly. Where the
    system does not allow for it, as for memory maps, chunks go through pinned memory of their own.
    """

    def __init__(self, X: NDArray[Any], chunk_bytes: int = 1 << 29) -> None:
        if str(X.dtype) not in STORAGES:
            raise ValueError(f"X holds {X.dtype}, not float32, float64 or float16; use X.astype(np.float32).")
        cp = cupy()
        super().__init__(cp.cuda.Device())
        self.X = np.ascontiguousarray(X)
        self.storage = str(X.dtype)
        self.dtype = np.dtype(np.float64 if self.storage == "float64" else np.float32)
        # Whole tiles, so that every chunk begins where bulk copies can.
        row_bytes = max(self.X.strides[0], 1)
        self.n_rows = max(min(chunk_bytes // row_bytes, len(self.X)) // 16 * 16, 16)
        self.places = [cp.empty((self.n_rows, X.shape[1]), dtype=X.dtype) for _ in range(_PLACES)]
        self.copying = cp.cuda.Stream(non_blocking=True)
        self.pinned: list[Any] = []
        if not self._pin():
            self.pinned = [pinned_like(place) for place in self.places]

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return n, d

    def type_of_w(self, n_models: int = 1) -> Any:
        return type_of_w(self.shape[1], self.storage, n_models)

    def _pin(self) -> bool:
        """Pin the array where it is; tell whether that was possible."""
        runtime = cupy().cuda.runtime
        begin = self.X.ctypes.data
        try:
            runtime.hostRegister(begin, self.X.nbytes, 0)
        except runtime.CUDARuntimeError:
            return False
        weakref.finalize(self, runtime.hostUnregister, begin)
        return True

    # ------------------------------------------------------------ chunks

    def _chunks(self) -> Iterator[tuple[slice, GpuDenseDesign]]:
        """Yield the rows of each chunk and the chunk on the device, while the next ones are on their way."""
        cp, n = cupy(), self.shape[0]
        n_chunks = -(-n // self.n_rows)
        arrived = [cp.cuda.Event(disable_timing=True) for _ in range(_PLACES)]
        free = [cp.cuda.Event(disable_timing=True) for _ in range(_PLACES)]
        computing = cp.cuda.get_current_stream()
        for event in free:
            event.record(computing)
        for k in range(min(_PLACES - 1, n_chunks)):
            self._send_chunk(k, arrived, free)
        for k in range(n_chunks):
            if k + _PLACES - 1 < n_chunks:
                self._send_chunk(k + _PLACES - 1, arrived, free)
            rows = slice(k * self.n_rows, min((k + 1) * self.n_rows, n))
            computing.wait_event(arrived[k % _PLACES])
            yield rows, GpuDenseDesign(self.places[k % _PLACES][: rows.stop - rows.start], self.storage)
            free[k % _PLACES].record(computing)

    def _send_chunk(self, k: int, arrived: list[Any], free: list[Any]) -> None:
        place, source = k % _PLACES, self.X[k * self.n_rows : (k + 1) * self.n_rows]
        if self.pinned:
            arrived[place].synchronize()  # the copy before has left this pinned memory
            staged = self.pinned[place][: len(source)]
            np.copyto(staged, source)
            source = staged
        self.copying.wait_event(free[place])
        to = self.places[place]
        to.data.copy_from_host_async(source.ctypes.data, source.nbytes, self.copying)
        arrived[place].record(self.copying)

    # ------------------------------------------------------------ of the device

    def device_index(self, w: Any) -> Any:
        index = cupy().empty(self.shape[0])
        for rows, chunk in self._chunks():
            index[rows] = chunk.device_index(w)
        return index

    def device_sums(self, r: Any, point: Any) -> Any:
        total = cupy().zeros(self.shape[1])
        for rows, chunk in self._chunks():
            total += chunk.device_sums(r[rows], point)
        return total

    def device_squares(self, r: Any, point: Any) -> tuple[Any, Any]:
        sums, squares = cupy().zeros((2, self.shape[1]))
        for rows, chunk in self._chunks():
            more, more_squares = chunk.device_squares(r[rows], point)
            sums += more
            squares += more_squares
        return sums, squares

    def device_row(self, number: int) -> Any:
        return cupy().asarray(self.X[number].astype(np.float64))

    def models_at_once(self, wanted: int) -> int:
        return GpuDenseDesign(self.places[0], self.storage).models_at_once(wanted)

    def device_visit(self, models: Models, y: Any, weight: Any, index: Any, gradient: Any) -> Found:
        cp, n = cupy(), self.shape[0]
        found, lanes, more = [], 32, cp.empty_like(gradient)
        gradient[...] = 0
        y, weight = y.reshape(-1, n), None if weight is None else weight.reshape(-1, n)
        for rows, chunk in self._chunks():
            # Rows of a chunk side by side for every model, as kernels read them.
            omega = None if weight is None else cp.ascontiguousarray(weight[:, rows])
            own = cp.empty((len(models), rows.stop - rows.start))
            part = chunk.device_visit(models, cp.ascontiguousarray(y[:, rows]), omega, own, more)
            index[:, rows] = own
            gradient += more
            found.append(part.values)
            lanes = part.lanes
        return Found(cp.concatenate(found), lanes)

    def sweep_many(self, visit: ManyVisit, Y: Any, weight: FloatArray | None, fold: Any) -> ManySweep:
        sweeps = []
        with self.device:
            for rows, chunk in self._chunks():
                omega = None if weight is None else weight[rows]
                sweeps.append(chunk.sweep_many(visit, Y[:, rows], omega, fold[rows]))
        return reduce(ManySweep.merge, sweeps)

    def take(self, rows: NDArray[np.intp]) -> GpuStreamedDesign:
        return GpuStreamedDesign(self.X[rows], self.places[0].nbytes)

    def device_block(self, rows: slice, which: Any) -> Any:
        # Chosen here: there may be no room for whole rows there.
        block = self.X[rows] if which is None else self.X[rows][:, which.get()]
        return cupy().asarray(block).astype(np.float64)

    def columns(self, which: NDArray[np.intp]) -> FloatArray:
        return np.asfortranarray(self.X[:, which], dtype=np.float64)

    def at_hand(self) -> Any:
        """Return the data, which are here."""
        return self.to_host()

    def to_host(self) -> Any:
        return self.X.astype(self.dtype, copy=False)


def pinned_like(place: Any) -> Any:
    """Return pinned memory of the machine for an array of the device."""
    return pinned_bytes(place.nbytes).view(place.dtype).reshape(place.shape)
