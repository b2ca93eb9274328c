"""Warm paths: one problem at many levels of simplicity, for all outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..design import Design, View
from ..solvers import ExactSteps, Iterate, Level, solve_path
from ..solvers.path import iterations_at, solve_exact_path
from ..solvers.result import FloatArray
from .exact import takes_exact_steps
from .extremes import Spread
from .plan import Plan


@dataclass(frozen=True)
class Trace:
    """All iterates of a path: by level, iteration and output; and the view of X they were found in."""

    levels: list[list[list[Iterate]]]
    view: View

    def last_coefs(self, unit: FloatArray) -> FloatArray:
        """Return the coefficients kept at each level: (n_levels, d), or (n_levels, d, n_outputs)."""
        kept = [
            [np.multiply(self.view.to_features(one.coef), u) for one, u in zip(steps[-1], unit, strict=True)]
            for steps in self.levels
        ]
        coefs = np.array(kept).transpose(0, 2, 1)
        return coefs[:, :, 0] if len(unit) == 1 else coefs


def trace_path(
    plan: Plan,
    prepared: tuple[Design, Spread],
    Y: FloatArray,
    weight: FloatArray | None,
    levels: Sequence[Level],
    last_only: bool = False,
) -> Trace:
    """Solve at every level; where an output has settled early, its last iterate stands for the rest.

    With `last_only` the others keep their numbers alone: where w is long, memory for all of them costs more
    time than finding them.
    """
    view, plan = plan.view(*prepared)
    problems = [np.ascontiguousarray(y) for y in Y.T]
    if plan.is_joint(Y.shape[1]):
        plan, problems = plan.for_joint_fit(), [Y]
    seen: list[list[list[list[Iterate]]]] = [[[] for _ in problems] for _ in levels]
    for k, y in enumerate(problems):

        def keep(level: int, iterate: Iterate, k: int = k) -> None:
            before = seen[level][k]
            if last_only and before:
                before[-1] = [_numbers_of(one) for one in before[-1]]
            before.append(iterate.by_output())

        is_exact = is_exact_path(plan, view, y, weight, levels)
        solved = (solve_exact_path if is_exact else solve_path)(
            view.at_hand() if is_exact else view, y, levels, simplicity=plan.simplicity,
            link_fitter=plan.fitter, max_iter=plan.max_iter, tol=plan.tol, sample_weight=weight,
            on_iteration=keep,
        )  # fmt: skip
        for _ in solved:
            pass
    limits = [iterations_at(number, plan.max_iter) for number in range(len(levels))]
    return Trace([_by_iteration(outputs, n) for outputs, n in zip(seen, limits, strict=True)], view)


def is_exact_path(
    plan: Plan, view: View, y: FloatArray, weight: FloatArray | None, levels: Sequence[Level]
) -> bool:
    """Tell whether exact steps were asked for, or are worth their price at all of these levels."""
    if plan.solver is not None:
        return isinstance(plan.solver, ExactSteps)
    counts = [level.n_atoms or view.shape[1] for level in levels if level.penalty == 0]
    hardest = replace(plan, n_atoms=max(counts)) if counts else replace(plan, penalty=1.0)
    return takes_exact_steps(hardest, view, y, weight)


def _numbers_of(iterate: Iterate) -> Iterate:
    none: Any = None
    return replace(iterate, coef=none, index=none, link=None, fitted=None)


def _by_iteration(outputs: list[list[list[Iterate]]], max_iter: int) -> list[list[Iterate]]:
    """Turn a list of iterates per problem into a list of iterates of all outputs per iteration."""
    return [
        [one for iterates in outputs for one in iterates[min(t, len(iterates) - 1)]] for t in range(max_iter)
    ]
