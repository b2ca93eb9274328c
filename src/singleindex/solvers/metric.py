"""The columns of a quadratic that are being worked on, centred and weighted, and the state that moves with u."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design import Design, SparseColumns
from ..design.checks import as_vector
from ._descent import centre_dense, centre_sparse, descend_dense, descend_sparse
from .products import solve_products
from .result import FloatArray

# Sweeps over stored entries after which products are worth their price.
_WHILE = 50
# Columns beyond which they are not.
_MANY = 3000


class Columns:
    """Some columns of a quadratic, and where it stands.

    Attributes
    ----------
    w : array of shape (d,)
    square : float
        The squared length of the residual.
    norm : array of shape (d,)
        The squared lengths of the columns that have been added, zero for others.
    which : array of shape (k,)
        The columns that have been added.
    inside : array of shape (d,), of uint8
        1 for these.
    """

    w: FloatArray
    square: float
    norm: FloatArray
    which: NDArray[np.intp]
    inside: NDArray[np.uint8]

    def __init__(self, w: FloatArray) -> None:
        self.w, self.norm = w, np.zeros(len(w))
        self.which = np.empty(0, dtype=np.intp)
        self.inside = np.zeros(len(w), dtype=np.uint8)

    def came_from(self, w: FloatArray) -> None:
        """Let the state belong to the present w, if it was that of another one."""
        raise NotImplementedError

    def gradient(self) -> FloatArray:
        """Return that of all columns."""
        raise NotImplementedError

    def add(self, which: NDArray[np.intp]) -> None:
        """Add columns to those that are worked on."""
        if len(which):
            self.norm[which] = self._add(which)
            self.inside[which] = 1
            self.which = np.concatenate([self.which, which])

    def _add(self, which: NDArray[np.intp]) -> FloatArray:
        """Add columns, and return their squared lengths."""
        raise NotImplementedError

    def solve(self, terms: Any, target: float, max_sweeps: int) -> int:
        """Minimise over the columns that have been added; return the number of sweeps."""
        which = self.which
        u = self.w[which]
        of_columns = (
            self.norm[which],
            terms.amount[which],
            terms.lower[which],
            terms.upper[which],
            terms.alpha,
        )
        n_sweeps = self._run(u, of_columns, target, max_sweeps)
        self.w[which] = u
        return n_sweeps

    def _run(self, u: FloatArray, of_columns: Any, target: float, max_sweeps: int) -> int:
        raise NotImplementedError


class RowColumns(Columns):
    """Of a quadratic that is known by its rows."""

    def __init__(self, design: Design, weight: FloatArray, residual: FloatArray, w: FloatArray) -> None:
        super().__init__(w)
        n = design.shape[0]
        self.design = design
        self.root = np.sqrt(as_vector(weight, n, "weight"))
        self.total = float(self.root @ self.root)
        self.r = self._weighted(as_vector(residual, n, "residual"))
        self.values: Any = None
        self.gram: FloatArray | None = None

    @property
    def square(self) -> float:  # type: ignore[override]
        return float(self.r @ self.r)

    def _weighted(self, values: FloatArray) -> FloatArray:
        weighted = values * self.root
        if self.total > 0:
            weighted -= (weighted @ self.root / self.total) * self.root
        return weighted

    def came_from(self, w: FloatArray) -> None:
        self.r -= self._weighted(self.design.matvec(self.w - w))

    def gradient(self) -> FloatArray:
        return self.design.rmatvec(self.r * self.root)

    def _add(self, which: NDArray[np.intp]) -> FloatArray:
        packed = self.design.pack(which)
        norm = np.empty(len(which))
        if isinstance(packed, SparseColumns):
            mean = np.empty(len(which))
            centre_sparse(packed.data, packed.indices, packed.indptr, packed.factor, self.root, mean, norm)
            new: Any = (packed.data, packed.indices, packed.indptr, mean)
        else:
            centre_dense(packed.values, packed.factor, self.root, norm)
            new = packed.values
        self.values = new if self.values is None else self._joined(self.values, new)
        return norm

    def _joined(self, old: Any, new: Any) -> Any:
        if isinstance(old, tuple) and isinstance(new, tuple):
            starts = np.concatenate([old[2], old[2][-1] + new[2][1:]])
            return (
                *map(np.concatenate, zip(old[:2], new[:2], strict=True)),
                starts,
                np.concatenate([old[3], new[3]]),
            )
        return np.concatenate([self._dense(old), self._dense(new)])

    def _dense(self, values: Any) -> FloatArray:
        if not isinstance(values, tuple):
            return values
        data, indices, starts, mean = values
        dense = -np.outer(mean, self.root)
        dense[np.repeat(np.arange(len(mean)), np.diff(starts)), indices] += data
        return dense

    def _run(self, u: FloatArray, of_columns: Any, target: float, max_sweeps: int) -> int:
        start, n_sweeps = u.copy(), 0
        if isinstance(self.values, tuple):
            of_rows = (*self.values, self.root, self.r, u, *of_columns)
            gap, n_sweeps = descend_sparse(*of_rows, target, min(_WHILE, max_sweeps))
            if gap <= target or n_sweeps < _WHILE:
                return int(n_sweeps)
            start = u.copy()
        elif self.values.shape[0] > _MANY:
            return int(descend_dense(self.values, self.r, u, *of_columns, target, max_sweeps)[1])
        columns = self.values if not isinstance(self.values, tuple) else self._dense(self.values)
        if self.gram is None or len(self.gram) < len(u):
            self.gram = columns @ columns.T
        more = solve_products(
            self.gram, columns @ self.r, self.square, u, *of_columns, target=target, max_sweeps=max_sweeps - n_sweeps
        )
        self.r -= (u - start) @ columns
        return int(n_sweeps) + more


class ProductColumns(Columns):
    """Of a quadratic that is known by products of its columns."""

    def __init__(self, gram: FloatArray, gradient: FloatArray, square: float, w: FloatArray) -> None:
        super().__init__(w)
        if gram.shape != (len(w), len(w)):
            raise ValueError(f"gram must have shape ({len(w)}, {len(w)}) to go with w, got {gram.shape}.")
        self.gram, self.square = gram, square
        self.q = as_vector(gradient, len(w), "gradient").copy()

    def came_from(self, w: FloatArray) -> None:
        self._move(self.w - w)

    def _move(self, move: FloatArray, which: Any = slice(None)) -> None:
        old = self.q[which]
        self.q = self.q - move @ self.gram[which]
        self.square = max(self.square - float(move @ (old + self.q[which])), 0.0)

    def gradient(self) -> FloatArray:
        return self.q

    def _add(self, which: NDArray[np.intp]) -> FloatArray:
        return self.gram[which, which]

    def _run(self, u: FloatArray, of_columns: Any, target: float, max_sweeps: int) -> int:
        which, start = self.which, u.copy()
        own = np.ascontiguousarray(self.gram[np.ix_(which, which)], dtype=np.float64)
        n_sweeps = solve_products(
            own, self.q[which], self.square, u, *of_columns, target=target, max_sweeps=max_sweeps
        )
        self._move(u - start, which)
        return n_sweeps
