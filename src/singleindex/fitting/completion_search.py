"""The search of a completer: coordinate by coordinate, every iterate scored on held-out ratings."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata

from ..link import LinkFitter
from ..solvers import SolverResult, Status
from ..solvers.completion import CompletionProblem, prepare_start
from .checks import check_count, check_number
from .completion import (
    EFFECTS,
    Completed,
    CompletionPlan,
    Smoothers,
    check_effects,
    check_rank,
    ridge_of,
    smoothers_of,
    splits_of,
)
from .held_out_link import (
    HeldOut,
    fit_held_out_link,
    held_out_ratings,
    index_at,
    length_in_y,
    line_through,
    link_folds,
    with_held_out_link,
)
from .plan import make_fitter
from .ratings import Ratings

# Standard errors of the difference by which a candidate must be better than the best so far. More with
# curves: every iterate is a candidate, and a curve makes up for bad settings.
BEYOND, BEYOND_WITH_CURVES = 1.0, 2.0
# Folds for the final link where the search has held out too few ratings for it.
_LINK_CV = 5
# Ridge and strength from which the search starts: those of the plain completer.
_FIRST = 3.0


@dataclass(frozen=True)
class Candidate:
    """One choice of all settings that are searched."""

    damping_rows: float
    damping_cols: float
    strength_rows: float
    strength_cols: float
    n_atoms: int
    penalty: float

    def plan(self, search: CompletionSearch) -> CompletionPlan:
        ridge = ridge_of((self.damping_rows, self.damping_cols), search.effects)
        strengths = (self.strength_rows, self.strength_cols)
        return CompletionPlan(
            self.n_atoms, self.penalty, ridge, strengths, search.fitter, search.max_iter, search.tol
        )


NAMES = tuple(Candidate.__dataclass_fields__)


@dataclass(frozen=True)
class CompletionSearch:
    """What is tried, and how: the checked parameters of a completer that searches."""

    grid: Mapping[str, list[Any]]
    fitter: LinkFitter
    effects: Any
    cv: Any
    held_out_link: bool
    max_iter: int
    tol: float
    random_state: Any
    n_jobs: int | None

    def groups(self, ratings: Ratings) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the settings that are searched together: those of rows, of columns, and of the atoms."""
        sides = []
        for axis, name in enumerate(("rows", "cols")):
            damping = self.grid["damping"] if EFFECTS[self.effects][axis] else self.grid["damping"][:1]
            strengths = [0.0] if ratings.graphs[axis] is None else self.grid["strength"]
            sides.append({f"damping_{name}": damping, f"strength_{name}": strengths})
        ranks = [k for k in self.grid["n_atoms"] if k > 0]
        return sides, {"n_atoms": ranks, "penalty": sorted(self.grid["penalty"], reverse=True)}


def make_completion_search(
    shape: tuple[int, int],
    *,
    n_atoms: Any,
    penalty: Any,
    damping: Any,
    graph_strength: Any,
    cv: Any,
    effects: Any,
    lipschitz: Any,
    link: Any,
    held_out_link: Any,
    max_iter: Any,
    tol: Any,
    random_state: Any,
    n_jobs: Any,
) -> CompletionSearch:
    """Return the search of these parameters, or raise with the fix in the message."""
    check_effects(effects)
    grid: dict[str, list[Any]] = {
        "n_atoms": sorted({check_rank(k, shape) for k in np.atleast_1d(n_atoms).tolist()})
    }
    for name, values in (("penalty", penalty), ("damping", damping), ("strength", graph_strength)):
        grid[name] = [check_number(name, value) for value in np.atleast_1d(values).tolist()]
        if not grid[name]:
            raise ValueError("penalty, damping and graph_strength must name at least one value each.")
    if max(grid["penalty"]) > 1:
        raise ValueError(f"penalty is a share from 0 to 1, got {penalty!r}.")
    return CompletionSearch(
        grid, make_fitter(link, lipschitz), effects, cv, bool(held_out_link),
        check_count("max_iter", max_iter), check_number("tol", tol), random_state, n_jobs,
    )  # fmt: skip


def search_ratings(settings: CompletionSearch, ratings: Ratings, say: Callable[[str], None]) -> Completed:
    """Choose the settings on held-out ratings, then learn from all."""
    search = Search(settings, ratings, say)
    search_all(search, *settings.groups(ratings))
    if settings.fitter.is_learned:
        search = search.with_curves()
        search_again(search, *settings.groups(ratings))
    best, iteration = search.best
    result = search.refit(best, iteration)
    if settings.held_out_link and settings.fitter.is_learned:
        held_out = search.for_link(best, iteration)
        result = replace(result, best=with_held_out_link(result.best, held_out, settings.fitter))
    found = {
        "best_params_": {name: getattr(best, name) for name in NAMES} | {"iteration": iteration + 1},
        "best_score_": search.best_row["mean_test_score"],
        "cv_results_": table_of(search.rows),
    }
    return Completed(result, best.plan(settings), found)


