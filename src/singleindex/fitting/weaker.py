"""Paths that go on to weaker penalties, where held-out rows like the last models along them best.

Numbers can be nearly free of noise, and then tell more coefficients than half the rows; labels never are.
Of noisy ones, models with nearly as many coefficients as rows are the dearest of a path, and the worst.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .bank import Bank, joined
from .grid import EXACT, Cell, further, is_many
from .judge import Judge
from .plan import Plan

# How many levels from its last one a path has its best model, to be traced further.
_NEAR_THE_END = 2

Trace = Callable[[Sequence[Cell], set[int]], Bank]


def with_weaker(
    plan: Plan, settings: Any, data: Any, cells: Sequence[Cell], bank: Bank, judge: Judge, trace: Trace
) -> tuple[list[Cell], Bank]:
    """Return the paths and their candidates, those that held-out rows want further traced so."""
    may_go_on = settings.penalty is None and settings.n_atoms is None and not plan.is_classifier
    if not (may_go_on and is_many(data.n_features, data.n_rows)):
        return list(cells), bank
    longer = {number for number, cell in enumerate(cells) if cell.method == EXACT}
    longer = {number for number in longer if _is_best_at_its_end(number, bank, judge)}
    if not longer:
        return list(cells), bank
    cells = [further(cell) if number in longer else cell for number, cell in enumerate(cells)]
    others = [k for k, key in enumerate(bank.keys) if key.cell not in longer]
    return cells, joined(bank.only(others), trace(cells, longer))


def _is_best_at_its_end(number: int, bank: Bank, judge: Judge) -> bool:
    """Tell whether held-out rows, of any output, like one of the last models of a path best."""
    own = [k for k, key in enumerate(bank.keys) if key.cell == number]
    if not own:
        return False
    levels = np.array([bank.keys[k].level for k in own])
    for output, scores in enumerate(judge.scores(bank.held_out[own])):
        is_open = bank.is_open(output)[own]
        loss = np.where(is_open, scores.mean, np.inf)
        if is_open.any() and levels[np.nanargmin(loss)] > levels[is_open].max() - _NEAR_THE_END:
            return True
    return False
