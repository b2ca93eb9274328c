"""Low-rank matrices that are smooth over graphs of their rows and columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, svds

from .base import FloatArray, LinearMap, Structure
from .graph import GraphSmoother, as_graph
from .low_rank import LowRank, check_sides

# Relative precision of the singular values that tell where a sparse gradient points.
_PRECISION = 1e-4


@dataclass(frozen=True, eq=False)
class GraphLowRank(Structure):
    r"""w is a matrix of few atoms, each of rank one and smooth over graphs of the rows and the columns.

    With :math:`A = I + s\,L` for the rows, L the normalised Laplacian of their graph and s the strength, and
    B alike for the columns, the atoms are :math:`A^{-1/2} u v^\top B^{-1/2}` with u and v of length one. The
    atomic norm is the nuclear norm of :math:`A^{1/2} W B^{1/2}`, that of the paper's graph program for the
    regularised Laplacians.

    Parameters
    ----------
    shape : tuple of two int
        Rows and columns of the matrix; their product is the number of features.
    row_graph, col_graph : sparse matrix, array or None, default=None
        Weights of the links among rows and among columns: symmetric and not negative. Self-loops are left
        out. None for no graph: `LowRank` on that side.
    row_strength, col_strength : float, default=3.0
        How much links count. 0 is no graph.

    Notes
    -----
    Projection and soft thresholding are those of `LowRank` for :math:`A^{1/2} W B^{1/2}`: nearest in the norm
    in which the atoms have length one. With a hard limit alone the graphs matter through this norm only, as
    the atoms span all matrices of that rank. In an estimator, w is learned in these coordinates and
    `coef_` brought back, so that the ridge, too, favours smooth matrices.

    :class:`singleindex.SingleIndexCompleter` uses the same atoms without ever building a matrix of all
    rows and columns, through `top_atoms`, `atom_weights` and `balance`.

    References
    ----------
    Rao, Yu, Ravikumar & Dhillon (2015), Collaborative filtering with graph information, NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from singleindex.structures import GraphLowRank, LowRank
    >>> pair = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    >>> smooth = GraphLowRank((3, 2), row_graph=pair, row_strength=4.0)
    >>> alike, apart = np.array([[1, 0], [1, 0], [0, 0]]), np.array([[1, 0], [-1, 0], [0, 0]])
    >>> round(smooth.norm(alike.ravel()), 6), round(smooth.norm(apart.ravel()), 6)
    (1.414214, 4.242641)
    """

    shape: tuple[int, int]
    row_graph: Any = None
    col_graph: Any = None
    row_strength: float = 3.0
    col_strength: float = 3.0

    # Columns of X are not scaled one by one, which would destroy the rank.
    keeps_scaling = False

    @classmethod
    def of_smoothers(cls, rows: GraphSmoother, cols: GraphSmoother) -> GraphLowRank:
        """Return the structure of two graphs that have been prepared already."""
        structure = cls((rows.n_nodes, cols.n_nodes), rows.graph, cols.graph, rows.strength, cols.strength)
        structure.__dict__["smoothers"] = (rows, cols)
        return structure

    @cached_property
    def smoothers(self) -> tuple[GraphSmoother, GraphSmoother]:
        """The matrices A and B."""
        n_rows, n_cols = check_sides(self.shape)
        for name in ("row_strength", "col_strength"):
            check_strength(name, getattr(self, name))
        return (
            GraphSmoother(as_graph(self.row_graph, n_rows, "row_graph"), float(self.row_strength), n_rows),
            GraphSmoother(as_graph(self.col_graph, n_cols, "col_graph"), float(self.col_strength), n_cols),
        )

    # ------------------------------------------------------------ dense matrices

    def project(self, w: FloatArray, n_atoms: int | None) -> FloatArray:
        return self._in_coordinates(lambda z: self._plain.project(z, n_atoms), w)

    def count_atoms(self, w: FloatArray) -> int:
        return self._plain.count_atoms(self.to_coordinates(w))

    def check(self, shape: tuple[int, ...]) -> int:
        rows, columns = self.smoothers[0].n_nodes, self.smoothers[1].n_nodes
        if rows * columns != shape[0]:
            raise ValueError(
                f"GraphLowRank(shape={self.shape}) needs rows of X with {rows * columns} entries, "
                f"got {shape[0]}; give the shape of the matrices that the rows of X hold."
            )
        return min(rows, columns)

    def shrink(self, w: FloatArray, amount: float) -> FloatArray:
        return self._in_coordinates(lambda z: self._plain.shrink(z, amount), w)

    def norm(self, w: FloatArray) -> float:
        return self._plain.norm(self.to_coordinates(w))

    def dual_norm(self, gradient: FloatArray) -> float:
        return self._plain.dual_norm(self.to_coordinates(gradient))

    def to_coordinates(self, w: FloatArray) -> FloatArray:
        """Return :math:`A^{1/2} W B^{1/2}`, in which the atoms are those of `LowRank`."""
        rows, cols = self.smoothers
        # Contiguous, because the product of a strided view may differ in its last bit.
        matrix = np.ascontiguousarray(w, dtype=np.float64).reshape(self.shape)
        return np.ascontiguousarray(cols.root(rows.root(matrix).T).T).ravel()

    def from_coordinates(self, z: FloatArray) -> FloatArray:
        """Return W for :math:`A^{1/2} W B^{1/2}`; the transpose of this map is itself."""
        rows, cols = self.smoothers
        matrix = np.asarray(z, dtype=np.float64).reshape(self.shape)
        return np.ascontiguousarray(cols.inverse_root(rows.inverse_root(matrix).T).T).ravel()

    def coordinates(self, n_features: int) -> tuple[LinearMap, LowRank]:
        """Return the map `from_coordinates`, and the structure of w in these coordinates."""
        return Smooth(self), self._plain

    @property
    def _plain(self) -> LowRank:
        return LowRank(self.shape)

    def _in_coordinates(self, change: Callable[[FloatArray], FloatArray], w: FloatArray) -> FloatArray:
        return self.from_coordinates(change(self.to_coordinates(w))).astype(w.dtype, copy=False)

    # ------------------------------------------------------------ factors

    def top_atoms(self, gradient: Any, n_atoms: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the atoms most aligned with a sparse matrix.

        Parameters
        ----------
        gradient : sparse matrix of this shape
        n_atoms : int

        Returns
        -------
        row_parts, values, col_parts
            Of shapes (n_rows, k), (k,) and (n_cols, k), k at most `n_atoms`: atom i is the product of column
            i of both parts, and `values[i]` its inner product with the matrix. The first is the least weight
            of the atomic norm at which no atom enters.
        """
        rows, cols = self.smoothers
        n_atoms = min(n_atoms, min(self.shape))
        if gradient.nnz == 0 or not gradient.data.any():
            return np.zeros((self.shape[0], 0)), np.zeros(0), np.zeros((self.shape[1], 0))
        if n_atoms >= min(self.shape) - 1:
            dense = cols.inverse_root(rows.inverse_root(gradient.toarray()).T).T
            u, s, vt = np.linalg.svd(dense, full_matrices=False)
        else:
            u, s, vt = self._sparse_svd(gradient, n_atoms)
        keep = np.argsort(-s, kind="stable")[:n_atoms]
        # The sign is settled, so that reruns on other machines agree.
        sign = np.where(u[np.abs(u[:, keep]).argmax(axis=0), keep] < 0, -1.0, 1.0)
        return rows.inverse_root(u[:, keep] * sign), s[keep], cols.inverse_root(vt[keep].T * sign)

    def _sparse_svd(self, gradient: Any, n_atoms: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        rows, cols = self.smoothers
        transposed = gradient.T.tocsr()
        operator = LinearOperator(
            self.shape,
            matvec=lambda v: rows.inverse_root(gradient @ cols.inverse_root(v.ravel())),
            rmatvec=lambda v: cols.inverse_root(transposed @ rows.inverse_root(v.ravel())),
            dtype=np.float64,
        )
        first = np.random.default_rng(0).standard_normal(min(self.shape))
        # Not PROPACK: ratings have many singular values of about the same size, on which it gives up.
        u, s, vt = svds(operator, k=n_atoms, v0=first, tol=_PRECISION, solver="arpack")
        return u, s, vt

    def atom_weights(self, row_factors: FloatArray, col_factors: FloatArray) -> FloatArray:
        """Return the weights of the atoms of row_factors @ col_factors.T, largest first.

        Their sum is its atomic norm.
        """
        weights: FloatArray = self._core(row_factors, col_factors)[1]
        return weights

    def balance(
        self, row_factors: FloatArray, col_factors: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return factors of the same matrix made of atoms, and the weights of the atoms, largest first.

        Both factors of an atom have the root of its weight as their length in the graphs' norms; atoms whose
        weight is rounding are left out.
        """
        (row_root, col_root), s, u, vt = self._core(row_factors, col_factors)
        keep = s > 1e-9 * np.max(s, initial=0.0)
        root = np.sqrt(s[keep])
        rows = row_factors @ (np.linalg.pinv(row_root) @ (u[:, keep] * root))
        cols = col_factors @ (np.linalg.pinv(col_root) @ (vt[keep].T * root))
        return rows, cols, s[keep]

    def _core(self, row_factors: FloatArray, col_factors: FloatArray) -> Any:
        """Return roots of the factors' Gram matrices, and the decomposition of the small product of these."""
        rows, cols = self.smoothers
        roots = [
            symmetric_root(factors.T @ smoother.apply(factors))
            for factors, smoother in ((row_factors, rows), (col_factors, cols))
        ]
        u, s, vt = np.linalg.svd(roots[0] @ roots[1])
        return roots, s, u, vt


@dataclass(frozen=True, eq=False)
class Smooth:
    """The coordinates of a graph's structure: a map that is its own transpose."""

    structure: GraphLowRank

    def width(self, n_features: int) -> int:
        return n_features

    def to_features(self, z: FloatArray) -> FloatArray:
        if z.ndim == 1:
            return self.structure.from_coordinates(z)
        return np.column_stack([self.structure.from_coordinates(column) for column in z.T])

    def from_features(self, w: FloatArray) -> FloatArray:
        return self.structure.to_coordinates(w)

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        return self.to_features(gradient)


def symmetric_root(gram: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    root: FloatArray = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    return root


def check_strength(name: str, value: Any) -> None:
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not 0 <= float(value) < np.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}; 0 is no graph.")
