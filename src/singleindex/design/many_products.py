"""Products of rows with the coefficients of many models at once, some rows at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._many import csr_many_gradients, csr_many_indices
from .arrays import FloatArray

# Numbers that the indices of some rows take under all models: they stay in a cache while they are used.
_AT_A_TIME = 1 << 17
_FEWEST_ROWS = 64


class ManyProducts:
    """X W, and Xᵀ times residuals, for a design that knows its products with all rows alone."""

    def __init__(self, design: Any, W: FloatArray) -> None:
        self.design, self.W, self.n_models = design, np.ascontiguousarray(W), int(W.shape[1])
        self.total = np.zeros(W.shape)

    @property
    def rows_at_a_time(self) -> int:
        return max(int(self.design.shape[0]), 1)

    def indices(self, rows: slice) -> FloatArray:
        """Return (X W)ᵀ for some rows."""
        return np.ascontiguousarray(self.design.matvec(self.W).T)

    def add(self, rows: slice, residual: FloatArray) -> None:
        """Add the products of some rows with residuals, of shape (K, n), to the gradients."""
        self.total += self.design.rmatvec(np.ascontiguousarray(residual.T))

    def gradient(self) -> FloatArray:
        """Return the sums of what was added, of shape (d, K)."""
        return self.total


class DenseProducts(ManyProducts):
    """For an array."""

    def __init__(self, X: Any, W: FloatArray) -> None:
        self.X, self.n_models = X, int(W.shape[1])
        self.W = np.ascontiguousarray(W.T, dtype=X.dtype)
        self.total = np.zeros(self.W.shape)

    @property
    def rows_at_a_time(self) -> int:
        return max(_FEWEST_ROWS, _AT_A_TIME // max(self.n_models, 1))

    def indices(self, rows: slice) -> FloatArray:
        return np.ascontiguousarray(self.W @ self.X[rows].T, dtype=np.float64)

    def add(self, rows: slice, residual: FloatArray) -> None:
        self.total += residual.astype(self.X.dtype, copy=False) @ self.X[rows]

    def gradient(self) -> FloatArray:
        return np.ascontiguousarray(self.total.T)


class CsrProducts(ManyProducts):
    """For sparse rows, whose parts are data, indices and starts: one run over the entries for all models."""

    def __init__(self, parts: Any, W: FloatArray) -> None:
        self.parts, self.W, self.n_models = parts, np.ascontiguousarray(W), int(W.shape[1])
        self.total = np.zeros(W.shape)

    @property
    def rows_at_a_time(self) -> int:
        return max(_FEWEST_ROWS, _AT_A_TIME // max(self.n_models, 1))

    def indices(self, rows: slice) -> FloatArray:
        index = np.zeros((rows.stop - rows.start, self.n_models))
        csr_many_indices(*self.parts, rows.start, rows.stop, self.W, index)
        return np.ascontiguousarray(index.T)

    def add(self, rows: slice, residual: FloatArray) -> None:
        by_row = np.ascontiguousarray(residual.T)
        csr_many_gradients(*self.parts, rows.start, rows.stop, by_row, self.total)
