"""Estimators that choose their own settings by cross-validation along warm paths."""

from __future__ import annotations

import copy
import itertools
import operator
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import check_scoring

from ..solvers import SolverResult, Status
from ..solvers.csi import RECORDED
from ..solvers.path import Level, hard_levels, soft_levels
from ..structures import SoftStructure
from .base import SingleIndexBase
from .checks import check_n_atoms, check_number
from .classifier import SingleIndexClassifier
from .cross_fit import line_length
from .extremes import at_length
from .progress import SearchProgress
from .regressor import SingleIndexRegressor
from .search import (
    Cell,
    PlainUnits,
    Scorekeeper,
    in_units_of_y,
    last_coefs,
    trace_cell,
    trace_folds,
    with_means,
)
from .splits import make_splits

RULES = ("best", "one_se")
REFITS = ("auto", "all", "average")
# Below this number of rows one w varies more than it gains by being one.
FEW_ROWS = 150


@dataclass(frozen=True)
class Choice:
    """Where in the search the chosen model stands."""

    cell: int
    level: int
    iteration: int


class SearchMixin(SingleIndexBase):
    """Searches in place of solving once; everything else is the plain estimator."""

    penalty = 0.0
    shared_link = False

    def fit(self, X, y=None, sample_weight=None, groups=None):
        """Choose the settings on held-out rows, then learn w and g from all.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            Used in fitting, and in the scores where scikit-learn's scorer takes weights.
        groups : array-like of shape (n_samples,), default=None
            For splitters that keep groups together.

        Returns
        -------
        self
        """
        self._groups = groups
        try:
            return super().fit(X, y, sample_weight)
        finally:
            del self._groups

    def _solve_outputs(self, X, targets, weight):
        self._check_search()
        prepared = self._prepare(X, weight)
        cells = self._cells(X.shape[1], prepared[1])
        splits = make_splits(self, self.cv, X, targets.y, weight, self._groups)
        progress = SearchProgress(self, X, targets.y, len(splits), len(cells))
        plain = self._without_callbacks()
        traced = trace_folds(plain, X, targets.Y, weight, splits, cells, self.n_jobs, progress)
        keeper = Scorekeeper(self, X, targets, weight, splits, check_scoring(self, scoring=self.scoring))
        rows = self._score_all(keeper, traced, cells, progress)
        chosen = self._simplest(rows, near_best(rows, 1.0 if self.rule == "one_se" else 0.0))
        self._tell(rows, chosen, keeper.unit_of_scores)
        self._progress = progress
        results, design = self._refit(prepared, targets, weight, cells, chosen["where"])
        averages = self.refit == "average" or (self.refit == "auto" and X.shape[0] < FEW_ROWS)
        used = [rows[i]["folds"] for i in not_told_apart(rows)] if averages else [chosen["folds"]]
        self.stability_, coef = over_folds(used, (X.shape[1], len(results)))
        fitter = self._link_fitter()
        if averages:
            results, design = averaged(X, coef, results, targets.Y, fitter, weight), PlainUnits()
        if not fitter.is_learned:
            return results, design
        held_out = keeper.mean_pooled(used) if self.link_cv else None
        return self._with_final_links(results, targets.Y, weight, held_out), design

    def _without_callbacks(self):
        """Return a copy that can be sent to other processes: callbacks stay here."""
        plain = copy.copy(self)
        for name in ("_skl_callbacks", "_callback_fit_ctx", "_skl_callbacks_to_teardown"):
            plain.__dict__.pop(name, None)
        return plain

    # ------------------------------------------------------------ the grid

    def _cells(self, n_features, spread):
        structure = self._settings_of_all_levels(n_features)["structure"]
        n_available = structure.check((n_features,))
        if self.n_atoms is None:
            hard = hard_levels(n_available)
        else:
            counts = {check_n_atoms(k, n_available) for k in np.atleast_1d(np.asarray(self.n_atoms)).tolist()}
            hard = [Level(n_atoms=k) for k in sorted(counts, reverse=True)]
        paths = [tuple(hard)] if hard else []
        if isinstance(structure, SoftStructure):
            if self.penalties is None:
                paths.append(tuple(soft_levels()))
            elif len(self.penalties):
                shares = sorted({check_number("penalties", p) for p in self.penalties}, reverse=True)
                paths.append(tuple(Level(penalty=p) for p in shares))
        return [
            Cell(scale, check_number("alphas", alpha), path)
            for scale in self._distinct_scales(structure, spread)
            for alpha in self.alphas
            for path in paths
        ]

    def _distinct_scales(self, structure, spread):
        """Return those of the column scales that make a difference to these columns."""
        kept: dict = {}
        for power in self.column_scales:
            factor = np.log(self._column_factors(spread, structure, power)[spread.variance > 0])
            if all(np.max(np.abs(factor - other)) > np.log(1.25) for other in kept.values()):
                kept[power] = factor
        return list(kept)

    def _check_search(self):
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {RULES}, got {self.rule!r}.")
        if self.refit not in REFITS:
            raise ValueError(f"refit must be one of {REFITS}, got {self.refit!r}.")
        if len(self.alphas) == 0 or len(self.column_scales) == 0:
            raise ValueError("alphas and column_scales must name at least one value each.")

    # ------------------------------------------------------------ scores

    def _score_all(self, keeper, traced, cells, progress):
        """Return one record per candidate: cell, level and iteration."""
        rows = []
        for i, cell in enumerate(cells):
            for j, level in enumerate(cell.levels):
                before: tuple = ()
                for t, folds in enumerate(zip(*(fold[i][j] for fold in traced), strict=True)):
                    # Where all folds have settled, further iterations are the same candidate.
                    if before and all(map(operator.is_, before, folds)):
                        break
                    rows.append(self._record(Choice(i, j, t), cell, level, folds, keeper.score(folds)))
                    before = folds
            progress.step("path scored")
        return with_means(rows)

    @staticmethod
    def _record(where, cell, level, folds, scores):
        return {
            "where": where, "column_scale": cell.column_scale, "alpha": cell.alpha,
            "n_atoms": level.n_atoms, "penalty": level.penalty, "iteration": where.iteration + 1,
            "mean_n_atoms": float(np.mean([one.n_atoms for one in folds])), "folds": folds,
            "split_scores": np.array(scores),
        }  # fmt: skip

    @staticmethod
    def _simplest(rows, numbers):
        """Return the row with fewest atoms, then the strongest ridge, then the earliest iteration."""
        key = lambda i: (rows[i]["mean_n_atoms"], -rows[i]["alpha"], rows[i]["iteration"], i)  # noqa: E731
        return rows[min(numbers, key=key)]

    def _tell(self, rows, chosen, unit):
        names = ("column_scale", "alpha", "n_atoms", "penalty", "iteration")
        self.best_params_ = {name: chosen[name] for name in names}
        self.best_score_ = float(chosen["mean_test_score"] * unit)
        results = {
            # None, no limit, becomes NaN.
            name: np.array([row[name] for row in rows], dtype=np.float64)
            for name in (*names, "mean_n_atoms", "mean_test_score", "std_test_score")
        }
        for k in range(len(chosen["split_scores"])):
            results[f"split{k}_test_score"] = np.array([row["split_scores"][k] for row in rows]) * unit
        for name in ("mean_test_score", "std_test_score"):
            results[name] = results[name] * unit
        results["rank_test_score"] = rankdata(-results["mean_test_score"], method="min").astype(int)
        self.cv_results_ = results

    # ------------------------------------------------------------ the chosen model

    def _refit(self, prepared, targets, weight, cells, where):
        """Trace the chosen path on all rows; return the chosen iterate of each output, and the design."""
        cell = cells[where.cell]
        levels, design = trace_cell(self, prepared, targets.Y, weight, cell)
        self.path_ = self._path_record(cell, in_units_of_y(levels, targets.unit), design)
        steps = levels[where.level][: where.iteration + 1]
        return [chosen_result([step[k] for step in steps]) for k in range(targets.Y.shape[1])], design

    @staticmethod
    def _path_record(cell, levels, design):
        return {
            "n_atoms": np.array([level.n_atoms for level in cell.levels], dtype=np.float64),
            "penalty": np.array([level.penalty for level in cell.levels]),
            "coefs": last_coefs(levels, design),
            "mse": [[float(np.mean([one.mse for one in step])) for step in its] for its in levels],
        }


