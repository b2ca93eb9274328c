"""What a change of one column makes of the prediction, on average over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..link import Link
from ..solvers.result import FloatArray


def two_values(X: Any) -> FloatArray:
    """Return the two values of every column that has no others, NaN for the rest: (n_features, 2)."""
    if not (sparse.issparse(X) or isinstance(X, np.ndarray)):
        return np.full((X.shape[1], 2), np.nan)
    low, high = (_dense_row(side) for side in (X.min(axis=0), X.max(axis=0)))
    values = np.column_stack([low, high]).astype(np.float64)
    if sparse.issparse(X):
        X = X.tocsc()
        columns = [X.data[X.indptr[j] : X.indptr[j + 1]] for j in range(X.shape[1])]
        others = [((c != low[j]) & (c != high[j])).any() for j, c in enumerate(columns)]
        # What is not stored is zero.
        full = np.diff(X.indptr) == X.shape[0]
        has_others = np.array(others) | (~full & (low != 0) & (high != 0))
    else:
        has_others = ((low != X) & (high != X)).any(axis=0)
    values[has_others | (low == high)] = np.nan
    return values


def _dense_row(values: Any) -> FloatArray:
    return np.asarray(values.toarray() if sparse.issparse(values) else values).ravel()


def mean_change(link: Link, index: FloatArray, share: FloatArray, move: float, is_high: Any = None) -> float:
    """Return what moving the index makes of the prediction, on average over the rows.

    Half of the move to either side of each row; for a column of two values, where `is_high` tells the rows
    that have the second, from every row as it is to the other value.
    """
    up = np.full(len(index), 0.5) if is_high is None else np.where(is_high, 0.0, 1.0)
    return float(share @ (link(index + up * move) - link(index - (1 - up) * move)))
