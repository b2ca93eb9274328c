"""What the device has row by row: y, weights, indices; and what it makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import FloatArray
from .arrays import cupy
from .exchange import scale_for, to_device
from .kernels import address, link_kernel, n_blocks, row_kernel

_BLOCK, _LINK_BLOCK, _N_LINK_BLOCKS = 1024, 256, 512
# Bins for which a block has room of its own in shared memory, 24 bytes each.
_MOST_NEAR = 9000


@dataclass(frozen=True)
class Column:
    """One value per row: as it was given, on the device, and the largest size there is."""

    given: FloatArray
    values: Any
    largest: float


class Columns:
    """Keeps what was sent to the device a while: y and the weights are the same in every iteration."""

    def __init__(self, most: int = 16) -> None:
        self.most = most
        self.kept: list[Column] = []

    def send(self, given: FloatArray) -> Column:
        for column in self.kept:
            if column.given is given:
                return column
        values = np.ascontiguousarray(given, dtype=np.float64)
        largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
        column = Column(given, to_device(values), largest)
        self.kept = [*self.kept[-(self.most - 1) :], column]
        return column


@dataclass(frozen=True)
class Found:
    """What the workers of a visit have found by lane: workers × 3 × 32; `lanes` of them are of each model."""

    values: Any
    lanes: int = 32


class Residuals:
    """Weighted residuals of rows whose index is known, for what is not swept in one visit.

    They have room of their own, which an iteration that is recorded must not lose.
    """

    def __init__(self, n: int, storage: str) -> None:
        real = np.float64 if storage == "float64" else np.float32
        self.storage, self.values = storage, cupy().empty(n, dtype=real)
        self.found = Found(cupy().empty((_N_LINK_BLOCKS, 3, 32)))

    def fill(self, links: Any, index: Any, y: Any, weight: Any) -> Any:
        """Return the residuals of the first of some links."""
        link_kernel("link_rows", self.storage)(
            (_N_LINK_BLOCKS,), (_LINK_BLOCK,),
            (np.int64(len(index)), address(links), address(index), address(y), address(weight),
             address(self.values), address(self.found.values)),
        )  # fmt: skip
        return self.values


@dataclass(frozen=True)
class Rows:
    """The rows of one model: y, weights, and how large their sums by bins may become."""

    y: Column
    weight: Column | None
    n_bins: int

    @property
    def scales(self) -> tuple[float, float]:
        """By what weights, and weights times y, are multiplied to become whole numbers."""
        heaviest = 1.0 if self.weight is None else self.weight.largest
        largest = len(self.y.values) * heaviest
        return scale_for(largest), scale_for(largest * self.y.largest)

    def visit(
        self, k: int, asked: Any, found: Found, index: Any, old: Any, places: tuple[Any, Any, Any]
    ) -> None:
        """Fill in facts, sums and bins of model k, whose index is known."""
        facts, sums, bins = places
        row_kernel("finish")(
            (1,), (_BLOCK,),
            (address(found.values), np.int32(len(found.values)), np.int32(k * found.lanes),
             np.int32((k + 1) * found.lanes), asked, np.int32(self.n_bins), facts, bins),
        )  # fmt: skip
        is_near = self.n_bins <= _MOST_NEAR
        kernel, omega = row_kernel("visit_rows"), None if self.weight is None else self.weight.values
        kernel.max_dynamic_shared_size_bytes = 24 * _MOST_NEAR
        kernel(
            (n_blocks(),), (_BLOCK,),
            (np.int64(len(index)), *map(address, (index, old, self.y.values, omega)), asked, sums, facts,
             np.int32(self.n_bins), np.int32(is_near), *map(np.float64, self.scales), bins),
            shared_mem=24 * self.n_bins if is_near else 0,
        )  # fmt: skip
