"""The columns of a quadratic that are being worked on, centred and weighted, and the state that moves with u."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design import Design, SparseColumns
from ..design.checks import as_vector
from ._descent import centre_dense, centre_sparse
from .packed import DenseBlock, SparseBlock
from .products import Pieces, newton_step, solve_products, sweeps_between
from .result import FloatArray

# Newton's steps need products of the columns, which rows do not have: so many more sweeps lie between them.
_OF_ROWS = 3


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
        of_terms = (terms.amount[which], terms.lower[which], terms.upper[which], terms.alpha)
        n_sweeps = self._run(u, Pieces(self.norm[which], *of_terms), target, max_sweeps)
        self.w[which] = u
        return n_sweeps

    def _run(self, u: FloatArray, pieces: Pieces, target: float, max_sweeps: int) -> int:
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
        self.block: Any = None

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
            new: Any = SparseBlock(packed.data, packed.indices, packed.indptr, mean, self.root)
        else:
            centre_dense(packed.values, packed.factor, self.root, norm)
            new = DenseBlock(packed.values)
        self.block = new if self.block is None else self.block.joined(new)
        return norm

    def _run(self, u: FloatArray, pieces: Pieces, target: float, max_sweeps: int) -> int:
        block = self.block
        if block.is_small:
            start, gram, gradient = u.copy(), block.gram(), block.rmatvec(self.r)
            n_sweeps = solve_products(gram, gradient, self.square, u, pieces, target, max_sweeps)
            self.r -= block.matvec(u - start)
            return n_sweeps
        n_sweeps = 0
        while True:
            most = min(_OF_ROWS * sweeps_between(u), max_sweeps - n_sweeps)
            gap, swept = block.descend(self.r, u, *pieces.parts(), target, most)
            n_sweeps += swept
            if pieces.is_done(gap, target) or n_sweeps >= max_sweeps:
                return n_sweeps
            used = pieces.in_play(u)
            some = block.taken(used)
            there, excess = newton_step(some.gram(), some.rmatvec(self.r), u[used], pieces, used)
            self.r -= some.matvec(there - u[used])
            u[used] = there
            if swept < most and excess <= target:
                return n_sweeps


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

    def _run(self, u: FloatArray, pieces: Pieces, target: float, max_sweeps: int) -> int:
        which, start = self.which, u.copy()
        own = np.ascontiguousarray(self.gram[np.ix_(which, which)], dtype=np.float64)
        n_sweeps = solve_products(own, self.q[which], self.square, u, pieces, target, max_sweeps)
        self._move(u - start, which)
        return n_sweeps
