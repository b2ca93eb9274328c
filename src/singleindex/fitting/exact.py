"""One fit by exact steps: soft, with few atoms, or with a ridge alone."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ..design import DenseDesign, View
from ..solvers import Iterate, SolverResult, Status, drive
from ..solvers.exact import PATH_SWEEPS, PATH_TOL, Exact, exact_path
from ..solvers.result import FloatArray
from ..solvers.ridge import RidgeSteps, rotate
from ..solvers.supports import SoftPath, within_fit
from .extremes import shares_of
from .plan import Plan

# Levels on the way to a penalty: each is a good start for the next.
_LEVELS_BETWEEN = 8
# Columns whose correlations are looked at, those that say most about y, and how far they have to be from
# those of independent ones, in units of their standard error.
_LOOKED_AT, LEAST_SURPRISE = 30, 4.0
# Coefficients per row up to which a w of few atoms, or a dense one, is determined by the rows.
_MOST_PER_ROW = 0.5


def takes_exact_steps(plan: Plan, view: View, y: FloatArray, weight: FloatArray | None) -> bool:
    """Tell whether exact steps are worth their price: where columns that matter are correlated.

    Independent columns are as well served by gradients. Coefficients of which there are as many as rows are
    held back by stopping early alone, which exact steps do not.
    """
    n_rows = view.shape[0] if weight is None else float(weight.sum())
    return can_take_exact_steps(plan, view, n_rows) and is_correlated(view, y, weight)


def can_take_exact_steps(plan: Plan, view: View, n_rows: float) -> bool:
    """Tell whether w has exact steps, and few enough coefficients for them."""
    if plan.structure.separable(view.shape[1]) is None or plan.shared_link:
        return False
    fitter = plan.fitter.of_output()
    if fitter.is_learned and not fitter.is_bounded:  # of whose curvature nothing is known
        return False
    return plan.penalty > 0 or _most_coefficients(plan, view) <= _MOST_PER_ROW * n_rows


def _most_coefficients(plan: Plan, view: View) -> float:
    n_available = plan.structure.check((view.shape[1],))
    n_atoms = n_available if plan.n_atoms is None else plan.n_atoms
    return n_atoms * view.shape[1] / max(n_available, 1)


def is_correlated(view: View, y: FloatArray, weight: FloatArray | None) -> bool:
    """Tell whether the columns that say most about y are correlated more than chance would have it.

    Columns that were chosen by what they have in common with y have that in common with each other: as much
    as the best of so many have by chance is no surprise.
    """
    n, d = view.shape
    share = shares_of(n, weight)
    targets = y.reshape(n, -1) - share @ y.reshape(n, -1)
    pull = view.rmatvec((targets.T * share).T)
    chosen = most_telling(pull)
    covariance, along = view.gram(chosen, share), pull.reshape(len(pull), -1)[chosen]
    sd = np.sqrt(np.diag(covariance))
    if len(sd) < 2 or not (sd > 0).all():
        return len(sd) > 1
    pairs = np.triu_indices(len(sd), 1)
    found = np.square((covariance / np.outer(sd, sd))[pairs])
    # Of independent columns the mean square is 1/n, give or take √(2 / number of pairs) of it, and the
    # largest of d with y is about 2 log(2d) / n.
    chance = 1 / float(n if weight is None else weight.sum())
    scaled = along / sd[:, None]
    explained = np.einsum("ik,kl,il->i", scaled, np.linalg.pinv((targets.T * share) @ targets), scaled)
    by_choice = np.minimum(explained, 2 * np.log(2 * d) * chance)
    expected = chance + np.outer(by_choice, by_choice)[pairs].mean()
    return bool(found.mean() > (1 + LEAST_SURPRISE * np.sqrt(2 / len(found))) * expected)


def most_telling(pull: FloatArray) -> NDArray[np.intp]:
    """Return the columns that say most about y, by their covariances with it: one or one for each output."""
    size = np.sqrt(np.square(pull.reshape(len(pull), -1)).sum(axis=1))
    which = np.sort(np.argsort(-size, kind="stable")[:_LOOKED_AT])
    telling: NDArray[np.intp] = which[size[which] > 0]
    return telling


def warn_if_not_settled(plan: Plan, result: SolverResult, stacklevel: int) -> None:
    """Warn where exact steps have come to the most of them."""
    if result.status is Status.MAX_ITER:
        warnings.warn(
            f"The exact steps have not settled after max_iter={plan.max_iter} of them: the index still "
            f"turned by {result.history['change'][-1]:.2g} in the last one. Allow for more, or use a larger "
            "tol.",
            ConvergenceWarning,
            stacklevel=stacklevel + 1,
        )


def solve_exactly(
    plan: Plan,
    view: View,
    y: FloatArray,
    weight: FloatArray | None,
    progress: Any = None,
    checkpoint: Any = None,
) -> SolverResult:
    """Solve one problem by exact steps, and warn where they have not settled."""
    shape, back = plan.structure.separable(view.shape[1]), None
    if plan.penalty > 0 or plan.n_atoms is not None:
        method: Any = (_soft if plan.penalty > 0 else _hard)(plan, view, y, weight)
    elif shape is not None and shape.is_constrained:
        method = Exact(view, y, plan.simplicity, plan.fitter, sample_weight=weight)
    else:
        method, back = _dense(plan, view, y, weight)
    result = drive(
        method, max_iter=plan.max_iter, tol=plan.tol, on_iteration=progress, checkpoint=checkpoint
    )  # fmt: skip
    warn_if_not_settled(plan, result, stacklevel=5)
    return result if back is None else replace(result, best=_in_coordinates(result.best, back, view, weight))


def _in_coordinates(best: Iterate, back: Any, view: View, weight: FloatArray | None) -> Iterate:
    """Return an iterate of centred rows as one of the rows themselves."""
    coef = back(best.coef)
    index = view.matvec(coef)
    centre = float(np.average(index - best.index, weights=weight))
    return replace(best, coef=coef, index=index, link=best.link.shift(centre))


def _soft(plan: Plan, view: View, y: FloatArray, weight: FloatArray | None) -> Exact:
    """Return exact steps at a penalty, started from those at stronger ones."""
    shape = None
    if plan.n_atoms is not None:
        path = SoftPath(view, y, plan.simplicity, plan.fitter, weight, plan.n_atoms)
        fit = path.best_fit(plan.n_atoms)
        shape = path.method.shape if fit is None else path.method.shape.only(fit.support)
    way = Exact(
        view, y, plan.simplicity, plan.fitter, shape=shape, sample_weight=weight, inner_tol=PATH_TOL,
        max_sweeps=PATH_SWEEPS,
    )  # fmt: skip
    largest = way.largest_penalty()
    levels = largest * np.geomspace(1, plan.penalty, _LEVELS_BETWEEN + 1)[1:]
    start = list(exact_path(way, levels.tolist()))[-1]
    return Exact(
        view, y, plan.simplicity, plan.fitter, penalty=plan.penalty, largest_penalty=largest,
        sample_weight=weight, start=start if start.coef.any() else None, shape=shape,
    )  # fmt: skip


def _hard(plan: Plan, view: View, y: FloatArray, weight: FloatArray | None) -> Exact:
    """Return exact steps within the support that few atoms have."""
    n_atoms = plan.n_atoms or 1
    path = SoftPath(view, y, plan.simplicity, plan.fitter, weight, n_atoms)
    return within_fit(path, path.best_fit(n_atoms), plan.simplicity)


def _dense(plan: Plan, view: View, y: FloatArray, weight: FloatArray | None) -> tuple[RidgeSteps, Any]:
    """Return the steps of a ridge, and what brings its coordinates back to those of the view."""
    rotated = rotate(view, shares_of(view.shape[0], weight))
    rows = DenseDesign(np.asfortranarray(rotated.rows))
    return RidgeSteps(
        rows, y, plan.simplicity, plan.fitter, sample_weight=weight, rotated=rotated
    ), rotated.coef
