"""Steps in the metric of X where only products of its columns are known, as of data in blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from ..structures.separable import Separable
from .descent import Products, descend
from .exact import PATH_SWEEPS, PATH_TOL
from .result import FloatArray
from .simplicity import Simplicity

# The duality gap at which a step is solved, as a share of its objective, and the most sweeps for it.
_TOL, _MOST_SWEEPS = 1e-12, 1000
# What is added to the curvature of a dense step, as a share of its largest: along directions in which X does
# not vary the gradient is rounding, which is not to be divided by less.
_LEAST_CURVATURE = 1e-10
# Levels of the soft path from which supports are taken, and its last one as a share of the first; it ends
# where it uses this multiple of the atoms that are wanted.
_N_LEVELS, _LAST, _ENOUGH = 40, 1e-3, 3.0
# The most exchanges of a coordinate for another, and the share of the error that each has to take off.
_EXCHANGES, _LEAST_GAIN = 50, 1e-6


class Step(Protocol):
    """How the quadratic ½(u − w)ᵀ gram (u − w) − gradient·(u − w), and what is added to it, is minimised."""

    def minimise(self, w: FloatArray, gradient: FloatArray, square: float) -> FloatArray:
        """Return the u; the precision is a share of `square`, the squared residuals at w."""
        ...


@dataclass(frozen=True, eq=False)
class PenalisedStep:
    """With a penalty, or within a support: by coordinate descent."""

    gram: FloatArray
    shape: Separable
    penalty: float
    alpha: float
    tol: float = _TOL
    max_sweeps: int = _MOST_SWEEPS

    def minimise(self, w: FloatArray, gradient: FloatArray, square: float) -> FloatArray:
        return descend(
            Products(self.gram, gradient, square), w, self.shape, self.penalty, self.alpha, tol=self.tol,
            max_sweeps=self.max_sweeps,
        ).w  # fmt: skip


class DenseStep:
    """With a ridge alone: by a factorisation, which is the same at every step."""

    def __init__(self, gram: FloatArray, alpha: float) -> None:
        curvature = gram.copy()
        least = _LEAST_CURVATURE * float(np.max(np.diag(gram), initial=0.0))
        curvature[np.diag_indices_from(curvature)] += alpha + (least or 1.0)
        self.alpha, self.factor = (
            alpha,
            cho_factor(curvature, lower=True, overwrite_a=True, check_finite=False),
        )

    def minimise(self, w: FloatArray, gradient: FloatArray, square: float) -> FloatArray:
        moved: FloatArray = w + cho_solve(self.factor, gradient - self.alpha * w, check_finite=False)
        return moved


def step_for(simplicity: Simplicity, gram: FloatArray, cross: FloatArray, square: float) -> Step:
    """Return the step that w is found by: `cross` and `square` are those of a straight link at w = 0."""
    shape = simplicity.structure.separable(len(cross))
    if shape is None:
        raise ValueError(f"{type(simplicity.structure).__name__} has no exact step; use solver='one-pass'.")
    if simplicity.penalty == 0 and simplicity.n_atoms is None and not shape.is_constrained:
        return DenseStep(gram, simplicity.alpha)
    if simplicity.n_atoms is not None:
        shape = shape.only(choose_support(simplicity, shape, gram, cross, square))
    return PenalisedStep(gram, shape, simplicity.penalty, simplicity.alpha)


def largest_penalty(simplicity: Simplicity, gram: FloatArray, cross: FloatArray, square: float) -> float:
    """Return the least penalty at which nothing is in use but what is never penalised, by a straight link."""
    shape = simplicity.structure.separable(len(cross))
    if shape is not None and shape.is_free.any():
        step = PenalisedStep(gram, shape.only(np.flatnonzero(shape.is_free)), 0.0, simplicity.alpha)
        cross, _ = gradient_at(step.minimise(np.zeros(len(cross)), cross, square), gram, cross, square)
    return simplicity.largest_penalty(cross)


# ---------------------------------------------------------------- supports


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """The regression of y on some columns of X, and how far it is from y."""

    support: NDArray[np.intp]
    w: FloatArray
    gradient: FloatArray
    error: float


def choose_support(
    simplicity: Simplicity, shape: Separable, gram: FloatArray, cross: FloatArray, square: float
) -> NDArray[np.intp]:
    """Return the coordinates of at most `n_atoms` atoms that fit y well by a straight link.

    Candidates are the largest atoms at each level of a soft path; the one with the least error is taken, and
    its weakest coordinate exchanged for the one that is missed most, as long as that helps.
    """
    n_atoms = simplicity.n_atoms or 1
    found: dict[bytes, NDArray[np.intp]] = {}
    w, gradient, left = np.zeros(len(cross)), cross, square
    last = largest_penalty(simplicity, gram, cross, square)
    for penalty in last * np.geomspace(1, _LAST, _N_LEVELS + 1)[1:]:
        step = PenalisedStep(gram, shape, float(penalty), simplicity.alpha, PATH_TOL, PATH_SWEEPS)
        w = step.minimise(w, gradient, left)
        gradient, left = gradient_at(w, gram, cross, square)
        kept = np.flatnonzero(simplicity.structure.project(w, n_atoms))
        if len(kept):
            found[kept.tobytes()] = kept
        if simplicity.count_atoms(w) > _ENOUGH * n_atoms:
            break
    if not found:
        return np.zeros(0, dtype=np.intp)

    def fit(support: NDArray[np.intp]) -> LeastSquares:
        step = PenalisedStep(gram, shape.only(support), 0.0, simplicity.alpha)
        w = step.minimise(np.zeros(len(cross)), cross, square)
        return LeastSquares(support, w, *gradient_at(w, gram, cross, square))

    best = min((fit(support) for support in found.values()), key=lambda one: one.error)
    if shape.block is not None or shape.is_constrained or shape.is_free.any():
        return best.support
    size = np.sqrt(np.diag(gram))
    for _ in range(_EXCHANGES):
        pull = np.divide(np.abs(best.gradient), size, out=np.zeros(len(size)), where=size > 0)
        pull[best.support] = 0.0
        weakest = np.argmin(np.abs(best.w * size)[best.support])
        other = fit(np.sort(np.append(np.delete(best.support, weakest), np.argmax(pull))))
        if not other.error < (1 - _LEAST_GAIN) * best.error:
            break
        best = other
    return best.support


def gradient_at(
    w: FloatArray, gram: FloatArray, cross: FloatArray, square: float
) -> tuple[FloatArray, float]:
    """Return the gradient of least squares at w, and the error that is left."""
    used = np.flatnonzero(w)
    gradient = cross - gram[:, used] @ w[used]
    return gradient, max(square - float(w @ (cross + gradient)), 0.0)
