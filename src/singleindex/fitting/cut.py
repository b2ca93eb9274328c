"""Averages of models, cut to their largest atoms: the second stage of a search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..design import Design
from ..solvers.relax import relax
from ..solvers.result import FloatArray
from ..structures import Structure
from .plan import Plan
from .trace import RELAXED, Fold, Model, as_model, at_unit_spread, by_columns

# Averages are fitted anew on what they were cut to where there are so many rows per coefficient.
ROWS_TO_REFIT = 10


class Cut(NamedTuple):
    """How many atoms of an average are kept, None for all, and how far it is fitted anew on them."""

    n_atoms: int | None
    form: float


def sizes_below(most: int) -> list[int]:
    """Return numbers of atoms to try, about √2 apart."""
    sizes, k = [], 1.0
    while round(k) < most:
        sizes.append(round(k))
        k *= np.sqrt(2)
    return sorted(set(sizes))


class Cutter:
    """Cuts averages; in units in which every column has the same spread.

    Parameters
    ----------
    plan : Plan
    sd : array of shape (n_features,)
        Spread of every column of X.
    sizes : list of int
        Numbers of atoms to keep.
    keeps_all : bool
        Whether the average as it is is a candidate, too.
    """

    def __init__(self, plan: Plan, sd: FloatArray, sizes: list[int], keeps_all: bool, n_outputs: int) -> None:
        self.plan, self.sd, self.sizes, self.keeps_all = plan, sd, sizes, keeps_all
        self.is_joint = plan.is_joint(n_outputs)
        self.shape = plan.structure.separable(plan.n_features)
        self.fitter: Any = plan.plain_fitter if plan.link_is_free else plan.fitter

    @property
    def structure(self) -> Structure:
        return self.plan.structure

    def models(self, average: FloatArray, votes: FloatArray, fold: Fold) -> dict[Any, Model]:
        """Return the cuts of an average that are models of these rows."""
        cuts = self.cuts(average, votes, fold, by_columns(fold.X))
        return {cut: model for cut, model in cuts if model is not None}

    def cuts(
        self, average: FloatArray, votes: FloatArray, fold: Fold, design: Design
    ) -> Iterator[tuple[Cut, Model | None]]:
        """Yield every cut of an average of shape (n_features, n_outputs), as a model of these rows.

        `votes` says in which share of the averaged models each coefficient is in use.
        """
        if self.keeps_all:
            whole = self._model(average, design.matvec(average), fold)
            yield Cut(None, 0.0), whole and replace(whole, votes=votes.reshape(-1)[whole.positions])
        for size in self.sizes:
            kept = self.project(average, size)
            used = np.flatnonzero(kept.any(axis=1))
            if not len(used):
                continue
            yield Cut(size, 0.0), self._model(kept, design.matvec(kept), fold)
            if self.refits and len(used) * ROWS_TO_REFIT <= fold.n_rows:
                yield from self._refitted(size, kept, used, design.columns(used), fold)

    def project(self, average: FloatArray, size: int) -> FloatArray:
        """Return the average with its largest atoms alone."""
        scaled = average * self.sd[:, None]
        if self.is_joint:
            kept = self.structure.project(scaled, size)
        else:
            kept = np.column_stack([self.structure.project(np.ascontiguousarray(w), size) for w in scaled.T])
        return np.where(kept != 0, average, 0.0)

    def _refitted(
        self, size: int, kept: FloatArray, used: Any, columns: FloatArray, fold: Fold
    ) -> Iterator[tuple[Cut, Model | None]]:
        """Yield a cut that was fitted anew, and the mean of it and what it was."""
        free = np.column_stack([self._refit(columns, fold, kept, used, k) for k in range(kept.shape[1])])
        soft = kept[used]
        if self.plan.fitter.is_learned:
            soft, free = (at_unit_spread(w, columns, fold.share) for w in (soft, free))
        for form in RELAXED[1:]:
            w = np.zeros_like(kept)
            w[used] = form * free + (1 - form) * soft
            yield Cut(size, form), self._model(w, columns @ w[used], fold)

    @property
    def refits(self) -> bool:
        return self.shape is not None

    def _refit(self, columns: FloatArray, fold: Fold, kept: FloatArray, used: Any, k: int) -> FloatArray:
        """Return the coefficients of an output fitted anew to the columns that it uses."""
        start = kept[used, k]
        own = np.flatnonzero(start)
        free = np.zeros(len(start))
        if not len(own) or self.shape is None:
            return free
        share = fold.share
        scale = 1 / np.sqrt(share @ np.square(columns[:, own] - share @ columns[:, own]))
        scale[~np.isfinite(scale)] = 0.0
        y = np.ascontiguousarray(fold.Y[:, k])
        first = self._start(columns[:, own], start[own], scale, fold, y)
        free[own] = scale * relax(
            columns[:, own] * scale, y, share, first, self.fitter, bounds=self.shape.bounds_of(used[own])
        )
        return free

    def _start(
        self, columns: FloatArray, w: FloatArray, scale: FloatArray, fold: Fold, y: FloatArray
    ) -> FloatArray:
        """Return where a refit begins: the average, as long as a line through it says."""
        index = columns @ w
        index = index - fold.share @ index
        spread = fold.share @ np.square(index)
        length = (fold.share @ (index * y)) / (spread * self.fitter.slope) if spread > 0 else 0.0
        length = max(length, 0.0) if self.plan.link_is_free else 1.0
        return np.divide(length * w, scale, out=np.zeros_like(w), where=scale > 0)

    def _model(self, coef: FloatArray, index: FloatArray, fold: Fold) -> Model | None:
        outputs = (
            [coef] if self.is_joint or coef.shape[1] == 1 else [coef[:, [k]] for k in range(coef.shape[1])]
        )
        counts = [self.structure.count_atoms(w if self.is_joint else w[:, 0]) for w in outputs]
        return as_model(coef, index, fold.weight, float(np.mean(counts)), self.plan.fitter.is_learned)