def near_best(rows, standard_errors):
    """Return the numbers of the candidates within so many standard errors of the best mean score."""
    means = np.array([row["mean_test_score"] for row in rows])
    if not np.isfinite(means).any():
        raise ValueError("every candidate scored NaN; check `scoring` and the number of rows per fold.")
    best = int(np.nanargmax(means))
    folds = rows[best]["scores"]
    slack = 1e-12 * abs(means[best])
    if len(folds) > 1:
        slack += standard_errors * np.std(folds, ddof=1) / np.sqrt(len(folds))
    return np.flatnonzero(means >= means[best] - slack)


def not_told_apart(rows):
    """Return the numbers of the candidates that the folds do not tell from the best one.

    Their score is lower by less than one standard error of the difference, which the folds have in common.
    """
    scores = np.array([row["scores"] for row in rows])
    best = int(np.nanargmax(scores.mean(axis=1)))
    behind = scores[best] - scores
    error = np.std(behind, axis=1, ddof=1) / np.sqrt(scores.shape[1]) if scores.shape[1] > 1 else 0.0
    return np.flatnonzero(behind.mean(axis=1) <= error + 1e-12 * abs(scores[best].mean()))


def over_folds(candidates, shape):
    """Return in which share of these models each coefficient is used, and the mean of the models.

    `candidates` holds a sequence of the folds' models for each candidate.
    """
    share, mean = np.zeros(shape), np.zeros(shape)
    n_models = sum(map(len, candidates))
    for one in itertools.chain.from_iterable(candidates):
        one.add_to(mean)
        share.reshape(-1)[one.positions] += 1
    share /= n_models
    return share[:, 0] if shape[1] == 1 else share, mean / n_models


