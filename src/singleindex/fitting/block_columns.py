"""Which columns of very many a search over blocks looks at."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design.many import NO_FOLD
from ..design.survey import Survey
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


@dataclass(frozen=True, eq=False)
class Telling:
    """The columns that a search looks at.

    Attributes
    ----------
    which : array
        Of all columns of the data.
    allowed : dict of array of bool
        By the fold that is held out, which of these its models may use: those that tell most by the other
        rows, so that what is held out has no say in it.
    """

    which: NDArray[np.intp]
    allowed: dict[int, NDArray[np.bool_]]


def telling_columns(plan: Plan, readings: Readings) -> Telling | None:
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
    telling = most_telling(readings.surveys(), most)
    warnings.warn(
        f"The search looks at {len(telling.which)} of {d} columns, those that are correlated most with y, "
        "each by itself; fewer folds make room for more.",
        ColumnsLeftOutWarning,
        stacklevel=5,
    )
    return telling


def most_telling(surveys: Sequence[Survey], most: int) -> Telling:
    """Return the columns that tell most, by all rows and by those without each fold: so many in all."""
    places = {NO_FOLD: _places(surveys)}
    for k in range(len(surveys)):
        others = [one for number, one in enumerate(surveys) if number != k]
        if sum(one.total for one in others) > 0:
            places[k] = _places(others)
    # As many for each as there is room for all that any of them has.
    best = np.min(list(places.values()), axis=0)
    n_each = int(np.sort(best)[most])
    which = np.flatnonzero(best < n_each)
    return Telling(which, {held: place[which] < n_each for held, place in places.items()})


def _places(surveys: Sequence[Survey]) -> NDArray[np.intp]:
    """Return the place of each column among all, the one that is correlated most with an output first."""
    whole = reduce(Survey.merge, surveys)
    sd, size = np.sqrt(whole.variance), np.max(np.abs(whole.covariance), axis=1)
    strength = np.divide(size, sd, out=np.zeros(len(sd)), where=sd > 0)
    places = np.empty(len(sd), dtype=np.intp)
    places[np.argsort(-strength, kind="stable")] = np.arange(len(sd))
    return places


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
