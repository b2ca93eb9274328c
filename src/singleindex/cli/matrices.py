"""Files that are matrices already: svmlight and npz."""

from __future__ import annotations

import io
from typing import Any

from ..files.arrays import make_sparse
from ..files.arrays import read_npz as read_arrays
from ..files.limits import LimitError, check_size
from .messages import CliError
from .tables import Table

_SPARSE_MEMBERS = {"data", "indices", "indptr", "shape"}
# Sparse data may have any number of columns in a few bytes; w has a number for each.
_BYTES_PER_COLUMN = 8


def read_svmlight(data: bytes, source: str, n_features: int | None, one_based: bool | None) -> Table:
    """Read an svmlight file; columns are counted from one where no row has a column zero."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(io.BytesIO(data), zero_based=True)
        check_size(_BYTES_PER_COLUMN * X.shape[1], len(data))
    except LimitError as error:
        raise CliError(f"{source} has {X.shape[1]} columns: {error}") from error
    except (ValueError, OverflowError) as error:
        raise CliError(f"{source} is not an svmlight file: {error}") from error
    if one_based is None:
        one_based = X.shape[1] > 1 and X[:, [0]].nnz == 0
    if one_based:
        X = X[:, 1:]
    if n_features is not None and X.shape[1] != n_features:
        if X.shape[1] > n_features:
            raise CliError(f"{source} has {X.shape[1]} columns, the model was fitted to {n_features}")
        X.resize(X.shape[0], n_features)
    return Table(source, matrix=X, arrays={"y": y}, one_based=bool(one_based))


def read_npz(data: bytes, source: str) -> Table:
    """Read X, as an array or in scipy's sparse format, and what lies beside it."""
    try:
        arrays = read_arrays(data)
    except LimitError as error:
        raise CliError(f"{source} cannot be read: {error}") from error
    except Exception as error:  # whatever zip and numpy make of another file
        raise CliError(f"{source} is not an .npz file of plain arrays: {error}") from error
    if arrays.keys() >= _SPARSE_MEMBERS:
        matrix = sparse_matrix(arrays, source, len(data))
    elif "X" in arrays:
        matrix = arrays["X"]
    else:
        raise CliError(f"{source} has no member X; it has {', '.join(arrays) or 'none'}")
    if matrix.ndim != 2:
        raise CliError(f"X in {source} has shape {matrix.shape}; it must have rows and columns")
    names = None
    if "feature_names" in arrays:
        if arrays["feature_names"].shape != (matrix.shape[1],):
            raise CliError(
                f"feature_names in {source} must have a name for each of {matrix.shape[1]} columns"
            )
        names = [str(name) for name in arrays["feature_names"]]
    others = {n: a for n, a in arrays.items() if n not in {"X", "format", "feature_names", *_SPARSE_MEMBERS}}
    return Table(source, matrix=matrix, arrays=others, names=names)


def sparse_matrix(arrays: dict[str, Any], source: str, n_packed: int) -> Any:
    """Return a matrix in scipy's sparse format, its indices checked."""
    from scipy import sparse

    kind = sparse.csc_array if arrays.get("format") == b"csc" else sparse.csr_array
    try:
        matrix = make_sparse(kind, *(arrays[name] for name in ("data", "indices", "indptr", "shape")))
        check_size(_BYTES_PER_COLUMN * max(matrix.shape), n_packed)
    except LimitError as error:
        raise CliError(f"X in {source} has shape {matrix.shape}: {error}") from error
    except (ValueError, TypeError, OverflowError, MemoryError) as error:
        raise CliError(f"X in {source} is not a sparse matrix that can be used: {error}") from error
    return matrix
