"""Average slopes of the response along single columns, without the pull of penalties and of selection.

For columns that are jointly normal the coefficients of least squares are w times the mean slope of the link
(Brillinger, 1983), whatever the link is; for nearly elliptical ones nearly so. With rows enough these are
taken as they are; with few the model's own w is corrected along each column by what is left of that column
when the others have explained what they can of it (Eftekhari, Banerjee & Ritov, 2021).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design import Design
from ..solvers.descent import Rows, descend
from ..solvers.result import FloatArray
from ..structures.separable import Separable
from .cross_fit import Weight
from .extremes import shares_of
from .trace import by_columns

# Least squares takes all columns where there are so many rows for each.
_ROWS_TO_SOLVE = 3
# Entries of the columns that are held in memory for that, at most.
_MOST_ENTRIES = 50_000_000
# A ridge against columns that are sums of others, as a share of their variance: intervals then know no end.
_TINY = 1e-10
# Weight of the penalty that columns are explained by others with, as a multiple of sqrt(log d / n).
_NODEWISE = 1.0


@dataclass(frozen=True, eq=False)
class Slopes:
    """Mean change of the response for one standard deviation of a column, the others held.

    Attributes
    ----------
    value, error : array of shape (n_features, n_outputs)
        NaN for columns that were not asked for.
    turned : array of shape (n_features, n_outputs), or None
        Of least squares: the covariance of all values times the values.
    left : array of shape (n_features,), or None
        Of least squares: which part of the variance of each column the others leave.
    """

    value: FloatArray
    error: FloatArray
    turned: FloatArray | None = None
    left: FloatArray | None = None

    def replaced(self, other: Slopes) -> Slopes:
        """Return the same with the values that another has."""
        known = np.isfinite(other.error)
        value, error = np.where(known, other.value, self.value), np.where(known, other.error, self.error)
        return replace(self, value=value, error=error)


def can_be_solved(design: Design, spread: FloatArray, rows: float) -> bool:
    """Tell whether there are rows enough for least squares of all columns."""
    used = int(np.count_nonzero(spread))
    return rows >= _ROWS_TO_SOLVE * used and used * design.shape[0] <= _MOST_ENTRIES


def solve_slopes(X: Any, Y: FloatArray, weight: Weight, spread: FloatArray) -> Slopes:
    """Return the coefficients of least squares in units of the columns' spread, with robust errors."""
    n, d = X.shape
    used, share = np.flatnonzero(spread), shares_of(n, weight)
    rows = float(n if weight is None else weight.sum())
    columns = by_columns(X).columns(used) / spread[used]
    columns = columns - share @ columns
    inverse = np.linalg.inv((columns.T * share) @ columns + _TINY * np.eye(len(used)))
    solved = columns @ inverse  # influence of a row on each coefficient
    leverage = (1 + np.einsum("ij,ij->i", columns, solved)) / rows
    value, error, turned = (np.full((d, Y.shape[1]), np.nan) for _ in range(3))
    for k, y in enumerate(Y.T):
        centred = y - share @ y
        slope = solved.T @ (share * centred)
        rest = (centred - columns @ slope) / np.maximum(1 - leverage, 0.05)
        square = share * np.square(rest) / rows
        value[used, k], error[used, k] = slope, np.sqrt(square @ np.square(solved))
        turned[used, k] = solved.T @ (square * (solved @ slope))
    left = np.ones(d)
    left[used] = 1 / np.diag(inverse)
    return Slopes(value, error, turned, left)


def correct_slopes(
    X: Any, Y: FloatArray, weight: Weight, spread: FloatArray, start: FloatArray, rest: FloatArray,
    wanted: NDArray[np.intp],
) -> Slopes:  # fmt: skip
    """Return the slopes along some columns, from those of a model and what it leaves of the response.

    `start` are the model's slopes for a standard deviation of each column, `rest` the residuals of the line
    through its index; both by outputs.
    """
    design, share = by_columns(X), shares_of(X.shape[0], weight)
    rows = float(len(Y) if weight is None else weight.sum())
    value, error = (np.full((X.shape[1], Y.shape[1]), np.nan) for _ in range(2))
    for j in wanted:
        own = design.columns(np.array([j]))[:, 0] / spread[j]
        left = left_of(design, own, np.array([j]), share, spread, rows)
        if share @ (left * own) > 0:
            value[j], error[j] = correct_along(own, left, start[j], rest, share, rows)
    return Slopes(value, error)


def correct_along(
    own: FloatArray, left: FloatArray, start: FloatArray, rest: FloatArray, share: FloatArray, rows: float
) -> tuple[FloatArray, FloatArray]:
    """Return slopes along one combination of columns, with their errors, by outputs.

    `left` is what other columns leave of it.
    """
    length = share @ (left * own)
    value: FloatArray = start + (share * left) @ rest / length
    return value, np.sqrt((share * np.square(left)) @ np.square(rest) / rows) / length


def left_of(
    design: Design,
    own: FloatArray,
    columns: NDArray[np.intp],
    share: FloatArray,
    spread: FloatArray,
    rows: float,
) -> FloatArray:
    """Return what a lasso of all other columns leaves of a combination of some, centred."""
    d, centred = design.shape[1], own - share @ own
    # In units of their spread all columns are held back alike; constant ones and its own are left out.
    factor = np.where(spread > 0, spread, np.inf)
    factor[columns] = np.inf
    found = descend(
        Rows(design, share, centred), np.zeros(d), Separable(factor),
        _NODEWISE * float(np.sqrt(np.log(max(d, 2)) / rows)), 0.0, tol=1e-4,
    )  # fmt: skip
    left: FloatArray = centred - design.matvec(found.w)
    return left - share @ left


def left_by_least_squares(
    design: Design, own: FloatArray, columns: NDArray[np.intp], share: FloatArray, spread: FloatArray
) -> FloatArray:
    """Return what all other columns leave of a combination of some, where rows are enough for all of it."""
    others = np.setdiff1d(np.flatnonzero(spread), columns)
    values = design.columns(others) / spread[others]
    values = values - share @ values
    gram, centred = (values.T * share) @ values + _TINY * np.eye(len(others)), own - share @ own
    left: FloatArray = centred - values @ np.linalg.solve(gram, values.T @ (share * centred))
    return left
