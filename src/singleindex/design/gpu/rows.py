"""What a sweep on the device has row by row: y, weights, indices; and what it makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...link.bins import Bins
from ..arrays import FloatArray
from ..sweep import Sweep, Visit
from .arrays import cupy
from .kernels import address, link_kernel, n_blocks, row_kernel

_BLOCK, _LINK_BLOCK, _N_LINK_BLOCKS = 1024, 256, 512
# Whole numbers stay below two to this power, whatever is added up in them.
_BITS = 62
# Bins for which a block has room of its own in shared memory, 24 bytes each.
_MOST_NEAR = 9000
# As `Facts` in rows.cu.
FACTS = np.dtype([(name, np.float64) for name in ("residual", "low", "high", "exponent", "first")])


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
        column = Column(given, cupy().asarray(values), largest)
        self.kept = [*self.kept[-(self.most - 1) :], column]
        return column


@dataclass(frozen=True)
class Found:
    """What the workers of a visit have found by lane: workers × 3 × 32; `lanes` of them are of each model."""

    values: Any
    lanes: int = 32


def link_residuals(links: Any, index: Any, y: Any, weight: Any) -> tuple[Any, Found]:
    """Return the weighted residuals of rows whose index is known, and what was found on the way."""
    cp = cupy()
    residual, found = cp.empty(len(index)), cp.empty((_N_LINK_BLOCKS, 3, 32))
    link_kernel("link_rows")(
        (_N_LINK_BLOCKS,), (_LINK_BLOCK,),
        (np.int64(len(index)), address(links), address(index), address(y), address(weight),
         address(residual), address(found)),
    )  # fmt: skip
    return residual, Found(found)


class Outcome:
    """What a sweep of one model brings back: facts, sums by block, bins and the gradient, side by side."""

    def __init__(self, visit: Visit, d: int) -> None:
        self.visit = visit
        self.n_bins = visit.n_bins or 0
        self.ends = np.cumsum([FACTS.itemsize, 72 * n_blocks(), 24 * self.n_bins, 8 * d])
        self.room = cupy().zeros(int(self.ends[-1]), dtype=np.uint8)
        self.facts, self.sums, self.bins, self.gradient = np.split(self.room, self.ends[:-1])
        self.scales = (1.0, 1.0)

    def visit_rows(
        self, model: int, found: Found, index: Any, index_old: Any, y: Column, weight: Column | None
    ) -> None:
        """Fill in all but the gradient, for rows whose index is known."""
        visit, n, heaviest = self.visit, len(index), 1.0 if weight is None else weight.largest
        self.scales = scale_for(n * heaviest), scale_for(n * heaviest * y.largest)
        exponent = np.nan if visit.exponent is None else float(visit.exponent)
        begin = model * found.lanes
        row_kernel("finish")(
            (1,), (_BLOCK,),
            (address(found.values), np.int32(len(found.values)), np.int32(begin),
             np.int32(begin + found.lanes), np.float64(exponent), np.int32(self.n_bins), address(self.facts)),
        )  # fmt: skip
        is_near = self.n_bins <= _MOST_NEAR
        kernel, room = row_kernel("visit_rows"), 24 * self.n_bins if is_near else 0
        kernel.max_dynamic_shared_size_bytes = room
        kernel(
            (n_blocks(),), (_BLOCK,),
            (np.int64(n), address(index), address(index_old), address(y.values),
             address(None if weight is None else weight.values), np.float64(visit.centre),
             np.float64(visit.centre_old), np.float64(visit.y_centre), address(self.sums), address(self.facts),
             np.int32(self.n_bins), np.int32(is_near), *map(np.float64, self.scales), address(self.bins)),
            shared_mem=room,
        )  # fmt: skip

    def as_sweep(self, fetched: Any) -> Sweep:
        """Return the sweep, of the bytes of the outcome on the host."""
        facts, sums, bins, gradient = np.split(fetched, self.ends[:-1])
        known = facts.view(FACTS)[0]
        gradient = gradient.view(np.float64).copy()
        total = sums.view(np.float64).reshape(-1, 9).sum(axis=0)
        found = None
        if self.n_bins and np.isfinite(known["first"]):
            found = as_bins(self.n_bins, known, bins.view(np.int64), *self.scales)
        return Sweep(gradient, float(known["residual"]), total, found)


def scale_for(largest: float) -> float:
    """Return the power of two by which sums up to `largest` become whole numbers of 62 bits at most."""
    _, exponent = np.frexp(max(largest, np.finfo(np.float64).tiny))
    return float(np.ldexp(1.0, min(_BITS - int(exponent), 1000)))


def as_bins(n_bins: int, facts: Any, whole: Any, weight_scale: float, y_scale: float) -> Bins:
    """Return the bins of whole numbers, as `Bins` has them."""
    exponent, first = int(facts["exponent"]), float(facts["first"])
    width = float(np.ldexp(1.0, exponent))
    used = int(np.floor(np.ldexp(facts["high"], -exponent)) - first) + 1
    weight, place, y = whole.reshape(3, n_bins)[:, :used]
    sums = np.empty((used, 3))
    np.divide(weight, weight_scale, out=sums[:, 0])
    sums[:, 1] = width * ((first + np.arange(used)) * sums[:, 0] + place / weight_scale)
    np.divide(y, y_scale, out=sums[:, 2])
    return Bins(n_bins, exponent, first, sums)
