"""Which columns of very many a search over blocks looks at."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..solvers.result import FloatArray
from .exact_blocks import MOST_COLUMNS
from .plan import Plan
from .readings import Readings
from .record import Fitted

# Numbers that the products of the columns of all folds may take; there are about five such sets of them.
_MOST_PRODUCTS = 1 << 25


class ColumnsLeftOutWarning(UserWarning):
    """A search looks at some of the columns alone."""


def most_columns(folds: Any) -> int:
    """Return how many columns there may be for their products to be kept for each fold."""
    return min(MOST_COLUMNS, int(np.sqrt(_MOST_PRODUCTS / folds.get_n_splits())))


def check_columns(n_features: int, folds: Any) -> None:
    """Raise where the products of all columns are too many to be kept."""
    most = most_columns(folds)
    if n_features > most:
        raise ValueError(
            f"paths over files and Dask keep the products of all columns, and {n_features} are more than "
            f"{most}; use fewer columns, or SingleIndexRegressor at each level."
        )


def telling_columns(plan: Plan, readings: Readings) -> NDArray[np.intp] | None:
    """Return the columns that are correlated most with any output, where all are too many; else None.

    One reading more, for the correlations.
    """
    d, most = plan.n_features, most_columns(readings.rule.folds)
    if d <= most:
        return None
    shape = plan.structure.separable(d)
    assert shape is not None
    if shape.block is not None or shape.is_constrained or (shape.factor != 1).any():
        raise ValueError(
            f"searches over files and Dask keep the products of all columns for each fold; with {d} columns, "
            f"more than {most}, they look at those that are correlated most with y, which this structure "
            "does not allow for. Use Sparse(), fewer folds, or fewer columns."
        )
    survey = readings.survey()
    sd = np.sqrt(survey.variance)
    size = np.max(np.abs(survey.covariance), axis=1)
    strength = np.divide(size, sd, out=np.zeros(d), where=sd > 0)
    warnings.warn(
        f"The search looks at the {most} of {d} columns that are correlated most with y, each by itself; "
        "fewer folds make room for more.",
        ColumnsLeftOutWarning,
        stacklevel=5,
    )
    which: NDArray[np.intp] = np.sort(np.argsort(-strength, kind="stable")[:most])
    return which


def with_all_columns(fitted: Fitted, which: NDArray[np.intp], d: int) -> Fitted:
    """Return the record with zeros for the columns that were not looked at."""

    def wide(values: FloatArray, axis: int) -> FloatArray:
        shape = list(values.shape)
        shape[axis] = d
        out = np.zeros(shape)
        at: list[Any] = [slice(None)] * len(shape)
        at[axis] = which
        out[tuple(at)] = values
        return out

    more = dict(fitted.more)
    more["stability_"] = wide(more["stability_"], 0)
    more["path_"] = {**more["path_"], "coefs": wide(more["path_"]["coefs"], 1)}
    results = [replace(one, best=replace(one.best, coef=wide(one.best.coef, 0))) for one in fitted.results]
    return replace(fitted, coef=wide(fitted.coef, 0), results=results, more=more)
