"""One iteration on the device: copies and kernels in order, recorded once, then asked for as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import FloatArray
from ..sweep import Sweep, Visit
from .arrays import cupy
from .exchange import Inbox, Outbox, points_of, to_device
from .rows import Column, Rows

if TYPE_CHECKING:
    from .base import GpuDesign

NOT_FINITE = (
    "X holds NaN or infinity, or numbers too large to be summed; remove or impute these rows, or rescale the "
    "columns of X."
)


class Iteration:
    """Sweeps of some models, with all the room they need, kept for the next iteration of the same models.

    Where the device takes a few milliseconds, the host's calls count. So the kernels of the second sweep are
    recorded as a CUDA graph, and from then on one call asks for all of them. What changes from sweep to sweep
    lies in the memory that is sent. The indices of the last two iterates take turns in two places, so that
    there are two such graphs, and others for sweeps that compare with no iterate before.
    """

    def __init__(self, design: GpuDesign, rows: Sequence[Rows]) -> None:
        (n, d), n_models = design.shape, len(rows)
        self.rows = list(rows)
        self.y = stacked([one.y for one in rows], n)
        self.weight = stacked([one.weight for one in rows], n)
        self.outbox = Outbox(n_models, d, design.type_of_w(n_models))
        self.inbox = Inbox(n_models, rows[0].n_bins, d)
        self.index = [cupy().empty((n_models, n)) for _ in (0, 1)]
        self.turn = 0
        # The iterates whose indices the last sweep has left.
        self.seen: list[FloatArray] = []
        self.graphs: dict[tuple[int, bool], Any] = {}
        self.is_known = False

    def is_of(self, ys: Sequence[FloatArray], weights: Sequence[FloatArray | None], n_bins: int) -> bool:
        """Tell whether this is the iteration of these models."""
        return len(ys) == len(self.rows) and all(
            own.n_bins == n_bins
            and own.y.given is y
            and (weight is None if own.weight is None else own.weight.given is weight)
            for own, y, weight in zip(self.rows, ys, weights, strict=True)
        )

    def sweep(self, design: GpuDesign, visits: Sequence[Visit]) -> list[Sweep]:
        """Return the sweeps of all models; the design is the one that this was made for."""
        curves = [points_of(visit.link) for visit in visits]
        self._make_room(max(len(x) for x, _ in curves))
        self.outbox.write(visits, curves)
        self._start(design, self._has_old(design, visits))
        # The device is at work, and the host has time.
        self.seen, self.turn = [visit.w.copy() for visit in visits], self.turn ^ 1
        cupy().cuda.get_current_stream().synchronize()
        sweeps = [check_finite(self.inbox.sweep(k, own.scales)) for k, own in enumerate(self.rows)]
        if not self.rows[0].n_bins:
            sweeps = [self._with_rows(k, sweep) for k, sweep in enumerate(sweeps)]
        return sweeps

    def _with_rows(self, k: int, sweep: Sweep) -> Sweep:
        own = self.rows[k]
        weight = None if own.weight is None else own.weight.given
        return replace(sweep, index=self.index[self.turn ^ 1][k].get(), y=own.y.given, weight=weight)

    def _make_room(self, n_points: int) -> None:
        """See to it that links of so many points can be sent."""
        box = self.outbox
        if n_points > box.n_points:
            self.outbox = Outbox(len(box.w), box.w.shape[1], box.w.dtype, 2 * n_points)
            self.graphs.clear()

    def _has_old(self, design: GpuDesign, visits: Sequence[Visit]) -> bool:
        """Tell whether there is an iterate before, and bring its index where it is looked for."""
        if all(visit.w_old is visit.w for visit in visits):
            return False
        for k, visit in enumerate(visits):
            if self.seen and np.array_equal(self.seen[k], visit.w_old):
                continue
            old = visit.index_old
            known = design.index_of(visit.w_old) if old is None else to_device(old)
            self.index[self.turn ^ 1][k] = known
        return True

    # ------------------------------------------------------------ on the device

    def _start(self, design: GpuDesign, has_old: bool) -> None:
        """Set the device to work on what was written."""
        key = self.turn, has_old
        # The first time, kernels are compiled and room is made: that is no part of a graph.
        if self.is_known and design.is_recordable and key not in self.graphs:
            self.graphs[key] = self._record(design, has_old)
        self.outbox.send()
        if key in self.graphs:
            self.graphs[key].launch(cupy().cuda.get_current_stream())
        else:
            self.compute(design, has_old)
            self.is_known = True
        self.inbox.ask()

    def _record(self, design: GpuDesign, has_old: bool) -> Any:
        stream = cupy().cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            self.compute(design, has_old)
            return stream.end_capture()

    def compute(self, design: GpuDesign, has_old: bool) -> None:
        """Ask for the kernels of a sweep, one by one."""
        index, old = self.index[self.turn], self.index[self.turn ^ 1]
        models = self.outbox.unpack()
        found = design.device_visit(models, self.y, self.weight, index, self.inbox.gradient)
        for k, own in enumerate(self.rows):
            own.visit(
                k, self.outbox.asked(k), found, index[k], old[k] if has_old else None, self.inbox.places(k)
            )


def check_finite(sweep: Sweep) -> Sweep:
    if not np.isfinite(sweep.gradient).all():
        raise ValueError(NOT_FINITE)
    return sweep


def stacked(columns: Sequence[Column | None], n_rows: int) -> Any:
    """Return columns as the rows of an array of the device, None where there are none."""
    values = [None if column is None else column.values for column in columns]
    if len(values) == 1:
        return values[0]
    if all(column is None for column in values):
        return None
    ones = cupy().ones(n_rows)
    return cupy().stack([ones if column is None else column for column in values])
