"""What a change of one column makes of the prediction, on average over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..link import Link
from ..solvers.result import FloatArray

# Rows over which changes are averaged, at most: evenly spaced ones in the order of the index.
_MOST_ROWS = 2000
# Changes of the index that are tried, in units of its spread, and the small one that gives the mean slope.
_FARTHEST, _N_TRIED, _SMALL = 6.0, 241, 0.5


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


@dataclass(frozen=True, eq=False)
class Response:
    """How the prediction of one output answers to moves of its index, on average over the rows.

    Attributes
    ----------
    link : Link
    index : array of shape (n_rows,)
        As the link takes it.
    moves, changes : array
        Moves of the index, half of each to either side of every row, and what they make of the prediction.
    slope : float
        The mean slope of the link, zero where it is level.
    """

    link: Link
    index: FloatArray
    share: FloatArray
    moves: FloatArray
    changes: FloatArray
    slope: float

    def change(self, slope: FloatArray) -> FloatArray:
        """Return the change of the prediction where a straight line would change by `slope`.

        Nearly the same for small changes; large ones end where the link does.
        """
        if not self.slope > 0:
            return np.asarray(slope, dtype=np.float64)
        changed: FloatArray = np.interp(np.asarray(slope) / self.slope, self.moves, self.changes)
        return changed

    def switch(self, slope: FloatArray, is_high: Any) -> FloatArray:
        """Return the same for a column of two values: every row as it is, beside it with the other value."""
        if not self.slope > 0:
            return np.asarray(slope, dtype=np.float64)
        move = np.asarray(slope)[:, None] / self.slope
        high = self.link(self.index + np.where(is_high, 0.0, move))
        low = self.link(self.index - np.where(is_high, move, 0.0))
        changed: FloatArray = (high - low) @ self.share
        return changed


def make_response(link: Link, index: FloatArray, share: FloatArray) -> Response:
    """Return the response of the prediction to its index over some rows."""
    mean = share @ index
    spread = float(np.sqrt(share @ np.square(index - mean))) or 1.0
    moves = np.linspace(-_FARTHEST, _FARTHEST, _N_TRIED) * spread
    rows, part = index, share
    if len(index) > _MOST_ROWS:
        order = np.argsort(index, kind="stable")
        places = np.linspace(0, len(index) - 1, _MOST_ROWS).astype(np.intp)
        rows, part = index[order[places]], share[order[places]]
        part = part / part.sum()
    changes = np.array([part @ (link(rows + m / 2) - link(rows - m / 2)) for m in moves])
    small = _SMALL * spread
    slope = float(np.interp(small, moves, changes)) / small
    return Response(link, index, share, moves, changes, slope)
