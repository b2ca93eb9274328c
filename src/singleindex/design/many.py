"""One visit of every row for many models: all that each of them needs of the data, in one reading of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..link.bins import Points
from ._many import visit_models
from .arrays import FloatArray
from .sweep import threads_for

# Bins are of equal width in u / (reach + |u|): about the middle 2 reach / n_bins, wider further out, and
# there is one for every number.
REACH = 4.0
# What no row belongs to.
NO_FOLD = -1

IntArray = NDArray[np.int32]


def bin_edges(n_bins: int) -> FloatArray:
    """Return the edges of the bins; the outermost lie far out, and their bins go on beyond."""
    place = np.linspace(-1.0, 1.0, n_bins + 1)
    place[[0, -1]] = -1 + 0.5 / n_bins, 1 - 0.5 / n_bins
    edges: FloatArray = REACH * place / (1 - np.abs(place))
    return edges


def bin_width(index: FloatArray, n_bins: int) -> FloatArray:
    """Return how wide the bin is that an index lies in, at the most: what its rows are moved by."""
    width: FloatArray = 2 / n_bins * np.square(REACH + np.abs(index)) / REACH
    return width * (1 + 2 / n_bins * (1 + np.abs(index) / REACH)) ** 2


@dataclass(frozen=True, eq=False)
class ManyVisit:
    """What is asked of one visit of all rows for K models.

    Attributes
    ----------
    W : array of shape (d, K)
        The index of model k is u = X W[:, k] + offset[k], of a spread of about one.
    offset : array of shape (K,)
    table : array of shape (K, n_bins + 1)
        The links of the residuals, at :func:`bin_edges`; straight lines in between.
    held : array of shape (K,)
        The fold whose rows a model does not learn from, :data:`NO_FOLD` for none. Their index goes into bins
        of their own.
    output : array of shape (K,)
        What a model learns.
    needs_gradient : bool
        Whether the sums of residual × row are wanted, too.
    """

    W: FloatArray
    offset: FloatArray
    table: FloatArray
    held: IntArray
    output: IntArray
    needs_gradient: bool = True

    @property
    def n_models(self) -> int:
        return int(self.W.shape[1])

    @property
    def n_bins(self) -> int:
        return int(self.table.shape[1]) - 1


@dataclass(frozen=True, eq=False)
class ManySweep:
    """What a visit of some rows gives; those of several blocks merge into that of all.

    Attributes
    ----------
    gradient : array of shape (d, K)
        The sums of weight × residual × row over the rows that are learned from; without columns where none
        are wanted.
    residual : array of shape (K,)
        The sums of weight × residual.
    bins : array of shape (K, 2, n_bins, 3)
        By bins of the index the sums of the weight, of weight × index and of weight × y: of the rows that are
        learned from, and of those that are held out.
    """

    gradient: FloatArray
    residual: FloatArray
    bins: FloatArray

    def merge(self, other: ManySweep) -> ManySweep:
        """Return the sweep of the rows of both."""
        return ManySweep(
            self.gradient + other.gradient, self.residual + other.residual, self.bins + other.bins
        )


def points_of(bins: FloatArray) -> Points:
    """Return one point for each bin, of shape (n_bins, 3), that is not empty, at its mean index."""
    weight, index, y = bins[bins[:, 0] > 0].T
    return Points(np.maximum.accumulate(index / weight), y / weight, np.ascontiguousarray(weight))


def sweep_rows_of_many(
    design: Any, visit: ManyVisit, Y: FloatArray, weight: FloatArray | None, fold: IntArray
) -> ManySweep:
    """Visit the rows of one design that is in memory; `Y` has shape (n_outputs, n)."""
    n, _ = design.shape
    products, K = design.many_products(visit.W), visit.n_models
    residual, bins = np.zeros(K), np.zeros((K, 2, visit.n_bins, 3))
    at_a_time = products.rows_at_a_time
    for start in range(0, n, at_a_time):
        rows = slice(start, min(start + at_a_time, n))
        index = products.indices(rows)
        visit_models(
            index, visit.offset, np.ascontiguousarray(Y[:, rows]), None if weight is None else weight[rows],
            fold[rows], visit.held, visit.output, visit.table, REACH, bins, residual,
            threads_for(None, index.size),
        )  # fmt: skip
        if visit.needs_gradient:
            products.add(rows, index)
    gradient = products.gradient()
    return ManySweep(gradient if visit.needs_gradient else gradient[:, :0], residual, bins)
