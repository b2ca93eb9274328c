"""Which design reads which data in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.extmath import safe_sparse_dot

from .arrays import FloatArray
from .base import Design
from .csr import CsrDesign
from .dense import DenseDesign
from .gpu import as_gpu_design, is_on_gpu
from .sparse import SparseDesign


def as_design(X: Any) -> Design:
    """Wrap checked data: a two-dimensional numpy array or a scipy sparse matrix. A design is one already."""
    if isinstance(X, Design):
        return X
    if is_on_gpu(X):
        return as_gpu_design(X)
    return SparseDesign(X) if sparse.issparse(X) else DenseDesign(X)


def as_row_design(X: Any, keeps_support: bool = False) -> Design:
    """Wrap checked data for solvers that visit each row once, again and again where `keeps_support`."""
    if isinstance(X, Design):
        return X
    if is_on_gpu(X):
        return as_gpu_design(X)
    return CsrDesign(X, keeps_support) if sparse.issparse(X) else DenseDesign(X)


def at_hand(X: Any) -> Any:
    """Return checked data, or a design, where columns are at hand."""
    return X.at_hand() if isinstance(X, Design) else X


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of checked data, or of a design."""
    return X.take(rows) if isinstance(X, Design) else _safe_indexing(X, rows)


def multiply(X: Any, w: FloatArray) -> FloatArray:
    """Return X w for checked data, or for a design."""
    if isinstance(X, Design):
        return X.matvec(w)
    product: FloatArray = safe_sparse_dot(X, w, dense_output=True)
    return product
