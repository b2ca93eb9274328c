"""Scores of predictions with their standard errors: what every row adds to a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from ..solvers.result import FloatArray

_CERTAIN = 1e-15
# Below this share of the largest squared distance the rows that count have no spread to explain.
_NO_SPREAD = 1e-12


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that predictions are scored on.

    Attributes
    ----------
    happened : array of shape (n_rows, n_outputs)
        Numbers, or 1 for what came true.
    kind : {"regression", "binary", "multilabel", "multiclass"}
    weight : array of shape (n_rows,)
        How many rows each one counts for.
    groups : array of shape (n_rows,) or None
        Rows of the same group are not independent of each other: the errors allow for that.
    """

    happened: FloatArray
    kind: str
    weight: FloatArray
    groups: Any = None

    def mean(self, parts: FloatArray) -> float:
        return float(np.average(parts, weights=self.weight))

    def error(self, parts: FloatArray) -> float:
        """Return the standard error of the mean of what every row adds."""
        total = self.weight.sum()
        centred = parts - self.mean(parts)
        unit = float(np.max(np.abs(centred), initial=0.0)) or 1.0  # squares of these are numbers
        centred = centred / unit
        if self.groups is not None:
            sums = np.bincount(np.unique(self.groups, return_inverse=True)[1], self.weight * centred)
            n = len(sums)
            return unit * float(np.sqrt(np.sum(np.square(sums)) * n / max(n - 1, 1)) / total)
        return unit * float(np.sqrt(self.weight @ np.square(centred) / total / max(total - 1, 1)))


def score_parts(value: FloatArray, rank: FloatArray, rows: Rows) -> dict[str, FloatArray]:
    """Return what every row adds to each score: its mean is the score, its spread gives the standard error.

    For means over rows (log-loss, Brier score, accuracy) these are the losses; for others the first order of
    what a row changes (of AUC, the part of DeLong, DeLong & Clarke-Pearson 1988). Of several outputs the
    mean.

    Parameters
    ----------
    value : array of shape (n_rows, n_outputs)
        The predictions: numbers, or probabilities.
    rank : array of shape (n_rows, n_outputs)
        What to rank by.
    rows : Rows
    """
    if rows.kind == "regression":
        return _of_numbers(value, rows)
    happened, found = rows.happened, {}
    both = [k for k in range(happened.shape[1]) if 0 < rows.mean(happened[:, k]) < 1]
    if both:
        areas = [_area_parts(rank[:, k], happened[:, k] > 0.5, rows.weight) for k in both]
        found["AUC"] = np.mean(areas, axis=0)
    square = np.square(value - happened)
    if rows.kind == "multiclass":
        right = value.argmax(axis=1) == happened.argmax(axis=1)
        p = np.clip(np.where(happened > 0.5, value, 0).sum(axis=1), _CERTAIN, 1)
        loss, brier = -np.log(p), square.sum(axis=1) / 2
    else:
        right = ((value > 0.5) == (happened > 0.5)).mean(axis=1)
        p = np.clip(np.where(happened > 0.5, value, 1 - value), _CERTAIN, 1)
        loss, brier = -np.log(p).mean(axis=1), square.mean(axis=1)
    return found | {"accuracy": right.astype(np.float64), "log-loss": loss, "Brier score": brier}


def _of_numbers(value: FloatArray, rows: Rows) -> dict[str, FloatArray]:
    share, error = rows.weight / rows.weight.sum(), value - rows.happened
    gap = rows.happened - share @ rows.happened
    found = {}
    if (np.ptp(rows.happened, axis=0) > 0).all():
        unit = np.maximum(np.abs(error), np.abs(gap)).max(axis=0)  # squares in units of it are numbers
        square, centred = np.square(error / unit), np.square(gap / unit)
        a, b = share @ square, share @ centred
        if (b > _NO_SPREAD).all():
            found["R²"] = np.mean(1 - square / b + a / b**2 * (centred - b), axis=1)
    largest = float(np.max(np.abs(error), initial=0.0))
    if largest > 0:
        square = np.square(error / largest).mean(axis=1)
        mse = float(share @ square)
        found["RMSE"] = largest * (np.sqrt(mse) + (square - mse) / (2 * np.sqrt(mse)))
    return found | {"mean absolute error": np.abs(error).mean(axis=1)}


def _area_parts(rank: FloatArray, positive: Any, weight: FloatArray) -> FloatArray:
    """Return what every row adds to the area under the ROC curve: which share of others it is right about."""
    above = _share_below(rank[positive], rank[~positive], weight[~positive])
    below = 1 - _share_below(rank[~positive], rank[positive], weight[positive])
    share = weight / weight.sum()
    p, area = float(share[positive].sum()), float(np.average(above, weights=weight[positive]))
    parts = np.empty(len(rank))
    parts[positive] = area + (above - area) / p
    parts[~positive] = area + (below - area) / (1 - p)
    return parts


def _share_below(values: FloatArray, others: FloatArray, weight: FloatArray) -> FloatArray:
    """Return for each value the share of the others below it, equal ones by half."""
    order = np.argsort(others, kind="stable")
    total = np.append(0.0, np.cumsum(weight[order]))
    sides = [total[np.searchsorted(others[order], values, side=side)] for side in ("left", "right")]
    share: FloatArray = (sides[0] + sides[1]) / (2 * total[-1])
    return share


def compare_scores(
    ours: dict[str, FloatArray], others: dict[str, FloatArray], rows: Rows
) -> dict[str, dict[str, float]]:
    """Return by measure the score and its standard error, the other's, and the paired gain with its own.

    The gain is positive where ours is better; where the other has no such score it is left out.
    """
    found = {}
    for name, parts in ours.items():
        found[name] = {"score": rows.mean(parts), "error": rows.error(parts)}
        if name in others:
            sign = 1 if HIGHER_IS_BETTER[name] else -1
            gap = sign * (parts - others[name])
            found[name] |= {
                "other": rows.mean(others[name]),
                "gain": rows.mean(gap),
                "gain_error": rows.error(gap),
            }
    return found


# Measures, and whether more is better.
HIGHER_IS_BETTER = {
    "AUC": True, "average precision": True, "accuracy": True, "log-loss": False, "Brier score": False,
    "R²": True, "RMSE": False, "mean absolute error": False, "rank correlation": True,
}  # fmt: skip


def p_value(value: FloatArray, null: FloatArray, rows: Rows) -> float:
    """Return how likely predictions go with what happens as well as these do, where nothing predicts it.

    By the covariance of the two over held-out rows, both taken from the mean of the rows that the prediction
    was learned from. Where nothing predicts, the prediction of one row goes by the outcome of another as much
    as the other way round: the covariance is a sum over pairs of rows in which each pair counts twice, and
    its variance twice what the rows would have if they were independent. One-sided. It finds weak signals
    that losses do not, which also ask whether predictions are of the right size.
    """
    spread = np.average(np.square(rows.happened - null), axis=0, weights=rows.weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = (rows.happened - null) * (value - null) / spread
    parts = np.where(spread > 0, parts, 0.0).mean(axis=1)
    gain, error = rows.mean(parts), rows.error(parts)
    if error > 0:
        return float(norm.sf(gain / (np.sqrt(2) * error)))
    return 0.0 if gain > 0 else 1.0
