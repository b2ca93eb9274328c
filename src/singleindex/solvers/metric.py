"""The columns of a quadratic that are being worked on, centred and weighted, and the state that moves with u."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design import Design, SparseColumns
from ..design.checks import as_vector
from ._descent import centre_dense, centre_sparse, descend_dense, descend_gram, descend_sparse
from .result import FloatArray


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
    """

    w: FloatArray
    square: float
    norm: FloatArray
    which: NDArray[np.intp]

    def __init__(self, w: FloatArray) -> None:
        self.w, self.norm = w, np.zeros(len(w))
        self.which = np.empty(0, dtype=np.intp)

    def came_from(self, w: FloatArray) -> None:
        """Let the state belong to the present w, if it was that of another one."""
        raise NotImplementedError

    def gradient(self) -> FloatArray:
        """Return that of all columns."""
        raise NotImplementedError

    def add(self, which: NDArray[np.intp]) -> None:
        """Add columns to those that are worked on."""
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

    def add(self, which: NDArray[np.intp]) -> None:
        if not len(which):
            return
        packed = self.design.pack(which)
        norm = np.empty(len(which))
        if isinstance(packed, SparseColumns):
            mean = np.empty(len(which))
            centre_sparse(packed.data, packed.indices, packed.indptr, packed.factor, self.root, mean, norm)
            new: Any = (packed.data, packed.indices, packed.indptr, mean)
        else:
            centre_dense(packed.values, packed.factor, self.root, norm)
            new = packed.values
        self.norm[which] = norm
        self.values = new if self.values is None else self._joined(self.values, new)
        self.which = np.concatenate([self.which, which])

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
        if isinstance(self.values, tuple):
            return int(descend_sparse(*self.values, self.root, self.r, u, *of_columns, target, max_sweeps)[1])
        n_columns, n = self.values.shape
        if not by_products(n, n_columns):
            return int(descend_dense(self.values, self.r, u, *of_columns, target, max_sweeps)[1])
        start, q = u.copy(), self.values @ self.r
        gram = self.values @ self.values.T
        n_sweeps = descend_gram(gram, q, self.square, u, *of_columns, target, max_sweeps)[1]
        self.r -= (u - start) @ self.values
        return int(n_sweeps)


def by_products(n: int, n_columns: int) -> bool:
    return False


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

    def add(self, which: NDArray[np.intp]) -> None:
        self.which = np.concatenate([self.which, which])
        self.norm[which] = self.gram[which, which]

    def _run(self, u: FloatArray, of_columns: Any, target: float, max_sweeps: int) -> int:
        which, start = self.which, u.copy()
        own = np.ascontiguousarray(self.gram[np.ix_(which, which)], dtype=np.float64)
        n_sweeps = descend_gram(own, self.q[which], self.square, u, *of_columns, target, max_sweeps)[1]
        self._move(u - start, which)
        return int(n_sweeps)
