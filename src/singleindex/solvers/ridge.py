"""A path of ridges: dense w, in the coordinates in which X is a rotation and a stretch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..design import View
from ..link import LinkFitter
from ..structures import Sparse
from .gradient import Gradient, State
from .result import FloatArray

# Directions whose variance is a smaller share of the largest are left out.
_LEAST_VARIANCE = 1e-10
# Curvature of the loss below which a row would count for next to nothing.
_LEAST_CURVATURE = 1e-4
# Newton's steps at each level, and the precision of each.
_STEPS, _TOL = 3, 1e-3
_MOST_PRODUCTS = 30


@dataclass(frozen=True, eq=False)
class Rotated:
    """The centred columns of a view in the coordinates of their principal directions.

    Attributes
    ----------
    rows : array of shape (n, rank)
        Their coordinates: uncorrelated columns, of the variances `variance`.
    variance : array of shape (rank,)
    """

    view: View
    rows: FloatArray
    variance: FloatArray
    directions: FloatArray
    is_dual: bool

    def coef(self, c: FloatArray) -> FloatArray:
        """Return the coefficients of the view's columns."""
        if self.is_dual:
            return self.view.rmatvec(self.directions @ c)
        coef: FloatArray = self.directions @ c
        return coef


def rotate(view: View, share: FloatArray) -> Rotated:
    """Return the principal directions of a view, from the smaller one of its two matrices of products."""
    n, d = view.shape
    everything = np.arange(d)
    if d <= n:
        variance, directions = np.linalg.eigh(view.gram(everything, share))
        keep = variance > _LEAST_VARIANCE * variance[-1]
        variance, directions = variance[keep], np.ascontiguousarray(directions[:, keep])
        rows = np.asarray(view.combine(everything, directions))
        return Rotated(view, rows - share @ rows, variance, directions, False)
    root = np.sqrt(share)
    products = view.row_products(everything, np.ones(d))
    mean = products @ share
    products = products - mean[:, None] - mean + share @ mean
    variance, directions = np.linalg.eigh(products * np.outer(root, root))
    keep = variance > _LEAST_VARIANCE * variance[-1]
    variance, directions = variance[keep], directions[:, keep]
    # A unit vector u among the rows is the direction Xᵀ√ω u / √variance among the columns.
    dual = (directions.T * root).T / np.sqrt(variance)
    dual -= np.outer(share, dual.sum(axis=0))
    rows = products @ dual
    return Rotated(view, rows, variance, dual, True)


def ridge_path(
    rotated: Rotated, y: FloatArray, share: FloatArray, fitter: LinkFitter, ridges: Sequence[float]
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the coordinates and the index at each ridge, from strong to weak, each from the last."""
    c = np.zeros(len(rotated.variance))
    index = np.zeros(len(y))
    for ridge in ridges:
        for _ in range(_STEPS):
            _, fitted = fitter.fit(index, y, share)
            known = fitter.curvature(fitted)
            step = newton_step(rotated, c, y - fitted, share, known, fitter.slope, ridge)
            c = c + step
            move = rotated.rows @ step
            index = index + move
            if known is None or share @ np.square(move) <= _TOL**2 * (share @ np.square(index)):
                break
        yield c, index


def newton_step(
    rotated: Rotated,
    c: FloatArray,
    residual: FloatArray,
    share: FloatArray,
    curvature: FloatArray | None,
    slope: float,
    ridge: float,
) -> FloatArray:
    """Return the minimiser of the quadratic at c, less c; by conjugate gradients where weights differ."""
    rows, variance = rotated.rows, rotated.variance
    gradient = rows.T @ (share * residual) - ridge * c
    if curvature is None:
        return gradient / (slope * variance + ridge)
    weight = share * np.maximum(curvature, _LEAST_CURVATURE)
    total = weight.sum()
    mean = weight @ rows / total

    def product(v: FloatArray) -> FloatArray:
        index = rows @ v
        along: FloatArray = rows.T @ (weight * index) - total * mean * (mean @ v) + ridge * v
        return along

    # Preconditioned by what it would be if all rows had the mean weight.
    near = 1 / (total * variance + ridge)
    step, left = np.zeros_like(c), gradient.copy()
    z = near * left
    direction, size = z.copy(), float(left @ z)
    enough = _TOL**2 * size
    for _ in range(_MOST_PRODUCTS):
        if not size > enough:
            break
        along = product(direction)
        length = size / float(direction @ along)
        step += length * direction
        left -= length * along
        z = near * left
        size, last = float(left @ z), size
        direction = z + (size / last) * direction
    return step


class RidgeSteps(Gradient):
    """Exact steps of a w with a ridge alone, in the coordinates of principal directions.

    Parameters
    ----------
    design, y, simplicity, link_fitter, sample_weight
        As for :class:`Gradient`; the design are the rotated rows.
    rotated : Rotated
    """

    def __init__(self, *args: Any, rotated: Rotated, **options: Any) -> None:
        super().__init__(*args, **options)
        self.rotated = rotated
        self.simplicity = replace(self.simplicity, structure=Sparse())

    def start(self) -> State:
        outputs = self.y.shape[1:]
        return State(np.zeros((len(self.rotated.variance), *outputs)), np.zeros(self.y.shape), 1.0)

    def move(self, state: State, seen: FloatArray) -> State | None:
        fitted, outputs = seen + self.y, self.y.reshape(len(self.y), -1).shape[1]
        known = self.fitter.curvature(fitted)
        steps = [
            newton_step(
                self.rotated,
                c,
                -r,
                self.share,
                None if known is None else k,
                self.fitter.slope,
                self.simplicity.alpha,
            )
            for c, r, k in zip(
                state.w.reshape(-1, outputs).T,
                seen.reshape(-1, outputs).T,
                (seen if known is None else known).reshape(-1, outputs).T,
                strict=True,
            )
        ]
        w = state.w + np.column_stack(steps).reshape(state.w.shape)
        if not w.any():
            return None
        index = self.design.matvec(w)
        return State(w, index, 1.0, self._change(state.index, index))
