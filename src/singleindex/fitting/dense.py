"""Dense candidates of a search: ridges, which are taken where they win beyond doubt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..solvers.result import FloatArray
from ..solvers.ridge import ridge_path, rotate
from ..solvers.together import ridge_path_together
from .bank import Bank, Scores, common_bank, joined
from .extremes import Spread
from .grid import RIDGE, Cell
from .judge import Judge
from .plan import Plan
from .trace import Fold, Key, Model, as_model, by_columns, merged, on_split

# Folds on which ridges are tried before the others are asked.
_TRIAL = 3
# Standard errors of the difference by which a dense model has to be better than every sparse one, unless
# there are so many rows for every column.
_BEYOND_DOUBT, _MANY_ROWS = 2.0, 2
# Rows, or columns if there are fewer, beyond which they are not tried: eigenvectors would cost too much.
_MOST_DIRECTIONS = 600


def with_dense(
    plan: Plan, data: Any, splits: Sequence[Any], cells: Sequence[Cell], bank: Bank, judge: Judge,
    *, is_asked: bool,
) -> Bank:  # fmt: skip
    """Return the candidates with ridges among them, where these are asked for or of any promise."""
    ridges = [k for k, cell in enumerate(cells) if cell.method == RIDGE]
    n_trial = min(_TRIAL, len(splits))
    if not ridges or min(data.design.shape) > _MOST_DIRECTIONS:
        return bank

    def trace(fold: Fold) -> dict[Key, Model]:
        return trace_ridges(plan, cells, ridges, data.spread, fold)

    found = [on_split(data, split, trace) for split in splits[:n_trial]]
    trial = common_bank(found, len(data.Y), data.n_outputs)
    rows = np.isfinite(trial.held_out[:1])
    if not len(trial.keys):
        return bank
    is_sure = is_asked or has_many_rows(data)
    if not (is_sure or _is_promising(judge, trial.held_out, np.where(rows, bank.held_out, np.nan))):
        return bank
    found += [on_split(data, split, trace) for split in splits[n_trial:]]
    return joined(bank, common_bank(found, len(data.Y), data.n_outputs))


def trace_ridges(
    plan: Plan, cells: Sequence[Cell], ridges: Sequence[int], spread: Spread, fold: Fold
) -> dict[Key, Model]:
    """Return the models of paths of ridges on some rows."""
    found: dict[Key, Model] = {}
    design, share = by_columns(fold.X), fold.share
    for number in ridges:
        cell = cells[number]
        view, _ = cell.plan(plan).view(design, spread)
        rotated = rotate(view, share)
        if not len(rotated.variance):
            continue
        strengths = [level.ridge * cell.fitter.slope * rotated.variance[-1] for level in cell.levels]
        if plan.is_together:
            for level, (c, _) in enumerate(ridge_path_together(rotated, fold.Y, share, strengths)):
                coef = np.column_stack([view.to_features(rotated.coef(one)) for one in c.T])
                model = as_model(
                    coef, design.matvec(coef), fold.weight, float(len(coef)), True, is_together=True
                )
                if model is not None:
                    found[Key(number, level, 0.0)] = model
            continue
        paths = []
        for y in fold.Y.T:
            path = {}
            for level, (c, _) in enumerate(
                ridge_path(rotated, np.ascontiguousarray(y), share, cell.fitter, strengths)
            ):
                coef = view.to_features(rotated.coef(c))[:, None]
                n_atoms = plan.structure.count_atoms(coef if plan.structure.joint else coef[:, 0])
                # Not the index along the path, which is that of centred columns.
                model = as_model(coef, design.matvec(coef), fold.weight, n_atoms, plan.fitter.is_learned)
                if model is not None:
                    path[level, 0.0] = model
            paths.append(path)
        found |= {Key(number, *key): model for key, model in merged(paths).items()}
    return found


def has_many_rows(data: Any) -> bool:
    """Tell whether there are rows enough for every feature to have its coefficient: then it may."""
    return bool(data.n_rows >= _MANY_ROWS * data.n_features)


def _is_promising(judge: Judge, dense: FloatArray, others: FloatArray) -> bool:
    """Tell whether the best dense candidate is ahead of all others on rows that both have an index for."""
    best = [np.mean([np.nanmin(one.mean) for one in judge.scores(held_out)]) for held_out in (dense, others)]
    return bool(best[0] < best[1])


def dense_win(scores: Scores, is_dense: NDArray[np.bool_]) -> bool:
    """Tell whether a dense candidate is better than every other beyond doubt."""
    if not is_dense.any() or is_dense.all():
        return bool(is_dense.all())
    mean = scores.mean
    dense = int(np.flatnonzero(is_dense)[np.nanargmin(mean[is_dense])])
    other = int(np.flatnonzero(~is_dense)[np.nanargmin(mean[~is_dense])])
    error = float(scores.error_of(scores.losses[other] - scores.losses[dense]))
    return bool(mean[dense] + _BEYOND_DOUBT * error < mean[other])
