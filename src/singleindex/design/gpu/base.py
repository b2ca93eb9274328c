"""What all designs on a GPU share: products for the solvers of the host, and the sweep that stays there."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...link.curve import MonotoneCurve
from ..arrays import FloatArray
from ..base import Design, by_outputs
from ..checks import as_vector, check_length
from ..many import ManySweep, ManyVisit
from ..moments import Moments
from ..sweep import Sweep, Visit
from .arrays import check_room, cupy
from .exchange import Models, to_device
from .iteration import NOT_FINITE, Iteration
from .many import DeviceProducts, sweep_on_device
from .rows import Columns, Found, Rows

# Squared distances, in variances, from which the mean is too far away to measure a variance from.
_FAR = 100.0
# Rows that are multiplied with each other at once, in bytes; and data that are copied without a word.
_BLOCK_BYTES, _LARGE = 1 << 30, 4 << 30
# Iterations whose room is kept: of models that are swept in turns.
_KEPT = 4


class GpuDesign(Design):
    """Data on a GPU. What goes in and comes out is numpy's, and never longer than it must be.

    A subclass has `shape`, `take`, `type_of_w`, `to_host` and the methods whose names begin with `device_`:
    what they take and return are arrays of the device.
    """

    def __init__(self, device: Any) -> None:
        self.device = device
        self.columns_sent = Columns()
        self.iterations: list[Iteration] = []

    # ------------------------------------------------------------ products

    def matvec(self, w: FloatArray) -> FloatArray:
        check_length(w, self.shape[1], "w")
        if w.ndim == 2:
            return by_outputs(self.matvec, w, self.shape[0])
        with self.device:
            index: FloatArray = self.index_of(w).get()
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
        count, sweeps = self.models_at_once(len(visits)), list[Sweep]()
        with self.device:
            for begin in range(0, len(visits), count):
                some = slice(begin, begin + count)
                iteration = self.iteration_of(ys[some], weights[some], visits[0].n_bins)
                sweeps += iteration.sweep(self, visits[some])
        return sweeps

    def models_at_once(self, wanted: int) -> int:
        """Return how many models one reading serves, of those that are wanted."""
        return 1

    def iteration_of(
        self, ys: Sequence[FloatArray], weights: Sequence[FloatArray | None], n_bins: int | None
    ) -> Iteration:
        """Return the iteration of some models, with what their last one has left."""
        for known in self.iterations:
            if known.is_of(ys, weights, n_bins or 0):
                return known
        send = self.columns_sent.send
        rows = [
            Rows(send(y), None if weight is None else send(weight), n_bins or 0)
            for y, weight in zip(ys, weights, strict=True)
        ]
        self.iterations = [Iteration(self, rows), *self.iterations[: _KEPT - 1]]
        return self.iterations[0]

    def index_of(self, w: FloatArray) -> Any:
        """Return X w, on the device."""
        return self.device_index(self._send(w))

    def _send(self, w: FloatArray) -> Any:
        return cupy().asarray(np.ascontiguousarray(w, dtype=self.type_of_w()))

    # ------------------------------------------------------------ one visit of all rows, for many models

    @property
    def prefers_readings(self) -> bool:
        return True

    def sweep_many(self, visit: ManyVisit, Y: Any, weight: FloatArray | None, fold: Any) -> ManySweep:
        with self.device:
            return sweep_on_device(self, visit, Y, weight, fold)

    def moments_of_some(self, rows: NDArray[np.intp], Y: FloatArray, weight: FloatArray | None) -> Moments:
        # They are copied to lie side by side, and there may be no room for all of them.
        count = max(_BLOCK_BYTES * self.shape[0] // max(self.n_bytes, 1), 1)
        of_parts = super().moments_of_some
        parts = [
            of_parts(rows[begin : begin + count], Y, weight) for begin in range(0, max(len(rows), 1), count)
        ]
        return reduce(Moments.plus, parts)

    # ------------------------------------------------------------ of the device, by kind of data

    @property
    def is_recordable(self) -> bool:
        """Whether a visit needs no memory but what is kept for the next, so that it can be recorded."""
        return False

    def type_of_w(self, n_models: int = 1) -> Any:
        """Return the type that w of so many models has on the device."""
        raise NotImplementedError

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

    def device_products(self, W: FloatArray) -> DeviceProducts:
        """Return what multiplies some rows at a time with W, and with residuals."""
        raise NotImplementedError

    def take(self, rows: NDArray[np.intp]) -> GpuDesign:
        raise NotImplementedError

    # ------------------------------------------------------------ columns

    def gram(self, which: NDArray[np.intp], weight: FloatArray) -> FloatArray:
        """Return the weighted covariances of some columns, made on the device; `weight` sums to one."""
        cp, n, k = cupy(), self.shape[0], len(which)
        mean = self.column_moments(weight)[0][which]
        with self.device:
            check_room(8 * k * k + 2 * _BLOCK_BYTES, "the products of columns")
            centre, root = cp.asarray(mean), cp.sqrt(to_device(weight))[:, None]
            chosen = None if k == self.shape[1] and (which == np.arange(k)).all() else cp.asarray(which)
            products, rows = cp.zeros((k, k)), max(_BLOCK_BYTES // (8 * max(k, 1)), 1)
            for begin in range(0, n, rows):
                some = slice(begin, min(begin + rows, n))
                block = self.device_block(some, chosen)
                block -= centre
                block *= root[some]
                products += block.T @ block
            covariance: FloatArray = products.get()
        return covariance

    def columns(self, which: NDArray[np.intp]) -> FloatArray:
        with self.device:
            block = self.device_block(slice(0, self.shape[0]), cupy().asarray(which))
            return np.asfortranarray(block.get())

    def device_block(self, rows: slice, which: Any) -> Any:
        """Return some columns of some rows in double, a new array; None for all columns."""
        raise NotImplementedError

    # ------------------------------------------------------------ on the host

    @property
    def has_columns(self) -> bool:
        return False

    def at_hand(self) -> Any:
        """Return a copy in the memory of this machine, for what goes by columns; a large one is told of."""
        n_bytes = self.n_bytes
        if n_bytes > _LARGE:
            warnings.warn(
                f"X is copied to the memory of this machine, {n_bytes / 2**30:.1f} GiB, and worked on there. "
                "Of fits solver='one-pass' stays on the GPU; searches do where there are 50,000 rows, not "
                "too many columns, and nothing is asked for that data in blocks do not have.",
                stacklevel=2,
            )
        with self.device:
            return self.to_host()

    @property
    def n_bytes(self) -> int:
        """How large a copy on the host would be."""
        return self.shape[0] * self.shape[1] * int(self.dtype.itemsize)

    def to_host(self) -> Any:
        """Return the data as an array of numpy, or a matrix of scipy."""
        raise NotImplementedError
