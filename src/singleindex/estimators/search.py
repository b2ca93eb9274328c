"""The search behind the CV estimators: warm paths on every fold, every iterate scored on held-out rows."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score
from sklearn.utils import _safe_indexing
from sklearn.utils.extmath import safe_sparse_dot

from ..solvers import in_units, squared
from ..solvers.path import iterations_at, solve_path
from .classifier import CERTAIN
from .cross_fit import length_for_link, standardised
from .extremes import unit_of

# Held-out indices, in units of their spread, below which single precision is enough for them.
_MOST_SINGLE = 1e30


@dataclass(frozen=True)
class Cell:
    """One path of the search: a column scale, a ridge, and the levels along it."""

    column_scale: float | None
    alpha: float
    levels: tuple


@dataclass(frozen=True)
class Candidate:
    """What one fold says of one iterate: the standardised index of the held-out rows, and w itself."""

    index: np.ndarray  # (n_test, n_outputs)
    n_atoms: float
    positions: np.ndarray  # of the non-zero coefficients among the flattened (n_features, n_outputs)
    values: np.ndarray

    def add_to(self, coef):
        """Add w, in the units of X and standardised, to an array of shape (n_features, n_outputs)."""
        coef.reshape(-1)[self.positions] += self.values


def trace_cell(model, prepared, Y, weight, cell, last_only=False):
    """Return, for each level, the iterates of all outputs, padded with the last one; and the design.

    With `last_only` the others keep their numbers alone: where w is long, memory for all of them costs more
    time than finding them.
    """
    settings = model._settings_of_all_levels(prepared[0].shape[1]) | {"alpha": cell.alpha}
    design, settings["structure"] = model._scaled(prepared, settings["structure"], cell.column_scale)
    joint, settings = model._joint_settings(settings, Y.shape[1])
    targets = [Y] if joint else [np.ascontiguousarray(Y[:, k]) for k in range(Y.shape[1])]
    levels: list = [[[] for _ in targets] for _ in cell.levels]
    for k, y in enumerate(targets):

        def keep(level, iterate, k=k):
            seen = levels[level][k]
            if last_only and seen:
                seen[-1] = [replace(one, coef=None, index=None, link=None, fitted=None) for one in seen[-1]]
            seen.append(iterate.by_output())

        list(solve_path(design, y, cell.levels, on_iteration=keep, sample_weight=weight, **settings))
    limits = [iterations_at(number, model.max_iter) for number in range(len(levels))]
    return [by_iteration(outputs, limit) for outputs, limit in zip(levels, limits, strict=True)], design


def by_iteration(outputs, max_iter):
    """Turn a list of iterates per output into a list of iterates of all outputs per iteration."""
    return [
        [one for iterates in outputs for one in iterates[min(t, len(iterates) - 1)]] for t in range(max_iter)
    ]


def in_units_of_y(levels, unit):
    """Return traced levels with every iterate in the units of the outputs."""
    return [
        [[in_units(one, u) for one, u in zip(step, unit, strict=True)] for step in steps] for steps in levels
    ]


def last_coefs(levels, design, unit=None):
    """Return the coefficients kept at each level: (n_levels, d), or (n_levels, d, n_outputs)."""
    factors = np.ones(len(levels[0][-1])) if unit is None else unit
    kept = [
        [np.multiply(design.in_units_of_X(one.coef), u) for one, u in zip(steps[-1], factors, strict=True)]
        for steps in levels
    ]
    coefs = np.array(kept).transpose(0, 2, 1)
    return coefs[:, :, 0] if len(factors) == 1 else coefs


class PlainUnits:
    """Stands for a design where coefficients are in the units of X already."""

    @staticmethod
    def in_units_of_X(w):
        return w


def trace_fold(model, X, Y, weight, train, test, cells):
    """Return the candidates by cell, level and iteration."""
    X_train, X_test = _safe_indexing(X, train), _safe_indexing(X, test)
    fold_weight = None if weight is None else weight[train]
    prepared = model._prepare(X_train, fold_weight)
    traced = []
    for cell in cells:
        levels, design = trace_cell(model, prepared, Y[train], fold_weight, cell)
        traced.append([held_out_candidates(steps, design, X_test, fold_weight) for steps in levels])
    return traced


def held_out_candidates(steps, design, X_test, weight):
    """Return a candidate for each iteration of a level; where the solver has settled, the same one again."""
    candidates: list = []
    last: list = []
    for iterates in steps:
        if not last or any(a.coef is not b.coef for a, b in zip(iterates, last, strict=True)):
            coef, offset = standardised(iterates, design, weight)
            index = safe_sparse_dot(X_test, coef, dense_output=True) + offset
            positions = np.flatnonzero(coef)
            count = float(np.mean([one.n_atoms for one in iterates]))
            if np.max(np.abs(index), initial=0.0) < _MOST_SINGLE:
                index = index.astype(np.float32)
            candidate = Candidate(index, count, positions, coef.reshape(-1)[positions])
        candidates.append(candidate)
        last = iterates
    return candidates


def trace_folds(model, X, Y, weight, splits, cells, n_jobs, progress):
    traced = []
    # In the order of the folds, whatever the number of jobs.
    for fold in Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(trace_fold)(model, X, Y, weight, train, test, cells) for train, test in splits
    ):
        traced.append(fold)
        progress.step("fold traced")
    return traced


def brier(fitted, index, y, weight):
    return -float(np.average((np.clip(fitted, CERTAIN, 1 - CERTAIN) - y) ** 2, weights=weight))


def log_likelihood(fitted, index, y, weight):
    p = np.clip(fitted, CERTAIN, 1 - CERTAIN)
    return float(np.average(np.where(y > 0.5, np.log(p), np.log1p(-p)), weights=weight))


def auc(fitted, index, y, weight):
    positive = y > 0.5
    if weight is not None:
        both = weight[positive].any() and weight[~positive].any()
        return float(roc_auc_score(positive, index, sample_weight=weight)) if both else np.nan
    n_positive = np.count_nonzero(positive)
    n_pairs = n_positive * (len(y) - n_positive)
    if n_pairs == 0:
        return np.nan
    return float((rankdata(index)[positive].sum() - n_positive * (n_positive + 1) / 2) / n_pairs)


def minus_squared_error(fitted, index, y, weight):
    return -float(np.average((fitted - y) ** 2, weights=weight))


QUICK_SCORES = {
    "neg_brier_score": brier,
    "neg_log_loss": log_likelihood,
    "roc_auc": auc,
    "neg_mean_squared_error": minus_squared_error,
}


def brier_of_classes(p, Y, weight):
    return -float(np.average(np.square(p - Y).sum(axis=1), weights=weight))


def log_likelihood_of_classes(p, Y, weight):
    return float(np.average(np.log(p[Y > 0]), weights=weight))


# Of several classes. scikit-learn's own ask that every class be among the rows they score.
CLASS_SCORES = {"neg_brier_score": brier_of_classes, "neg_log_loss": log_likelihood_of_classes}


def with_means(rows):
    """Return records of candidates with mean and deviation over the folds that have a score for any of them.

    A fold has none, for instance, where its held-out rows lack a class that the score needs.
    """
    told = np.isfinite([row["split_scores"] for row in rows]).any(axis=0)
    if not told.any():
        raise ValueError("every candidate scored NaN; check `scoring` and the number of rows per fold.")
    for row in rows:
        scores = row["split_scores"][told]
        row |= {"scores": scores, "mean_test_score": float(np.mean(scores))}
        row["std_test_score"] = float(np.std(scores))
    return rows


class Scorekeeper:
    """Scores held-out indices, through one link per output fitted to all of them together."""

    def __init__(self, model, X, targets, weight, splits, scorer):
        self.model, self.weight, self.splits, self.scorer = model, weight, splits, scorer
        # Squared errors are taken in units in which they are numbers; `unit_of_scores` brings them back.
        self.Y, self.unit = targets.Y, targets.unit
        self.unit_of_scores = 1.0
        if isinstance(model.scoring, str) and model.scoring == "neg_mean_squared_error":
            self.unit_of_scores = squared(1 / unit_of(targets.unit))
        self.fitter, self.final_fitter = model._link_fitter(), model._final_link_fitter()
        self.last_factor = 0.0
        takes_weights = getattr(scorer, "_accept_sample_weight", bool)
        self.scorer_takes_weights = weight is not None and takes_weights()
        self.times_held_out = np.zeros(len(self.Y))
        for _, test in splits:
            self.times_held_out[test] += 1
        # scikit-learn's scorers check their input anew each time; these few give the same numbers at once.
        quick = QUICK_SCORES.get(model.scoring) if isinstance(model.scoring, str) else None
        # Of several classes one against the rest, the probabilities have yet to be made to sum to one.
        apart = targets.Y.shape[1] == 1 or getattr(model, "multilabel_", True)
        self.quick = quick if apart else None
        self.of_classes = (
            None if apart or not isinstance(model.scoring, str) else CLASS_SCORES.get(model.scoring)
        )
        self.parts = []
        if self.quick is None and self.of_classes is None:
            self.parts = [(_safe_indexing(X, test), _safe_indexing(targets.y, test)) for _, test in splits]

    def pooled(self, folds):
        """Return the held-out index of every row, the mean over folds where there are several."""
        total = np.zeros(self.Y.shape)
        for (_, test), fold in zip(self.splits, folds, strict=True):
            total[test] += fold.index
        with np.errstate(invalid="ignore", divide="ignore"):
            return total / self.times_held_out[:, None]

    def mean_pooled(self, candidates):
        """Return the mean of the held-out indices of several candidates; what is no number is no index."""
        with np.errstate(over="ignore"):
            return np.mean([self.pooled(folds) for folds in candidates], axis=0)

    def score(self, folds):
        """Return the score of each fold."""
        pooled = self.pooled(folds)
        indices = [fold.index for fold in folds]
        if self.quick is not None:
            return self._score_quickly(self.quick, pooled, indices)
        links, factors = zip(*(self._fit_link(pooled[:, k], k) for k in range(self.Y.shape[1])), strict=True)
        frozen = [self._frozen(links, index * np.array(factors) * self.unit) for index in indices]
        if self.of_classes is not None:
            return [
                self.of_classes(one.predict_proba(None), self.Y[test], self._weight(test))
                for one, (_, test) in zip(frozen, self.splits, strict=True)
            ]
        scores = []
        for (X_test, y_test), (_, test), one in zip(self.parts, self.splits, frozen, strict=True):
            weight = {"sample_weight": self._weight(test)} if self.scorer_takes_weights else {}
            scores.append(self.scorer(one, X_test, y_test, **weight))
        return scores

    def _score_quickly(self, score, pooled, indices):
        scores = []
        for k, unit in enumerate(self.unit * unit_of(self.unit)):
            link, factor = self._fit_link(pooled[:, k], k)
            folds = [(test, index[:, k]) for (_, test), index in zip(self.splits, indices, strict=True)]
            scores.append([
                score(unit * link(factor * index), index, unit * self.Y[test, k], self._weight(test))
                for test, index in folds
            ])  # fmt: skip
        return np.mean(scores, axis=0).tolist()

    def _weight(self, test):
        return None if self.weight is None else self.weight[test]

    def _fit_link(self, held_out, k):
        seen = np.isfinite(held_out)
        held_out, y = np.ascontiguousarray(held_out[seen]), np.ascontiguousarray(self.Y[seen, k])
        weight = None if self.weight is None else self.weight[seen]
        if not self.fitter.is_learned:
            link, _ = self.fitter.fit(held_out, y, weight)
            return link.shift(link.offset), 1.0
        factor = length_for_link(held_out, y, self.fitter, weight, precision=0.05, guess=self.last_factor)
        self.last_factor = factor
        return self.final_fitter.fit(factor * held_out, y, weight)[0], factor

    def _frozen(self, links, index):
        """Return a model whose index is known already, for scorers that ask it to predict."""
        frozen = copy.copy(self.model)
        d = self.model.n_features_in_
        links = [link if u == 1 else link.rescale(u) for link, u in zip(links, self.unit, strict=True)]
        records = [SimpleNamespace(coef=np.zeros(d), link=link) for link in links]
        vars(frozen).update(self.model._attributes(records, PlainUnits(), np.float64))
        known = index[:, 0] if index.shape[1] == 1 else index
        frozen.index = lambda X: known
        return frozen
