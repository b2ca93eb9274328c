"""The models of a search over blocks of rows: by candidate, output and fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design.fold_blocks import FoldFacts
from ..design.many import NO_FOLD
from ..design.moments import Moments
from ..design.view import Scaling, View
from ..solvers.many import LearnedRows, Mover, Problem
from ..solvers.quadratic import largest_penalty
from ..solvers.result import FloatArray
from ..structures.separable import Separable
from .bank import Bank
from .extremes import Spread
from .grid import Cell
from .plan import Plan
from .trace import Model, merged


@dataclass(eq=False)
class FoldData:
    """What is known of the rows of a search: moments of every fold, and of all rows but those of one.

    Attributes
    ----------
    facts : FoldFacts
    design : Design
        Of all rows; its shape alone is asked for.
    unit : array of shape (n_outputs,)
        What y was divided by.
    allowed : dict of array of bool, or None
        By the fold that is held out, the columns that models may use; None for all.
    """

    facts: FoldFacts
    design: Any
    unit: FloatArray
    allowed: Mapping[int, NDArray[np.bool_]] | None = None

    def __post_init__(self) -> None:
        self._scaled: dict[bytes, dict[int, LearnedRows]] = {}
        # A fold without rows, or without which none are left, tells nothing.
        total = sum(one.total for one in self.facts.moments)
        self.used = [k for k, one in enumerate(self.facts.moments) if 0 < one.total < total]
        if len(self.used) < 2:
            raise ValueError(
                "fewer than two folds have rows of positive weight; use fewer folds, or mix the rows, as "
                "cv=HashKFold(5) does."
            )

    @cached_property
    def whole(self) -> Moments:
        whole = self.facts.moments[0]
        for one in self.facts.moments[1:]:
            whole = whole.plus(one)
        return whole

    @cached_property
    def learned(self) -> dict[int, Moments]:
        """By the fold that is held out, the moments of the others; of all rows where there is none."""
        left = {k: self.whole.minus(self.facts.moments[k]) for k in self.used}
        return {**left, NO_FOLD: self.whole}

    def rows_in(self, scaling: Any) -> dict[int, LearnedRows]:
        """Return the rows of `learned` with scaled columns; those of equal scales are the same."""
        mark = scaling.scale.tobytes()
        if mark not in self._scaled:
            self._scaled[mark] = {
                held: LearnedRows(held, moments.through(scaling), scaling, moments.mean)
                for held, moments in self.learned.items()
            }
        return self._scaled[mark]

    @property
    def held_out(self) -> list[Moments]:
        return list(self.facts.moments)

    @property
    def spread(self) -> Spread:
        return Spread(self.facts.survey.variance)

    @property
    def n_rows(self) -> float:
        return self.whole.total

    @property
    def n_outputs(self) -> int:
        return len(self.unit)

    @property
    def n_features(self) -> int:
        return len(self.whole.mean)


class CellModels:
    """Makes the models of one path of the search."""

    def __init__(self, plan: Plan, cell: Cell, data: FoldData) -> None:
        self.cell, self.data, self.is_scaled = cell, data, not plan.fitter.is_learned
        view, viewed = cell.plan(plan).view(data.design, data.spread)
        self.view: View = view
        self.simplicity = replace(viewed.simplicity, slope=cell.fitter.slope)
        shape = viewed.structure.separable(view.shape[1])
        assert shape is not None
        self.shape: Separable = shape
        self.rows = data.rows_in(view.linear_map)

    def problem(self, held: int, output: int, penalty: float) -> Problem:
        simplicity, shape, allowed = replace(self.simplicity, penalty=penalty), self.shape, self.data.allowed
        if allowed is not None:  # of features that are atoms each
            shape = replace(shape, factor=np.where(allowed[held], shape.factor, np.inf))
        return Problem(self.rows[held], output, self.cell.fitter, simplicity, shape, self.is_scaled)

    def largest(self, output: int) -> float:
        """Return the least penalty at which no atom is in use, of all rows."""
        moments, slope = self.rows[NO_FOLD].moments, self.simplicity.slope
        cross, square = moments.cross[:, output], float(moments.y_variance[output]) / slope
        return largest_penalty(self.simplicity, slope * moments.covariance, cross, square)

    def path(self, held: int, output: int) -> list[Mover]:
        """Return the models of all levels, each where a straight link would have it."""
        penalties = [level.penalty * self.largest(output) for level in self.cell.levels]
        line = self.problem(held, output, 0.0).line_path(penalties)
        return [
            self.problem(held, output, penalty).start(w, explained)
            for penalty, (w, explained) in zip(penalties, line, strict=True)
        ]


class PlainModels:
    """Makes models in the coordinates of X, with a known link: averages, their cuts, and refits of these."""

    def __init__(self, plan: Plan, data: FoldData) -> None:
        self.plan, self.data = plan, data
        d = data.n_features
        scale = np.divide(1, np.sqrt(data.spread.variance), out=np.zeros(d), where=data.spread.variance > 0)
        self.map = Scaling(scale)
        self.inverse = np.sqrt(data.spread.variance)
        self.rows = data.rows_in(self.map)
        self.fitter = plan.plain_fitter if plan.link_is_free else plan.fitter
        self.bounds = plan.structure.separable(d)

    def model(self, held: int, output: int, coef: FloatArray) -> Mover:
        """Return a model with these coefficients of the columns of X, that does not move."""
        mover = Mover(self._problem(held, output, np.zeros(0, dtype=np.intp)), self.inverse * coef)
        mover.link, mover.is_still = _nothing, True
        return mover

    def refit(self, held: int, output: int, coef: FloatArray) -> Mover:
        """Return a model that uses the same columns, and has no penalty: where a straight link has it."""
        problem = self._problem(held, output, np.flatnonzero(coef))
        ((w, explained),) = problem.line_path([0.0])
        return problem.start(w, explained)

    def _problem(self, held: int, output: int, support: Any) -> Problem:
        simplicity = replace(self.plan.simplicity, slope=self.fitter.slope, alpha=0.0, n_atoms=None)
        lower, upper = (None, None) if self.bounds is None else (self.bounds.lower, self.bounds.upper)
        factor = np.full(self.data.n_features, np.inf)
        factor[support] = 0.0
        shape = Separable(factor, lower=lower, upper=upper)
        return Problem(
            self.rows[held], output, self.fitter, simplicity, shape, not self.plan.fitter.is_learned
        )


def _nothing(index: FloatArray) -> FloatArray:
    """The link of a model whose residuals nobody asks for."""
    return np.zeros_like(index)


# By output, then by fold: the models of one candidate.
Candidate = list[list[Mover]]


def as_bank(keys: Sequence[Any], candidates: Sequence[Candidate], plan: Plan) -> Bank:
    """Return candidates as the in-memory search has them; of their held-out rows there are bins alone."""
    n_folds = len(candidates[0][0])
    models = []
    for fold in range(n_folds):
        by_key = [[_as_model(by_output[fold], plan) for by_output in one] for one in candidates]
        models.append([merged([{0: model} for model in outputs])[0] for outputs in by_key])
    return Bank(list(keys), models, np.zeros((len(keys), 0, len(candidates[0]))))


def _as_model(mover: Mover, plan: Plan) -> Model:
    coef, offset = mover.coef, mover.offset
    if not plan.fitter.is_learned:  # whose scale is known
        coef, offset = coef * mover.sd, 0.0
    positions = np.flatnonzero(coef)
    atoms = plan.structure.count_atoms(coef)
    return Model(positions, coef[positions], np.array([offset]), float(atoms))
