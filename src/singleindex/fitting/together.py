"""Several classes as one problem: their probabilities are in proportion to the odds of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..design import Design, View
from ..link import MonotoneCurve
from ..link.softmax import Softmax, others_than
from ..solvers import Iterate, SolverResult
from ..solvers.exact import Exact
from ..solvers.result import FloatArray
from ..solvers.together import exact_path_together
from .cross_fit import common_spread
from .extremes import Spread, check_kept
from .grid import Cell
from .plan import Plan
from .trace import Fold, Model, as_model, exact_method


def path_together(
    plan: Plan, cell: Cell, design: Design, spread: Spread, fold: Fold, largest: float
) -> tuple[View, list[Exact], Iterator[list[Iterate]]]:
    """Return the view of X that w is learned in, the steps of each class, and their iterates by level."""
    pairs = [exact_method(plan, cell, design, spread, one) for one in fold.problems(are_one=False)]
    methods = [method for _, method in pairs]
    return (
        pairs[0][0], methods, exact_path_together(methods, [level.penalty * largest for level in cell.levels])
    )  # fmt: skip


def trace_together(
    plan: Plan, cell: Cell, design: Design, spread: Spread, fold: Fold, largest: float
) -> Iterator[tuple[tuple[int, float], Model]]:
    """Yield level, form (always the soft one) and model along a path of all classes."""
    view, methods, path = path_together(plan, cell, design, spread, fold, largest)
    null, penalised = sum(method.null for method in methods), ~methods[0].shape.is_free
    most, is_empty = max(1.0, cell.most * fold.n_rows * fold.n_outputs), True
    for level, iterates in enumerate(path):
        w, index = (np.column_stack([getattr(one, name) for one in iterates]) for name in ("coef", "index"))
        explains = sum(one.mse for one in iterates) < cell.unexplained * null
        if not is_empty and (np.count_nonzero(w[penalised]) > most or explains):
            return
        if not w.any():
            continue
        n_atoms = float(np.mean([one.n_atoms for one in iterates]))
        model = as_model(view.to_features(w), index, fold.weight, n_atoms, True, is_together=True)
        if model is not None:
            is_empty = False
            yield (level, 0.0), model


def with_links_together(
    plan: Plan, data: Any, results: list[SolverResult], held_out: FloatArray
) -> list[SolverResult]:
    """Return the results with links whose odds are in proportion to the probabilities of the classes.

    `held_out` is the index of every row under models that have not seen it, at unit mean spread over those
    they have seen. w is at the length at which the links are as steep as is allowed for.
    """
    seen = np.isfinite(held_out[:, 0])
    weight = np.ones(len(data.Y)) if data.weight is None else data.weight
    index = np.column_stack([data.design.matvec(one.best.coef) for one in results])
    sd, spread = common_spread(index, weight), common_spread(held_out[seen], weight[seen])
    if not (sd > 0 and spread > 0):
        return results
    shape, rows = Softmax(), held_out[seen] / spread
    slope, *levels = shape.fit(rows[None], data.Y[seen], weight[seen])[0]
    scores = slope * rows + np.array(levels)
    # Only differences of levels matter: these make the odds those of a class against the others, on average.
    common = np.mean([weight[seen] @ others_than(scores, k) for k in range(len(levels))]) / weight[seen].sum()
    scale = slope / (sd * spread)
    stretch = 0.25 / plan.fitter.slope if plan.fitter.is_bounded else 1.0
    finished = []
    for k, one in enumerate(results):
        mean = float(np.average(index[:, k], weights=weight))
        curve = shape.tabulate(levels[k] - common - scale * mean)
        best = replace(one.best, index=index[:, k])
        longer = best.rescaled(stretch * scale, MonotoneCurve(stretch * curve.x, curve.y))
        check_kept(best.coef, longer.coef)
        finished.append(replace(one, best=longer))
    return finished
