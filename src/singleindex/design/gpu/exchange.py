"""What goes to the device and back in an iteration: one copy each way, through pinned memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from ..sweep import Visit, corners_and_slopes
from .arrays import cupy
from .kernels import address, link_kernel

# As `Link` in link.cuh.
LINK = np.dtype(
    [("corners", np.uint64), ("first", np.uint64), ("n_corners", np.int32), ("n_cells", np.int32),
     ("cells_per_unit", np.float64), ("centre", np.float64)]
)  # fmt: skip
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
    """Pinned memory, kept from one iteration to the next; whoever sends anew has fetched what came of it."""

    def __init__(self) -> None:
        self.staged: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        self.fetched: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)

    def fetch(self, values: Any) -> NDArray[np.uint8]:
        """Return an array of bytes of the device; it is overwritten by the next one."""
        if len(self.fetched) < len(values):
            self.fetched = pinned_bytes(2 * len(values))
        stream = cupy().cuda.get_current_stream()
        values.data.copy_to_host_async(self.fetched.ctypes.data, values.nbytes, stream)
        stream.synchronize()
        return self.fetched[: len(values)]

    def send(self, visits: Sequence[Visit], real: Any) -> Models:
        """Send the coefficients and the links of some visits."""
        cp = cupy()
        records = np.zeros(len(visits), dtype=LINK)
        records["centre"] = [visit.centre for visit in visits]
        w = np.stack([visit.w for visit in visits]).astype(real, copy=False)
        corners = [corners_of(visit.link) for visit in visits]
        records["n_corners"] = [len(part) for part in corners]
        records["n_cells"] = np.clip(_CELLS_PER_CORNER * records["n_corners"], _MIN_CELLS, _MAX_CELLS)
        records["cells_per_unit"] = [
            count / (part[-1, 0] - part[0, 0]) if len(part) > 1 else 0.0
            for part, count in zip(corners, records["n_cells"], strict=True)
        ]
        parts = [records, w, *corners]
        ends = np.cumsum([-(-part.nbytes // _ALIGNED) * _ALIGNED for part in parts])
        begins = [0, *map(int, ends[:-1])]
        sent = cp.empty(int(ends[-1]) + 4 * int(records["n_cells"].sum()), dtype=np.uint8)
        records["corners"] = [sent.data.ptr + begin for begin in begins[2:]]
        records["first"] = sent.data.ptr + ends[-1] + 4 * (np.cumsum(records["n_cells"]) - records["n_cells"])
        self._stage(parts, begins, int(ends[-1]))
        sent.data.copy_from_host_async(self.staged.ctypes.data, int(ends[-1]), cp.cuda.get_current_stream())
        if any(len(part) for part in corners):
            link_kernel("fill_cells")((len(visits),), (1024,), (address(sent),))
        on_device = sent[begins[1] : begins[1] + w.nbytes].view(real).reshape(w.shape)
        return Models(on_device, sent[: records.nbytes])

    def _stage(self, parts: Sequence[NDArray[Any]], begins: Sequence[int], total: int) -> None:
        if len(self.staged) < total:
            self.staged = pinned_bytes(2 * total)
        for part, begin in zip(parts, begins, strict=True):
            self.staged[begin : begin + part.nbytes] = part.reshape(-1).view(np.uint8)


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
