"""What goes to the device in an iteration: coefficients and links, in one copy through pinned memory."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from ..sweep import Visit, corners_and_slopes
from .arrays import cupy
from .kernels import address, link_kernel

# As `Link` in link.cuh: corners, first, n_corners, n_cells, cells_per_unit, centre.
_LINK = struct.Struct("<QQiidd")
_CORNER = 32  # bytes of `Corner`
# Every part begins at a multiple of so many bytes.
_ALIGNED = 64
_CELLS_PER_CORNER, _MIN_CELLS, _MAX_CELLS = 4, 1 << 10, 1 << 14


@dataclass(frozen=True)
class Models:
    """Coefficients and links of some models on the device."""

    w: Any
    links: Any

    def __len__(self) -> int:
        return len(self.w)


class Exchange:
    """Room on both sides, kept for the next iteration: who sends anew has fetched what came of it."""

    def __init__(self) -> None:
        self.staged: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        self.sent: Any = None

    def send(self, visits: Sequence[Visit], real: Any) -> Models:
        """Send the coefficients and the links of some visits."""
        corners = [corners_of(visit.link) for visit in visits]
        n_cells = [min(max(_CELLS_PER_CORNER * len(part), _MIN_CELLS), _MAX_CELLS) for part in corners]
        d, of_w = len(visits[0].w), aligned(_LINK.size * len(visits))
        begin = of_w + aligned(len(visits) * d * real.itemsize)
        of_corners = []
        for part in corners:
            of_corners.append(begin)
            begin += aligned(_CORNER * len(part))
        total = begin
        self._make_room(total + 4 * sum(n_cells))
        place = self.sent.data.ptr
        cells = place + total
        for k, (visit, part) in enumerate(zip(visits, corners, strict=True)):
            per_unit = n_cells[k] / (part[-1, 0] - part[0, 0]) if len(part) > 1 else 0.0
            _LINK.pack_into(
                self.staged.data, _LINK.size * k, place + of_corners[k], cells, len(part), n_cells[k],
                per_unit, visit.centre,
            )  # fmt: skip
            cells += 4 * n_cells[k]
            self.staged[of_corners[k] : of_corners[k] + part.nbytes] = part.view(np.uint8).reshape(-1)
            at = of_w + k * d * real.itemsize
            self.staged[at : at + d * real.itemsize].view(real)[...] = visit.w
        self.sent.data.copy_from_host_async(self.staged.ctypes.data, total, cupy().cuda.get_current_stream())
        if any(len(part) for part in corners):
            link_kernel("fill_cells")((len(visits),), (1024,), (address(self.sent),))
        w = self.sent[of_w : of_w + len(visits) * d * real.itemsize].view(real).reshape(len(visits), d)
        return Models(w, self.sent)

    def _make_room(self, n_bytes: int) -> None:
        if len(self.staged) < n_bytes:
            self.staged, self.sent = pinned_bytes(2 * n_bytes), cupy().empty(2 * n_bytes, dtype=np.uint8)


def aligned(n_bytes: int) -> int:
    return -(-n_bytes // _ALIGNED) * _ALIGNED


def corners_of(link: Any) -> FloatArray:
    """Return x, y, slope and the next x of every corner of a link; none for no link."""
    if link is None:
        return np.empty((0, 4))
    knots, values, slopes = corners_and_slopes(link)
    corners = np.empty((len(knots), 4))
    corners[:, 0], corners[:, 1], corners[:, 2] = knots, values, slopes
    corners[:-1, 3], corners[-1, 3] = knots[1:], np.inf
    return corners


def pinned_bytes(n_bytes: int) -> NDArray[np.uint8]:
    memory = cupy().cuda.alloc_pinned_memory(n_bytes)
    return np.frombuffer(memory, dtype=np.uint8, count=n_bytes)
