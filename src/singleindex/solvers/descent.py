"""The inner problem of an exact step: a penalised quadratic, solved by coordinate descent to a duality gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..design import Design
from ..structures.separable import Separable
from ._descent import duality_gap, screen
from .metric import Columns, ProductColumns, RowColumns
from .result import FloatArray

# The first working set of a cold start has at most this many columns; later ones get no more than are in use.
_FIRST = 100
# Share of the gap to which a working set is solved before it is known which columns it lacks.
_ROUGH = 0.1
# Where all are there and the gap is still too wide, the working set is solved to this share of it, again and
# again down to the last one.
_TIGHTER = 0.3
_ROUNDING = 1e-6


class Quadratic(Protocol):
    """A convex quadratic of u, known by its values around w."""

    def at(self, w: FloatArray) -> Columns:
        """Return it as something that moves, from w on."""
        ...


@dataclass(frozen=True, eq=False)
class Rows:
    r"""The quadratic :math:`\tfrac12 \sum_i v_i (\rho_i - a - z_i (u - w))^2`, least over the intercept a.

    Parameters
    ----------
    design : Design
        Its rows are the z.
    weight : array of shape (n,)
        The v, of at least zero.
    residual : array of shape (n,)
        The ρ, which belong to w.
    """

    design: Design
    weight: FloatArray
    residual: FloatArray

    def at(self, w: FloatArray) -> Columns:
        return RowColumns(self.design, self.weight, self.residual, w)


@dataclass(frozen=True, eq=False)
class Products:
    """The same quadratic, known by products of its columns alone.

    Parameters
    ----------
    gram : array of shape (d, d)
        The weighted sums of products of centred columns.
    gradient : array of shape (d,)
        Those of columns and residuals, which belong to w.
    square : float
        The weighted sum of squares of the centred residuals.
    """

    gram: FloatArray
    gradient: FloatArray
    square: float

    def at(self, w: FloatArray) -> Columns:
        return ProductColumns(self.gram, self.gradient, self.square, w)


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent has come to.

    Attributes
    ----------
    w : array of shape (d,)
    gradient : array of shape (d,)
        Zᵀ V r for the residuals r at w: what the penalty and the ridge hold in balance.
    gap : float
        By how much the objective is above its least value, at the most. Coefficients that have neither a
        penalty nor a ridge have no such bound; for them it has what a step along each would bring.
    objective : float
        At the start: the gap is meant as a share of it.
    n_sweeps : int
    converged : bool
        Whether the gap is at most the tolerance.
    """

    w: FloatArray
    gradient: FloatArray
    gap: float
    objective: float
    n_sweeps: int
    converged: bool


def descend(
    quadratic: Quadratic,
    w: FloatArray,
    shape: Separable,
    penalty: float,
    alpha: float = 0.0,
    *,
    tol: float = 1e-4,
    last_penalty: float | None = None,
    max_sweeps: int = 10_000,
) -> Descent:
    r"""Minimise a quadratic of u plus :math:`\tfrac12\alpha\|u\|^2 + \mathrm{penalty} \sum_b f_b \|u_b\|`.

    Coordinate descent on a working set: what is in use, what is not penalised, and what the strong rule
    expects to come into use; then the gradient of all columns tells which are missing.

    Parameters
    ----------
    quadratic : Rows or Products
    w : array of shape (d,)
        The start. What is out of the bounds, or left out by an infinite factor, is brought in first.
    shape : Separable
        The factors f, blocks and bounds.
    penalty : float
    alpha : float, default=0
    tol : float, default=1e-4
        The duality gap that is small enough, as a share of the objective at w.
    last_penalty : float, default=None
        The penalty for which w is the answer; None where it is not known.
    max_sweeps : int, default=10_000

    Returns
    -------
    descent : Descent
    """
    terms = Terms.of(shape, penalty, alpha, len(w))
    moving = quadratic.at(terms.feasible(w))
    if not np.array_equal(moving.w, w):
        moving.came_from(w)
    if not alpha > 0:
        # Nothing holds these back: their share of the gap needs their lengths.
        moving.add(np.flatnonzero(terms.amount == 0))
    gradient = moving.gradient()
    objective = terms.value(moving.w, moving.square)
    target, gap, n_sweeps, rough = tol * objective, terms.gap(moving, gradient), 0, 1.0
    least = terms.strong(penalty, last_penalty)
    while gap > target and n_sweeps < max_sweeps:
        new, complete = choose(moving, gradient, terms, least)
        moving.add(new)
        if not len(moving.which):
            break
        if complete and not len(new):
            rough *= _TIGHTER
        # By the strong rule hardly any column is missing; else those that are had better be found early.
        by_rule = complete and least is not terms.amount
        own_target = target if by_rule else max(rough * target, _ROUGH * gap)
        n_sweeps += moving.solve(terms, own_target, max_sweeps - n_sweeps)
        gradient, least = moving.gradient(), terms.amount
        last_gap, gap = gap, terms.gap(moving, gradient)
        # As near as rounding lets it come.
        if rough < _ROUNDING and gap >= last_gap:
            break
    return Descent(moving.w, gradient, gap, objective, n_sweeps, gap <= target)


