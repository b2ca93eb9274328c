"""The search behind the CV estimators: warm paths on every fold, every iterate scored on held-out rows."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from ..design import Design, multiply, take_rows
from ..link import LinkFitter
from ..solvers import Iterate, Level, SolverResult, Status
from ..solvers.path import hard_levels, soft_levels
from ..solvers.result import FloatArray, as_history, squared
from .candidates import (
    CHOICES,
    Candidate,
    HeldOut,
    near_best,
    not_told_apart,
    over_folds,
    over_told_splits,
    table_of,
)
from .checks import check_n_atoms, check_number, check_penalty
from .cross_fit import Weight, line_length, standardised
from .extremes import Spread, check_kept
from .folds import splits_of
from .memory import prepare, with_final_links
from .path import Trace, trace_path
from .plan import Plan
from .progress import SearchProgress, Teller
from .record import Fitted, Targets, as_fitted
from .scoring import Scorekeeper, Scoring

RULES = ("best", "one_se")
REFITS = ("auto", "all", "average")
# Below this number of rows one w varies more than it gains by being one.
FEW_ROWS = 150
# Held-out indices, in units of their spread, below which single precision is enough for them.
_MOST_SINGLE = 1e30


@dataclass(frozen=True)
class SearchSettings:
    """What is tried, and how the best of it is found: the parameters of the CV estimators."""

    n_atoms: Any
    alpha: Any
    penalty: Any
    scale_power: Any
    cv: Any
    rule: str
    refit: str
    held_out_link: bool
    n_jobs: int | None

    def check(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {RULES}, got {self.rule!r}.")
        if self.refit not in REFITS:
            raise ValueError(f"refit must be one of {REFITS}, got {self.refit!r}.")
        if len(listed(self.alpha)) == 0 or len(listed(self.scale_power)) == 0:
            raise ValueError("alpha and scale_power must name at least one value each.")

    def averages(self, n_rows: int) -> bool:
        """Return whether the model is the mean of all candidates that the folds cannot tell from the best."""
        return self.refit == "average" or (self.refit == "auto" and n_rows < FEW_ROWS)


@dataclass(frozen=True)
class Cell:
    """One path of the search: a column scale, a ridge, and the levels along it."""

    scale_power: float | None
    alpha: float
    levels: tuple[Level, ...]

    def plan(self, plan: Plan) -> Plan:
        return replace(plan, power=self.scale_power, alpha=self.alpha)


def search(
    plan: Plan,
    settings: SearchSettings,
    scoring: Scoring,
    X: Any,
    targets: Targets,
    weight: Weight,
    groups: Any,
    teller: Teller,
) -> Fitted:
    """Choose the settings on held-out rows, then learn w and the link from all."""
    prepared = prepare(X, weight)
    cells = make_cells(plan, settings, prepared)
    splits = splits_of(settings.cv, plan, X, targets, weight, groups)
    progress = SearchProgress(teller)
    progress.begin(len(splits), len(cells))
    traced = trace_folds(plan, X, targets.Y, weight, splits, cells, settings.n_jobs, progress)
    keeper = Scorekeeper(plan, scoring, X, targets, weight, splits)
    candidates = score_all(keeper, traced, cells, progress)
    near = near_best(candidates, 1.0 if settings.rule == "one_se" else 0.0)
    chosen = min(near, key=operator.attrgetter("simplicity"))
    fitted = refit(plan, settings, prepared, X, targets, weight, cells, candidates, chosen, keeper)
    progress.end(fitted)
    return fitted


# ---------------------------------------------------------------- the grid


def listed(values: Any) -> Sequence[Any]:
    """Return what is to be tried; one value is as good as a list of it."""
    return [values] if values is None or np.ndim(values) == 0 else values


def make_cells(plan: Plan, settings: SearchSettings, prepared: tuple[Design, Spread]) -> list[Cell]:
    """Return the paths that are searched."""
    design, spread = prepared
    structure = plan.structure
    n_available = structure.check((design.shape[1],))
    if settings.n_atoms is None:
        hard = hard_levels(n_available)
    else:
        counts = {check_n_atoms(k, n_available) for k in np.atleast_1d(np.asarray(settings.n_atoms)).tolist()}
        hard = [Level(n_atoms=k) for k in sorted(counts, key=lambda k: k or np.inf, reverse=True)]
    paths = [tuple(hard)] if hard else []
    if structure.is_soft:
        if settings.penalty is None:
            paths.append(tuple(soft_levels()))
        elif len(listed(settings.penalty)):
            shares = sorted(
                {check_penalty(p, structure, "penalty") for p in listed(settings.penalty)}, reverse=True
            )
            paths.append(tuple(Level(penalty=p) for p in shares))
    return [
        Cell(scale, check_number("alpha", alpha), path)
        for scale in _distinct_scales(plan, listed(settings.scale_power), spread)
        for alpha in listed(settings.alpha)
        for path in paths
    ]


def _distinct_scales(plan: Plan, powers: Sequence[float | None], spread: Spread) -> list[float | None]:
    """Return those of the column scales that make a difference to these columns."""
    kept: dict[float | None, FloatArray] = {}
    for power in powers:
        checked = None if power is None else check_number("scale_power", power)
        factor = np.log(replace(plan, power=checked).column_factors(spread)[spread.variance > 0])
        if all(np.max(np.abs(factor - other)) > np.log(1.25) for other in kept.values()):
            kept[power] = factor
    return list(kept)


# ---------------------------------------------------------------- the folds


def trace_folds(
    plan: Plan,
    X: Any,
    Y: FloatArray,
    weight: Weight,
    splits: Sequence[Any],
    cells: Sequence[Cell],
    n_jobs: int | None,
    progress: SearchProgress,
) -> list[Any]:
    """Return by fold, cell, level and iteration what is held out."""
    traced = []
    # In the order of the folds, whatever the number of jobs.
    for fold in Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(trace_fold)(plan, X, Y, weight, train, test, cells) for train, test in splits
    ):
        traced.append(fold)
        progress.step("fold traced")
    return traced


def trace_fold(
    plan: Plan, X: Any, Y: FloatArray, weight: Weight, train: Any, test: Any, cells: Sequence[Cell]
) -> list[Any]:
    X_train, X_test = take_rows(X, train), take_rows(X, test)
    part = None if weight is None else weight[train]
    prepared = prepare(X_train, part)
    traced = []
    for cell in cells:
        trace = trace_path(cell.plan(plan), prepared, Y[train], part, cell.levels)
        traced.append([_held_out(plan, steps, trace, X_test, part) for steps in trace.levels])
    return traced


def _held_out(
    plan: Plan, steps: list[list[Iterate]], trace: Trace, X_test: Any, weight: Weight
) -> list[HeldOut]:
    """Return what is held out in each iteration of a level; where the solver has settled, the same again."""
    held_out: list[HeldOut] = []
    last: list[Iterate] = []
    for iterates in steps:
        if last and all(a.coef is b.coef for a, b in zip(iterates, last, strict=True)):
            held_out.append(held_out[-1])
            continue
        coef, offset = standardised(plan, iterates, trace.view.to_features, weight)
        index = multiply(X_test, coef) + offset
        positions = np.flatnonzero(coef)
        count = float(np.mean([one.n_atoms for one in iterates]))
        if np.max(np.abs(index), initial=0.0) < _MOST_SINGLE:
            index = index.astype(np.float32)
        held_out.append(HeldOut(index, count, positions, coef.reshape(-1)[positions]))
        last = iterates
    return held_out


# ---------------------------------------------------------------- scores


def score_all(
    keeper: Scorekeeper, traced: Sequence[Any], cells: Sequence[Cell], progress: SearchProgress
) -> list[Candidate]:
    """Return one candidate per cell, level and iteration."""
    candidates = []
    for i, cell in enumerate(cells):
        for j, level in enumerate(cell.levels):
            before: tuple[HeldOut, ...] = ()
            for t, folds in enumerate(zip(*(fold[i][j] for fold in traced), strict=True)):
                # Where all folds have settled, further iterations are the same candidate.
                if before and all(map(operator.is_, before, folds)):
                    break
                values = (cell.scale_power, cell.alpha, level.n_atoms, level.penalty, t + 1)
                told = dict(zip(CHOICES, values, strict=True))
                scores = np.array(keeper.score(folds))
                candidates.append(Candidate(i, j, t, told, folds, scores, scores))
                before = folds
        progress.step("path scored")
    return over_told_splits(candidates)


# ---------------------------------------------------------------- the chosen model


def refit(
    plan: Plan,
    settings: SearchSettings,
    prepared: tuple[Design, Spread],
    X: Any,
    targets: Targets,
    weight: Weight,
    cells: Sequence[Cell],
    candidates: Sequence[Candidate],
    chosen: Candidate,
    keeper: Scorekeeper,
) -> Fitted:
    """Trace the chosen path on all rows, and take from it the chosen iterate, or average what is as good."""
    cell = cells[chosen.cell]
    trace = trace_path(cell.plan(plan), prepared, targets.Y, weight, cell.levels)
    steps = trace.levels[chosen.level][: chosen.iteration + 1]
    results = [_result_of([step[k] for step in steps]) for k in range(targets.Y.shape[1])]
    to_features = trace.view.to_features
    averages = settings.averages(X.shape[0])
    used = [one.folds for one in not_told_apart(candidates)] if averages else [chosen.folds]
    stability, coef = over_folds(used, (X.shape[1], len(results)))
    if averages:
        results, to_features = averaged(X, coef, results, targets.Y, plan.fitter, weight), lambda w: w
    if plan.fitter.is_learned:
        held_out = None
        if settings.held_out_link:
            held_out = keeper.mean_pooled(used)
        results = with_final_links(plan, results, targets.Y, weight, held_out)
    unit = keeper.scoring.unit(targets.unit)
    found = {
        "best_params_": chosen.settings, "best_score_": float(chosen.mean_score * unit),
        "cv_results_": table_of(candidates, unit), "path_": path_record(cell, trace, targets.unit),
        "stability_": stability,
    }  # fmt: skip
    return as_fitted(results, to_features, targets.unit, found)


def path_record(cell: Cell, trace: Trace, unit: FloatArray) -> dict[str, Any]:
    """Return `path_`: the numbers and the coefficients of every level."""
    return {
        "n_atoms": np.array([level.n_atoms for level in cell.levels], dtype=np.float64),
        "penalty": np.array([level.penalty for level in cell.levels]),
        "coefs": trace.last_coefs(unit),
        "mse": [
            [
                float(np.mean([one.mse * squared(u) for one, u in zip(step, unit, strict=True)]))
                for step in steps
            ]
            for steps in trace.levels
        ],
    }


def _result_of(iterates: Sequence[Iterate]) -> SolverResult:
    """Return the last of these iterates as a solver's result."""
    records = [[float(getattr(one, name)) for name in Iterate.RECORDED] for one in iterates]
    best = replace(iterates[-1], n_iter=len(iterates) - 1)
    return SolverResult(best, Status.CHOSEN, as_history(records, Iterate.RECORDED), len(iterates))


def averaged(
    X: Any,
    coef: FloatArray,
    results: Sequence[SolverResult],
    Y: FloatArray,
    fitter: LinkFitter,
    weight: Weight,
) -> list[SolverResult]:
    """Return results with these coefficients, in the units of X, and the link that goes with them."""
    index = np.asarray(multiply(X, coef))
    averaged = []
    for k, result in enumerate(results):
        factor = line_length(index[:, k], Y[:, k], fitter, weight) if fitter.is_learned else 1.0
        link, _ = fitter.fit(factor * index[:, k], np.ascontiguousarray(Y[:, k]), weight)
        best = replace(result.best, coef=coef[:, k], index=index[:, k]).rescaled(factor, link)
        check_kept(coef[:, k], best.coef)
        averaged.append(replace(result, best=best))
    return averaged
