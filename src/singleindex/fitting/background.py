"""The rows of a fit in a few numbers: what single rows are compared with when they are explained."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..design import Design, as_design
from ..design.columns import SparseColumns
from ..solvers.result import FloatArray
from .extremes import shares_of
from .record import Fitted

# Rows whose index is kept; of more, so many that stand for equal shares of all.
_MOST_ROWS = 200
# Numbers of columns that are looked at at once.
_BLOCK = 1 << 22


def with_background(fitted: Fitted, X: Any, weight: FloatArray | None) -> Fitted:
    """Return the record with `background_`, the rows of the fit in a few numbers."""
    design = X if isinstance(X, Design) else as_design(X)
    if not design.has_columns:  # they would have to be fetched, all of them
        return fitted
    return replace(fitted, more={**fitted.more, "background_": background_of(fitted.coef, design, weight)})


def background_of(coef: FloatArray, X: Any, weight: FloatArray | None) -> dict[str, Any]:
    """Return mean, spread and range of the features in use, and the index of some rows.

    A dict of `feature` (the numbers of the features with a weight), their `mean`, `spread` (standard
    deviation), `low` and `high`, and `index`, of shape (n_points, n_outputs).
    """
    design = X if isinstance(X, Design) else as_design(X)
    n = design.shape[0]
    # Without weights a view of all rows: no copy.
    used, seen = np.flatnonzero(coef.any(axis=1)), slice(None) if weight is None else weight > 0
    share = shares_of(n, weight)
    moments, index = np.empty((4, len(used))), np.zeros((n, coef.shape[1]))
    step = max(1, _BLOCK // n)
    for start in range(0, len(used), step):
        some = used[start : start + step]
        columns = design.pack(some)
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(columns, SparseColumns):
                index += columns.as_matrix() @ coef[some]
                moments[:, start : start + step] = _moments_of_stored(columns, share)
            else:
                values = columns.toarray()
                index += values @ coef[some]
                moments[:, start : start + step] = _moments(values[seen], share[seen])
    share = share[seen]
    names = ("mean", "spread", "low", "high")
    points = _spread_points(index[seen], share)
    return {"feature": used, **dict(zip(names, moments, strict=True)), "index": points}


def _moments(columns: FloatArray, share: FloatArray) -> FloatArray:
    low, high = columns.min(axis=0), columns.max(axis=0)
    unit = _unit_of(low, high)
    scaled = columns / unit
    mean = share @ scaled
    return _in_units(unit, mean, np.sqrt(share @ np.square(scaled - mean)), low, high)


def _moments_of_stored(columns: SparseColumns, share: FloatArray) -> FloatArray:
    """Return the same from the entries that are stored; the others are zeros."""
    d = len(columns.factor)
    column = np.repeat(np.arange(d), np.diff(columns.indptr))
    part = share[columns.indices]
    seen = part > 0
    column, part, values = column[seen], part[seen], (columns.data * columns.factor[column])[seen]
    # Where a row that counts has no entry, zero is among the values.
    n_stored, low, high = np.bincount(column, minlength=d), np.zeros(d), np.zeros(d)
    stored = n_stored > 0
    begins = (np.cumsum(n_stored) - n_stored)[stored]
    low[stored], high[stored] = np.minimum.reduceat(values, begins), np.maximum.reduceat(values, begins)
    has_zero = n_stored < np.count_nonzero(share)
    low, high = np.where(has_zero, low.clip(max=0), low), np.where(has_zero, high.clip(min=0), high)
    unit = _unit_of(low, high)
    scaled = values / unit[column]
    mean = np.asarray(np.bincount(column, part * scaled, d), dtype=np.float64)
    square = np.bincount(column, part * np.square(scaled - mean[column]), d)
    left = np.where(has_zero, 1 - np.bincount(column, part, d), 0.0)
    return _in_units(unit, mean, np.sqrt(square + left * np.square(mean)), low, high)


def _unit_of(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return what columns are divided by so that their squares are numbers."""
    unit: FloatArray = np.maximum(np.abs(low), np.abs(high))
    return np.where(unit == 0, 1.0, unit)


def _in_units(
    unit: FloatArray, mean: FloatArray, spread: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    # Of centred columns the mean is nothing but rounding.
    mean = np.where(np.abs(mean) < 1e-10 * spread, 0.0, mean)
    return np.stack([unit * mean, unit * spread, low, high])


def _spread_points(index: FloatArray, share: FloatArray) -> FloatArray:
    """Return the index of rows that stand for equal shares of all, from the lowest to the highest."""
    order = np.argsort(index[:, 0], kind="stable")
    n = min(_MOST_ROWS, len(order))
    at = np.searchsorted(np.cumsum(share[order]), (np.arange(n) + 0.5) / n)
    return index[order[np.minimum(at, len(order) - 1)]]
