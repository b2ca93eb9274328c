"""One visit of every row: all that an iteration needs of the data, in one reading of it."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..link.bins import Bins, Points
from ..link.curve import MonotoneCurve
from ._sweep import count_threads, link_residuals
from .arrays import FloatArray
from .checks import as_vector

# Blocks of rows that a sweep adds up by themselves: as many threads can share its work.
_N_BLOCKS = 8
# Entries there must be per coefficient for a block to have a gradient of its own.
_BUFFER_SHARE = 32
# Coefficients from which w and the gradient lie side by side: below, both fit into a near cache anyway.
_PAIRED = 1 << 15
# Entries from which threads are worth waking.
_WORTH_THREADS = 500_000
# Cells of the grid by which knots are found: so many that most hold none, so few that they stay near.
_CELLS_PER_KNOT, _MIN_CELLS, _MAX_CELLS = 4, 1 << 10, 1 << 15


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
        Of the weight, and of the weighted centred index c, the move m back to the index before, y, cc, cm,
        mm, cy and yy.
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
    index_old = visit.index_old
    if index_old is None and visit.w_old is not visit.w:
        index_old = design.matvec(visit.w_old)
    if isinstance(visit.link, MonotoneCurve):
        index, gradient, sums = design.visit_rows(visit, index_old, y, weight)
    else:
        index = design.matvec(visit.w)
        _, sums = residuals_of(visit, index, index_old, y, weight)
        omega = np.ones(len(y)) if weight is None else weight
        values = omega * (index - visit.centre if visit.link is None else visit.link(index) - y)
        sums[9] = values.sum()
        gradient = design.rmatvec(values)
    bins = None
    # What is not finite has no bin; it shows in the gradient, where it is looked for.
    if visit.n_bins is not None and np.isfinite(gradient).all():
        bins = Bins(visit.n_bins, visit.exponent).add(index, y, weight)
    return Sweep(gradient, float(sums[9]), sums[:9], bins, index, y, weight)


def residuals_of(
    visit: Visit, index: FloatArray, index_old: FloatArray | None, y: FloatArray, weight: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return the weighted residuals of rows whose index is known, and the ten sums of the kernels."""
    rows = _per_row(len(index), index=index, y=y, weight=weight, index_old=index_old)
    residual, sums = np.empty(len(index)), np.zeros(10)
    link_residuals(
        *rows, visit.centre, visit.centre_old, visit.y_centre, *_as_curve(visit.link),
        residual, sums,
    )  # fmt: skip
    return residual, sums


def without_rows(sweep: Sweep) -> Sweep:
    """Return the sweep without anything that grows with the rows, as it travels between machines."""
    return replace(sweep, index=None, y=None, weight=None) if sweep.bins is not None else sweep


# ---------------------------------------------------------------- for the kernels


def cut_rows(n_rows: int, n_features: int, n_entries: int) -> NDArray[np.intp]:
    """Return where to cut the rows into blocks; it depends on the data alone, never on the threads."""
    affordable = max(n_entries // (_BUFFER_SHARE * max(n_features, 1)), 1)
    n_blocks = min(1 << (affordable.bit_length() - 1), _N_BLOCKS)
    return np.linspace(0, n_rows, n_blocks + 1).astype(np.intp)


def lookup_grid(knots: FloatArray) -> NDArray[np.int32]:
    """Return, per cell of an even grid over the knots, the last knot that is not behind its beginning."""
    n_cells = int(np.clip(_CELLS_PER_KNOT * len(knots), _MIN_CELLS, _MAX_CELLS))
    begins = knots[0] + (knots[-1] - knots[0]) * np.arange(n_cells) / n_cells
    last = np.searchsorted(knots, begins, side="right") - 1
    places: NDArray[np.int32] = np.clip(last, 0, max(len(knots) - 2, 0)).astype(np.int32)
    return places


def _as_curve(link: Any) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.int32]]:
    """Return corners and slopes of a link, and the grid to find them by; for a known link, a point."""
    if not isinstance(link, MonotoneCurve):
        return np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1, dtype=np.int32)
    corners = link.knots_
    knots, values = np.ascontiguousarray(corners[:, 0]), np.ascontiguousarray(corners[:, 1])
    slopes = np.zeros(len(knots))
    with np.errstate(over="ignore"):
        slopes[:-1] = np.diff(values) / np.diff(knots)
    # A jump too steep for a number is not between any two indices that differ in it.
    return knots, values, np.minimum(slopes, np.finfo(np.float64).max), lookup_grid(knots)


def _per_row(n_rows: int, **values: FloatArray | None) -> list[FloatArray | None]:
    """Return what there is per row as kernels read it."""
    return [None if v is None else as_vector(v, n_rows, name) for name, v in values.items()]


_forked = threading.Event()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked.set)


def threads_for(n_threads: int | None, n_entries: int) -> int:
    """Return how many threads to use for so many entries."""
    # OpenMP would wait for threads that the process before the fork had, and that are not here.
    if _forked.is_set():
        return 1
    if n_threads is not None:
        return n_threads
    return count_threads() if n_entries >= _WORTH_THREADS else 1


def run_kernel(
    kernel: Any,
    parts: tuple[Any, ...],
    shape: tuple[int, int],
    cuts: NDArray[np.intp],
    visit: Visit,
    index_old: FloatArray | None,
    y: FloatArray,
    weight: FloatArray | None,
    n_entries: int,
    paired: bool = False,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the index, the gradient and the ten sums, from one of the kernels of a sweep.

    With `paired` a long w and its gradient lie side by side while they are used.
    """
    n, d = shape
    w, rows = as_vector(visit.w, d, "w"), _per_row(n, y=y, weight=weight, index_old=index_old)
    n_blocks = len(cuts) - 1
    index, sums = np.empty(n), np.zeros((n_blocks, 10))
    gradients = np.zeros((n_blocks, d))
    pairs = np.empty((n_blocks, 2 * d)) if paired and d >= _PAIRED else None
    kernel(
        *parts, cuts, w, *rows, visit.centre, visit.centre_old, visit.y_centre, *_as_curve(visit.link),
        index, gradients, sums, pairs, min(threads_for(visit.n_threads, n_entries), n_blocks),
    )  # fmt: skip
    return index, gradients[0] if n_blocks == 1 else gradients.sum(axis=0), sums.sum(axis=0)
