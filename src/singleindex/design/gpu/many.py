"""One visit of the rows on a device for many models: products of cuBLAS, our own kernel between them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import FloatArray
from ..many import REACH, IntArray, ManySweep, ManyVisit
from .arrays import check_room, cupy
from .exchange import to_device
from .kernels import address, many_kernel

if TYPE_CHECKING:
    from .base import GpuDesign

_THREADS, _SHARED = 512, 2048 * 24  # as BLOCK and SLOTS in many.cu
# Rows that are multiplied at once: sums over more of them would lose digits in single precision. And numbers
# that their indices take under all models.
_ROWS, _NUMBERS, _FEWEST_ROWS = 1 << 14, 1 << 27, 1 << 8


class DeviceProducts:
    """Products of some dense rows at a time with W, and with residuals; `real` is the type they are in."""

    def __init__(self, design: Any, W: FloatArray, real: Any) -> None:
        cp = cupy()
        self.design, self.n_models = design, int(W.shape[1])
        self.W = cp.asarray(np.ascontiguousarray(W.T, dtype=real))
        self.total = cp.zeros(self.W.shape)
        self.block: Any = None

    @property
    def rows_at_a_time(self) -> int:
        return max(_FEWEST_ROWS, min(_ROWS, _NUMBERS // max(self.n_models, 1)))

    def indices(self, rows: slice) -> Any:
        """Return (X W)ᵀ for some rows."""
        self.block = self.design.device_numbers(rows)
        return self.W @ self.block.T

    def add(self, rows: slice, residual: Any) -> None:
        """Add the products of the rows that were just multiplied with residuals, of shape (K, n)."""
        self.total += residual @ self.block


class SparseProducts(DeviceProducts):
    """The same for sparse rows: all of them at once, for one model after the other."""

    @property
    def rows_at_a_time(self) -> int:
        return max(int(self.design.shape[0]), 1)

    def indices(self, rows: slice) -> Any:
        index = cupy().empty((self.n_models, self.design.shape[0]))
        for k in range(self.n_models):
            self.design.by_rows.product(self.W[k], out=index[k])
        return index

    def add(self, rows: slice, residual: Any) -> None:
        for k in range(self.n_models):
            self.design.by_columns.product(residual[k].astype(self.W.dtype), out=self.total[k])


class DeviceRows:
    """What there is for every row: outputs, weights or None, folds."""

    def __init__(self, Y: FloatArray, weight: FloatArray | None, fold: IntArray) -> None:
        self.Y, self.n = to_device(Y), Y.shape[1]
        self.weight = None if weight is None else to_device(weight)
        self.fold = cupy().asarray(np.ascontiguousarray(fold, dtype=np.int32))


class DeviceModels:
    """Links, and what else a visit knows of its models; their sums, to which every call adds."""

    def __init__(self, visit: ManyVisit) -> None:
        cp, K = cupy(), visit.n_models
        self.n_models, self.n_bins = K, visit.n_bins
        self.offset, self.table = to_device(visit.offset), to_device(visit.table)
        self.held, self.output = cp.asarray(visit.held), cp.asarray(visit.output)
        self.bins, self.residual = cp.zeros((K, 2, visit.n_bins, 3)), cp.zeros(K)

    def visit(self, index: Any, rows: DeviceRows, some: slice) -> None:
        """Add up some rows, whose indices are known, and write their residuals over these."""
        weight = None if rows.weight is None else rows.weight[some]
        many_kernel("visit_models", str(index.dtype))(
            (self.n_models,), (_THREADS,),
            (np.int64(index.shape[1]), np.int32(self.n_bins), np.float64(REACH), address(index),
             address(self.offset), address(rows.Y[:, some]), np.int64(rows.n), address(weight),
             address(rows.fold[some]), *map(address, (self.held, self.output, self.table)),
             address(self.bins), address(self.residual)),
            shared_mem=_SHARED,
        )  # fmt: skip


def sweep_on_device(
    design: GpuDesign, visit: ManyVisit, Y: FloatArray, weight: FloatArray | None, fold: IntArray
) -> ManySweep:
    """Visit all rows for many models, as `sweep_rows_of_many` does on the host."""
    n, d = design.shape
    products = design.device_products(visit.W)
    count = min(products.rows_at_a_time, n)
    check_room(16 * visit.n_models * (count + d) + 8 * count * d, "the indices of some rows")
    models, rows = DeviceModels(visit), DeviceRows(Y, weight, fold)
    for begin in range(0, n, count):
        some = slice(begin, min(begin + count, n))
        index = products.indices(some)
        models.visit(index, rows, some)
        if visit.needs_gradient:
            products.add(some, index)
    gradient = np.ascontiguousarray(products.total.get().T) if visit.needs_gradient else np.zeros((d, 0))
    return ManySweep(gradient, models.residual.get(), models.bins.get())


def sweep_by_models(
    design: GpuDesign, visit: ManyVisit, Y: FloatArray, weight: FloatArray | None, fold: IntArray
) -> ManySweep:
    """Do the same for some models at a time, where a design multiplies all its rows at once."""
    count = max(1, _NUMBERS // max(design.shape[0], 1))
    parts = [
        sweep_on_device(design, part, Y, weight, fold)
        for part in (some_models(visit, slice(k, k + count)) for k in range(0, visit.n_models, count))
    ]
    return ManySweep(
        np.concatenate([part.gradient for part in parts], axis=1),
        np.concatenate([part.residual for part in parts]),
        np.concatenate([part.bins for part in parts]),
    )


def some_models(visit: ManyVisit, which: slice) -> ManyVisit:
    return replace(
        visit,
        W=visit.W[:, which],
        offset=visit.offset[which],
        table=visit.table[which],
        held=visit.held[which],
        output=visit.output[which],
    )
