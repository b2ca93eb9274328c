"""Paths that go on to weaker penalties, where held-out rows like the last models along them best.

Numbers can be nearly free of noise, and then tell more coefficients than half the rows; labels never are.
Of noisy ones, models with nearly as many coefficients as rows are the dearest of a path, and the worst.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .bank import Bank, joined
from .grid import EXACT, Cell, further, is_many, listed
from .judge import Judge
from .plan import Plan

# How many levels from its last one a path has its best model, to be traced further, and the least share of
# the squares that this one explains of held-out rows: noise is best explained anywhere.
_NEAR_THE_END, _CLEAR = 2, 0.25

Trace = Callable[[Sequence[Cell], set[int]], Bank]


def with_weaker(
    plan: Plan, settings: Any, data: Any, cells: Sequence[Cell], bank: Bank, judge: Judge, trace: Trace
) -> tuple[list[Cell], Bank]:
    """Return the paths and their candidates, those that held-out rows want further traced so."""
    if plan.is_classifier or not may_go_on(settings, data):
        return list(cells), bank
    longer = wanting(data, cells, bank, judge)
    if not longer:
        return list(cells), bank
    cells = [further(cell) if number in longer else cell for number, cell in enumerate(cells)]
    others = [k for k, key in enumerate(bank.keys) if key.cell not in longer]
    found = joined(bank.only(others), trace(cells, longer))
    return cells, found.only(sorted(range(len(found.keys)), key=lambda k: found.keys[k]))


def may_go_on(settings: Any, data: Any) -> bool:
    """Tell whether w may have more coefficients than half the rows, at levels that nobody asked for."""
    sizes = [] if settings.n_atoms is None else [k or np.inf for k in listed(settings.n_atoms)]
    most = min(max(sizes, default=np.inf), data.n_features)
    return settings.penalty is None and is_many(most, data.n_rows)


def wanting(data: Any, cells: Sequence[Cell], bank: Bank, judge: Judge) -> set[int]:
    """Return the paths of which held-out rows, of any output, like one of the last models best."""
    of_cell, level = (np.array([getattr(key, name) for key in bank.keys]) for name in ("cell", "level"))
    found = set()
    for output, scores in enumerate(judge.scores(bank.held_out)):
        is_open, loss = bank.is_open(output), scores.mean
        for number, cell in enumerate(cells):
            own = np.flatnonzero((of_cell == number) & is_open)
            if cell.method != EXACT or not len(own) or level[own].max() + 1 == len(further(cell).levels):
                continue
            best = own[np.nanargmin(loss[own])]
            share = explained(bank.held_out[best, :, output], data.Y[:, output], judge.weight)
            if level[best] > level[own].max() - _NEAR_THE_END and share > _CLEAR:
                found.add(number)
    return found


def explained(index: Any, y: Any, weight: Any) -> float:
    """Return the share of the squares of y that a line through an index of some rows explains."""
    seen = np.isfinite(index)
    covariance = np.cov(index[seen], y[seen], aweights=weight[seen])
    product = covariance[0, 0] * covariance[1, 1]
    return float(covariance[0, 1] ** 2 / product) if product > 0 and covariance[0, 1] > 0 else 0.0
