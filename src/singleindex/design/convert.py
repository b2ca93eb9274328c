"""Which design reads which data in memory."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from .base import Design
from .csr import CsrDesign
from .dense import DenseDesign
from .sparse import SparseDesign


def as_design(X: Any) -> Design:
    """Wrap checked data: a two-dimensional numpy array or a scipy sparse matrix."""
    return SparseDesign(X) if sparse.issparse(X) else DenseDesign(X)


def as_row_design(X: Any, keeps_support: bool = False) -> Design:
    """Wrap checked data for solvers that visit each row once, again and again where `keeps_support`."""
    return CsrDesign(X, keeps_support) if sparse.issparse(X) else DenseDesign(X)
