"""One visit of every row: all that an iteration needs of the data, in one reading of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..link.bins import Bins, Points
from ..link.curve import MonotoneCurve
from ._sweep import count_threads
from .base import FloatArray

# Blocks of rows that a sweep adds up by themselves: as many threads can share its work.
_N_BLOCKS = 8
# What a block's own gradient may cost, as a share of the entries of the block.
_BUFFER_SHARE = 8
# Entries from which threads are worth waking.
_WORTH_THREADS = 500_000
_CELLS_PER_KNOT = 2
_MAX_CELLS = 1 << 16


@dataclass(frozen=True)
class Visit:
    """What is asked of one visit of all rows.

    Attributes
    ----------
    w, w_old : arrays of shape (d,)
        The iterate, and the one before it, whose indices are compared.
    centre, centre_old, y_centre : float
        About the means of the two indices and of y: sums are taken about them, so that no digits are lost.
    link : callable or None
        The link of the residuals. None for residuals that are the centred index itself.
    n_bins : int or None
        The most bins to sum rows into; None to have the index of every row instead.
    exponent : int or None
        The width of bins to begin with, as a power of two.
    index_old : array of shape (n,), default=None
        The index of `w_old` where it is known already.
    n_threads : int, default=None
        None for as many as OpenMP gives.
    """

    w: FloatArray
    w_old: FloatArray
    centre: float = 0.0
    centre_old: float = 0.0
    y_centre: float = 0.0
    link: Any = None
    n_bins: int | None = None
    exponent: int | None = None
    index_old: FloatArray | None = None
    n_threads: int | None = None


@dataclass(frozen=True)
class Sweep:
    """What a visit of some rows gives; those of several blocks merge into that of all.

    Attributes
    ----------
    gradient : array of shape (d,)
        The sum of weight × residual × row.
    residual : float
        The sum of weight × residual.
    sums : array of shape (9,)
        Of the weight, and of the weighted centred index c, the move m back to the index before, y, cc, cm, mm,
        cy and yy.
    bins : Bins or None
    index, y : arrays of shape (n,) or None
        Row by row, where that was asked for or costs nothing.
    weight : array of shape (n,) or None
    """

    gradient: FloatArray
    residual: float
    sums: FloatArray
    bins: Bins | None = None
    index: FloatArray | None = None
    y: FloatArray | None = None
    weight: FloatArray | None = None

    def merge(self, other: Sweep) -> Sweep:
        """Return the sweep of the rows of both, those of `other` behind."""
        return Sweep(
            self.gradient + other.gradient,
            self.residual + other.residual,
            self.sums + other.sums,
            self.bins.merge(other.bins) if self.bins is not None and other.bins is not None else None,
            _joined(self.index, other.index),
            _joined(self.y, other.y),
            _joined(self.weight, other.weight),
        )

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.sums[0])

    def centred_gradient(self, mean: FloatArray) -> FloatArray:
        """Return the mean of residual × row, both centred; `mean` is that of the rows."""
        return (self.gradient - self.residual * mean) / self.total

    def spread(self, a: int, b: int) -> float:
        """Return the covariance of two of the quantities (0, 1, 2): the index, its move, and y."""
        position = {(0, 0): 4, (0, 1): 5, (1, 1): 6, (0, 2): 7, (2, 2): 8}[(a, b)]
        product, total = self.sums[position] / self.total, self.total
        covariance = float(product - (self.sums[1 + a] / total) * (self.sums[1 + b] / total))
        return max(covariance, 0.0) if a == b else covariance

    def points(self, y_centre: float) -> Points:
        """Return what the link is fitted to: the bins where there are any, else the rows."""
        if self.bins is not None:
            return self.bins.points(float(self.sums[8]), y_centre)
        assert self.index is not None
        assert self.y is not None
        return Points(self.index, self.y, self.weight)


def _joined(a: FloatArray | None, b: FloatArray | None) -> FloatArray | None:
    return None if a is None or b is None else np.concatenate([a, b])


def sweep_rows(design: Any, visit: Visit, y: FloatArray, weight: FloatArray | None) -> Sweep:
    """Visit the rows of one design that is in memory; all rows count alike where `weight` is None."""
    omega = np.ones(len(y)) if weight is None else weight
    index, index_old = None, visit.index_old
    if isinstance(visit.link, MonotoneCurve) and hasattr(design, "visit_rows"):
        index, gradient, residual = design.visit_rows(visit.w, visit.link, y, omega, visit.n_threads)
    else:
        index = design.matvec(visit.w)
        values = index - visit.centre if visit.link is None else visit.link(index) - y
        values *= omega
        gradient, residual = design.rmatvec(values), float(values.sum())
    if index_old is None:
        index_old = index if visit.w_old is visit.w else design.matvec(visit.w_old)
    bins = None
    # What is not finite has no bin; it shows in the gradient, where it is looked for.
    if visit.n_bins is not None and np.isfinite(gradient).all():
        bins = Bins(visit.n_bins, visit.exponent).add(index, y, omega)
    return Sweep(gradient, residual, index_sums(visit, index, index_old, y, omega), bins, index, y, weight)


def index_sums(
    visit: Visit, index: FloatArray, index_old: FloatArray, y: FloatArray, weight: FloatArray
) -> FloatArray:
    """Return the nine sums of a :class:`Sweep`."""
    c, gap = index - visit.centre, y - visit.y_centre
    # The move, not the old index: the difference of two large sums would tell little of a small move.
    move = index_old - index
    move -= visit.centre_old - visit.centre
    of_index, of_move, of_y = weight * c, weight * move, weight * gap
    return np.array(
        [
            weight.sum(), of_index.sum(), of_move.sum(), of_y.sum(),
            of_index @ c, of_index @ move, of_move @ move, of_index @ gap, of_y @ gap,
        ]
    )  # fmt: skip


def without_rows(sweep: Sweep) -> Sweep:
    """Return the sweep without anything that grows with the rows, as it travels between machines."""
    return replace(sweep, index=None, y=None, weight=None) if sweep.bins is not None else sweep


# ---------------------------------------------------------------- for the kernels


def cut_rows(n_rows: int, n_features: int, n_entries: int) -> NDArray[np.intp]:
    """Return where to cut the rows into blocks; it depends on the data alone, never on the threads."""
    affordable = n_entries // (_BUFFER_SHARE * max(n_features, 1))
    n_blocks = int(np.clip(affordable, 1, _N_BLOCKS))
    return np.linspace(0, n_rows, n_blocks + 1).astype(np.intp)


def lookup_grid(knots: FloatArray) -> NDArray[np.int32]:
    """Return, per cell of an even grid over the knots, the last knot that is not behind its beginning."""
    n_cells = min(_CELLS_PER_KNOT * len(knots), _MAX_CELLS)
    begins = knots[0] + (knots[-1] - knots[0]) * np.arange(n_cells) / n_cells
    last = np.searchsorted(knots, begins, side="right") - 1
    return np.clip(last, 0, max(len(knots) - 2, 0)).astype(np.int32)


def run_kernel(
    kernel: Any,
    rows: tuple[Any, ...],
    cuts: NDArray[np.intp],
    w: FloatArray,
    link: MonotoneCurve,
    y: FloatArray,
    weight: FloatArray,
    n_threads: int | None,
    n_entries: int,
) -> tuple[FloatArray, FloatArray, float]:
    """Return the index, the gradient and the sum of the residuals, from one of the kernels of a sweep."""
    corners = link.knots_
    knots, values = np.ascontiguousarray(corners[:, 0]), np.ascontiguousarray(corners[:, 1])
    n_blocks = len(cuts) - 1
    index, residuals = np.empty(len(y)), np.zeros(n_blocks)
    gradients = np.zeros((n_blocks, len(w)))
    if n_threads is None:
        n_threads = count_threads() if n_entries >= _WORTH_THREADS else 1
    kernel(
        *rows, cuts, np.ascontiguousarray(w, dtype=np.float64), y, weight, knots, values, lookup_grid(knots),
        index, gradients, residuals, min(n_threads, n_blocks),
    )  # fmt: skip
    return index, gradients.sum(axis=0), float(residuals.sum())