def chosen_result(iterates):
    """Return the last of these iterates as a solver's result."""
    last = iterates[-1]
    history = {
        name: np.array([getattr(one, name) for one in iterates], dtype=np.float64) for name in RECORDED
    }
    return SolverResult(
        last.coef, last.index, last.link, len(iterates), len(iterates) - 1, Status.CHOSEN, history
    )


def averaged(X, coef, results, Y, fitter, weight):
    """Return results with these coefficients, in the units of X, and the link that goes with them."""
    index = np.asarray(X @ coef)
    averaged = []
    for k, result in enumerate(results):
        factor = line_length(index[:, k], Y[:, k], fitter, weight) if fitter.is_learned else 1.0
        link, _ = fitter.fit(factor * index[:, k], np.ascontiguousarray(Y[:, k]), weight)
        w = at_length(coef[:, k], factor)
        averaged.append(replace(result, coef=w, index=factor * index[:, k], link=link))
    return averaged


class SingleIndexRegressorCV(SearchMixin, SingleIndexRegressor):
    """Single-index regression that chooses its own settings by cross-validation.

    Parameters
    ----------
    n_atoms : sequence of int or None, default=None
        Numbers of atoms to try. None means the paper's fractions of the atoms there are, d/4 to d/1024, all,
        half, and small counts. An empty sequence leaves hard thresholding out.
    structure : object, default=None
        What w may look like; None means `Sparse()`.
    alphas : sequence of float, default=(0.1,)
        Ridge penalties to try.
    penalties : sequence of float or None, default=None
        Soft thresholding levels to try, shares from 0 to 1; None means eight of them, where the structure has
        soft thresholding. An empty sequence leaves it out.
    column_scales : sequence of float or None, default=(0.5, 0.0)
        Column scales to try. Of two that differ by less than a quarter in every column, the first only.
    cv : int, splitter or iterable, default=5
        How to split; groups are passed to `fit`.
    scoring : str, callable or None, default="neg_mean_squared_error" ("neg_brier_score" for the classifier)
        Any scorer of scikit-learn; None is the estimator's own `score`.
    rule : {"best", "one_se"}, default="best"
        Take the best mean score, or the simplest candidate within one standard error of it.
    refit : {"auto", "all", "average"}, default="auto"
        "all" learns w once more from all rows. "average" takes the mean of the folds' w, each at unit spread
        of its index, over all candidates within one standard error of the best: steadier where there are few
        rows, at the price of more features. "auto" averages below 150 rows.
    link_cv : bool, default=True
        Fit the final link to the held-out indices of the search instead of those of the training rows.
    lipschitz, link, tol
        As in :class:`SingleIndexRegressor`.
    max_iter : int, default=2
        Iterations on each level of a path, twice as many on its first. Every one of them is a candidate.
    n_jobs : int, default=None
        Folds that run side by side; the result is the same.
    verbose : int, default=0
        Above 0, one line per fold and path on standard error. scikit-learn's callbacks work too, a progress
        bar among them.

    Attributes
    ----------
    best_params_ : dict
        column_scale, alpha, n_atoms, penalty and iteration of the chosen candidate.
    best_score_ : float
        Its mean held-out score.
    cv_results_ : dict of arrays
        One entry per candidate; goes into a data frame as it is. NaN stands for no limit and no scale.
    path_ : dict
        The chosen path on all rows: n_atoms, penalty, coefs and mse of every iterate, by level.
    stability_ : array of shape (n_features,) or (n_features, n_outputs)
        In which share of the folds each feature was used.
    coef_, link_, n_iter_, history_, status_, n_features_in_, feature_names_in_
        As in :class:`SingleIndexRegressor`.

    Examples
    --------
    >>> from singleindex import SingleIndexRegressorCV
    >>> from singleindex.datasets import make_single_index
    >>> X, y, w, g = make_single_index(
    ...     200, 500, n_atoms=5, link="clipped", noise="gaussian", random_state=0)
    >>> model = SingleIndexRegressorCV(n_atoms=[2, 5, 10], penalties=[], alphas=[0.1]).fit(X, y)
    >>> model.best_params_["n_atoms"]
    5
    """

    def __init__(
        self, n_atoms=None, *, structure=None, alphas=(0.1,), penalties=None,
        column_scales=(0.5, 0.0), cv=5, scoring="neg_mean_squared_error", rule="best", refit="auto",
        link_cv=True, lipschitz=1.0, link="learned", max_iter=2, tol=1e-2, n_jobs=None, verbose=0,
    ):  # fmt: skip
        set_search_parameters(self, locals())


