"""The candidates of a search: what the folds say of them, and which of them are told from the best."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..solvers.result import FloatArray

# What tells one candidate from another, beside its iteration.
CHOICES = ("scale_power", "alpha", "n_atoms", "penalty", "iteration")


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What one fold says of one iterate: the standardised index of the held-out rows, and w itself."""

    index: FloatArray  # (n_test, n_outputs)
    n_atoms: float
    positions: Any  # of the non-zero coefficients among the flattened (n_features, n_outputs)
    values: FloatArray

    def add_to(self, coef: FloatArray) -> None:
        """Add w, in the units of X and standardised, to an array of shape (n_features, n_outputs)."""
        coef.reshape(-1)[self.positions] += self.values


@dataclass(frozen=True, eq=False)
class Candidate:
    """An iterate of the search: where it stands, what each fold says of it, and its scores."""

    cell: int
    level: int
    iteration: int
    settings: dict[str, Any]
    folds: tuple[HeldOut, ...]
    split_scores: FloatArray
    scores: FloatArray

    @property
    def mean_score(self) -> float:
        return float(np.mean(self.scores))

    @property
    def n_atoms(self) -> float:
        return float(np.mean([fold.n_atoms for fold in self.folds]))

    @property
    def simplicity(self) -> tuple[float, float, int]:
        """Fewest atoms first, then the strongest ridge, then the earliest iteration."""
        return self.n_atoms, -self.settings["alpha"], self.iteration


def over_told_splits(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with the scores of those splits that have one for any of them.

    A split has none, for instance, where its held-out rows lack a class that the score needs.
    """
    told = np.isfinite([one.split_scores for one in candidates]).any(axis=0)
    if not told.any():
        raise ValueError("every candidate scored NaN; check `scoring` and the number of rows per fold.")
    return [replace(one, scores=one.split_scores[told]) for one in candidates]


def near_best(candidates: Sequence[Candidate], standard_errors: float) -> list[Candidate]:
    """Return the candidates within so many standard errors of the best mean score."""
    means = np.array([one.mean_score for one in candidates])
    best = int(np.nanargmax(means))
    folds = candidates[best].scores
    slack = 1e-12 * abs(means[best])
    if len(folds) > 1:
        slack += standard_errors * np.std(folds, ddof=1) / np.sqrt(len(folds))
    return [candidates[i] for i in np.flatnonzero(means >= means[best] - slack).tolist()]


def not_told_apart(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that the folds do not tell from the best one.

    Their score is lower by less than one standard error of the difference, which the folds have in common.
    """
    scores = np.array([one.scores for one in candidates])
    best = int(np.nanargmax(scores.mean(axis=1)))
    behind = scores[best] - scores
    error = np.std(behind, axis=1, ddof=1) / np.sqrt(scores.shape[1]) if scores.shape[1] > 1 else 0.0
    near = behind.mean(axis=1) <= error + 1e-12 * abs(scores[best].mean())
    return [candidates[i] for i in np.flatnonzero(near).tolist()]


def table_of(candidates: Sequence[Candidate], unit: float) -> dict[str, Any]:
    """Return `cv_results_`: one array per quantity, one entry per candidate; None, no limit, becomes NaN."""
    results: dict[str, Any] = {
        name: np.array([one.settings[name] for one in candidates], dtype=np.float64) for name in CHOICES
    }
    scores = np.array([one.split_scores for one in candidates]) * unit
    results["mean_n_atoms"] = np.array([one.n_atoms for one in candidates])
    results["mean_test_score"] = np.array([one.mean_score for one in candidates]) * unit
    results["std_test_score"] = np.array([float(np.std(one.scores)) for one in candidates]) * unit
    for k, column in enumerate(scores.T):
        results[f"split{k}_test_score"] = column.copy()
    results["rank_test_score"] = rankdata(-results["mean_test_score"], method="min").astype(int)
    return results


def over_folds(
    candidates: Sequence[Sequence[HeldOut]], shape: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """Return in which share of these models each coefficient is used, and the mean of the models."""
    share, mean = np.zeros(shape), np.zeros(shape)
    n_models = sum(map(len, candidates))
    for one in itertools.chain.from_iterable(candidates):
        one.add_to(mean)
        share.reshape(-1)[one.positions] += 1
    share /= n_models
    return share[:, 0] if shape[1] == 1 else share, mean / n_models
