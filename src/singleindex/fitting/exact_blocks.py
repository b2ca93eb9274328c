"""Exact steps for rows that are read in one pass: whether they are taken, and the products they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design import View
from ..design.survey import Survey
from ..design.view import columns_behind
from ..solvers import ExactSteps
from ..solvers.result import FloatArray
from .exact import are_correlated, can_take_exact_steps, most_telling
from .extremes import Spread
from .plan import Plan

# The most columns: their products are 128 MiB then, and every block has its own until they are summed.
MOST_COLUMNS = 4096
# The mean square of correlations that does gradients no harm: of long data even the smallest is no chance.
_HARMLESS = 1e-3


@dataclass(frozen=True, eq=False)
class ExactOutputs:
    """Which outputs take exact steps, and the products of columns for them."""

    taken: Sequence[bool]
    moments: Any = None


def choose_exact_outputs(
    plan: Plan, view: View, survey: Survey, spread: Spread, outputs: Sequence[Any], weight: FloatArray | None
) -> ExactOutputs:
    """Return the outputs that take exact steps: all where asked for, else those with correlated columns.

    `plan` and `survey` are those of the view.
    """
    n_outputs, is_asked = len(outputs), isinstance(plan.solver, ExactSteps)
    if is_asked:
        _check_asked(plan, view)
        taken = [True] * n_outputs
    elif plan.solver is None and spread.unit is None and view.shape[1] <= MOST_COLUMNS:
        taken = _with_correlated_columns(plan, view, survey, outputs, weight)
    else:
        taken = [False] * n_outputs
    if not any(taken):
        return ExactOutputs(taken)
    return ExactOutputs(taken, view.design.moments(outputs, weight).through(view.linear_map))


def _check_asked(plan: Plan, view: View) -> None:
    d = view.shape[1]
    if d > MOST_COLUMNS:
        raise ValueError(
            f"solver='exact' keeps the products of all columns of data in blocks, and w has {d} "
            f"coefficients, more than {MOST_COLUMNS}; use solver='one-pass', or fewer columns."
        )
    if not np.isfinite(plan.fitter.slope):
        raise ValueError("solver='exact' needs a bound of the slope of the link; give a finite lipschitz.")


def _with_correlated_columns(
    plan: Plan, view: View, survey: Survey, outputs: Sequence[Any], weight: FloatArray | None
) -> list[bool]:
    """Tell of each output whether the columns that say most about it are correlated; reads the data once."""
    n, nothing = view.shape[0], [False] * len(outputs)
    if not can_take_exact_steps(plan, view, n):
        return nothing
    telling = [most_telling(covariance) for covariance in survey.covariance.T]
    behind = [columns_behind(view.linear_map, which) for which in telling]
    if any(one is None for one in behind):
        return nothing
    columns: list[NDArray[np.intp]] = [one[0] for one in behind if one is not None]
    union = np.unique(np.concatenate(columns))
    if len(union) < 2:
        return nothing
    covariance = view.design.moments(outputs, weight, union).covariance
    places = [np.searchsorted(union, own) for own in columns]
    return [are_correlated(covariance[np.ix_(own, own)], max(1 / n, _HARMLESS)) for own in places]
