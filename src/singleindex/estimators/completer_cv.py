"""A completer that chooses its own settings on held-out ratings."""

from __future__ import annotations

import copy
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata

from ..solvers import Status
from ..solvers.completion import CompletionProblem, prepare_start
from .checks import check_count, check_number
from .completer import (
    EFFECTS,
    Settings,
    SingleIndexCompleter,
    check_rank,
    is_effects,
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


@dataclass(frozen=True)
class Candidate:
    """One choice of all settings that are searched."""

    alpha_rows: float
    alpha_cols: float
    strength_rows: float
    strength_cols: float
    n_atoms: int
    penalty: float

    @property
    def start_key(self):
        """What the start depends on."""
        return self.alpha_rows, self.alpha_cols, self.strength_rows, self.strength_cols

    def settings(self, model, fitter) -> Settings:
        ridge = ridge_of((self.alpha_rows, self.alpha_cols), model.effects)
        strengths = (self.strength_rows, self.strength_cols)
        return Settings(self.n_atoms, self.penalty, ridge, strengths, fitter, model.max_iter, model.tol)


# Standard errors of the difference by which a candidate must be better than the best so far. More with
# curves: every iterate is a candidate, and a curve makes up for bad settings.
BEYOND, BEYOND_WITH_CURVES = 1.0, 2.0
# Folds for the final link where the search has held out too few ratings for it.
_LINK_CV = 5
# Ridge and strength from which the search starts: those of the plain completer.
_FIRST = 3.0

NAMES = tuple(Candidate.__dataclass_fields__)


class SingleIndexCompleterCV(SingleIndexCompleter):
    """Matrix completion that chooses rank, graph strengths and ridges on held-out ratings.

    Parameters
    ----------
    n_atoms : sequence of int, default=(2, 10)
        Largest ranks to try. Effects alone are always tried as well, where there are any.
    penalties : sequence of float, default=(0.8, 0.6, 0.4, 0.2, 0.1, 0.05)
        Weights of the atomic norm to try, shares from 0 to 1.
    alphas : sequence of float, default=(1.0, 3.0, 10.0, 30.0)
        Ridges of the effects to try, for rows and columns apart.
    graph_strengths : sequence of float, default=(0.0, 3.0, 10.0, 30.0, 100.0)
        Strengths of the graphs to try, for rows and columns apart; only 0 where there is no graph.
    cv : int, splitter or iterable, default=5
        How to split the ratings. An integer is a number of folds, drawn by `random_state`; a validation part
        of one's own goes in as a list of one pair of index arrays, training and validation.
    effects, lipschitz, link, tol, random_state
        As in :class:`SingleIndexCompleter`.
    link_cv : bool, default=True
        Fit the final link to the held-out ratings of the search instead of the training ratings. Where `cv`
        holds out less than half of all, as a single validation part does, five folds are fitted for it.
    max_iter : int, default=10
        Iterations of every fit. Each iterate is a candidate, the first being least squares.
    n_jobs : int, default=None
        Splits that run side by side; the result is the same.
    verbose : int, default=0
        Above 0, one line per group of candidates on standard error.

    Attributes
    ----------
    best_params_ : dict
        alpha_rows, alpha_cols, strength_rows, strength_cols, n_atoms, penalty and iteration.
    best_score_ : float
        Minus the mean squared error on held-out ratings. The link that predicts them is itself learned
        from others of them.
    cv_results_ : dict of arrays
        One entry per candidate and iterate; goes into a data frame as it is.
    row_effects_, col_effects_, row_factors_, col_factors_, link_, rank_, …
        As in :class:`SingleIndexCompleter`, learned from all ratings.

    Notes
    -----
    The search goes by coordinates, not over the whole grid: the ridges, ridge and strength of the rows, of
    the columns, rank and penalty, then ridges and strengths one by one beside the factors. It starts from
    effects alone at ridges and strengths of 3, and changes its mind only where the held-out ratings are
    predicted better by more than a standard error of the difference: of many candidates that do about as
    well, chance would choose one. With a learned link all of this is done for least squares first, and then
    once more around the choice with a link, every iterate tried; two standard errors count there.

    Examples
    --------
    >>> from singleindex import SingleIndexCompleterCV
    >>> from singleindex.datasets import make_completion
    >>> data = make_completion(100, 80, 2000, n_atoms=1, link="tanh", random_state=0)
    >>> model = SingleIndexCompleterCV([2], penalties=[0.5], alphas=[3.0], graph_strengths=[3.0])
    >>> model = model.fit(data.pairs, data.y, data.row_graph, data.col_graph)
    >>> sorted(model.best_params_)[:3]
    ['alpha_cols', 'alpha_rows', 'iteration']
    """

    def __init__(
        self, n_atoms=(2, 10), *, penalties=(0.8, 0.6, 0.4, 0.2, 0.1, 0.05), alphas=(1.0, 3.0, 10.0, 30.0),
        graph_strengths=(0.0, 3.0, 10.0, 30.0, 100.0), cv=5, effects="both", lipschitz=1.0, link="learned",
        link_cv=True, max_iter=10, tol=1e-2, random_state=0, n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.n_atoms = n_atoms
        self.penalties = penalties
        self.alphas = alphas
        self.graph_strengths = graph_strengths
        self.cv = cv
        self.effects = effects
        self.lipschitz = lipschitz
        self.link = link
        self.link_cv = link_cv
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settings(self, shape):
        check_count("max_iter", self.max_iter)
        check_number("tol", self.tol)
        if not is_effects(self.effects):
            raise ValueError(f"effects must be 'both', 'rows', 'columns' or None, got {self.effects!r}.")
        grid = {"n_atoms": sorted({check_rank(k, shape) for k in np.atleast_1d(self.n_atoms).tolist()})}
        for name, values in (
            ("penalty", self.penalties), ("alpha", self.alphas), ("strength", self.graph_strengths),
        ):  # fmt: skip
            grid[name] = [check_number(name, value) for value in np.atleast_1d(values).tolist()]
            if not grid[name]:
                raise ValueError("penalties, alphas and graph_strengths must name at least one value each.")
        if max(grid["penalty"]) > 1:
            raise ValueError(f"penalties are shares from 0 to 1, got {self.penalties!r}.")
        return grid

    def _learn(self, ratings, grid):
        fitter = self._link_fitter()
        search = Search(self, ratings, fitter, with_curve=False)
        self._search_all(search, grid, ratings)
        if fitter.is_learned:
            search = search.with_curves()
            self._search_again(search, grid, ratings)
        best, iteration = search.best
        result = search.refit(best, iteration)
        self._tell(search)
        self._best_settings = best.settings(self, fitter)
        if not (self.link_cv and fitter.is_learned):
            return result, result.link
        return with_held_out_link(result, search.for_link(best, iteration), fitter)

    def _set_fitted(self, ratings, labels, result, link, settings):
        super()._set_fitted(ratings, labels, result, link, self._best_settings)
        del self._best_settings

    # ------------------------------------------------------------ the search

    def _search_all(self, search, grid, ratings):
        """Try groups of candidates, one group of settings after the other, from the best so far."""
        sides, atoms = self._groups(grid, ratings)
        first = {name: nearest(values, _FIRST) for group in sides for name, values in group.items()}
        candidate = Candidate(**first, n_atoms=0, penalty=1.0)
        if self.effects is None and atoms["n_atoms"]:
            middle = atoms["penalty"][len(atoms["penalty"]) // 2]
            candidate = replace(candidate, n_atoms=atoms["n_atoms"][-1], penalty=middle)
        search.try_all([candidate])
        alphas = {name: group[name] for group in sides for name in group if name.startswith("alpha")}
        for group in (alphas, *sides, alphas):
            search.try_all(search.around(group))
        if atoms["n_atoms"]:
            for group in (atoms, *one_by_one(sides), atoms):
                search.try_all(search.around(group))

    def _search_again(self, search, grid, ratings):
        """Try the neighbourhood of the least-squares choice, each with a learned link."""
        sides, atoms = self._groups(grid, ratings)
        for group in (atoms, *one_by_one(sides)) if atoms["n_atoms"] else one_by_one(sides):
            search.try_all(search.around(group))

    def _groups(self, grid, ratings):
        """Return the settings that are searched together: those of rows, of columns, and of the atoms."""
        sides = []
        for axis, name in enumerate(("rows", "cols")):
            alphas = grid["alpha"] if EFFECTS[self.effects][axis] else grid["alpha"][:1]
            strengths = [0.0] if ratings.graphs[axis] is None else grid["strength"]
            sides.append({f"alpha_{name}": alphas, f"strength_{name}": strengths})
        ranks = [k for k in grid["n_atoms"] if k > 0]
        return sides, {"n_atoms": ranks, "penalty": sorted(grid["penalty"], reverse=True)}

    def _tell(self, search):
        rows = search.rows
        best, iteration = search.best
        self.best_params_ = {name: getattr(best, name) for name in NAMES} | {"iteration": iteration + 1}
        self.best_score_ = search.best_row["mean_test_score"]
        names = (*NAMES, "iteration", "link_trust", "mean_test_score", "std_test_score")
        results = {name: np.array([row[name] for row in rows], dtype=np.float64) for name in names}
        for k in range(len(rows[0]["scores"])):
            results[f"split{k}_test_score"] = np.array([row["scores"][k] for row in rows])
        results["rank_test_score"] = rankdata(-results["mean_test_score"], method="min").astype(int)
        self.cv_results_ = results


def nearest(values, wanted):
    return min(values, key=lambda value: abs(value - wanted))


def one_by_one(groups):
    return [{name: values} for group in groups for name, values in group.items()]


class Search:
    """Fits candidates on every split and scores each iterate on the ratings left out.

    For a learned link there are two rounds. The first is least squares, scored as such; in the second each
    iterate is scored with a curve.
    """

    def __init__(self, model, ratings, fitter, with_curve):
        self.model, self.ratings, self.fitter, self.with_curve = model, ratings, fitter, with_curve
        self.smoothers = smoothers_of(ratings)
        for smoother in self.smoothers:
            smoother.prepare()
        self.splits = list(splits_of(model.cv, ratings, model.random_state))
        if not self.splits:
            raise ValueError("cv gives no split of the ratings; use an integer of at least 2, or a splitter.")
        self.link_fold = link_folds(len(ratings.y))
        self.indices, self.rows = {}, []
        self.best_row: Any = None
        self.best_error = np.zeros(0)

    def with_curves(self):
        """Return the second round, at the best candidate of this one."""
        second = copy.copy(self)
        second.with_curve, second.indices, second.best_row = True, {}, None
        second.try_all([self.best[0]])
        return second

    @property
    def best(self):
        return self.best_row["candidate"], self.best_row["iteration"] - 1

    @property
    def max_iter(self):
        # Least squares is the start of a fit with a learned link, and needs no iteration after it.
        return 1 if self.fitter.is_learned and not self.with_curve else self.model.max_iter

    def around(self, group):
        """Return the best candidate with all combinations of the values in `group`."""
        candidates = [self.best[0]]
        for name, values in group.items():
            candidates = [replace(c, **{name: value}) for c in candidates for value in values]
        return candidates

    def try_all(self, candidates):
        new = [c for c in dict.fromkeys(candidates) if c not in self.indices]
        if not new:
            return
        tried = self.trace(new)
        for number, candidate in enumerate(new):
            self.indices[candidate] = [split[number] for split in tried]
        self._take_over(max((self._score(c) for c in new), key=lambda scored: scored[0]["mean_test_score"]))
        if self.model.verbose:
            best = f"{-self.best_row['mean_test_score']:.6g} at {self.best_row['candidate']}"
            told = f"{len(new)} candidates, best so far: mean squared error {best}"
            print(f"[{type(self.model).__name__}] {told}", file=sys.stderr, flush=True)

    def trace(self, candidates):
        """Return for each split and candidate the held-out index of every iterate."""
        return Parallel(n_jobs=self.model.n_jobs)(
            delayed(trace_split)(
                self.model, self.ratings, self.smoothers, self.fitter, self.max_iter, candidates, split
            )
            for split in self.splits
        )

    def _score(self, candidate):
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

    def _take_over(self, scored):
        """Let the best of a group take the place of the best so far where it is better beyond chance."""
        row, error, weight = scored
        if self.best_row is not None:
            gain = self.best_error - error
            mean = np.average(gain, weights=weight)
            chance = np.sqrt(np.average((gain - mean) ** 2, weights=weight) / weight.sum())
            if mean <= (BEYOND_WITH_CURVES if self.with_curve else BEYOND) * chance:
                return
        self.best_row, self.best_error = row, error

    def _errors(self, indices):
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

    def held_out(self, candidate, iteration):
        """Return the held-out index of each split; where a fit ended earlier, that of its last iterate."""
        return [its[min(iteration, len(its) - 1)] for its in self.indices[candidate]]

    def for_link(self, candidate, iteration) -> HeldOut:
        """Return held-out ratings for the final link: those of the search, if it held out half of all."""
        tested = np.unique(np.concatenate([test for _, test in self.splits]))
        if len(tested) >= len(self.ratings.y) / 2:
            return self.stacked(self.held_out(candidate, iteration))
        folds = copy.copy(self)
        folds.splits = list(splits_of(_LINK_CV, self.ratings, self.model.random_state))
        folds.indices = {candidate: [its[0] for its in folds.trace([candidate])]}
        return folds.stacked(folds.held_out(candidate, iteration))

    def stacked(self, indices) -> HeldOut:
        """Return every held-out rating, as often as it was held out."""
        at = np.concatenate([test for _, test in self.splits])
        return held_out_ratings(self.ratings, np.concatenate(indices), at, self.link_fold)

    def refit(self, candidate, iteration):
        """Return the chosen iterate, learned from all ratings."""
        steps: list = []
        settings = replace(candidate.settings(self.model, self.fitter), max_iter=iteration + 1)
        result = settings.solve(self.ratings, self.smoothers, steps.append)
        chosen = steps[-1]
        return replace(
            result, parts=chosen.parts, index=chosen.index, link=chosen.link, best_iter=chosen.n_iter,
            status=Status.CHOSEN,
        )  # fmt: skip


def trace_split(model, ratings, smoothers, fitter, max_iter, candidates, split):
    """Return for each candidate the held-out index of every iterate; for a known link, what it predicts."""
    train, test = split
    problem = CompletionProblem(ratings.part(train).design, ratings.y[train], *smoothers)
    test_design = ratings.part(test).design
    n_atoms = max(candidate.n_atoms for candidate in candidates)
    starts: dict = {}
    traced = []
    for candidate in candidates:
        settings = replace(candidate.settings(model, fitter), max_iter=max_iter)
        if candidate.start_key not in starts:
            here = problem.with_strengths(settings.strengths)
            starts = {candidate.start_key: (here, prepare_start(here, fitter.slope, settings.ridge, n_atoms))}
        here, start = starts[candidate.start_key]
        steps: list = []
        settings.solve_from(here, start, steps.append)
        traced.append([_held_out_values(step, steps[0].index, test_design, fitter) for step in steps])
    return traced


def _held_out_values(step, start_index, test_design, fitter):
    if not fitter.is_learned:
        return step.link(index_at(step.parts, test_design))
    return index_at(step.parts.scaled(length_in_y(step.index, start_index, fitter.slope)), test_design)
