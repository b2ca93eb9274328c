"""What a search says of rows that had no part in it: neither in w, nor in its choice, nor in its link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..link import Line, Sigmoid, fit_blend
from ..link.softmax import Softmax
from ..solvers import SolverResult
from ..solvers.result import FloatArray
from .cross_fit import common_spread, drawn_in, spread_of, trust_in
from .plan import CERTAIN, Plan

if TYPE_CHECKING:
    from .chosen import Chosen


@dataclass(frozen=True, eq=False)
class Unseen:
    """Predictions of held-out rows in the units of the solver; NaN where a row was never held out.

    Attributes
    ----------
    index : array of shape (n_rows, n_outputs)
        In the units of the final index.
    fitted : array of shape (n_rows, n_outputs)
    null : array of shape (n_rows, n_outputs)
        What knows only the mean of the other rows.
    """

    index: FloatArray
    fitted: FloatArray
    null: FloatArray


def predict_unseen(
    plan: Plan,
    data: Any,
    splits: Sequence[Any],
    chosen: Chosen,
    results: Sequence[SolverResult],
    held_out_link: bool,
) -> Unseen:
    """Return what the folds say of the rows they lack, weighed and linked without them.

    The candidates that the model is an average of are weighed by the losses of held-out rows, and its link is
    fitted to them; a row's own loss and outcome would make its prediction look better than those of new rows
    are. So every split is left out of both once more, which takes no fit of w.
    """
    n, n_outputs = data.Y.shape
    sums, times = np.zeros((3, n, n_outputs)), np.zeros(n)
    weight = np.ones(n) if data.weight is None else data.weight
    ever = np.isfinite(chosen.bank.held_out[0, :, 0])
    is_blended = plan.link_is_free and plan.fitter.is_learned and held_out_link
    for number, (_, test) in enumerate(splits):
        test = np.flatnonzero(test) if np.asarray(test).dtype == bool else np.asarray(test)
        others = ever & (weight > 0)
        others[test] = False
        if not others.any():
            others = ever & (weight > 0)
        assert chosen.weigh is not None  # of rows in memory
        by = [chosen.weigh(k, one.without(number, test)) for k, one in enumerate(chosen.scores)]
        index = chosen.bank.mean_held_out(np.column_stack(by))
        if plan.is_together:
            placed, fitted = _predict_together(data, results, index, others, test)
            null = np.average(data.Y[others], axis=0, weights=weight[others])
            sums[:, test] += np.stack([placed, fitted, np.broadcast_to(null, fitted.shape)])
            times[test] += 1
            continue
        for k in range(n_outputs):
            placed, fitted = _predict(plan, data, results[k], index[:, k], k, others, test, is_blended)
            sums[0, test, k] += placed
            sums[1, test, k] += fitted
            sums[2, test, k] += np.average(data.Y[others, k], weights=weight[others])
        times[test] += 1
    with np.errstate(invalid="ignore"):
        return Unseen(*(sums / np.where(times > 0, times, np.nan)[:, None]))


def _predict(
    plan: Plan,
    data: Any,
    result: SolverResult,
    index: FloatArray,
    k: int,
    others: Any,
    test: Any,
    blended: bool,
) -> tuple[FloatArray, FloatArray]:
    """Return index and prediction of held-out rows, by a link that is fitted to the others."""
    best, part = result.best, None if data.weight is None else data.weight[others]
    mean, sd = spread_of(best.index, data.weight)
    if not plan.fitter.is_learned:
        return index[test], np.asarray(best.link(index[test]))
    if not blended:
        placed = mean + sd * index[test]
        return placed, np.asarray(best.link(placed))
    y = np.ascontiguousarray(data.Y[others, k])
    _, spread = spread_of(index[others], part)
    if not (spread > 0 and sd > 0):
        return np.full(len(test), mean), np.full(len(test), np.average(y, weights=part))
    shape = Sigmoid() if plan.is_classifier else Line()
    link = fit_blend(index[others] / spread, y, part, shape, plan.fitter.is_bounded).link
    link = drawn_in(link, trust_in(index[others], y, part), float(np.average(y, weights=part)))
    if plan.is_classifier:
        link = link.clip(CERTAIN, 1 - CERTAIN)
    return mean + sd * index[test] / spread, link(index[test] / spread)


def _predict_together(
    data: Any, results: Sequence[SolverResult], index: FloatArray, others: Any, test: Any
) -> tuple[FloatArray, FloatArray]:
    """Return the same of classes that are one problem, for all of them."""
    weight = np.ones(len(data.Y)) if data.weight is None else data.weight
    final = np.column_stack([one.best.index for one in results])
    means = np.average(final, axis=0, weights=weight)
    sd, spread = common_spread(final, weight), common_spread(index[others], weight[others])
    if not (sd > 0 and spread > 0):
        null = np.average(data.Y[others], axis=0, weights=weight[others])
        return np.tile(means, (len(test), 1)), np.tile(null, (len(test), 1))
    shape, scaled = Softmax(), index / spread
    parameters = shape.fit(scaled[None, others], data.Y[others], weight[others])
    return means + sd * scaled[test], shape.values(parameters, scaled[None, test])[0]
