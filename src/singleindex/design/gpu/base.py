"""What all designs on a GPU share: products for the solvers of the host, and the sweep that stays there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...link.curve import MonotoneCurve
from ..arrays import FloatArray
from ..base import Design, by_outputs
from ..checks import as_vector, check_length
from ..sweep import Sweep, Visit
from .arrays import check_room, cupy
from .exchange import Exchange, Models, to_device
from .rows import Column, Columns, Found, Outcomes

NOT_FINITE = (
    "X holds NaN or infinity, or numbers too large to be summed; remove or impute these rows, or rescale the "
    "columns of X."
)
# Squared distances, in variances, from which the mean is too far away to measure a variance from.
_FAR = 100.0


class GpuDesign(Design):
    """Data on a GPU. What goes in and comes out is numpy's, and never longer than it must be.

    A subclass has `shape`, `take`, `real` (the type of w and of the sums of an index on the device) and the methods whose
    names begin with `device_`: what they take and return are arrays of the device.
    """

    real: Any = np.dtype(np.float32)

    def __init__(self, device: Any) -> None:
        self.device = device
        self.columns_sent, self.exchange = Columns(), Exchange()
        self.outcomes: Outcomes | None = None
        # The indices of the iterates before these, which the next sweep compares its own with.
        self.before: list[tuple[FloatArray, Any]] = []

    # ------------------------------------------------------------ products

    def matvec(self, w: FloatArray) -> FloatArray:
        check_length(w, self.shape[1], "w")
        if w.ndim == 2:
            return by_outputs(self.matvec, w, self.shape[0])
        with self.device:
            index: FloatArray = self.device_index(self._send(w)).get()
        if not np.isfinite(index).all():
            raise ValueError(NOT_FINITE)
        return index

    def rmatvec(self, r: FloatArray) -> FloatArray:
        check_length(r, self.shape[0], "r")
        if r.ndim == 2:
            return by_outputs(self.rmatvec, r, self.shape[1])
        with self.device:
            product: FloatArray = self.device_sums(to_device(r), None).get()
        return product

    def column_moments(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        weight = as_vector(weight, self.shape[0], "weight")
        with self.device:
            mean, variance = self._moments(to_device(weight), int(np.argmax(weight > 0)))
        if not np.isfinite(mean).all():
            raise ValueError(NOT_FINITE)
        return mean, variance

    def _moments(self, weight: Any, some_row: int) -> tuple[FloatArray, FloatArray]:
        """Return the moments, measured from a row of positive weight: a constant column is so exactly."""
        first = self.device_row(some_row)
        shift, square = self.device_squares(weight, first)
        variance = square - shift**2
        far = (shift**2 > _FAR * variance) & (square > 0)
        # Where that row lies far out the difference has lost digits: once more, about the mean.
        if bool(far.any()):
            variance = cupy().where(far, self.device_squares(weight, first + shift)[1], variance)
        return (first + shift).get(), cupy().where(square > 0, variance, 0.0).get()

    # ------------------------------------------------------------ one visit of all rows

    def sweep(self, visit: Visit, y: Any, weight: FloatArray | None = None) -> Sweep:
        return self.sweep_together([visit], [y], [weight])[0]

    def sweep_together(
        self, visits: Sequence[Visit], ys: Sequence[FloatArray], weights: Sequence[FloatArray | None]
    ) -> list[Sweep]:
        """Return the sweeps of several models, as many as possible of them in one reading of the data.

        They all ask for as many bins.
        """
        for visit, y in zip(visits, ys, strict=True):
            check_length(visit.w, self.shape[1], "w")
            check_length(y, self.shape[0], "y")
            if visit.link is not None and not isinstance(visit.link, MonotoneCurve):
                # A link that only the host knows.
                return [Design.sweep(self, *each) for each in zip(visits, ys, weights, strict=True)]
        count = self.models_at_once(len(visits))
        with self.device:
            sweeps: list[Sweep] = []
            indices: list[tuple[FloatArray, Any]] = []
            while len(sweeps) < len(visits):
                some = slice(len(sweeps), len(sweeps) + count)
                index = cupy().empty((len(visits[some]), self.shape[0]))
                sweeps += self._sweep(visits[some], ys[some], weights[some], index)
                indices += zip((visit.w.copy() for visit in visits[some]), index, strict=True)
            self.before = indices
            return sweeps

    def models_at_once(self, wanted: int) -> int:
        """Return how many models one reading serves, of those that are wanted."""
        return 1

    def _sweep(
        self,
        visits: Sequence[Visit],
        ys: Sequence[FloatArray],
        weights: Sequence[FloatArray | None],
        index: Any,
    ) -> list[Sweep]:
        n = self.shape[0]
        models = self.exchange.send(visits, self.real)
        sent = [self.columns_sent.send(y) for y in ys]
        heavy = [None if weight is None else self.columns_sent.send(weight) for weight in weights]
        outcomes = self._outcomes(len(visits), visits[0].n_bins or 0)
        found = self.device_visit(models, stacked(sent, n), stacked(heavy, n), index, outcomes.gradient)
        # From here on the device is at work, and the host has time.
        for k, visit in enumerate(visits):
            old = self._index_before(visit)
            outcomes.visit_rows(k, visit, found, index[k], old, sent[k], heavy[k])
        sweeps = [check_finite(sweep) for sweep in outcomes.fetch()]
        if visits[0].n_bins is None:
            rows = zip(sweeps, index, ys, weights, strict=True)
            sweeps = [replace(sweep, index=row.get(), y=y, weight=weight) for sweep, row, y, weight in rows]
        return sweeps

    def _outcomes(self, n_models: int, n_bins: int) -> Outcomes:
        key = (n_models, n_bins, self.shape[1])
        if self.outcomes is None or self.outcomes.key != key:
            self.outcomes = Outcomes(*key)
        return self.outcomes

    def _index_before(self, visit: Visit) -> Any:
        """Return the index of the iterate before, on the device; None where it is the same iterate."""
        if visit.w_old is visit.w:
            return None
        for w, index in self.before:
            if np.array_equal(w, visit.w_old):
                return index
        if visit.index_old is not None:
            return to_device(visit.index_old)
        return self.device_index(self._send(visit.w_old))

    def _send(self, w: FloatArray) -> Any:
        return cupy().asarray(np.ascontiguousarray(w, dtype=self.real))

    # ------------------------------------------------------------ of the device, by kind of data

    def device_index(self, w: Any) -> Any:
        """Return X w."""
        raise NotImplementedError

    def device_sums(self, r: Any, point: Any) -> Any:
        """Return the sums over rows of r × (row − point)."""
        raise NotImplementedError

    def device_squares(self, r: Any, point: Any) -> tuple[Any, Any]:
        """Return the sums over rows of r × (row − point), and of r × (row − point)²."""
        raise NotImplementedError

    def device_row(self, number: int) -> Any:
        """Return a row in double."""
        raise NotImplementedError

    def device_visit(self, models: Models, y: Any, weight: Any, index: Any, gradient: Any) -> Found:
        """Write the index and the sum of weight × residual × row; return what was found on the way.

        There is a row of y, of the weights, of the index and of the gradient for each model.
        """
        raise NotImplementedError

    def take(self, rows: NDArray[np.intp]) -> GpuDesign:
        raise NotImplementedError

    def gram(self, which: NDArray[np.intp], weight: FloatArray) -> FloatArray:
        """Return the weighted covariances of some columns, made on the device; `weight` sums to one."""
        cp = cupy()
        with self.device:
            check_room(24 * self.shape[0] * len(which), "the chosen columns")
            columns, omega = self.device_columns(which), cp.asarray(weight, dtype=np.float64)
            columns -= omega @ columns
            covariance: FloatArray = ((columns.T * omega) @ columns).get()
        return covariance

    def columns(self, which: NDArray[np.intp]) -> FloatArray:
        with self.device:
            return np.asfortranarray(self.device_columns(which).get())

    def device_columns(self, which: NDArray[np.intp]) -> Any:
        """Return some columns in double, a new array."""
        raise NotImplementedError


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