def choose(
    moving: Columns, gradient: FloatArray, terms: Terms, least: FloatArray
) -> tuple[NDArray[np.intp], bool]:
    """Return the next columns of the working set, and whether these are all that are wanted."""
    new = np.empty(len(gradient), dtype=np.intp)
    new = new[: screen(gradient, moving.w, least, terms.lower, terms.upper, moving.inside, new)]
    most = max(_FIRST, int(np.count_nonzero(moving.w)))
    if len(new) <= most:
        return new, True
    # Those that are held back least come first; equal ones in their order.
    size = np.abs(gradient[new])
    ratio = np.divide(terms.amount[new], size, out=np.full(len(new), np.inf), where=size > 0)
    ratio[moving.w[new] != 0] = 0.0
    return np.sort(new[np.argsort(ratio, kind="stable")[:most]]), False


@dataclass(frozen=True, eq=False)
class Terms:
    """What is added to the quadratic, coordinate by coordinate."""

    amount: FloatArray
    lower: FloatArray
    upper: FloatArray
    alpha: float
    left_out: bool

    @classmethod
    def of(cls, shape: Separable, penalty: float, alpha: float, d: int) -> Terms:
        left_out = not np.isfinite(shape.factor).all()
        amount = penalty * shape.factor if penalty > 0 or not left_out else np.zeros(d)
        if left_out:
            amount = np.where(np.isinf(shape.factor), np.inf, amount)
        lower = np.full(d, -np.inf) if shape.lower is None else shape.lower
        upper = np.full(d, np.inf) if shape.upper is None else shape.upper
        return cls(amount, lower, upper, alpha, left_out)

    def feasible(self, w: FloatArray) -> FloatArray:
        """Return a copy of w within the bounds."""
        inside = np.clip(w, self.lower, self.upper)
        return np.where(np.isinf(self.amount), 0.0, inside) if self.left_out else inside

    def value(self, w: FloatArray, square: float) -> float:
        """Return the objective."""
        used = np.flatnonzero(w)
        of_penalty = self.amount[used] @ np.abs(w[used])
        return float(0.5 * square + of_penalty + 0.5 * self.alpha * (w[used] @ w[used]))

    def gap(self, moving: Columns, gradient: FloatArray) -> float:
        """Return the duality gap."""
        gap: float = duality_gap(
            moving.square, gradient, moving.w, moving.norm, self.amount, self.lower, self.upper, self.alpha
        )
        return gap

    def strong(self, penalty: float, last_penalty: float | None) -> FloatArray:
        """Return the gradients beyond which coefficients are expected to come into use.

        By the strong rule: from one penalty to the next, a gradient changes by no more than the penalty. Where
        the one before is not known, or was no larger, those that are in balance stay out for now.
        """
        if last_penalty is None or not penalty < last_penalty:
            return self.amount
        return self.amount * max(2 - last_penalty / penalty, 0.0) if penalty > 0 else self.amount
