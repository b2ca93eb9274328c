"""One fit to data in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..design import Design, View, as_design, as_row_design, take_rows
from ..design.survey import Survey, survey_rows
from ..files.replace import check_target
from ..link import Points
from ..solvers import (
    Checkpoint,
    ExactSteps,
    Gradient,
    OnePass,
    OnePassExact,
    OnePassGradient,
    SolverResult,
    TwoPass,
    drive,
    fit_scale,
)
from ..solvers.checkpoint import fingerprint
from ..solvers.result import FloatArray
from .cross_fit import held_out_index, warn_if_not_identified, with_cross_fitted_link
from .exact import solve_exactly, takes_exact_steps, warn_if_not_settled
from .exact_blocks import ExactChoice
from .extremes import Spread, shares_of, spread_of_columns
from .folds import splits_of
from .plan import Plan
from .progress import Progress, Teller
from .record import Fitted, Targets, as_fitted


@dataclass(frozen=True)
class Solved:
    """One result per output, the view of X they were found in, and where they were kept meanwhile."""

    results: list[SolverResult]
    view: View
    checkpoints: Sequence[Checkpoint] = ()

    def as_fitted(self, unit: FloatArray, progress: Progress) -> Fitted:
        """Return the record of the fit, which ends here."""
        fitted = as_fitted(self.results, self.view.to_features, unit)
        progress.end(fitted)
        for checkpoint in self.checkpoints:
            checkpoint.remove()
        return fitted


def fit_rows(plan: Plan, X: Any, targets: Targets, weight: FloatArray | None, teller: Teller) -> Fitted:
    """Learn w and the link of every output from rows in memory."""
    progress = Progress(teller, targets.unit)
    solved = solve_rows(plan, X, targets.Y, weight, progress)
    if plan.final_link_is_open(targets.Y.shape[1]):
        held_out = None if plan.link_cv is None else held_out_rows(plan, X, targets, weight)
        solved = replace(solved, results=with_final_links(plan, solved.results, targets.Y, weight, held_out))
    return solved.as_fitted(targets.unit, progress)


def solve_rows(
    plan: Plan, X: Any, Y: FloatArray, weight: FloatArray | None, progress: Progress | None = None
) -> Solved:
    """Solve for all outputs, in one pass or in two, without a final link."""
    solver = plan.solver_for(X, Y.shape[1])
    if isinstance(solver, OnePass) or (isinstance(solver, ExactSteps) and not _has_columns(X)):
        design = as_row_design(X, keeps_support=True)
        outputs = [np.ascontiguousarray(Y[:, k]) for k in range(Y.shape[1])]
        with np.errstate(over="ignore", invalid="ignore"):
            survey = survey_rows(design, Y, weight)
        spread = spread_of_columns(X, survey.variance, shares_of(X.shape[0], weight))
        solved = solve_in_one_pass(
            plan, design, survey, spread, outputs, weight, solver, progress, (X.shape,)
        )
        return solved if plan.link_cv is None else with_index_of_rows(solved)
    return solve_in_two_passes(plan, *prepare(X, weight), Y, weight, progress, (X.shape,))


def _has_columns(X: Any) -> bool:
    return not isinstance(X, Design) or X.has_columns


# ---------------------------------------------------------------- two passes


def prepare(X: Any, weight: FloatArray | None) -> tuple[Design, Spread]:
    """Return X as a design, and the spread of its columns."""
    design = as_design(X)
    share = shares_of(design.shape[0], weight)
    with np.errstate(over="ignore", invalid="ignore"):
        _, variance = design.column_moments(share)
    return design, check_spread(spread_of_columns(X, variance, share))


def check_spread(spread: Spread) -> Spread:
    """Return the spread of columns that something can be learned from, or raise."""
    variance = spread.variance
    if not variance.any():
        raise ValueError(
            "Every column of X is constant over the rows of positive weight, or nearly: there is nothing "
            "to learn w from. Check that the right columns were passed."
        )
    if not np.isfinite(variance).all():
        raise ValueError(
            f"Column {int(np.flatnonzero(~np.isfinite(variance))[0])} of X holds numbers whose squares "
            "are none; bring X to units in which no number is above 1e150."
        )
    return spread


def solve_in_two_passes(
    plan: Plan,
    design: Design,
    spread: Spread,
    Y: FloatArray,
    weight: FloatArray | None,
    progress: Progress | None,
    mark: Any,
) -> Solved:
    """Solve for each output in turn, or for all as one; `mark` tells the data from others in a checkpoint."""
    asked, (view, plan) = plan, plan.view(design, spread)
    problems = [np.ascontiguousarray(y) for y in Y.T]
    if plan.is_joint(Y.shape[1]):
        plan, problems = plan.for_joint_fit(), [Y]
    checkpoints: list[Checkpoint] = []
    if progress is not None:
        progress.begin(len(problems), plan.max_iter, view.to_features)
        if isinstance(plan.solver, TwoPass | ExactSteps) and plan.solver.checkpoint is not None:
            # A reading more, and worth it: rows in another order have the same variances.
            parts = (mark, spread.variance, Y, weight, view.rmatvec(_centred(Y, weight)))
            checkpoints = _checkpoints(asked, plan.solver, len(problems), parts)
    del spread  # as long as w, and of no more use
    results = []
    for k, y in enumerate(problems):
        checkpoint = checkpoints[k] if checkpoints else None
        if isinstance(plan.solver, ExactSteps) or (
            plan.solver is None and takes_exact_steps(plan, view, y, weight)
        ):
            result = solve_exactly(plan, view.at_hand(), y, weight, progress, checkpoint)
        else:
            method = Gradient(
                view, y, plan.simplicity, plan.fitter, penalty=plan.penalty, sample_weight=weight
            )
            result = drive(
                method, max_iter=plan.max_iter, tol=plan.tol, on_iteration=progress, checkpoint=checkpoint
            )
        results += result.by_output()
        if progress is not None:
            progress.next_fit()
    return Solved(results, view, checkpoints)


def _centred(Y: FloatArray, weight: FloatArray | None) -> FloatArray:
    centred: FloatArray = Y - np.average(Y, axis=0, weights=weight)
    return centred if weight is None else centred * weight[:, None]


# ---------------------------------------------------------------- one pass


def solve_in_one_pass(
    plan: Plan,
    design: Any,
    survey: Survey,
    spread: Spread,
    outputs: Sequence[Any],
    weight: FloatArray | None,
    solver: OnePass | ExactSteps,
    progress: Progress | None,
    mark: Any,
) -> Solved:
    """Solve for each output in turn; `mark` tells the data from others in a checkpoint."""
    view, viewed = plan.view(design, check_spread(spread))
    seen = replace(
        survey,
        mean=view.pull_back(survey.mean),
        covariance=np.column_stack([view.pull_back(c) for c in survey.covariance.T]),
    )
    exact = ExactChoice(viewed, view, spread, survey.total, outputs, weight)
    bins = solver if isinstance(solver, OnePass) else OnePass()
    checkpoints: list[Checkpoint] = []
    if progress is not None:
        progress.begin(len(outputs), plan.max_iter, view.to_features)
        # Fits that nobody is told of are those of folds: too short to be kept.
        parts = (bins.n_bins, mark, survey.mean, survey.variance, survey.covariance, survey.lengths)
        checkpoints = _checkpoints(plan, solver, len(outputs), parts)
    results = []
    for k, y in enumerate(outputs):
        options: dict[str, Any] = {
            "survey": seen, "output": k, "penalty": plan.penalty, "sample_weight": weight,
            "n_bins": bins.n_bins, "n_threads": bins.n_threads,
        }  # fmt: skip
        problem = (view, y, viewed.simplicity, plan.fitter)
        method = OnePassGradient(*problem, **options)
        is_exact = exact.is_taken(method)
        if is_exact:
            method = OnePassExact(*problem, **options, moments=exact.moments)
        results.append(
            drive(
                method, max_iter=plan.max_iter, tol=plan.tol, on_iteration=progress,
                checkpoint=checkpoints[k] if checkpoints else None,
            )
        )  # fmt: skip
        if is_exact:
            warn_if_not_settled(plan, results[-1], stacklevel=6)
        if progress is not None:
            progress.next_fit()
    return Solved(results, view, checkpoints)


def _checkpoints(
    plan: Plan, solver: OnePass | TwoPass | ExactSteps, n_problems: int, parts: tuple[Any, ...]
) -> list[Checkpoint]:
    """Return where the fit of each problem is kept; `parts` tell the data from others."""
    if solver.checkpoint is None:
        return []
    path = Path(solver.checkpoint)
    # What may change between two fits that share a checkpoint is left out.
    settings = repr(replace(plan, max_iter=0, tol=0.0, solver=None))
    parts = (type(solver).__name__, settings, *parts)
    names = [path.name] if n_problems == 1 else [f"{path.name}.{k}" for k in range(n_problems)]
    for name in names:
        check_target(path.with_name(name))
    return [
        Checkpoint(path.with_name(name), fingerprint(k, *parts), solver.checkpoint_every)
        for k, name in enumerate(names)
    ]


def with_index_of_rows(solved: Solved) -> Solved:
    """Return the results with the index of every row, where a design has kept it to itself."""
    results = [
        replace(result, best=replace(result.best, index=solved.view.matvec(result.best.coef)))
        if result.best.points is not None and result.best.index is result.best.points.index
        else result
        for result in solved.results
    ]
    return replace(solved, results=results)


# ---------------------------------------------------------------- the final link


def with_final_links(
    plan: Plan,
    results: list[SolverResult],
    Y: FloatArray,
    weight: FloatArray | None,
    held_out: FloatArray | None,
) -> list[SolverResult]:
    """Give w the length that its link needs, by the training rows or by rows that were held out.

    `Y` is not looked at where the results bring the points their link was fitted to.
    """
    if held_out is None:
        return [_with_fitted_scale(plan, result, Y[:, k], weight) for k, result in enumerate(results)]
    results = [
        replace(
            result,
            best=with_cross_fitted_link(
                result.best, Y[:, k], plan.fitter, plan.final_fitter, weight, held_out[:, k]
            ),
        )
        for k, result in enumerate(results)
    ]
    for k, result in enumerate(results):
        warn_if_not_identified(result.best.link, Y[:, k])
    return results


def _with_fitted_scale(
    plan: Plan, result: SolverResult, y: FloatArray, weight: FloatArray | None
) -> SolverResult:
    """Return the result with w at the length at which its link fits."""
    best, fitter = result.best, plan.fitter
    points = best.points or Points(best.index, np.ascontiguousarray(y), weight)
    n_coefficients = int(np.count_nonzero(best.coef))
    factor = fit_scale(points.index, points.y, fitter, points.weight, n_coefficients)
    if factor == 1:
        return result
    link, _ = fitter.fit(factor * points.index, points.y, points.weight)
    return replace(result, best=best.rescaled(factor, link))


def held_out_rows(plan: Plan, X: Any, targets: Targets, weight: FloatArray | None) -> FloatArray:
    """Return the index of each row under a w learned without it, in units of its spread."""
    held_out = np.full(targets.Y.shape, np.nan)
    for train, test in splits_of(plan.link_cv, plan, X, targets, weight):
        part = None if weight is None else weight[train]
        solved = solve_rows(plan, take_rows(X, train), targets.Y[train], part)
        iterates = [result.best for result in solved.results]
        held_out[test] = held_out_index(plan, iterates, solved.view, take_rows(X, test), part)
    return held_out
