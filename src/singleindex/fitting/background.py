"""The rows of a fit in a few numbers: what single rows are compared with when they are explained."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..design import Design, as_design
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
    share = shares_of(n, weight)[seen]
    moments, index = np.empty((4, len(used))), np.zeros((n, coef.shape[1]))
    step = max(1, _BLOCK // n)
    for start in range(0, len(used), step):
        some = used[start : start + step]
        columns = np.asarray(design.columns(some), dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            index += columns @ coef[some]
        moments[:, start : start + step] = _moments(columns[seen], share)
    names = ("mean", "spread", "low", "high")
    points = _spread_points(index[seen], share)
    return {"feature": used, **dict(zip(names, moments, strict=True)), "index": points}


def _moments(columns: FloatArray, share: FloatArray) -> FloatArray:
    low, high = columns.min(axis=0), columns.max(axis=0)
    unit = np.maximum(np.abs(low), np.abs(high))
    unit[unit == 0] = 1.0
    scaled = columns / unit  # squares of these are numbers
    mean = share @ scaled
    spread = np.sqrt(share @ np.square(scaled - mean))
    # Of centred columns the mean is nothing but rounding.
    mean = np.where(np.abs(mean) < 1e-10 * spread, 0.0, mean)
    return np.stack([unit * mean, unit * spread, low, high])


def _spread_points(index: FloatArray, share: FloatArray) -> FloatArray:
    """Return the index of rows that stand for equal shares of all, from the lowest to the highest."""
    order = np.argsort(index[:, 0], kind="stable")
    n = min(_MOST_ROWS, len(order))
    at = np.searchsorted(np.cumsum(share[order]), (np.arange(n) + 0.5) / n)
    return index[order[np.minimum(at, len(order) - 1)]]
