"""The columns of a quadratic that are being worked on, and the state that moves with u."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design import Design, SparseColumns
from ..design.checks import check_length
from ._descent import gather_products, take_off_products
from .packed import DenseBlock, SparseBlock
from .products import newton_step, solve_products, sweeps_between
from .result import FloatArray
from .terms import BlockTerms, Pieces, Terms

# Numbers that columns may take when stored entries are made arrays for a moment.
_ROOM = 1 << 20


class Columns:
    """Some columns of a quadratic, and where it stands.

    Attributes
    ----------
    w : array of shape (d,) or (d, n_outputs)
    which : array of shape (n_columns,)
        The columns that have been added.
    inside : array of shape (d,), of uint8
        1 for these.
    norm : array of shape (1 or n_outputs, d)
        The squared lengths of these, zero for others.
    """

    def __init__(self, w: FloatArray, n_metrics: int) -> None:
        self.w, self.norm = w, np.zeros((n_metrics, len(w)))
        self.which: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self.inside = np.zeros(len(w), dtype=np.uint8)

    @property
    def squared_residual(self) -> float:
        """The squared length of the residual."""
        raise NotImplementedError

    def came_from(self, w: FloatArray) -> None:
        """Let the state belong to the present w, if it was that of another one."""
        raise NotImplementedError

    def gradient(self) -> FloatArray:
        """Return that of all columns, in the shape of w."""
        raise NotImplementedError

    def add(self, which: NDArray[np.intp]) -> None:
        """Add columns to those that are worked on."""
        if len(which):
            self.norm[:, which] = self._add(which)
            self.inside[which] = 1
            self.which = np.concatenate([self.which, which])

    def solve(self, terms: Terms | BlockTerms, target: float, max_sweeps: int) -> int:
        """Minimise over the columns that have been added; return the number of sweeps."""
        u = np.ascontiguousarray(self.w[self.which].reshape(len(self.which), -1))
        pieces = terms.pieces(self.which, np.ascontiguousarray(self.norm[:, self.which]), self._products_of)
        n_sweeps = self._run(u, pieces, target, max_sweeps)
        self.w[self.which] = u.reshape(len(u), *self.w.shape[1:])
        return n_sweeps

    def _add(self, which: NDArray[np.intp]) -> FloatArray:
        """Add columns, and return their squared lengths."""
        raise NotImplementedError

    def _products_of(self, places: NDArray[np.intp]) -> FloatArray:
        """Return the products within sets of columns that have been added.

        `places` has a row of p columns for each set, the products have shape (1 or n_outputs, n_sets, p, p).
        """
        raise NotImplementedError

    def _run(self, u: FloatArray, pieces: Pieces, target: float, max_sweeps: int) -> int:
        raise NotImplementedError


class RowColumns(Columns):
    """Of a quadratic that is known by its rows."""

    def __init__(self, design: Design, weight: FloatArray, residual: FloatArray, w: FloatArray) -> None:
        check_length(weight, design.shape[0], "weight")
        check_length(residual, design.shape[0], "residual")
        check_length(w, design.shape[1], "w")
        self.root = np.sqrt(np.atleast_2d(np.ascontiguousarray(weight.T, dtype=np.float64)))
        super().__init__(w, len(self.root))
        if w.shape[1:] != residual.shape[1:] or (weight.ndim == 2 and weight.shape != residual.shape):
            raise ValueError("w, residual and weights of their own must be of the same number of outputs.")
        self.design = design
        self.block: Any = None
        self.gram: FloatArray | None = None
        length = np.sqrt(np.square(self.root).sum(axis=1, keepdims=True))
        self.unit = np.divide(self.root, length, out=np.zeros_like(self.root), where=length > 0)
        self.r = self._weighted(np.atleast_2d(residual.T))

    @property
    def squared_residual(self) -> float:
        flat = self.r.ravel()
        return float(flat @ flat)

    def _weighted(self, values: FloatArray) -> FloatArray:
        weighted = np.multiply(values, self.root, order="C")
        weighted -= (weighted * self.unit).sum(axis=1, keepdims=True) * self.unit
        return weighted

    def came_from(self, w: FloatArray) -> None:
        self.r -= self._weighted(np.atleast_2d(self.design.matvec(self.w - w).T))

    def gradient(self) -> FloatArray:
        weighted = self.r * self.root
        return self.design.rmatvec(weighted[0] if self.w.ndim == 1 else weighted.T)

    def _add(self, which: NDArray[np.intp]) -> FloatArray:
        packed = self.design.pack(which)
        new: Any
        if isinstance(packed, SparseColumns):
            new, norm = SparseBlock.of(packed, self.root, self.unit)
        else:
            new, norm = DenseBlock.of(packed, self.root)
        self.block = new if self.block is None else self.block.joined(new)
        return norm

    def _products_of(self, places: NDArray[np.intp]) -> FloatArray:
        # A few sets at a time: of stored entries they are arrays for a moment.
        n_sets = max(1, _ROOM // (self.r.shape[1] * places.shape[1]))
        products = []
        for start in range(0, len(places), n_sets):
            some = places[start : start + n_sets]
            columns = self.block.taken(some.ravel()).toarray()
            columns = columns.reshape(len(columns), *some.shape, -1)
            products.append(columns @ columns.swapaxes(-1, -2))
        return np.concatenate(products, axis=1)

    def _run(self, u: FloatArray, pieces: Pieces, target: float, max_sweeps: int) -> int:
        block, n_sweeps = self.block, 0
        if block.is_small:
            if self.gram is None or self.gram.shape[1] < len(u):
                self.gram = block.gram(self.gram)
            start, q = u.copy(), block.rmatvec(self.r)
            n_sweeps = solve_products(self.gram, q, self.squared_residual, u, pieces, target, max_sweeps)
            self.r -= block.matvec(u - start)
            return n_sweeps
        while True:
            most = min(block.patience * sweeps_between(u, pieces), max_sweeps - n_sweeps)
            gap, swept = block.descend(self.r, u, *pieces.parts(), target, most)
            n_sweeps += int(swept)
            if pieces.is_done(gap, target) or n_sweeps >= max_sweeps or not pieces.has_newton(u):
                return n_sweeps
            used = pieces.in_play(u)
            some = block.taken(used)
            there, excess = newton_step(some.gram()[0], some.rmatvec(self.r)[0], u[used, 0], pieces, used)
            self.r -= some.matvec((there - u[used, 0])[:, None])
            u[used, 0] = there
            if swept < most and excess <= target:
                return n_sweeps


class ProductColumns(Columns):
    """Of a quadratic that is known by products of its columns."""

    def __init__(self, gram: FloatArray, gradient: FloatArray, square: float, w: FloatArray) -> None:
        if gram.shape[-2:] != (len(w), len(w)):
            raise ValueError(f"gram must have shape ({len(w)}, {len(w)}) to go with w, got {gram.shape}.")
        if gradient.shape != w.shape:
            raise ValueError(f"gradient must have the shape of w, {w.shape}, got {gradient.shape}.")
        self.gram = np.ascontiguousarray(gram[None] if gram.ndim == 2 else gram, dtype=np.float64)
        super().__init__(w, len(self.gram))
        self.q = np.array(np.atleast_2d(gradient.T), dtype=np.float64, order="C")
        self.square = square

    @property
    def squared_residual(self) -> float:
        return self.square

    def came_from(self, w: FloatArray) -> None:
        self._move((self.w - w).reshape(len(w), -1), np.arange(len(w)))

    def _move(self, move: FloatArray, which: NDArray[np.intp]) -> None:
        old = self.q[:, which]
        take_off_products(self.gram, which, np.ascontiguousarray(move), self.q)
        self.square = max(self.square - float(np.sum(move.T * (old + self.q[:, which]))), 0.0)

    def gradient(self) -> FloatArray:
        gradient: FloatArray = self.q[0].copy() if self.w.ndim == 1 else self.q.T.copy()
        return gradient

    def _add(self, which: NDArray[np.intp]) -> FloatArray:
        return self.gram[:, which, which]

    def _products_of(self, places: NDArray[np.intp]) -> FloatArray:
        columns = self.which[places]
        return self.gram[:, columns[:, :, None], columns[:, None, :]]

    def _among(self, which: NDArray[np.intp]) -> FloatArray:
        among = np.empty((len(self.gram), len(which), len(which)))
        gather_products(self.gram, which, among)
        return among

    def _run(self, u: FloatArray, pieces: Pieces, target: float, max_sweeps: int) -> int:
        start, q, gram = u.copy(), self.q[:, self.which], self._among(self.which)
        n_sweeps = solve_products(gram, q, self.square, u, pieces, target, max_sweeps)
        self._move(u - start, self.which)
        return n_sweeps
