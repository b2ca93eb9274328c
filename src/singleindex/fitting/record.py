"""What a fit is asked for, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..solvers import Iterate, SolverResult
from ..solvers.result import FloatArray, squared
from .extremes import check_range


@dataclass(frozen=True)
class Targets:
    """What is to be learned: y as given, one column per output as solved for, and the columns' units."""

    y: Any
    Y: FloatArray
    unit: FloatArray


@dataclass(frozen=True)
class Fitted:
    """A fitted model in the units of X and y, and how it was found.

    Attributes
    ----------
    coef : array of shape (n_features, n_outputs)
    links : list of links, one per output
    results : list of SolverResult
        One for all outputs where they were fitted together, else one per output.
    more : dict
        Further attributes of the estimator, by name.
    held_out : array of shape (n_rows, n_outputs) or None
        Of a search: the index of every row under models that have not seen it, at unit spread where the link
        is learned; NaN where it was never held out.
    """

    coef: FloatArray
    links: list[Any]
    results: list[SolverResult]
    more: Mapping[str, Any] = field(default_factory=dict)
    held_out: FloatArray | None = None


def as_fitted(
    results: Sequence[SolverResult],
    to_features: Callable[[FloatArray], FloatArray],
    unit: FloatArray,
    more: Mapping[str, Any] | None = None,
) -> Fitted:
    """Return the record of one result per output, solved in the units of `unit` and in other coordinates."""
    coef, links = model_of([result.best for result in results], to_features, unit)
    together = all(result.history is results[0].history for result in results)
    if together and len(results) > 1:
        told = [results[0]]  # outputs that were fitted together keep their common history
    else:
        told = [_in_units(result, u) for result, u in zip(results, unit, strict=True)]
    return Fitted(coef, links, told, more or {})


def model_of(
    iterates: Sequence[Iterate], to_features: Callable[[FloatArray], FloatArray], unit: FloatArray
) -> tuple[FloatArray, list[Any]]:
    """Return coefficients and links of one iterate per output, in the units of X and y."""
    scaled = [one.in_units(u) for one, u in zip(iterates, unit, strict=True)]
    coef = np.column_stack([to_features(one.coef) for one in scaled])
    check_range(coef, np.array([bool(one.coef.any()) for one in iterates]))
    return coef, [one.link for one in scaled]


def _in_units(result: SolverResult, unit: float) -> SolverResult:
    errors = ("objective", "mse")
    history = {name: v * squared(unit) if name in errors else v for name, v in result.history.items()}
    return SolverResult(result.best, result.status, history, result.n_iter)
