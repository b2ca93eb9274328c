"""One half of an alternation: ridge regressions of all rows at once, tied together by a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..design.entries import Side
from ..structures.graph import GraphSmoother
from .result import FloatArray

_MAX_INNER = 50
# A residual of this share of the right-hand side is none.
_ROUNDING = 1e-13
# A ridge of zero is this share of the largest sum of squares.
_LEAST_RIDGE = 1e-9


@dataclass(frozen=True)
class Ridge:
    """How strongly each part is held back.

    Parameters
    ----------
    effects : tuple of two, float or None
        Ridges of the row effects and the column effects, in numbers of ratings; None for no such effect.
    atoms : float
        The weight of the atomic norm of the low-rank part.
    """

    effects: tuple[float | None, float | None]
    atoms: float = 0.0

    def divided(self, by: float) -> Ridge:
        rows, cols = (None if ridge is None else ridge / by for ridge in self.effects)
        return Ridge((rows, cols), self.atoms / by)


def solve_side(
    side: Side,
    smoother: GraphSmoother,
    features: FloatArray,
    target: FloatArray,
    ridge: FloatArray,
    start: FloatArray,
    tol: float,
) -> FloatArray:
    r"""Return the coefficients F of all rows that minimise a ridge regression with a graph.

    .. math:: \tfrac12 \sum_{ij} \omega_{ij} (t_{ij} - F_i \cdot \phi_j)^2
        + \tfrac12 \sum_k \rho_k\, F_{\cdot k}^\top A F_{\cdot k}

    Without a graph the rows are solved one by one, exactly; with one by conjugate gradients, preconditioned
    by the diagonal, until the residual is the share `tol` of what it was at the start.

    Parameters
    ----------
    side : Side
    smoother : GraphSmoother
        A.
    features : array of shape (n_other, q)
        φ.
    target : array of shape (n_entries,)
        t, in the order of the data.
    ridge : array of shape (q,)
        ρ.
    start : array of shape (n_own, q)
    tol : float
    """
    right = side.sum_features(target, features)
    gram = side.gram(features)
    # Without a ridge a row may have more coefficients than ratings: the least ones will do.
    size = np.einsum("ikk->ik", gram).max(axis=0)
    ridge = np.where((ridge == 0) & (size == 0), 1.0, np.maximum(ridge, _LEAST_RIDGE * size))
    blocks = gram + (smoother.diagonal()[:, None] * ridge)[:, :, None] * np.eye(len(ridge))
    if smoother.strength == 0:
        solved = np.linalg.solve(blocks, right[:, :, None])[:, :, 0]
        return np.asarray(solved, dtype=np.float64)
    # Not by the inverse blocks: these cost more than the few more steps that the diagonal takes.
    inverse = 1 / np.einsum("ikk->ik", blocks)
    return _conjugate_gradients(gram, inverse, smoother, ridge, right, start, tol)


def _conjugate_gradients(
    gram: FloatArray,
    inverse: FloatArray,
    smoother: GraphSmoother,
    ridge: FloatArray,
    right: FloatArray,
    start: FloatArray,
    tol: float,
) -> FloatArray:
    def product(f: FloatArray) -> FloatArray:
        return blockwise(gram, f) + smoother.apply(f) * ridge

    f = start
    residual = right - product(f)
    improved = inverse * residual
    direction = improved
    error = float(np.sum(residual * improved))
    rounding = _ROUNDING**2 * float(np.sum(right * inverse * right))
    enough = max(tol**2 * error, rounding)
    for _ in range(_MAX_INNER):
        if error <= enough:
            break
        moved = product(direction)
        step = error / float(np.sum(direction * moved))
        f, residual = f + step * direction, residual - step * moved
        improved = inverse * residual
        last, error = error, float(np.sum(residual * improved))
        direction = improved + (error / last) * direction
    return f


def blockwise(blocks: FloatArray, f: FloatArray) -> FloatArray:
    """Multiply each row of f by its block."""
    product: FloatArray = (blocks @ f[:, :, None])[:, :, 0]
    return product
