"""Smoothness over a graph: powers of its regularised Laplacian, applied without building them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .base import FloatArray

# Up to here the whole eigenbasis is cheaper than products one by one.
_DENSE_UP_TO = 1200
# Relative error of the polynomial that stands for the inverse root.
_PRECISION = 1e-10


class GraphSmoother:
    r"""The matrix A = I + strength · L of a graph, L its normalised Laplacian.

    .. math:: f^\top A f = \sum_i f_i^2
        + \frac{\mathrm{strength}}{2} \sum_{ij} W_{ij} (f_i/\sqrt{d_i} - f_j/\sqrt{d_j})^2

    A is the regularised Laplacian L + εI of the paper's graph program, up to the common factor
    1/ε = strength. Nodes without a neighbour, and all nodes where there is no graph, have the row of
    the identity in it.

    Parameters
    ----------
    graph : sparse matrix of shape (n_nodes, n_nodes) or None
        As :func:`as_graph` returns it: symmetric, not negative, without self-loops.
    strength : float
    n_nodes : int

    Notes
    -----
    Small graphs are decomposed once, into eigenvectors. For large ones the inverse root is a Chebyshev
    polynomial in A, of a degree that grows with the root of the strength: products with a sparse matrix
    only, where a factorisation would fill in. Social networks have dense cores, and do.
    """

    def __init__(self, graph: Any, strength: float, n_nodes: int) -> None:
        self.graph, self.n_nodes = graph, n_nodes
        self.strength = 0.0 if graph is None or graph.nnz == 0 else strength

    @cached_property
    def laplacian(self) -> Any:
        if self.graph is None:
            return sparse.csr_matrix((self.n_nodes, self.n_nodes))
        return normalised_laplacian(self.graph)

    def with_strength(self, strength: float) -> GraphSmoother:
        """Return the smoother of the same graph at another strength; what is known of the graph is kept."""
        other = GraphSmoother(self.graph, strength, self.n_nodes)
        for name in ("laplacian", "_eigen"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    def prepare(self) -> None:
        """Compute what all strengths share, before copies are made."""
        if self.graph is not None and self.laplacian.nnz and self.n_nodes <= _DENSE_UP_TO:
            _ = self._eigen

    def apply(self, f: FloatArray) -> FloatArray:
        """Return A f; f may have several columns."""
        if self.strength == 0:
            return f.copy()
        applied: FloatArray = f + self.strength * (self.laplacian @ f)
        return applied

    def diagonal(self) -> FloatArray:
        """Return the diagonal of A."""
        if self.strength == 0:
            return np.ones(self.n_nodes)
        diagonal: FloatArray = 1 + self.strength * self.laplacian.diagonal()
        return diagonal

    def inverse_root(self, f: FloatArray) -> FloatArray:
        """Return A^(−1/2) f."""
        return self._power(-0.5, f)

    def root(self, f: FloatArray) -> FloatArray:
        """Return A^(1/2) f."""
        if self.strength == 0:
            return f.copy()
        # By the inverse root, which a polynomial fits better: it does not grow.
        return self.apply(self.inverse_root(f))

    def _power(self, power: float, f: FloatArray) -> FloatArray:
        if self.strength == 0:
            return f.copy()
        if self.n_nodes <= _DENSE_UP_TO:
            values, vectors = self._eigen
            scale = (1 + self.strength * values) ** power
            spectral: FloatArray = vectors @ (scale * (vectors.T @ f).T).T
            return spectral
        return self._chebyshev(power, f)

    @cached_property
    def _eigen(self) -> tuple[FloatArray, FloatArray]:
        values, vectors = np.linalg.eigh(self.laplacian.toarray())
        return np.maximum(values, 0), vectors

    def _chebyshev(self, power: float, f: FloatArray) -> FloatArray:
        """Return A^power f by Clenshaw's recurrence in the Laplacian, whose spectrum lies in [0, 2]."""
        coefficients = chebyshev_coefficients(self.strength, power)

        def centred(v: FloatArray) -> FloatArray:
            # The Laplacian moved to [−1, 1].
            moved: FloatArray = self.laplacian @ v - v
            return moved

        last, before = np.zeros_like(f), np.zeros_like(f)
        for c in coefficients[:0:-1]:
            last, before = c * f + 2 * centred(last) - before, last
        summed: FloatArray = coefficients[0] * f + centred(last) - before
        return summed


def chebyshev_coefficients(strength: float, power: float) -> FloatArray:
    """Return the series of (1 + strength · x)^power on [0, 2], cut where what is left does not count."""
    degree = 16
    while True:
        angle = np.pi * (np.arange(2 * degree) + 0.5) / (2 * degree)
        values = (1 + strength * (1 + np.cos(angle))) ** power
        order = np.arange(degree)
        coefficients: FloatArray = np.cos(np.outer(order, angle)) @ values / degree
        coefficients[0] /= 2
        # The tail falls geometrically; the smallest value on the interval is the scale of the error.
        if np.abs(coefficients[-4:]).max() <= 0.01 * _PRECISION * values.min():
            keep = np.flatnonzero(np.abs(coefficients) > 0.01 * _PRECISION * values.min())
            return coefficients[: keep[-1] + 1]
        degree *= 2


def normalised_laplacian(graph: Any) -> Any:
    """Return D^(−1/2) (D − W) D^(−1/2); rows of nodes without a neighbour are zero."""
    degree = np.asarray(graph.sum(axis=1)).ravel()
    linked = degree > 0
    scale = np.divide(1.0, np.sqrt(degree), out=np.zeros(len(degree)), where=linked)
    return (
        sparse.diags(linked.astype(np.float64)) - sparse.diags(scale) @ graph @ sparse.diags(scale)
    ).tocsr()


def as_graph(graph: Any, n_nodes: int, name: str) -> Any:
    """Return a graph as a CSR matrix without self-loops, or raise with the fix in the message.

    Parameters
    ----------
    graph : sparse matrix or array of shape (n_nodes, n_nodes), or None
        Symmetric weights of the links, not negative. Self-loops say nothing of neighbours and are
        left out.
    n_nodes : int
    name : str
        What to call it in messages.
    """
    if graph is None:
        return None
    if np.iscomplexobj(graph.data if sparse.issparse(graph) else graph):
        raise ValueError(f"{name} holds complex numbers; give every link a real weight.")
    matrix = sparse.csr_matrix(graph, dtype=np.float64, copy=True)
    if matrix.shape != (n_nodes, n_nodes):
        raise ValueError(
            f"{name} has the shape {matrix.shape} where {(n_nodes, n_nodes)} is needed, one node for each "
            "row or column of the rating matrix; pass shape= where there are nodes without a rating."
        )
    matrix.sum_duplicates()
    if not np.isfinite(matrix.data).all():
        raise ValueError(f"{name} holds NaN or infinite weights; give every link a finite weight.")
    if (matrix.data < 0).any():
        raise ValueError(
            f"{name} holds negative weights, with which neighbours would not be alike; leave such links out "
            f"({name}.maximum(0))."
        )
    gap = abs(matrix - matrix.T)
    if gap.nnz and gap.max() > 1e-9 * matrix.max():
        raise ValueError(
            f"{name} is not symmetric; make its links mutual, by {name}.maximum({name}.T) if one direction "
            "is enough."
        )
    matrix = matrix - sparse.diags(matrix.diagonal())
    matrix = ((matrix + matrix.T) / 2).tocsr()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix
