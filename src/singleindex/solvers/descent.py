"""The inner problem of an exact step: a penalised quadratic, by coordinate descent down to a duality gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..design import Design
from ..structures.separable import Separable
from .metric import Columns, ProductColumns, RowColumns
from .result import FloatArray
from .terms import BlockTerms, Terms, strong_rule

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
    weight : array of shape (n,) or (n, n_outputs)
        The v, of at least zero: common to all outputs, or of each.
    residual : array of shape (n,) or (n, n_outputs)
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
    gram : array of shape (d, d) or (n_outputs, d, d)
        The weighted sums of products of centred columns: common to all outputs, or of each.
    gradient : array of shape (d,) or (d, n_outputs)
        Those of columns and residuals, which belong to w.
    square : float
        The weighted sum of squares of the centred residuals, over all outputs.
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
    w : array of shape (d,) or (d, n_outputs)
    gradient : array of the shape of w
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
    w : array of shape (d,) or (d, n_outputs)
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
    terms = (Terms if w.ndim == 1 and shape.block is None else BlockTerms)(shape, penalty, alpha, len(w))
    moving = quadratic.at(terms.feasible(w))
    if not np.array_equal(moving.w, w):
        moving.came_from(w)
    moving.add(terms.free())
    gradient = moving.gradient()
    objective = 0.5 * moving.squared_residual + terms.value(moving.w)
    target, gap, n_sweeps, rough = tol * objective, terms.gap(moving, gradient), 0, 1.0
    least = strong_rule(terms.amount, penalty, last_penalty)
    while gap > target and n_sweeps < max_sweeps:
        new, complete = terms.missing(moving, gradient, least)
        moving.add(new)
        if not len(moving.which):
            break
        # By the strong rule hardly any column is missing; else those that are had better be found early.
        is_known = complete and (least is not terms.amount or not len(new))
        own_target = rough * target if is_known else max(target, _ROUGH * gap)
        if complete and not len(new):
            rough *= _TIGHTER
        n_sweeps += moving.solve(terms, own_target, max_sweeps - n_sweeps)
        gradient, least = moving.gradient(), terms.amount
        last_gap, gap = gap, terms.gap(moving, gradient)
        # As near as rounding lets it come.
        if rough < _ROUNDING and gap >= last_gap:
            break
    return Descent(moving.w, gradient, gap, objective, n_sweeps, gap <= target)