class SingleIndexClassifierCV(SearchMixin, SingleIndexClassifier):
    """Single-index classification that chooses its own settings by cross-validation.

    The probabilities come from a link fitted to rows that were held out, so they are not over-confident where
    there are more features than rows; no further calibration is needed.

    Parameters
    ----------
    n_atoms, structure, alphas, penalties, column_scales, cv, rule, refit, link_cv
        As in :class:`SingleIndexRegressorCV`.
    lipschitz, link, max_iter, tol, n_jobs, verbose
        As in :class:`SingleIndexRegressorCV`.
    scoring : str, callable or None, default="neg_brier_score"
        Any scorer of scikit-learn; None is accuracy.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with the sample weights. They move the probabilities.

    Attributes
    ----------
    best_params_, best_score_, cv_results_, path_, stability_
        As in :class:`SingleIndexRegressorCV`.
    classes_, coef_, intercept_, link_, n_iter_, history_, status_, n_features_in_, feature_names_in_
        As in :class:`SingleIndexClassifier`.

    Examples
    --------
    >>> from singleindex import SingleIndexClassifierCV
    >>> from singleindex.datasets import make_single_index
    >>> X, y, w, g = make_single_index(400, 500, n_atoms=5, link="clipped", random_state=0)
    >>> model = SingleIndexClassifierCV().fit(X, y)
    >>> len(set(model.coef_.nonzero()[0]) & set(w.nonzero()[0]))
    5
    >>> model.predict_proba(X).shape
    (400, 2)
    """

    def __init__(
        self, n_atoms=None, *, structure=None, alphas=(0.1,), penalties=None,
        column_scales=(0.5, 0.0), cv=5, scoring="neg_brier_score", rule="best", refit="auto", link_cv=True,
        lipschitz=1.0, link="learned", max_iter=2, tol=1e-2, class_weight=None, n_jobs=None, verbose=0,
    ):  # fmt: skip
        set_search_parameters(self, locals())


def set_search_parameters(estimator, values):
    for name, value in values.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)
