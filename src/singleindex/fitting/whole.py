"""The chosen path on all rows: what a search shows of how w grows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..design import Design
from ..solvers import Iterate, SolverResult, Status
from ..solvers.exact import exact_path
from ..solvers.result import FloatArray, as_history, squared
from .extremes import Spread
from .grid import EXACT, Cell
from .memory import prepare
from .path import trace_path
from .plan import Plan
from .together import path_together
from .trace import Fold, exact_method

# Names of what is recorded of a level.
_RECORDED = ("objective", "mse", "n_atoms", "change")


@dataclass(frozen=True, eq=False)
class WholePath:
    """By output, the iterate that was kept at each level, w in the units of X."""

    cell: Cell
    outputs: list[list[Iterate]]

    def result(self, output: int, level: int, coef: FloatArray) -> SolverResult:
        """Return a solver's result with these coefficients, and the levels up to that one as its history."""
        iterates = self.outputs[output][: level + 1]
        records = [[float(getattr(one, name)) for name in _RECORDED] for one in iterates]
        best = replace(iterates[-1], n_iter=len(iterates) - 1, coef=coef, points=None, fitted=None)
        return SolverResult(best, Status.CHOSEN, as_history(records, _RECORDED), len(iterates))

    def record(self, unit: FloatArray, to_features: Callable[[FloatArray], FloatArray]) -> dict[str, Any]:
        """Return `path_`: the numbers and the coefficients of every level, in the units of X and y."""
        coefs = np.array([
            [u * to_features(one.coef) for one in path] for u, path in zip(unit, self.outputs, strict=True)
        ])  # fmt: skip
        mse = np.array([
            [squared(u) * one.mse for one in path] for u, path in zip(unit, self.outputs, strict=True)
        ])  # fmt: skip
        levels = self.cell.levels[: coefs.shape[1]]
        return {
            "n_atoms": np.array([level.n_atoms for level in levels], dtype=np.float64),
            "penalty": np.array([level.penalty for level in levels]),
            "coefs": coefs[0] if len(unit) == 1 else coefs.transpose(1, 2, 0),
            "mse": mse.mean(axis=0),
        }


def whole_path(
    plan: Plan, cell: Cell, design: Design, spread: Spread, whole: Fold, largest: FloatArray
) -> WholePath:
    """Return a path on all rows."""
    if cell.method != EXACT:
        trace = trace_path(
            cell.plan(plan), prepare(whole.X, whole.weight), whole.Y, whole.weight, cell.levels
        )
        outputs = [
            [replace(steps[-1][k], coef=trace.view.to_features(steps[-1][k].coef)) for steps in trace.levels]
            for k in range(whole.n_outputs)
        ]
        return WholePath(cell, outputs)
    if plan.is_together:
        view, _, path = path_together(plan, cell, design, spread, whole, float(largest.max()))
        kept = [[replace(one, coef=view.to_features(one.coef)) for one in iterates] for iterates in path]
        return WholePath(cell, [list(one) for one in zip(*kept, strict=True)])
    outputs = []
    for k, fold in enumerate(whole.problems(plan.is_joint(whole.n_outputs))):
        view, method = exact_method(plan, cell, design, spread, fold)
        kept = [
            [replace(one, coef=view.to_features(one.coef)) for one in iterate.by_output()]
            for iterate in exact_path(method, [level.penalty * largest[k] for level in cell.levels])
        ]
        outputs += [list(path) for path in zip(*kept, strict=True)]
    return WholePath(cell, outputs)
