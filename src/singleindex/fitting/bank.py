"""The candidates of a search on every fold, and what held-out rows say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..solvers.result import FloatArray
from .trace import NOTHING, Model

# Weights below this share of the largest are none.
_LEAST_WEIGHT = 0.01


@dataclass(frozen=True, eq=False)
class Bank:
    """Candidates: on every fold a model each, and the index of every row under those that have not seen it.

    Attributes
    ----------
    keys : list
        What tells the candidates apart.
    models : list of list of Model
        By fold, then by candidate.
    held_out : array of shape (n_candidates, n_rows, n_outputs)
        Means where a row was held out several times, NaN where never.
    """

    keys: list[Any]
    models: list[list[Model]]
    held_out: FloatArray

    def only(self, kept: Sequence[int]) -> Bank:
        """Return some of the candidates."""
        models = [[fold[k] for k in kept] for fold in self.models]
        return Bank([self.keys[k] for k in kept], models, self.held_out[list(kept)])

    def n_atoms(self) -> FloatArray:
        counts: FloatArray = np.mean([[one.n_atoms for one in fold] for fold in self.models], axis=0)
        return counts

    def is_open(self, output: int) -> NDArray[np.bool_]:
        """Tell for which candidates the path of an output has not ended, on any fold."""
        open_ = np.ones(len(self.keys), dtype=bool)
        for fold in self.models:
            for k, one in enumerate(fold):
                if one.ended is not None and one.ended[output]:
                    open_[k] = False
        return open_

    def mean_held_out(self, weight: FloatArray) -> FloatArray:
        """Return the weighted mean of the candidates' held-out indices, by outputs."""
        used = np.flatnonzero(weight.any(axis=1))
        mean: FloatArray = np.einsum("kj,knj->nj", weight[used], self.held_out[used])
        return mean

    def average(self, fold: int, weight: FloatArray, n_features: int) -> FloatArray:
        """Return the weighted mean of the candidates' w on a fold: (n_features, n_outputs)."""
        coef = np.zeros((n_features, weight.shape[1]))
        for k in np.flatnonzero(weight.any(axis=1)):
            self.models[fold][k].add_to(coef, weight[k])
        return coef

    def mean(self, weight: FloatArray, n_features: int) -> FloatArray:
        """Return the mean over all folds of these."""
        folds = range(len(self.models))
        mean: FloatArray = np.mean([self.average(fold, weight, n_features) for fold in folds], axis=0)
        return mean

    def votes(self, weight: FloatArray, n_features: int) -> FloatArray:
        """Return in which share of the models, of all folds and weighted, each coefficient is in use."""
        folds = range(len(self.models))
        mean: FloatArray = np.mean([self.votes_of(fold, weight, n_features) for fold in folds], axis=0)
        return mean

    def votes_of(self, fold: int, weight: FloatArray, n_features: int) -> FloatArray:
        """Return the same of one fold alone."""
        share = np.zeros((n_features, weight.shape[1]))
        for k in np.flatnonzero(weight.any(axis=1)):
            one = self.models[fold][k]
            votes = 1.0 if one.votes is None else one.votes
            share.reshape(-1)[one.positions] += votes * weight[k][one.positions % weight.shape[1]]
        return share


def common_bank(
    found: Sequence[tuple[dict[Any, Model], Any, FloatArray]], n_rows: int, n_outputs: int
) -> Bank:
    """Return the candidates that every fold has, from its models, its held-out rows and their indices.

    Where there are none such, all of them: on a fold that lacks one, the one before stands for it.
    """
    every = list(dict.fromkeys(key for models, _, _ in found for key in models))
    keys = [key for key in every if all(key in models for models, _, _ in found)] or every
    total, times = np.zeros((len(keys), n_rows, n_outputs)), np.zeros(n_rows)
    chosen = []
    for models, rows, index in found:
        place, at, order = {key: k for k, key in enumerate(models)}, -1, []
        for key in keys:
            at = place.get(key, at)
            order.append(at)
        total[:, rows] += np.concatenate([index, np.zeros((1, *index.shape[1:]))])[order]
        times[rows] += 1
        with_none = [*models.values(), NOTHING]
        chosen.append([with_none[at] for at in order])
    with np.errstate(invalid="ignore"):
        total /= np.where(times > 0, times, np.nan)[None, :, None]
    return Bank(keys, chosen, total)


def joined(one: Bank, other: Bank) -> Bank:
    """Return the candidates of both."""
    models = [a + b for a, b in zip(one.models, other.models, strict=True)]
    return Bank(one.keys + other.keys, models, np.concatenate([one.held_out, other.held_out]))


@dataclass(frozen=True, eq=False)
class Scores:
    """Losses of candidates by unit: a row, or a fold where a score has no rows.

    Attributes
    ----------
    losses : array of shape (n_candidates, n_units)
    weight : array of shape (n_units,)
        How many rows, or folds, each unit counts for.
    splits : array of shape (n_candidates, n_splits)
        Minus the mean loss of every split: what the user asked for.
    rows : array of shape (n_units,) or None
        The number of the row that each unit is; None where units are splits, those with a score.
    """

    losses: FloatArray
    weight: FloatArray
    splits: FloatArray
    rows: NDArray[np.intp] | None = None

    def without(self, split: int, test: NDArray[np.intp]) -> Scores:
        """Return what the other splits say; all of them where no other one says anything."""
        if self.rows is None:
            kept = np.flatnonzero(np.isfinite(self.splits).any(axis=0)) != split
        else:
            kept = ~np.isin(self.rows, test)
        if not kept.any():
            return self
        rows = None if self.rows is None else self.rows[kept]
        return Scores(self.losses[:, kept], self.weight[kept], self.splits, rows)

    @property
    def mean(self) -> FloatArray:
        mean: FloatArray = self.losses @ (self.weight / self.weight.sum())
        return mean

    @property
    def best(self) -> int:
        return int(np.nanargmin(self.mean))

    def error_of(self, losses: FloatArray) -> FloatArray:
        """Return the standard errors of the means of some losses."""
        total = self.weight.sum()
        share = self.weight / total
        centred = losses - (losses @ share)[..., None]
        if total <= 1:
            return np.zeros(losses.shape[:-1])
        error: FloatArray = np.sqrt(np.square(centred) @ share / (total - 1))
        return error

    def behind(self) -> tuple[FloatArray, FloatArray]:
        """Return how far each candidate is behind the best one, and the standard error of that."""
        gap = self.losses - self.losses[self.best]
        return self.mean - self.mean[self.best], self.error_of(gap)


def soft_weights(scores: Scores, among: NDArray[np.bool_]) -> FloatArray:
    """Return weights that fall with the distance from the best mean loss, in units of its standard error."""
    mean = np.where(among, scores.mean, np.inf)
    best = int(np.nanargmin(mean))
    behind = mean - mean[best]
    unit = float(scores.error_of(scores.losses[best]))
    weight = np.exp(-behind / unit) if unit > 0 else (behind <= 0).astype(float)
    return _normalised(np.where(weight >= _LEAST_WEIGHT, weight, 0.0))


def equal_weights(scores: Scores, errors: float = 1.0) -> FloatArray:
    """Return equal weights for what is within so many standard errors of the difference from the best."""
    return _normalised(within(scores, errors).astype(float))


def within(scores: Scores, errors: float) -> NDArray[np.bool_]:
    behind, error = scores.behind()
    near: NDArray[np.bool_] = behind <= errors * error + 1e-12 * abs(scores.mean[scores.best])
    return near


def _normalised(weight: FloatArray) -> FloatArray:
    shares: FloatArray = weight / weight.sum()
    return shares
