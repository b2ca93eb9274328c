"""What goes to the device in an iteration, and what comes back: one copy each, through pinned memory."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import floor, isfinite, ldexp, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...link._bins import sums_of_whole_numbers
from ...link.bins import Bins
from ...link.curve import MonotoneCurve
from ..arrays import FloatArray
from ..sweep import Sweep, Visit
from .arrays import cupy
from .kernels import address, link_kernel, n_blocks

# As `Link` in link.cuh: corners, points, first, n_corners, n_cells, cells_per_unit, centre.
_LINK = struct.Struct("<QQQiidd")
# As `Asked` in rows.cu: exponent, centre, centre_old, y_centre.
_ASKED = struct.Struct("<dddd")
_CORNER = 32  # bytes of `Corner`
# Every part begins at a multiple of so many bytes.
_ALIGNED = 64
_CELLS_PER_CORNER, _MIN_CELLS, _MAX_CELLS = 4, 1 << 10, 1 << 14
# Points that are all sent: to look for the corners among them takes longer than it saves.
_FEW_POINTS = 512
# Whole numbers stay below two to this power, whatever is added up in them.
_BITS = 62


@dataclass(frozen=True)
class Models:
    """Coefficients and links of some models, in one array of the device: the links first."""

    sent: Any
    w: Any

    def __len__(self) -> int:
        return len(self.w)


class Outbox:
    """Coefficients, links and what else is asked of a visit, on their way to the device.

    The host writes them to pinned memory, of a link only x and y of its points: slopes, and the grid to find
    them by, are made on the device. Who writes anew has fetched what came of the last.
    """

    def __init__(self, n_models: int, d: int, real: Any, n_points: int = _FEW_POINTS) -> None:
        self.n_points = n_points
        self.of_asked = aligned(_LINK.size * n_models)
        of_w = self.of_asked + aligned(_ASKED.size * n_models)
        of_points = of_w + aligned(n_models * d * real.itemsize)
        self.n_bytes = of_points + 16 * n_models * n_points
        # Behind what is sent there is room for what is made of it.
        of_corners = aligned(self.n_bytes)
        of_cells = of_corners + _CORNER * n_points * n_models
        self.sent = cupy().empty(of_cells + 4 * _MAX_CELLS * n_models, dtype=np.uint8)
        self.staged = pinned_bytes(self.n_bytes)
        self.w = self.staged[of_w : of_w + n_models * d * real.itemsize].view(real).reshape(n_models, d)
        self.points = self.staged[of_points:].view(np.float64).reshape(n_models, 2, n_points)
        begin = self.sent.data.ptr
        self.places = [
            (begin + of_corners + k * _CORNER * n_points, begin + of_points + k * 16 * n_points,
             begin + of_cells + k * 4 * _MAX_CELLS)
            for k in range(n_models)
        ]  # fmt: skip
        on_device = self.sent[of_w : of_w + self.w.nbytes].view(real).reshape(n_models, d)
        self.models = Models(self.sent, on_device)

    def asked(self, k: int) -> Any:
        """Return where on the device it lies what is asked of the visit of a model."""
        return np.uint64(self.sent.data.ptr + self.of_asked + k * _ASKED.size)

    def write(self, visits: Sequence[Visit], curves: Sequence[tuple[FloatArray, FloatArray]]) -> None:
        """Write what is to be sent; of every link the points."""
        for k, (visit, (x, y)) in enumerate(zip(visits, curves, strict=True)):
            size = len(x)
            self.w[k] = visit.w
            self.points[k, 0, :size], self.points[k, 1, :size] = x, y
            n_cells = min(max(_CELLS_PER_CORNER * size, _MIN_CELLS), _MAX_CELLS)
            _LINK.pack_into(
                self.staged.data, k * _LINK.size, *self.places[k], size, n_cells, 0.0, visit.centre
            )
            _ASKED.pack_into(
                self.staged.data, self.of_asked + k * _ASKED.size,
                nan if visit.exponent is None else visit.exponent, visit.centre, visit.centre_old,
                visit.y_centre,
            )  # fmt: skip

    def send(self) -> None:
        """Ask for the copy."""
        stream = cupy().cuda.get_current_stream()
        self.sent.data.copy_from_host_async(self.staged.ctypes.data, self.n_bytes, stream)

    def unpack(self) -> Models:
        """Ask for what is made of it."""
        link_kernel("make_links", "float64")(
            (len(self.models),), (1024,), (address(self.sent), np.int32(self.n_points))
        )
        return self.models


def points_of(link: MonotoneCurve | None) -> tuple[FloatArray, FloatArray]:
    """Return x and y of the points of a link, only of its corners where there are many; none for no link."""
    if link is None:
        return np.empty(0), np.empty(0)
    if len(link.x) <= _FEW_POINTS:
        return link.x, link.y
    x, y = link.knots_.T
    return x, y


# ---------------------------------------------------------------- what comes back


class Facts(NamedTuple):
    """What is known of the rows as a whole; as `Facts` in rows.cu."""

    residual: float
    low: float
    high: float
    exponent: float
    first: float


_FACTS = struct.Struct("<5d")


class Inbox:
    """Facts, sums by block, bins and gradients of some models, on their way back."""

    def __init__(self, n_models: int, n_bins: int, d: int) -> None:
        self.n_bins = n_bins
        # For each model facts, sums and bins; behind them all gradients.
        ends = _FACTS.size, _FACTS.size + 72 * n_blocks()
        size = ends[1] + 24 * n_bins
        self.room = cupy().empty(n_models * (size + 8 * d), dtype=np.uint8)
        self.fetched = pinned_bytes(len(self.room))
        self.gradient = self.room[n_models * size :].view(np.float64).reshape(n_models, d)
        self.gradients = self.fetched[n_models * size :].view(np.float64).reshape(n_models, d)
        self.begins = [k * size for k in range(n_models)]
        own = [self.fetched[begin : begin + size] for begin in self.begins]
        self.sums = [part[ends[0] : ends[1]].view(np.float64).reshape(-1, 9) for part in own]
        self.bins = [part[ends[1] :].view(np.int64).reshape(3, n_bins) for part in own]
        self.ends = ends

    def places(self, k: int) -> tuple[Any, Any, Any]:
        """Return where on the device facts, sums and bins of a model belong."""
        begin = self.room.data.ptr + self.begins[k]
        return np.uint64(begin), np.uint64(begin + self.ends[0]), np.uint64(begin + self.ends[1])

    def ask(self) -> None:
        """Ask for the copy."""
        stream = cupy().cuda.get_current_stream()
        self.room.data.copy_to_host_async(self.fetched.ctypes.data, len(self.room), stream)

    def sweep(self, k: int, scales: tuple[float, float]) -> Sweep:
        """Return the sweep of a model, once it is here; `scales` are those of its bins."""
        facts, bins = Facts(*_FACTS.unpack_from(self.fetched.data, self.begins[k])), None
        if self.n_bins and isfinite(facts.first):
            bins = as_bins(facts, self.bins[k], *scales)
        return Sweep(self.gradients[k].copy(), facts.residual, self.sums[k].sum(axis=0), bins)


@lru_cache(maxsize=64)
def scale_for(largest: float) -> float:
    """Return the power of two by which sums up to `largest` become whole numbers of 62 bits at most."""
    _, exponent = np.frexp(max(largest, np.finfo(np.float64).tiny))
    return float(np.ldexp(1.0, min(_BITS - int(exponent), 1000)))


def as_bins(facts: Facts, whole: Any, weight_scale: float, y_scale: float) -> Bins:
    """Return the bins of whole numbers, of shape (3, n_bins), as `Bins` has them."""
    exponent, first = int(facts.exponent), facts.first
    used = floor(ldexp(facts.high, -exponent)) - int(first) + 1
    sums = np.empty((used, 3))
    sums_of_whole_numbers(whole, first, ldexp(1.0, exponent), 1 / weight_scale, 1 / y_scale, sums)
    return Bins(whole.shape[1], exponent, first, sums)


# ---------------------------------------------------------------- memory


def aligned(n_bytes: int) -> int:
    return -(-n_bytes // _ALIGNED) * _ALIGNED


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
