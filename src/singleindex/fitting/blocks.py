"""Fits to data that is never held together: files in chunks, and Dask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..design import BlockDesign, ChunkedData
from ..design.blocks import SurveyTask, Target
from ..design.dask import DaskSource, is_dask
from ..design.survey import TargetSurvey
from ..solvers import ExactSteps, OnePass, Stochastic, TwoPass
from ..solvers.result import FloatArray
from .extremes import Spread
from .memory import check_spread, solve_in_one_pass, solve_in_two_passes, with_final_links
from .plan import Plan
from .progress import Progress, RowsBar, Teller
from .record import Fitted
from .stream import stream_blocks
from .targets import units_of_outputs

IN_MEMORY = (
    "{} needs its data in memory. Choose the settings on a sample of the rows, as arrays, then fit "
    "SingleIndexRegressor or SingleIndexClassifier with them to all."
)


def is_in_blocks(X: Any) -> bool:
    """Return whether X is data that is never held together."""
    return isinstance(X, ChunkedData) or is_dask(X)


def as_source(X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Any:
    """Return the blocks of X; chunked data brings its own y and weights."""
    if is_dask(X):
        return DaskSource(X, y, sample_weight, groups)
    if y is not None or sample_weight is not None:
        raise ValueError(
            "chunked data brings its own y and weights; name them in read_chunks(..., target=, "
            "sample_weight=) and leave them out of fit."
        )
    if groups is not None:
        raise ValueError(
            "groups of chunked data are a column of X; use cv=GroupHashKFold(column=...) of "
            "singleindex.design."
        )
    return X


def fit_blocks(
    plan: Plan,
    source: Any,
    read_targets: Callable[[TargetSurvey], tuple[list[Target], FloatArray]],
    teller: Teller,
) -> Fitted:
    """Learn w and the link of every output from blocks of rows.

    `read_targets` says, of what there is to know of y, how the outputs are made of it, and their units.
    """
    if plan.link_cv is not None:
        raise ValueError("link_cv splits rows, which needs data in memory; leave it out for data in blocks.")
    with RowsBar(teller, source):
        targets, unit = read_targets(survey_targets(source))
        if isinstance(plan.solver, Stochastic):
            return stream_blocks(plan, source, targets, unit)
        if plan.is_joint(len(targets)) or isinstance(plan.solver, TwoPass):
            return _fit_in_two_passes(plan, source, targets, unit, teller)
        return _fit_in_one_pass(plan, source, targets, unit, teller)


def survey_targets(source: Any) -> TargetSurvey:
    facts: TargetSurvey = source.survey_targets()
    if facts.total == 0:
        lack = "row" if facts.n_rows == 0 else "row of positive weight"
        raise ValueError(f"the data have no {lack}; check the filter they come from, and the weights.")
    return facts


def _fit_in_one_pass(
    plan: Plan, source: Any, targets: list[Target], unit: FloatArray, teller: Teller
) -> Fitted:
    survey = source.reduce(SurveyTask(tuple(targets)))
    design = BlockDesign(source, survey.lengths)
    solver = plan.solver if isinstance(plan.solver, OnePass | ExactSteps) else OnePass()
    progress = Progress(teller, unit)
    solved = solve_in_one_pass(
        plan, design, survey, Spread(survey.variance), targets, None, solver, progress, source.fingerprint()
    )
    if plan.final_link_is_open(len(targets)):
        none = np.empty((0, len(targets)))  # the results bring the bins that their links were fitted to
        solved = replace(solved, results=with_final_links(plan, solved.results, none, None, None))
    return solved.as_fitted(unit, progress)


def _fit_in_two_passes(
    plan: Plan, source: Any, targets: list[Target], unit: FloatArray, teller: Teller
) -> Fitted:
    """Solve exactly, with the index and y of every row at hand: memory grows with the rows."""
    plan.solver_for(source, len(targets))  # raises where another solver was asked for
    if isinstance(plan.solver, ExactSteps):
        raise ValueError(
            "solver='exact' learns outputs of data in blocks one by one, and this structure or "
            "shared_link=True ties them together; use solver='two-pass'."
        )
    plan = replace(plan, solver=plan.solver or TwoPass())  # exact steps would read the data for every column
    survey = source.reduce(SurveyTask(tuple(targets)))
    design = BlockDesign(source, survey.lengths)
    rows = [design.rows_of(replace(target, unit=1.0)) for target in targets]
    Y, weight = np.column_stack([values for values, _ in rows]), rows[0][1]
    if not plan.is_classifier:
        unit = units_of_outputs(plan.fitter, Y, weight)
    progress = Progress(teller, unit)
    mark, spread = source.fingerprint(), check_spread(Spread(survey.variance))
    solved = solve_in_two_passes(plan, design, spread, Y / unit, weight, progress, mark)
    if plan.final_link_is_open(len(targets)):
        solved = replace(solved, results=with_final_links(plan, solved.results, Y / unit, weight, None))
    return solved.as_fitted(unit, progress)
