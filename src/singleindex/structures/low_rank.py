"""Low-rank w: the atoms are the matrices of rank one and unit norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import svds

from .base import FloatArray, Structure, is_count

# Singular values below this share of the largest one are rounding.
_ROUNDING = 1e-10

# Above this share of the smaller side a full decomposition is the faster one.
_FULL_ABOVE = 0.25
# So is it for small matrices, and it is exact, which PROPACK is not where it starts from the answer.
_SMALL = 32


@dataclass(frozen=True)
class LowRank(Structure):
    """w is a matrix of rank at most `n_atoms`; each row of X is a matrix, row by row in a vector.

    Parameters
    ----------
    shape : tuple of two int
        Rows and columns of the matrix; their product is the number of features.

    Notes
    -----
    The projection is a truncated singular value decomposition, started in each iteration from the last
    one's singular vectors. It is by PROPACK, exact to rounding, which for a large matrix and a small rank
    was the fastest of scipy's PROPACK and ARPACK and scikit-learn's randomised one when this was written.
    The result does not depend on chance. Columns are not scaled one by one, which would destroy the rank:
    `scale_power` gives one common factor here.

    Examples
    --------
    >>> import numpy as np
    >>> from singleindex.structures import LowRank
    >>> w = np.diag([3.0, 2.0, 1.0]).ravel()
    >>> LowRank((3, 3)).project(w, n_atoms=2).reshape(3, 3).round(12) + 0
    array([[3., 0., 0.],
           [0., 2., 0.],
           [0., 0., 0.]])
    """

    shape: tuple[int, int]

    keeps_scaling = False

    def project(self, w: FloatArray, n_atoms: int | None) -> FloatArray:
        if n_atoms is None or n_atoms >= min(self.shape):
            return w.copy()
        if n_atoms == 0:
            return np.zeros_like(w)
        return self._assemble(truncated_svd(w.reshape(self.shape), n_atoms, self._start()), w.dtype)

    def count_atoms(self, w: FloatArray) -> int:
        return len(self._singular_values(w))

    def check(self, shape: tuple[int, ...]) -> int:
        rows, columns = check_sides(self.shape)
        if rows * columns != shape[0]:
            raise ValueError(
                f"LowRank(shape={self.shape}) needs rows of X with {rows * columns} entries, "
                f"got {shape[0]}; give the shape of the matrices that the rows of X hold."
            )
        return min(rows, columns)

    def shrink(self, w: FloatArray, amount: float) -> FloatArray:
        matrix = w.reshape(self.shape)
        largest = self.dual_norm(w)
        if largest <= amount:
            return np.zeros_like(w)
        u, s, vt = svd_above(matrix, amount / largest, self._start())
        return self._assemble((u, np.maximum(s - amount, 0), vt), w.dtype)

    def norm(self, w: FloatArray) -> float:
        return float(self._singular_values(w).sum())

    def dual_norm(self, gradient: FloatArray) -> float:
        return float(truncated_svd(gradient.reshape(self.shape), 1)[1][0])

    def fresh(self) -> LowRank:
        """Return a copy that starts each decomposition from the last one, for one fit."""
        return WarmLowRank(self.shape)

    def _assemble(self, parts: tuple[FloatArray, FloatArray, FloatArray], dtype: Any) -> FloatArray:
        u, s, vt = parts
        return ((u * s) @ vt).ravel().astype(dtype, copy=False)

    def _start(self) -> FloatArray | None:
        return None

    def _singular_values(self, w: FloatArray) -> FloatArray:
        return svd_above(w.reshape(self.shape), _ROUNDING)[1]


class WarmLowRank(LowRank):
    """Remembers its last decomposition; lives as long as a fit.

    The singular vectors start the next one. The singular values answer `count_atoms` and `norm` of the
    array that was returned last, which must not be changed in place.
    """

    def project(self, w: FloatArray, n_atoms: int | None) -> FloatArray:
        values = self._remembered(w)
        if values is None or (n_atoms is not None and n_atoms < len(values)):
            return super().project(w, n_atoms)
        return self._remember(w.copy(), values)

    def _assemble(self, parts: tuple[FloatArray, FloatArray, FloatArray], dtype: Any) -> FloatArray:
        object.__setattr__(self, "_last_vectors", parts[0].sum(axis=1))
        values = parts[1]
        values = values[values > _ROUNDING * np.max(values, initial=0.0)]
        return self._remember(super()._assemble(parts, dtype), values)

    def _start(self) -> FloatArray | None:
        return self.__dict__.get("_last_vectors")

    def _singular_values(self, w: FloatArray) -> FloatArray:
        values = self._remembered(w)
        return super()._singular_values(w) if values is None else values

    def _remember(self, w: FloatArray, values: FloatArray) -> FloatArray:
        # The array itself, not its id, which could be given to another one.
        object.__setattr__(self, "_last_result", (w, values))
        return w

    def _remembered(self, w: FloatArray) -> FloatArray | None:
        result, values = self.__dict__.get("_last_result", (None, None))
        return values if result is w else None


def check_sides(shape: Any) -> tuple[int, int]:
    sides = list(shape) if isinstance(shape, (tuple, list, np.ndarray)) else []
    if len(sides) != 2 or not all(is_count(side) for side in sides):
        raise ValueError(f"shape must be two positive integers, rows and columns; got {shape!r}.")
    return int(sides[0]), int(sides[1])


def truncated_svd(
    matrix: FloatArray, rank: int, start: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the `rank` largest singular values and their vectors, the largest first.

    PROPACK; where it does not converge ARPACK; a full decomposition where matrix or rank are not large.
    """
    if rank > _FULL_ABOVE * min(matrix.shape) or min(matrix.shape) <= _SMALL:
        u, s, vt = np.linalg.svd(matrix, full_matrices=False)
        return u[:, :rank], s[:rank], vt[:rank]
    if not matrix.any():
        return np.eye(len(matrix), rank), np.zeros(rank), np.eye(rank, matrix.shape[1])
    scale = float(np.max(np.abs(matrix)))
    matrix = matrix.astype(np.float64) / scale
    first = np.random.default_rng(0).standard_normal(max(matrix.shape))
    try:
        v0 = first[: len(matrix)] if start is None or not start.any() else start
        # It draws new vectors where those at hand are exhausted: the same ones in every run.
        u, s, vt = svds(matrix, k=rank, v0=v0, solver="propack", random_state=0)
    except np.linalg.LinAlgError:
        u, s, vt = svds(matrix, k=rank, v0=first[: min(matrix.shape)], solver="arpack")
    order = np.argsort(-s, kind="stable")
    return u[:, order], s[order] * scale, vt[order]


def svd_above(
    matrix: FloatArray, share: float, start: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the singular values above this share of the largest one, and their vectors."""
    rank = min(8, min(matrix.shape))
    while True:
        u, s, vt = truncated_svd(matrix, rank, start)
        above = s > share * s[0]
        if not above.all() or rank == min(matrix.shape):
            return u[:, above], s[above], vt[above]
        rank = min(2 * rank, min(matrix.shape))
