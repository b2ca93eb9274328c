"""A path over blocks of rows: every reading takes the models of all levels a step further."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..design import BlockDesign, HashKFold, View
from ..design.blocks import Target
from ..design.fold_blocks import FoldRule
from ..design.many import NO_FOLD
from ..design.survey import TargetSurvey
from ..solvers import Iterate, Level
from ..solvers.many import Mover, look_at
from ..solvers.path import iterations_at
from ..solvers.quadratic import choose_support
from ..solvers.result import FloatArray
from .block_columns import check_columns
from .block_models import CellModels, FoldData
from .block_search import N_BINS, check_blocks
from .blocks import survey_targets
from .grid import EXACT, Cell
from .memory import check_spread
from .path import Trace
from .plan import Plan
from .readings import Readings

# Of a path nothing is held out: their moments are added.
PATH_FOLDS = HashKFold(2)


def trace_blocks(
    plan: Plan,
    source: Any,
    read_targets: Callable[[TargetSurvey], tuple[list[Target], FloatArray]],
    levels_of: Callable[[Plan], Sequence[Level]],
) -> tuple[Trace, Sequence[Level], FloatArray]:
    """Return the iterates of all levels, the levels, and the units of the outputs."""
    facts = survey_targets(source)
    targets, unit = read_targets(facts)
    check_blocks(plan, len(targets))
    readings = Readings(source, targets, FoldRule(PATH_FOLDS, facts.n_rows), None)
    check_columns(source.n_features, PATH_FOLDS)
    found = readings.facts()
    data = FoldData(found, BlockDesign(source, found.survey.lengths), unit)
    check_spread(data.spread)
    levels = levels_of(plan)
    maker = CellModels(plan, Cell(plan.power, plan.fitter, plan.alpha, tuple(levels), EXACT), data)
    movers = [_starts(maker, k) for k in range(data.n_outputs)]
    seen: list[list[list[Iterate]]] = [[] for _ in levels]
    moving = [one for path in movers for one in path]
    for number in range(iterations_at(0, plan.max_iter)):
        look_at(moving, N_BINS, readings.sweep)
        for level, steps in enumerate(seen):
            steps.append([_iterate(path[level], number, maker.view) for path in movers])
        for one in moving:
            one.advance()
        moving = [one for one in moving if not one.is_still]
        if not moving:
            break
    return Trace(seen, maker.view), levels, unit


def _starts(maker: CellModels, output: int) -> list[Mover]:
    """Return the models of all levels where a straight link has them."""
    levels = maker.cell.levels
    if levels[0].n_atoms is None:
        return maker.path(NO_FOLD, output)
    found = []
    for level in levels:
        problem, slope = maker.problem(NO_FOLD, output, 0.0), maker.simplicity.slope
        moments, asked = problem.rows.moments, replace(maker.simplicity, n_atoms=level.n_atoms)
        support = choose_support(
            asked,
            problem.shape,
            slope * moments.covariance,
            moments.cross[:, output],
            problem.y_variance / slope,
        )
        within = replace(problem, shape=problem.shape.only(support))
        ((w, explained),) = within.line_path([0.0])
        found.append(within.start(w, explained))
    return found


def _iterate(mover: Mover, number: int, view: View) -> Iterate:
    """Return where a model stands that has just been looked at."""
    problem, points = mover.problem, mover.points
    assert points.weight is not None
    link, fitted = problem.fitter.fit(points.index, points.y, points.weight)
    share = points.weight / points.weight.sum()
    within = problem.y_variance - float(share @ np.square(points.y - problem.y_mean))
    mse = float(share @ np.square(fitted - points.y)) + max(within, 0.0)
    mean = float(problem.rows.mean @ view.to_features(mover.w))
    asked = problem.simplicity
    return Iterate(
        number, mover.w, np.zeros(0), link.shift(mean), asked.objective(mover.w, mse), mse,
        asked.count_atoms(mover.w), 1.0, 1.0,
    )  # fmt: skip
