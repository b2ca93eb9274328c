"""Numbers so large or small that squares or sums of them are none, brought within reach by powers of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..design import Design, as_design
from ..solvers.result import FloatArray

# Powers of two beyond which weights are brought nearer, and columns measured in units of their own.
_WEIGHT, _COLUMN = 100, 400
# The same for data in single precision, whose coefficients are single, too.
_SINGLE = 40
# Below two to the minus this, double precision runs out of digits.
_DIGITS_END = 1015
# The largest power of two whose inverse has all its digits.
_LARGEST = 1022

BEYOND = (
    "The coefficients, in units of y over units of X, are beyond the range of numbers; bring X or y to other "
    "units, such as those in which they are near 1."
)


def combined(X: Any) -> Any:
    """Return X with one entry per place where it is sparse."""
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def wide_enough(X: Any) -> Any:
    """Return X in double precision where coefficients for it would leave the range of single precision."""
    if X.dtype != np.float32:
        return X
    values = X.data if sparse.issparse(X) else X
    if values.size == 0:
        return X
    _, exponent = np.frexp(max(float(values.max()), -float(values.min())))
    return X if abs(exponent) <= _SINGLE else X.astype(np.float64)


def power_above(values: FloatArray) -> FloatArray:
    """Return the powers of two next to positive values, of which there is one for the largest number, too."""
    return np.ldexp(1.0, np.minimum(np.frexp(values)[1], _LARGEST))


def unit_of(values: Any) -> float:
    """Return the power of two that brings values near 1; 1 unless they are extreme."""
    if 0 in values.shape:
        return 1.0
    _, exponent = np.frexp(max(float(values.max()), -float(values.min())))
    return 1.0 if abs(exponent) <= _COLUMN else float(np.ldexp(1.0, -int(np.clip(exponent, -1000, _LARGEST))))


def weight_within_reach(weight: FloatArray) -> FloatArray:
    """Return weights whose sums are numbers: beyond 1e30 rows are as good as no end of them."""
    _, exponent = np.frexp(weight.max())
    if abs(exponent) <= _WEIGHT:
        return weight
    return np.ldexp(weight, int(np.copysign(_WEIGHT, exponent)) - int(exponent))


def shares_of(n_rows: int, weight: FloatArray | None) -> FloatArray:
    """Return what part of all rows each one is; without weights all count alike."""
    return np.full(n_rows, 1 / n_rows) if weight is None else weight / weight.sum()


def check_kept(before: FloatArray, after: FloatArray) -> None:
    """Raise where coefficients that were there have vanished at another length."""
    if before.any() and not after.any():
        raise ValueError(BEYOND)


def check_range(coef: FloatArray, is_used: NDArray[np.bool_]) -> None:
    """Raise where coefficients are no numbers, or vanish where they should not."""
    largest = np.max(np.abs(coef), axis=0)
    if (is_used & (largest < 2.0**-_DIGITS_END)).any() or not np.isfinite(largest).all():
        raise ValueError(BEYOND)


def as_precise(coef: FloatArray, dtype: Any) -> Any:
    """Return coefficients of this type, but in double precision where single has no room for them."""
    largest = np.max(np.abs(coef), axis=0)
    _, exponent = np.frexp(largest)
    narrow = dtype == np.float32 and (np.abs(exponent[largest > 0]) > 2 * _SINGLE).any()
    return coef.astype(np.float64 if narrow else dtype, copy=False)


def check_reach(values: Any, name: str) -> None:
    """Raise where squares of these numbers may be none."""
    if unit_of(values) != 1:
        raise ValueError(
            f"{name} holds numbers so large or so small that squares of them are none; multiply {name} by a "
            "power of ten that brings it near 1."
        )


@dataclass(frozen=True)
class Spread:
    """The variance of every column of X × `unit`, a power of two for each; None where all are one."""

    variance: FloatArray
    unit: FloatArray | None = None


def spread_of_columns(X: Any, variance: FloatArray, share: FloatArray) -> Spread:
    """Return the variances of the columns; those that are no numbers, or hardly, in units of their own."""
    if isinstance(X, Design):  # which answers for its own columns
        return Spread(variance)
    doubtful = np.flatnonzero(~(np.isfinite(variance) & (variance > 2.0 ** (-2 * _COLUMN))))
    if not len(doubtful):
        return Spread(variance)
    _, exponent = np.frexp(_largest_sizes(X[np.flatnonzero(share)][:, doubtful]))
    extreme = np.abs(exponent) > _COLUMN
    if not extreme.any():
        return Spread(variance)
    columns, unit = doubtful[extreme], np.ones(X.shape[1])
    unit[columns] = np.ldexp(1.0, -np.clip(exponent[extreme], -1000, _LARGEST))
    variance = variance.copy()
    variance[columns] = as_design(in_units(X[:, columns], unit[columns])).column_moments(share)[1]
    return Spread(variance, unit)


def in_units(X: Any, unit: FloatArray) -> Any:
    """Return X with every column times its unit."""
    return X @ sparse.diags_array(unit) if sparse.issparse(X) else X * unit


def _largest_sizes(X: Any) -> Any:
    if sparse.issparse(X):
        return abs(X).max(axis=0).toarray().ravel()
    return np.maximum(X.max(axis=0), -X.min(axis=0))
