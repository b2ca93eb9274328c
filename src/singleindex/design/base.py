"""What a design is: data as an operator."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@runtime_checkable
class Design(Protocol):
    """The data matrix, known only by its products.

    `w` has shape (d,) or (d, n_outputs), `r` has shape (n,) or (n, n_outputs).

    A design may also have `sweep(visit, y, weight)`, one visit of all rows that gives all an iteration needs,
    a :class:`~singleindex.design.Sweep`; :func:`singleindex.design.sweep.sweep_rows` makes it of the
    products.
    """

    @property
    def shape(self) -> tuple[int, int]: ...

    def matvec(self, w: FloatArray) -> FloatArray:
        """Return X w. Costs no more than the columns where `w` is not zero."""
        ...

    def rmatvec(self, r: FloatArray) -> FloatArray:
        """Return Xᵀ r, a new array: whoever asked for it may change it."""
        ...

    def column_moments(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the weighted mean and variance of every column; `weight` sums to one."""
        ...


def by_outputs(product, values: FloatArray, length: int) -> FloatArray:  # type: ignore[no-untyped-def]
    """Apply a product of vectors to each column of `values`."""
    out = np.empty((length, values.shape[1]), order="F")
    for k in range(values.shape[1]):
        out[:, k] = product(np.ascontiguousarray(values[:, k]))
    return out
