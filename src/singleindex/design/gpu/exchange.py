"""What goes to the device in an iteration: coefficients and links, in one copy through pinned memory."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...link.curve import MonotoneCurve
from ..arrays import FloatArray
from ..sweep import Visit
from .arrays import cupy
from .kernels import address, link_kernel

# As `Link` in link.cuh: corners, first, n_corners, n_cells, cells_per_unit, centre.
_LINK = struct.Struct("<QQiidd")
_CORNER = 32  # bytes of `Corner`
# Every part begins at a multiple of so many bytes.
_ALIGNED = 64
_CELLS_PER_CORNER, _MIN_CELLS, _MAX_CELLS = 4, 1 << 10, 1 << 14
# Points that are all sent: to look for the corners among them takes longer than it saves.
_FEW_POINTS = 512


@dataclass(frozen=True)
class Models:
    """Coefficients and links of some models, in one array of the device: the links first."""

    sent: Any
    of_w: int
    shape: tuple[int, int]
    real: Any

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def w(self) -> Any:
        n_bytes = self.shape[0] * self.shape[1] * self.real.itemsize
        return self.sent[self.of_w : self.of_w + n_bytes].view(self.real).reshape(self.shape)

    @property
    def place_of_w(self) -> Any:
        """Where the coefficients begin, as kernels take it."""
        return np.uint64(self.sent.data.ptr + self.of_w)


class Exchange:
    """Room on both sides, kept for the next iteration: who sends anew has fetched what came of it."""

    def __init__(self) -> None:
        self.staged: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        self.sent: Any = None

    def send(self, visits: Sequence[Visit], real: Any) -> Models:
        """Send the coefficients and the links of some visits."""
        curves = [points_of(visit.link) for visit in visits]
        sizes = [len(x) for x, _ in curves]
        n_cells = [min(max(_CELLS_PER_CORNER * size, _MIN_CELLS), _MAX_CELLS) for size in sizes]
        d, of_w = len(visits[0].w), aligned(_LINK.size * len(visits))
        of_corners = of_w + aligned(len(visits) * d * real.itemsize)
        total = of_corners + _CORNER * sum(sizes)
        self._make_room(total + 4 * sum(n_cells))
        place = self.sent.data.ptr
        cells = place + total
        for k, visit in enumerate(visits):
            at = of_w + k * d * real.itemsize
            self.staged[at : at + d * real.itemsize].view(real)[...] = visit.w
            own = self.staged[of_corners : of_corners + _CORNER * sizes[k]].view(np.float64)
            per_unit = n_cells[k] * write_corners(*curves[k], own.reshape(-1, 4)) if sizes[k] else 0.0
            _LINK.pack_into(
                self.staged.data, _LINK.size * k, place + of_corners, cells, sizes[k], n_cells[k], per_unit,
                visit.centre,
            )  # fmt: skip
            of_corners, cells = of_corners + _CORNER * sizes[k], cells + 4 * n_cells[k]
        self.sent.data.copy_from_host_async(self.staged.ctypes.data, total, cupy().cuda.get_current_stream())
        if any(sizes):
            link_kernel("fill_cells")((len(visits),), (1024,), (address(self.sent),))
        return Models(self.sent, of_w, (len(visits), d), real)

    def _make_room(self, n_bytes: int) -> None:
        if len(self.staged) < n_bytes:
            self.staged, self.sent = pinned_bytes(2 * n_bytes), cupy().empty(2 * n_bytes, dtype=np.uint8)


def aligned(n_bytes: int) -> int:
    return -(-n_bytes // _ALIGNED) * _ALIGNED


def points_of(link: MonotoneCurve | None) -> tuple[FloatArray, FloatArray]:
    """Return x and y of the points of a link, only of its corners where there are many; none for no link."""
    if link is None:
        return np.empty(0), np.empty(0)
    if len(link.x) <= _FEW_POINTS:
        return link.x, link.y
    x, y = link.knots_.T
    return x, y


def write_corners(x: FloatArray, y: FloatArray, corners: FloatArray) -> float:
    """Write x, y, slope and the next x of every point of a link; return one over the range of x."""
    corners[:, 0], corners[:, 1] = x, y
    corners[:-1, 3], corners[-1, 2:] = x[1:], (0.0, np.inf)
    with np.errstate(all="ignore"):
        slopes = (y[1:] - y[:-1]) / (x[1:] - x[:-1])
        # A jump too steep for a number is not between any two indices that differ in it.
        np.minimum(slopes, np.finfo(np.float64).max, out=corners[:-1, 2])
        return float(1 / (x[-1] - x[0])) if x[-1] > x[0] else 0.0


def to_device(values: FloatArray) -> Any:
    """Return values on the device in double, by way of pinned memory: the bus reads it far faster."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    sent, stream = cupy().empty(values.shape), cupy().cuda.get_current_stream()
    staged = pinned_bytes(values.nbytes)
    staged.view(np.float64)[...] = values.ravel()
    sent.data.copy_from_host_async(staged.ctypes.data, values.nbytes, stream)
    stream.synchronize()
    return sent


def pinned_bytes(n_bytes: int) -> NDArray[np.uint8]:
    memory = cupy().cuda.alloc_pinned_memory(n_bytes)
    return np.frombuffer(memory, dtype=np.uint8, count=n_bytes)
