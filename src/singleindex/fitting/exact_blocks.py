"""Exact steps for rows that are read in one pass: whether they are taken, and the products they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..design import Moments, View
from ..design.view import columns_behind
from ..solvers import ExactSteps, OnePassGradient
from ..solvers.result import FloatArray
from .exact import LEAST_SURPRISE, can_take_exact_steps, most_telling
from .extremes import Spread
from .plan import Plan

# The most columns: their products are 128 MiB then, and every block has its own until they are summed.
MOST_COLUMNS = 4096
# The mean square of correlations that does gradients no harm: of long data even the smallest is no chance.
_HARMLESS = 1e-3


@dataclass(eq=False)
class ExactChoice:
    """Which outputs take exact steps: all where these were asked for, else those with correlated columns.

    Parameters
    ----------
    plan : Plan
        That of the view.
    view : View
    spread : Spread
        Of the columns of X.
    n_rows : float
        The sum of the weights: as many rows as they stand for.
    outputs, weight
        As the designs of rows take them.
    """

    plan: Plan
    view: View
    spread: Spread
    n_rows: float
    outputs: Sequence[Any]
    weight: FloatArray | None

    def __post_init__(self) -> None:
        self.is_asked = isinstance(self.plan.solver, ExactSteps)
        d = self.view.shape[1]
        if self.is_asked and d > MOST_COLUMNS:
            raise ValueError(
                f"solver='exact' keeps the products of all columns of data in blocks, and w has {d} "
                f"coefficients, more than {MOST_COLUMNS}; use solver='one-pass', or fewer columns."
            )
        if self.is_asked and not np.isfinite(self.plan.fitter.slope):
            raise ValueError("solver='exact' needs a bound of the link's slope; give a finite lipschitz.")

    def is_taken(self, method: OnePassGradient) -> bool:
        """Tell whether an output, which gradients would learn by this method, takes exact steps."""
        return self.is_asked or (self.variance is not None and self._is_correlated(method))

    @cached_property
    def moments(self) -> Moments:
        """The products of the columns of the view, from one reading of the data."""
        return self.view.design.moments(self.outputs, self.weight).through(self.view.linear_map)

    @cached_property
    def variance(self) -> FloatArray | None:
        """The variances of the columns of the view; None where exact steps are out of question."""
        d, plan = self.view.shape[1], self.plan
        if plan.solver is not None or self.spread.unit is not None or d > MOST_COLUMNS:
            return None
        behind = columns_behind(self.view.linear_map, np.arange(d))
        if behind is None or not can_take_exact_steps(plan, self.view, self.n_rows):
            return None
        columns, factor = behind
        variance: FloatArray = self.spread.variance[columns] * factor**2
        return variance

    def _is_correlated(self, method: OnePassGradient) -> bool:
        """Tell whether the columns that say most about y are correlated, by what a first visit gives anyway.

        That is C w, at the w that gradients start from, where C are the covariances. Were there none, it
        would be the variances times w, but for chance: each correlation has a mean square of 1/n.
        """
        assert self.variance is not None
        n, d = self.n_rows, self.view.shape[1]
        w, product = method.peek()
        which = most_telling(method.correlation)
        which = which[self.variance[which] > 0]
        apart = np.square(product - self.variance * w)[which] / self.variance[which]
        size = len(which) * float(self.variance @ np.square(w))
        expected = max((1 + d / n) / n, _HARMLESS)
        surprise = 1 + LEAST_SURPRISE * np.sqrt(2 / max(len(which), 1))
        return bool(apart.sum() > expected * surprise * size)
