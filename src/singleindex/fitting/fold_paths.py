"""All paths of a search on the rows of one fold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..design import Design
from ..solvers.result import FloatArray
from .extremes import Spread
from .grid import EXACT, GRADIENT, RIDGE, Cell
from .plan import Plan
from .together import trace_together
from .trace import Fold, Key, Model, by_columns, exact_method, merged, trace_exact, trace_gradient


def trace_cells(
    plan: Plan,
    cells: Sequence[Cell],
    spread: Spread,
    fold: Fold,
    largest: FloatArray,
    only: set[int] | None = None,
) -> dict[Key, Model]:
    """Return the models of all paths on some rows.

    `spread` is that of the columns over all rows, so that a level means the same on every fold.
    """
    found: dict[Key, Model] = {}
    design = by_columns(fold.X)
    for number, cell in enumerate(cells):
        if only is not None and number not in only:
            continue
        if cell.method == RIDGE:  # beside the others, where they are of any promise
            continue
        if cell.method == GRADIENT:
            found |= {Key(number, *key): model for key, model in trace_gradient(plan, cell, fold).items()}
            continue
        if plan.is_together:
            path = trace_together(plan, cell, design, spread, fold, float(largest[number].max()))
            found |= {Key(number, *key): model for key, model in path}
            continue
        paths = [
            dict(trace_exact(plan, cell, design, spread, one, largest[number, k]))
            for k, one in enumerate(fold.problems(plan.is_joint(fold.n_outputs)))
        ]
        found |= {Key(number, *key): model for key, model in merged(paths).items()}
    return found


def largest_penalties(
    plan: Plan, cells: Sequence[Cell], design: Design, spread: Spread, whole: Fold
) -> FloatArray:
    """Return the least penalty at which no atom is in use, by cell and output."""
    largest = np.zeros((len(cells), whole.n_outputs))
    for number, cell in enumerate(cells):
        if cell.method != EXACT:
            continue
        problems = whole.problems(plan.is_joint(whole.n_outputs))
        methods = [exact_method(plan, cell, design, spread, one)[1] for one in problems]
        largest[number] = [method.largest_penalty() for method in methods]  # of one problem, for all
    return largest
