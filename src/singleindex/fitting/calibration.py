"""What held-out rows say of a search: scores with their errors, and how far to trust one prediction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..link.venn_abers import fit_venn_abers
from ..solvers.result import FloatArray
from .conformal import calibrate_interval, quantiles_of
from .plan import CERTAIN
from .record import Targets
from .row_scores import Rows, compare_scores, p_value, score_parts
from .unseen import Unseen


def held_out_record(
    kind: str, data: Any, targets: Targets, unseen: Unseen, uncut: Unseen, groups: Any
) -> dict[str, Any]:
    """Return `held_out_scores_`, `p_value_` and `calibration_` of a search, in the units of y.

    The test goes by the averages before they were cut: what is cut was chosen by all held-out rows, the one
    that is predicted among them, which with many columns finds a little too much in noise.
    """
    weight = np.ones(len(data.Y)) if data.weight is None else data.weight
    seen = np.isfinite(unseen.fitted).all(axis=1) & (weight > 0)
    index, fitted, null, Y = (values[seen] for values in (unseen.index, unseen.fitted, unseen.null, data.Y))
    tested = uncut.fitted[seen]
    if kind == "multiclass":
        fitted, tested, null = (_summing_to_one(p) for p in (fitted, tested, null))
    rank = fitted if kind == "multiclass" else index
    by_solver = Rows(Y, kind, weight[seen], None if groups is None else np.asarray(groups)[seen])
    unit = targets.unit
    rows = replace(by_solver, happened=unit * Y)
    ours, others = (
        score_parts(unit * value, order, rows) for value, order in ((fitted, rank), (null, 0 * rank))
    )
    return {
        "held_out_scores_": compare_scores(ours, others, rows),
        "p_value_": p_value(tested, null, by_solver),
        "calibration_": [
            _in_units(part, u)
            for part, u in zip(_calibration(kind, index, fitted, Y, weight[seen]), unit, strict=True)
        ],
    }


def _summing_to_one(p: FloatArray) -> FloatArray:
    p = np.clip(p, CERTAIN, 1)
    shares: FloatArray = p / p.sum(axis=1, keepdims=True)
    return shares


def _in_units(calibration: dict[str, FloatArray], unit: float) -> dict[str, FloatArray]:
    """Return what is measured along the index, or in y, in other units."""
    measured = ("index", "spread", "cuts")
    return {name: unit * values if name in measured else values for name, values in calibration.items()}


def _calibration(
    kind: str, index: FloatArray, fitted: FloatArray, Y: FloatArray, weight: FloatArray
) -> list[dict[str, FloatArray]]:
    """Return by output what is needed for intervals of numbers, and for ranges and sets of classes.

    Of classes, the quantiles are those of how improbable what came true was held, over all classes.
    """
    outputs = range(Y.shape[1])
    if kind == "regression":
        return [calibrate_interval(index[:, k], Y[:, k] - fitted[:, k], weight) for k in outputs]
    doubt = 1 - (fitted * Y).sum(axis=1) if kind == "multiclass" else np.abs(Y - fitted)
    # The index of one of several classes alone does not tell its probability.
    rank = fitted if kind == "multiclass" else index
    found = []
    for k in outputs:
        cuts, low, high = fit_venn_abers(rank[:, k], Y[:, k], weight)
        own = doubt if doubt.ndim == 1 else doubt[:, k]
        found.append({"cuts": cuts, "low": low, "high": high, **quantiles_of(own, weight)})
    return found