def search_all(search: Search, sides: list[dict[str, Any]], atoms: dict[str, Any]) -> None:
    """Try groups of candidates, one group of settings after the other, from the best so far."""
    first = {name: nearest(values, _FIRST) for group in sides for name, values in group.items()}
    candidate = Candidate(**first, n_atoms=0, penalty=1.0)
    if search.settings.effects is None and atoms["n_atoms"]:
        middle = atoms["penalty"][len(atoms["penalty"]) // 2]
        candidate = replace(candidate, n_atoms=atoms["n_atoms"][-1], penalty=middle)
    search.try_all([candidate])
    damping = {name: group[name] for group in sides for name in group if name.startswith("damping")}
    for group in (damping, *sides, damping):
        search.try_all(search.around(group))
    if atoms["n_atoms"]:
        for group in (atoms, *one_by_one(sides), atoms):
            search.try_all(search.around(group))


def search_again(search: Search, sides: list[dict[str, Any]], atoms: dict[str, Any]) -> None:
    """Try the neighbourhood of the least-squares choice, each with a learned link."""
    for group in (atoms, *one_by_one(sides)) if atoms["n_atoms"] else one_by_one(sides):
        search.try_all(search.around(group))


def table_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return `cv_results_`: one array per quantity, one entry per candidate and iterate."""
    names = (*NAMES, "iteration", "link_trust", "mean_test_score", "std_test_score")
    results: dict[str, Any] = {
        name: np.array([row[name] for row in rows], dtype=np.float64) for name in names
    }
    for k in range(len(rows[0]["scores"])):
        results[f"split{k}_test_score"] = np.array([row["scores"][k] for row in rows])
    results["rank_test_score"] = rankdata(-results["mean_test_score"], method="min").astype(int)
    return results


def nearest(values: Sequence[float], wanted: float) -> float:
    return min(values, key=lambda value: abs(value - wanted))


def one_by_one(groups: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{name: values} for group in groups for name, values in group.items()]


class Search:
    """Fits candidates on every split and scores each iterate on the ratings left out.

    For a learned link there are two rounds. The first is least squares, scored as such; in the second each
    iterate is scored with a curve.
    """

    def __init__(self, settings: CompletionSearch, ratings: Ratings, say: Callable[[str], None]) -> None:
        self.settings, self.ratings, self.fitter, self.say = settings, ratings, settings.fitter, say
        self.with_curve = False
        self.smoothers = smoothers_of(ratings)
        for smoother in self.smoothers:
            smoother.prepare()
        self.splits = list(splits_of(settings.cv, ratings, settings.random_state))
        if not self.splits:
            raise ValueError("cv gives no split of the ratings; use an integer of at least 2, or a splitter.")
        self.link_fold = link_folds(len(ratings.y))
        self.indices: dict[Candidate, Any] = {}
        self.rows: list[dict[str, Any]] = []
        self.best_row: Any = None
        self.best_error = np.zeros(0)

    def with_curves(self) -> Search:
        """Return the second round, at the best candidate of this one."""
        second = copy.copy(self)
        second.with_curve, second.indices, second.best_row = True, {}, None
        second.try_all([self.best[0]])
        return second

    @property
    def best(self) -> tuple[Candidate, int]:
        return self.best_row["candidate"], self.best_row["iteration"] - 1

    @property
    def max_iter(self) -> int:
        # Least squares is the start of a fit with a learned link, and needs no iteration after it.
        return 1 if self.fitter.is_learned and not self.with_curve else self.settings.max_iter

    def around(self, group: Mapping[str, Any]) -> list[Candidate]:
        """Return the best candidate with all combinations of the values in `group`."""
        candidates = [self.best[0]]
        for name, values in group.items():
            candidates = [replace(c, **{name: value}) for c in candidates for value in values]
        return candidates

    def try_all(self, candidates: Sequence[Candidate]) -> None:
        new = [c for c in dict.fromkeys(candidates) if c not in self.indices]
        if not new:
            return
        tried = self.trace(new)
        for number, candidate in enumerate(new):
            self.indices[candidate] = [split[number] for split in tried]
        self._take_over(max((self._score(c) for c in new), key=lambda scored: scored[0]["mean_test_score"]))
        best = f"{-self.best_row['mean_test_score']:.6g} at {self.best_row['candidate']}"
        self.say(f"{len(new)} candidates, best so far: mean squared error {best}")

    def trace(self, candidates: Sequence[Candidate]) -> list[Any]:
        """Return for each split and candidate the held-out index of every iterate."""
        plans = [replace(c.plan(self.settings), max_iter=self.max_iter) for c in candidates]
        traced: list[Any] = Parallel(n_jobs=self.settings.n_jobs)(
            delayed(trace_split)(self.ratings, self.smoothers, plans, split) for split in self.splits
        )
        return traced

    def _score(self, candidate: Candidate) -> Any:
        """Score every iterate; return the best one's record, its errors and their weights."""
        best = None
        for iteration in range(max(map(len, self.indices[candidate]))):
            error, weight, trust = self._errors(self.held_out(candidate, iteration))
            starts = np.concatenate([[0], np.cumsum([len(test) for _, test in self.splits])[:-1]])
            scores = -np.add.reduceat(weight * error, starts) / np.add.reduceat(weight, starts)
            row = {name: getattr(candidate, name) for name in NAMES} | {
                "candidate": candidate, "iteration": iteration + 1, "scores": scores, "link_trust": trust,
                "mean_test_score": float(np.mean(scores)), "std_test_score": float(np.std(scores)),
            }  # fmt: skip
            self.rows.append(row)
            if best is None or row["mean_test_score"] > best[0]["mean_test_score"]:
                best = row, error, weight
        return best

    def _take_over(self, scored: Any) -> None:
        """Let the best of a group take the place of the best so far where it is better beyond chance."""
        row, error, weight = scored
        if self.best_row is not None:
            gain = self.best_error - error
            mean = np.average(gain, weights=weight)
            chance = np.sqrt(np.average((gain - mean) ** 2, weights=weight) / weight.sum())
            if mean <= (BEYOND_WITH_CURVES if self.with_curve else BEYOND) * chance:
                return
        self.best_row, self.best_error = row, error

    def _errors(self, indices: Sequence[Any]) -> tuple[Any, Any, float]:
        """Return the squared error of every held-out rating, its weight, and how far a curve is trusted."""
        held_out = self.stacked(indices)
        predicted, trust = held_out.index, 0.0
        if self.with_curve:
            link = fit_held_out_link(held_out, self.fitter)
            predicted, trust = link.predicted, link.trust
        elif self.fitter.is_learned:
            predicted = line_through(held_out)
        weight = np.ones(len(predicted)) if held_out.weight is None else held_out.weight
        return (predicted - held_out.y) ** 2, weight, trust

    def held_out(self, candidate: Candidate, iteration: int) -> list[Any]:
        """Return the held-out index of each split; where a fit ended earlier, that of its last iterate."""
        return [its[min(iteration, len(its) - 1)] for its in self.indices[candidate]]

    def for_link(self, candidate: Candidate, iteration: int) -> HeldOut:
        """Return held-out ratings for the final link: those of the search, if it held out half of all."""
        tested = np.unique(np.concatenate([test for _, test in self.splits]))
        if len(tested) >= len(self.ratings.y) / 2:
            return self.stacked(self.held_out(candidate, iteration))
        folds = copy.copy(self)
        folds.splits = list(splits_of(_LINK_CV, self.ratings, self.settings.random_state))
        folds.indices = {candidate: [its[0] for its in folds.trace([candidate])]}
        return folds.stacked(folds.held_out(candidate, iteration))

    def stacked(self, indices: Sequence[Any]) -> HeldOut:
        """Return every held-out rating, as often as it was held out."""
        at = np.concatenate([test for _, test in self.splits])
        return held_out_ratings(self.ratings, np.concatenate(indices), at, self.link_fold)

    def refit(self, candidate: Candidate, iteration: int) -> SolverResult:
        """Return the chosen iterate, learned from all ratings."""
        steps: list[Any] = []
        plan = replace(candidate.plan(self.settings), max_iter=iteration + 1)
        result = plan.solve(self.ratings, self.smoothers, steps.append)
        return replace(result, best=steps[-1], status=Status.CHOSEN)


def trace_split(ratings: Ratings, smoothers: Smoothers, plans: Sequence[CompletionPlan], split: Any) -> Any:
    """Return for each plan the held-out index of every iterate; for a known link, what it predicts."""
    train, test = split
    problem = CompletionProblem(ratings.part(train).design, ratings.y[train], *smoothers)
    test_design = ratings.part(test).design
    n_atoms = max(plan.n_atoms for plan in plans)
    starts: dict[Any, Any] = {}
    traced = []
    for plan in plans:
        key = plan.ridge, plan.strengths  # all that a start depends on
        if key not in starts:
            here = problem.with_strengths(plan.strengths)
            starts = {key: (here, prepare_start(here, plan.fitter.slope, plan.ridge, n_atoms))}
        steps: list[Any] = []
        here, start = starts[key]
        plan.solve_from(here, start, steps.append)
        traced.append([_held_out_values(step, test_design, plan.fitter) for step in steps])
    return traced


def _held_out_values(step: Any, test_design: Any, fitter: LinkFitter) -> Any:
    if not fitter.is_learned:
        return step.link(index_at(step.parts, test_design))
    return index_at(step.parts.scaled(length_in_y(step.index, step.start_index, fitter.slope)), test_design)
