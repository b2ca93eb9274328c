"""What is checked before a kernel runs: kernels trust lengths, types and indices."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .arrays import FloatArray

_UNSIGNED = {np.dtype(np.int32): np.uint32, np.dtype(np.int64): np.uint64}


def check_length(values: FloatArray, length: int, name: str) -> None:
    """Raise unless there is one value, or one for each output, per row or column of X."""
    if values.ndim not in (1, 2) or len(values) != length:
        raise ValueError(f"{name} must have length {length} to go with X, got the shape {values.shape}.")


def as_vector(values: FloatArray, length: int, name: str) -> FloatArray:
    """Return values as kernels read them: one per row or column of X, side by side, in double precision."""
    if values.shape != (length,):
        raise ValueError(f"{name} must have shape ({length},) to go with X, got {values.shape}.")
    return np.ascontiguousarray(values, dtype=np.float64)


def check_numbers(X: Any) -> None:
    """Raise unless X is two-dimensional and holds float32 or float64."""
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, got {X.ndim}; use X.reshape(-1, 1) for one feature.")
    if X.dtype not in (np.float32, np.float64):
        raise ValueError(f"X holds {X.dtype}, not float32 or float64; use X.astype(np.float64).")


def as_sound(X: Any) -> Any:
    """Return X with arrays that fit together where it is sparse, itself where they do; else raise.

    scipy makes matrices of whatever arrays it is given, and its own conversions and products trust them too.
    """
    if not sparse.issparse(X) or X.format not in ("csr", "csc"):
        return X
    check_entries(X)
    if X.indices.dtype == X.indptr.dtype and X.indices.dtype in _UNSIGNED:
        return X
    return type(X)((X.data, X.indices, X.indptr), shape=X.shape)  # which makes them of one type


def check_entries(X: Any) -> None:
    """Raise where a matrix in CSR or CSC has starts out of order, or indices out of range."""
    n_lines, n_across = X.shape if X.format == "csr" else X.shape[::-1]
    starts, n_stored = X.indptr, min(len(X.indices), len(X.data))
    in_order = len(starts) == n_lines + 1 and starts[0] == 0 and starts[-1] <= n_stored
    if not in_order or (starts[1:] < starts[:-1]).any():
        raise ValueError(
            "X is a broken sparse matrix: its indptr must rise from 0 to the number of its entries. Build it "
            "anew; X.check_format() tells more."
        )
    used = X.indices[: starts[-1]]
    if used.dtype not in _UNSIGNED:
        used = used.astype(np.int64)
    # As unsigned numbers, negative ones are larger than any other: one look finds both.
    if len(used) and used.view(_UNSIGNED[used.dtype]).max() >= n_across:
        raise ValueError(
            f"X is a broken sparse matrix: the highest of its indices must be {n_across - 1}, the lowest 0. "
            "Build it anew; X.check_format() tells more."
        )


def as_parts(X: Any) -> tuple[Any, Any, Any]:
    """Return the arrays of a matrix in CSR or CSC as kernels read them."""
    data, indices, indptr = map(np.ascontiguousarray, (X.data, X.indices, X.indptr))
    return data, indices, indptr
