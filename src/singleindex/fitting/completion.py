"""One fit to the entries of a matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, check_cv

from ..link import LinkFitter
from ..solvers import SolverResult, drive
from ..solvers.alternate import Ridge
from ..solvers.completion import Completion, CompletionProblem, Start
from ..structures import GraphSmoother
from .checks import check_count, check_number
from .held_out_link import held_out_ratings, index_at, length_in_y, link_folds, with_held_out_link
from .plan import make_fitter
from .ratings import Ratings

EFFECTS = {"both": (True, True), "rows": (True, False), "columns": (False, True), None: (False, False)}
Smoothers = tuple[GraphSmoother, GraphSmoother]


@dataclass(frozen=True)
class CompletionPlan:
    """Checked settings of one fit."""

    n_atoms: int
    penalty: float
    ridge: Ridge
    strengths: tuple[float, float]
    fitter: LinkFitter
    max_iter: int
    tol: float

    def problem(self, ratings: Ratings, smoothers: Smoothers) -> CompletionProblem:
        rows, cols = (s.with_strength(v) for s, v in zip(smoothers, self.strengths, strict=True))
        return CompletionProblem(ratings.design, ratings.y, rows, cols)

    def solve(
        self, ratings: Ratings, smoothers: Smoothers, on_iteration: Callable[[Any], Any] | None = None
    ) -> SolverResult:
        return self.solve_from(self.problem(ratings, smoothers), None, on_iteration)

    def solve_from(
        self,
        problem: CompletionProblem,
        start: Start | None,
        on_iteration: Callable[[Any], Any] | None = None,
    ) -> SolverResult:
        method = Completion(
            problem, self.fitter, self.ridge, n_atoms=self.n_atoms, penalty=self.penalty, start=start
        )
        return drive(method, max_iter=self.max_iter, tol=self.tol, on_iteration=on_iteration)


@dataclass(frozen=True)
class Completed:
    """A fitted matrix: the solver's result with the final link in it, the plan it was found by, and more."""

    result: SolverResult
    plan: CompletionPlan
    more: Mapping[str, Any] = field(default_factory=dict)


def make_completion_plan(
    shape: tuple[int, int],
    *,
    n_atoms: Any,
    penalty: Any,
    damping: Any,
    graph_strength: Any,
    effects: Any,
    lipschitz: Any,
    link: Any,
    max_iter: Any,
    tol: Any,
) -> CompletionPlan:
    """Return the plan of these parameters of a completer, or raise with the fix in the message."""
    share = check_number("penalty", penalty)
    if share > 1:
        raise ValueError(f"penalty is a share from 0 to 1, where there are no factors, got {penalty!r}.")
    check_effects(effects)
    return CompletionPlan(
        n_atoms=check_rank(n_atoms, shape),
        penalty=share,
        ridge=ridge_of(check_pair("damping", damping), effects),
        strengths=check_pair("graph_strength", graph_strength),
        fitter=make_fitter(link, lipschitz),
        max_iter=check_count("max_iter", max_iter),
        tol=check_number("tol", tol),
    )


def fit_ratings(
    plan: CompletionPlan,
    ratings: Ratings,
    link_cv: Any,
    random_state: Any,
    on_iteration: Callable[[Any], Any] | None,
) -> Completed:
    """Learn effects, factors and the link."""
    smoothers = smoothers_of(ratings)
    result = plan.solve(ratings, smoothers, on_iteration)
    if link_cv is None or not plan.fitter.is_learned:
        return Completed(result, plan)
    indices, tests = [], []
    for train, test in splits_of(link_cv, ratings, random_state):
        best = plan.solve(ratings.part(train), smoothers).best
        length = length_in_y(best.index, best.start_index, plan.fitter.slope)
        indices.append(index_at(best.parts.scaled(length), ratings.part(test).design))
        tests.append(test)
    folds = link_folds(len(ratings.y))
    held_out = held_out_ratings(ratings, np.concatenate(indices), np.concatenate(tests), folds)
    return Completed(replace(result, best=with_held_out_link(result.best, held_out, plan.fitter)), plan)


def smoothers_of(ratings: Ratings) -> Smoothers:
    """Return the graphs of both sides, ready for any strength."""
    rows, cols = (
        GraphSmoother(graph, 1.0, n) for graph, n in zip(ratings.graphs, ratings.design.shape, strict=True)
    )
    return rows, cols


def splits_of(cv: Any, ratings: Ratings, random_state: Any) -> Iterable[Any]:
    """Return the splits of the ratings; an integer means folds of ratings drawn at random."""
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        cv = KFold(int(cv), shuffle=True, random_state=random_state)
    splits: Iterable[Any] = check_cv(cv).split(ratings.y)
    return splits


def ridge_of(alphas: tuple[float, float], effects: Any) -> Ridge:
    rows, cols = (a if there else None for a, there in zip(alphas, EFFECTS[effects], strict=True))
    return Ridge((rows, cols))


# ---------------------------------------------------------------- checks


def check_effects(effects: Any) -> None:
    if not (effects is None or (isinstance(effects, str) and effects in EFFECTS)):
        raise ValueError(f"effects must be 'both', 'rows', 'columns' or None, got {effects!r}.")


def check_pair(name: str, value: Any) -> tuple[float, float]:
    """Return two numbers, the same twice where one is given."""
    values = list(value) if isinstance(value, (tuple, list, np.ndarray)) else [value, value]
    if len(values) != 2:
        raise ValueError(f"{name} must be a number, or a pair of them for rows and columns; got {value!r}.")
    return check_number(name, values[0]), check_number(name, values[1])


def check_rank(n_atoms: Any, shape: tuple[int, int]) -> int:
    whole = isinstance(n_atoms, (int, np.integer)) and not isinstance(n_atoms, bool)
    if not whole or n_atoms < 0:
        raise ValueError(f"n_atoms must be an integer of at least 0 (effects alone), got {n_atoms!r}.")
    return min(int(n_atoms), *shape)
