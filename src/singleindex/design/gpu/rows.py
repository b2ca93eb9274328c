"""What a sweep on the device has row by row: y, weights, indices; and what it makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import floor, isfinite, ldexp
from typing import Any, NamedTuple

import numpy as np

from ...link.bins import Bins
from ..arrays import FloatArray
from ..sweep import Sweep, Visit
from .arrays import cupy
from .exchange import pinned_bytes, to_device
from .kernels import address, link_kernel, n_blocks, row_kernel

_BLOCK, _LINK_BLOCK, _N_LINK_BLOCKS = 1024, 256, 512
# Whole numbers stay below two to this power, whatever is added up in them.
_BITS = 62
# Bins for which a block has room of its own in shared memory, 24 bytes each.
_MOST_NEAR = 9000


class Facts(NamedTuple):
    """What is known of the rows as a whole; as `Facts` in rows.cu."""

    residual: float
    low: float
    high: float
    exponent: float
    first: float


FACTS = np.dtype([(name, np.float64) for name in Facts._fields])


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


class Outcomes:
    """What the sweeps of some models bring back: facts, sums by block, bins and gradients, in one copy."""

    def __init__(self, n_models: int, n_bins: int, d: int) -> None:
        self.key = (n_models, n_bins, d)
        self.n_bins = n_bins
        # For each model facts, sums and bins; behind them all gradients.
        self.ends = (FACTS.itemsize, FACTS.itemsize + 72 * n_blocks())
        self.size = self.ends[1] + 24 * n_bins
        self.room = cupy().empty(n_models * (self.size + 8 * d), dtype=np.uint8)
        self.gradient = self.room[n_models * self.size :].view(np.float64).reshape(n_models, d)
        self.fetched = pinned_bytes(len(self.room))
        self.parts = [self._parts_of(k, n_models) for k in range(n_models)]
        self.scales = [(1.0, 1.0)] * n_models
        row_kernel("visit_rows").max_dynamic_shared_size_bytes = 24 * _MOST_NEAR

    def _near_bytes(self) -> int:
        """Return the room for bins in shared memory, where they have any there."""
        return 24 * self.n_bins if self.n_bins <= _MOST_NEAR else 0

    def visit_rows(
        self, k: int, visit: Visit, found: Found, index: Any, index_old: Any, y: Column, weight: Column | None
    ) -> None:
        """Fill in all but the gradient of a model, for rows whose index is known."""
        n, heaviest = len(index), 1.0 if weight is None else weight.largest
        self.scales[k] = scales = scale_for(n * heaviest), scale_for(n * heaviest * y.largest)
        exponent = np.nan if visit.exponent is None else float(visit.exponent)
        place = self.room.data.ptr + k * self.size
        facts, sums, bins = (np.uint64(place + begin) for begin in (0, *self.ends))
        row_kernel("finish")(
            (1,), (_BLOCK,),
            (address(found.values), np.int32(len(found.values)), np.int32(k * found.lanes),
             np.int32((k + 1) * found.lanes), np.float64(exponent), np.int32(self.n_bins), facts, bins),
        )  # fmt: skip
        omega = None if weight is None else weight.values
        row_kernel("visit_rows")(
            (n_blocks(),), (_BLOCK,),
            (np.int64(n), *map(address, (index, index_old, y.values, omega)), np.float64(visit.centre),
             np.float64(visit.centre_old), np.float64(visit.y_centre), sums, facts, np.int32(self.n_bins),
             np.int32(self.n_bins <= _MOST_NEAR), np.float64(scales[0]), np.float64(scales[1]), bins),
            shared_mem=self._near_bytes(),
        )  # fmt: skip

    def bring_back(self) -> Any:
        """Ask for all of it; return the stream that it comes on."""
        stream = cupy().cuda.get_current_stream()
        self.room.data.copy_to_host_async(self.fetched.ctypes.data, len(self.room), stream)
        return stream

    def _parts_of(self, k: int, n_models: int) -> tuple[Any, Any, Any, Any]:
        """Return where facts, sums, bins and the gradient of a model arrive."""
        own = self.fetched[k * self.size : (k + 1) * self.size]
        gradients = self.fetched[n_models * self.size :].view(np.float64).reshape(n_models, -1)
        sums = own[self.ends[0] : self.ends[1]].view(np.float64).reshape(-1, 9)
        bins = own[self.ends[1] :].view(np.int64).reshape(3, self.n_bins)
        return own[: self.ends[0]].view(FACTS), sums, bins, gradients[k]

    def fetch(self) -> list[Sweep]:
        """Return the sweeps, once all of it has come back."""
        self.bring_back().synchronize()
        return [self._as_sweep(*parts, self.scales[k]) for k, parts in enumerate(self.parts)]

    def _as_sweep(self, facts: Any, sums: Any, whole: Any, gradient: Any, scales: tuple[float, float]) -> Sweep:
        known, bins = Facts(*facts.item()), None
        if self.n_bins and isfinite(known.first):
            bins = as_bins(known, whole, *scales)
        return Sweep(gradient.copy(), known.residual, sums.sum(axis=0), bins)


@lru_cache(maxsize=64)
def scale_for(largest: float) -> float:
    """Return the power of two by which sums up to `largest` become whole numbers of 62 bits at most."""
    _, exponent = np.frexp(max(largest, np.finfo(np.float64).tiny))
    return float(np.ldexp(1.0, min(_BITS - int(exponent), 1000)))


def as_bins(facts: Facts, whole: Any, weight_scale: float, y_scale: float) -> Bins:
    """Return the bins of whole numbers, of shape (3, n_bins), as `Bins` has them."""
    exponent, first = int(facts.exponent), facts.first
    used = floor(ldexp(facts.high, -exponent)) - int(first) + 1
    weight, place, y = whole[:, :used]
    sums = np.empty((used, 3))
    # By powers of two, exactly.
    np.multiply(weight, 1 / weight_scale, out=sums[:, 0])
    np.multiply(y, 1 / y_scale, out=sums[:, 2])
    number = np.arange(first, first + used)
    number *= sums[:, 0]
    number += np.multiply(place, 1 / weight_scale)
    np.multiply(number, ldexp(1.0, exponent), out=sums[:, 1])
    return Bins(whole.shape[1], exponent, first, sums)
