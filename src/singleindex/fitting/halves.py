"""Paths on parts of the rows that end at so many atoms: which of them matter there, and what they predict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design import View
from ..design.view import columns_behind
from ..solvers.exact import exact_path
from ..solvers.result import FloatArray, Iterate
from ..structures.separable import Separable, ranks_of
from .cross_fit import Weight, spread_of
from .extremes import Spread
from .grid import EXACT, Cell, is_exact
from .plan import Plan
from .trace import Fold, by_columns, exact_method, rows_of

# Levels of a path, as shares of the penalty at which no atom is in use.
_LEVELS = np.geomspace(1.0, 1e-3, 41)[1:]

NOT_SEPARABLE = (
    "resample needs a structure whose atoms are columns or groups of columns, each output with a link of its "
    "own, such as Sparse, GroupSparse or RowSparse; {} is none."
)


@dataclass(frozen=True, eq=False)
class Atoms:
    """What is chosen among: single columns, or groups of them.

    Attributes
    ----------
    feature, number : array of shape (n_coordinates,)
        The column of X behind each coordinate of w, and the atom that it belongs to.
    shape : Separable
    """

    feature: NDArray[np.intp]
    number: NDArray[np.intp]
    shape: Separable
    n_features: int

    @property
    def tested(self) -> NDArray[np.bool_]:
        """Which atoms can be chosen: not those that are always in use, or never."""
        factor = self.shape.factor
        held: NDArray[np.bool_] = (factor > 0) & np.isfinite(factor)
        return held

    def ranks(self, w: FloatArray) -> FloatArray:
        """Return by what atoms are chosen: the length of their part of w, zero for those not tested."""
        squares = np.square(w).reshape(len(w), -1).sum(axis=1)
        lengths = np.sqrt(np.bincount(self.number, squares, minlength=len(self.shape.factor)))
        return np.where(self.tested, ranks_of(lengths, self.shape.factor), 0.0)

    def to_features(self, values: FloatArray) -> FloatArray:
        """Return the largest value among the atoms of each feature."""
        found = np.zeros(self.n_features)
        np.maximum.at(found, self.feature, values[self.number])
        return found


@dataclass(frozen=True, eq=False)
class PartPlan:
    """How a path on a part of the rows is traced; the same for all parts.

    Attributes
    ----------
    n_atoms : int
        Where a path ends.
    """

    plan: Plan
    spread: Spread
    n_atoms: int

    @property
    def cell(self) -> Cell:
        # Halves have few rows: as in searches, a fixed curve stands in for a link that is to be learned.
        fitter = self.plan.plain_fitter if self.plan.link_is_free else self.plan.fitter
        return Cell(1.0, fitter, 0.0, (), EXACT)


def atoms_of(plan: Plan, X: Any, spread: Spread, n_outputs: int) -> Atoms:
    """Return what can be chosen; raise where the structure has no such atoms."""
    name = type(plan.structure).__name__
    if not is_exact(plan, n_outputs):
        raise ValueError(NOT_SEPARABLE.format("shared_link=True" if plan.shared_link else name))
    view, viewed = plan.view(by_columns(X), spread)
    behind = columns_behind(view.linear_map, np.arange(view.shape[1]))
    shape = viewed.structure.separable(view.shape[1])
    if behind is None or shape is None:
        raise ValueError(NOT_SEPARABLE.format(name))
    number = np.arange(view.shape[1]) if shape.block is None else shape.block
    return Atoms(np.asarray(behind[0]), number, shape, X.shape[1])


def trace_part(part: PartPlan, fold: Fold) -> Iterator[tuple[View, Iterate]]:
    """Yield the end of the path of each problem, an output or all of them, and the view it was found in."""
    design = by_columns(fold.X)
    for one in fold.problems(part.plan.is_joint(fold.n_outputs)):
        view, method = exact_method(part.plan, part.cell, design, part.spread, one)
        last, _ = method.look(method.start(), 0)
        # Where nothing is to be explained, as where all rows are of one class, there is no path.
        largest = method.largest_penalty() if np.ptp(one.Y, axis=0).any() else 0.0
        for iterate in exact_path(method, (largest * _LEVELS).tolist() if largest > 0 else []):
            last = iterate
            if iterate.n_atoms >= part.n_atoms:
                break
        yield view, last


def order_of_atoms(part: PartPlan, atoms: Atoms, X: Any, Y: FloatArray, weight: Weight, rows: Any) -> Any:
    """Return the atoms that some rows choose, by output: (n_problems, n_atoms), the strongest first.

    Those that are largest where the path ends; -1 where there are fewer.
    """
    found = []
    for _, last in trace_part(part, rows_of(X, Y, weight, rows)):
        ranks = atoms.ranks(last.coef)
        order = np.argsort(-ranks, kind="stable")[: part.n_atoms]
        chosen = np.full(part.n_atoms, -1)
        chosen[: len(order)] = np.where(ranks[order] > 0, order, -1)
        found.append(chosen)
    return np.array(found)


def score_without(part: PartPlan, X: Any, Y: FloatArray, weight: Weight, folds: Any) -> float:
    """Return how Y correlates with the index of paths that have not seen it; the mean over outputs.

    `folds` has the number of the fold of each row.
    """
    index = np.zeros(Y.shape)
    for number in range(int(folds.max()) + 1):
        test = folds == number
        held_out = rows_of(X, Y, weight, test)
        models = list(trace_part(part, rows_of(X, Y, weight, ~test)))
        columns = [by_columns(held_out.X).matvec(view.to_features(last.coef)) for view, last in models]
        seen = [last.index for _, last in models]
        index[test] = _at_unit_spread(np.column_stack(columns), np.column_stack(seen), weight, ~test)
    return float(np.mean([_correlation(i, y, weight) for i, y in zip(index.T, Y.T, strict=True)]))


def _at_unit_spread(index: FloatArray, seen: FloatArray, weight: Weight, rows: Any) -> FloatArray:
    """Return the index of held-out rows in units of its spread over those that were learned from."""
    part = None if weight is None else weight[rows]
    scaled = np.zeros(index.shape)
    for k in range(index.shape[1]):
        mean, sd = spread_of(seen[:, k], part)
        if sd > 0:
            scaled[:, k] = (index[:, k] - mean) / sd
    return scaled


def _correlation(a: FloatArray, b: FloatArray, weight: Weight) -> float:
    (mean_a, sd_a), (mean_b, sd_b) = spread_of(a, weight), spread_of(b, weight)
    if not (sd_a > 0 and sd_b > 0):
        return 0.0
    return float(np.average((a - mean_a) * (b - mean_b), weights=weight) / (sd_a * sd_b))
