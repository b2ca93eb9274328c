"""What is made of the candidates of a search over blocks: cuts of their averages, w, its link, the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..design.many import NO_FOLD, points_of
from ..link import Points
from ..solvers import Iterate, SolverResult, Status
from ..solvers.many import Mover
from ..solvers.result import FloatArray, as_history, squared
from .bank import Bank, Scores
from .block_models import Candidate, CellModels, PlainModels, as_bank
from .chosen import Chosen, Outcome, heaviest, search_record, without_rare
from .cross_fit import line_length, spread_of, with_blend, with_cross_fitted_link
from .cut import ROWS_TO_REFIT, Cut, Cutter, sizes_below
from .grid import Cell, listed
from .memory import with_final_links
from .record import Fitted, as_fitted
from .search import most_atoms, second_weights, single_weights
from .whole import RECORDED

# Readings that refits of cuts take at the most, and models of all rows; bins of the last reading.
_MOST_FOR_CUTS, _MOST_FOR_ALL, _LAST_BINS = 4, 6, 4096
# Readings after the first stage, with the last one.
MOST_LATER = _MOST_FOR_CUTS + _MOST_FOR_ALL + 1


def second_stage(
    search: Any, sizes: list[int] | None, bank: Bank, weights: FloatArray, first: Sequence[Scores]
) -> Chosen:
    """Cut the averages of all folds to few atoms, where held-out rows are for it."""
    plan, settings, data = search.plan, search.settings, search.data
    if sizes is not None and not sizes:
        return Chosen(bank, first, weights, None)
    averages = [bank.average(f, weights, data.n_features) for f in range(len(data.used))]
    tried = sizes
    if tried is None:
        tried = sizes_below(max(most_atoms(plan, average, data.n_outputs) for average in averages))
    keeps_all = sizes is None and not (settings.penalty is not None and not len(listed(settings.penalty)))
    cutter = Cutter(plan, np.sqrt(data.spread.variance), tried, keeps_all, data.n_outputs)
    keys, candidates = search.promising(*_cuts(PlainModels(plan, data), cutter, averages, data.used))
    if not keys:
        return Chosen(bank, first, weights, None)
    scores = search.advance(candidates, _MOST_FOR_CUTS)
    cuts = _with_votes(as_bank(keys, candidates, plan), bank, weights, data.n_features)
    if settings.rule == "average" and sizes is None:
        second = np.column_stack([second_weights(one, cuts, data) for one in scores])
    else:
        every = np.ones(len(keys), dtype=bool)
        second = np.column_stack(
            [single_weights(settings.rule, one, cuts.n_atoms(), every) for one in scores]
        )
    return Chosen(cuts, scores, second, cutter, averages, is_limited=sizes is not None)


def _cuts(
    plain: PlainModels, cutter: Cutter, averages: Sequence[FloatArray], used: Sequence[int]
) -> tuple[list[Cut], list[Candidate]]:
    """Return the cuts of the averages of all folds, as they are and fitted anew."""
    outputs = range(averages[0].shape[1])
    found: dict[Cut, Candidate] = {}
    if cutter.keeps_all:
        found[Cut(None, 0.0)] = [
            [plain.model(held, k, w[:, k]) for held, w in zip(used, averages, strict=True)] for k in outputs
        ]
    for size in cutter.sizes:
        kept = [cutter.project(average, size) for average in averages]
        if not all(w.any(axis=0).all() for w in kept):
            continue
        found[Cut(size, 0.0)] = [
            [plain.model(held, k, w[:, k]) for held, w in zip(used, kept, strict=True)] for k in outputs
        ]
        most = max(np.count_nonzero(w.any(axis=1)) for w in kept)
        if cutter.refits and most * ROWS_TO_REFIT <= plain.data.n_rows:
            found[Cut(size, 1.0)] = [
                [plain.refit(held, k, w[:, k]) for held, w in zip(used, kept, strict=True)] for k in outputs
            ]
    return list(found), list(found.values())


def _with_votes(cuts: Bank, bank: Bank, weights: FloatArray, n_features: int) -> Bank:
    """Return the cuts with what the models of the uncut averages said of each feature."""
    if Cut(None, 0.0) not in cuts.keys:
        return cuts
    at, models = cuts.keys.index(Cut(None, 0.0)), []
    for fold, own in enumerate(cuts.models):
        votes = bank.votes_of(fold, weights, n_features).reshape(-1)
        whole = replace(own[at], votes=votes[own[at].positions])
        models.append([*own[:at], whole, *own[at + 1 :]])
    return Bank(cuts.keys, models, cuts.held_out)


# ---------------------------------------------------------------- w


def finish(
    search: Any,
    cells: Sequence[Cell],
    makers: Sequence[CellModels],
    bank: Bank,
    first: Sequence[Scores],
    weights: FloatArray,
    chosen: Chosen,
) -> Fitted:
    """Return the model with its link and the record of the search."""
    plan, settings, data = search.plan, search.settings, search.data
    best = bank.keys[heaviest(first, weights)]
    votes = chosen.bank.votes(chosen.weights, data.n_features)
    coef = _coef(search, makers, bank, weights, chosen)
    if settings.rule == "average" and not chosen.is_limited:
        coef = without_rare(coef, votes, plan, data.n_outputs)
    paths = [_line_path(makers[best.cell], k) for k in range(data.n_outputs)]
    finals = _last_reading(search, chosen, coef)
    results = [
        _with_link(search, _result(paths[k], best.level, coef[:, k]), k, finals[k])
        for k in range(data.n_outputs)
    ]
    found = {
        **search_record(Outcome(plan, cells, np.zeros((0, 0)), bank, first, weights, chosen, np.nan)),
        "path_": _path_record(cells[best.cell], paths, data.unit),
        "stability_": votes[:, 0] if votes.shape[1] == 1 else votes,
        "dense_": False,
        "n_readings_": search.readings.n_readings,
    }
    if plan.is_classifier:
        found["coupled_"] = False  # classes are learned one against the rest
    return as_fitted(results, lambda w: w, data.unit, found)


def _coef(
    search: Any, makers: Sequence[CellModels], bank: Bank, weights: FloatArray, chosen: Chosen
) -> FloatArray:
    """Return w in the units of X: the mean over folds, or learned once more from all rows."""
    data = search.data
    if search.settings.from_all:
        average = _average_of_all(search, makers, bank, weights)
    elif chosen.is_limited:
        average = np.mean(chosen.averages, axis=0)
    else:
        return chosen.bank.mean(chosen.weights, data.n_features)
    if chosen.cutter is None:
        return average
    keys, models = _cuts(PlainModels(search.plan, data), chosen.cutter, [average], [NO_FOLD])
    of_all = dict(zip(keys, models, strict=True))
    used = [k for k, key in enumerate(chosen.bank.keys) if chosen.weights[k].any() and key in of_all]
    picked = [of_all[chosen.bank.keys[k]] for k in used]
    return _mean_of(search, picked, chosen.weights[used]) if used else average


def _average_of_all(search: Any, makers: Sequence[CellModels], bank: Bank, weights: FloatArray) -> FloatArray:
    """Return the weighted mean of the candidates, learned from all rows."""
    outputs = range(search.data.n_outputs)
    used = np.flatnonzero(weights.any(axis=1))
    paths = {
        number: [makers[number].path(NO_FOLD, k) for k in outputs]
        for number in {bank.keys[c].cell for c in used}
    }
    picked = [[[paths[bank.keys[c].cell][k][bank.keys[c].level]] for k in outputs] for c in used]
    return _mean_of(search, picked, weights[used])


def _mean_of(search: Any, candidates: Sequence[Candidate], weights: FloatArray) -> FloatArray:
    """Return the mean of models of all rows, once they stand still."""
    moving = [one for candidate in candidates for by_fold in candidate for one in by_fold if not one.is_still]
    for _ in range(_MOST_FOR_ALL):
        if not moving:
            break
        search.look(moving)
        for one in moving:
            one.advance()
        moving = [one for one in moving if not one.is_still]
    bank = as_bank(range(len(candidates)), candidates, search.plan)
    return bank.average(0, weights / weights.sum(axis=0), search.data.n_features)


# ---------------------------------------------------------------- its link


def _last_reading(search: Any, chosen: Chosen, coef: FloatArray) -> list[tuple[Points, Mover]]:
    """Return by output the held-out bins of what was chosen, and w with the bins of all rows."""
    data, plain = search.data, PlainModels(search.plan, search.data)
    averages = [chosen.bank.average(f, chosen.weights, data.n_features) for f in range(len(data.used))]
    held = [
        [plain.model(fold, k, w[:, k]) for fold, w in zip(data.used, averages, strict=True)]
        for k in range(data.n_outputs)
    ]
    whole = [plain.model(NO_FOLD, k, coef[:, k]) for k in range(data.n_outputs)]
    search.look([*(one for by_fold in held for one in by_fold), *whole], False, _LAST_BINS)
    pooled = [_pooled(by_fold) for by_fold in held]
    if not search.plan.is_classifier:
        pooled = [_as_spread(points, data, k) for k, points in enumerate(pooled)]
    return list(zip(pooled, whole, strict=True))


def _pooled(movers: Sequence[Mover]) -> Points:
    """Return the held-out bins of all folds, at the spread that the averages have."""
    parts = []
    for one in movers:
        assert one.bins is not None
        parts.append(points_of(one.bins[1]).rescale(one.sd))
    index, y, weight = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("index", "y", "weight")
    )
    return Points(index, y, weight)


def _as_spread(points: Points, data: Any, output: int) -> Points:
    """Return two rows in place of each bin, as far apart as rows are on average: errors are then theirs."""
    assert points.weight is not None
    total, mean = points.weight.sum(), data.whole.y_mean[output]
    between = float(points.weight @ np.square(points.y - mean)) / total
    within = np.sqrt(max(data.whole.y_variance[output] - between, 0.0))
    y = np.ravel(np.column_stack([points.y - within, points.y + within]))
    return Points(np.repeat(points.index, 2), y, np.repeat(points.weight / 2, 2))


def _with_link(search: Any, result: SolverResult, output: int, final: tuple[Points, Mover]) -> SolverResult:
    """Return the result with its final link, and w at the length that goes with it."""
    plan, (held_out, whole) = search.plan, final
    points = whole.points
    mean = float(search.data.whole.mean @ result.best.coef)
    points = Points(points.index + mean, points.y, points.weight)
    fitter = plan.fitter
    factor = line_length(points.index, points.y, fitter, points.weight) if fitter.is_learned else 1.0
    link, _ = fitter.fit(factor * points.index, points.y, points.weight)
    best = replace(result.best, points=points.rescale(factor)).rescaled(factor, link)
    result = replace(result, best=best)
    if not fitter.is_learned:
        return result
    if not search.settings.held_out_link:
        return with_final_links(plan, [result], np.empty((0, 1)), None, None)[0]
    sd = whole.sd if whole.w.any() else 0.0
    if plan.link_is_free:
        centre = factor * mean, factor * sd
        best = with_blend(best, plan, centre, held_out.y, held_out.weight, held_out.index)
        return replace(result, best=best)
    return replace(result, best=_cross_fitted(best, plan, held_out, factor * mean, factor * sd))


def _cross_fitted(best: Iterate, plan: Any, held_out: Points, mean: float, sd: float) -> Iterate:
    own_mean, own_sd = spread_of(held_out.index, held_out.weight)
    index = mean + sd * (held_out.index - own_mean) / (own_sd or 1.0)  # of the mean and spread that w has
    return with_cross_fitted_link(
        replace(best, index=index),
        held_out.y,
        plan.fitter,
        plan.final_fitter,
        held_out.weight,
        held_out.index,
    )


# ---------------------------------------------------------------- the path that is shown


def _line_path(maker: CellModels, output: int) -> list[Iterate]:
    """Return the levels of a path on all rows, with a straight line for a link: from the moments."""
    penalties = [level.penalty * maker.largest(output) for level in maker.cell.levels]
    problem, path = maker.problem(NO_FOLD, output, 0.0), list[Iterate]()
    for number, (w, explained) in enumerate(problem.line_path(penalties)):
        simplicity = replace(maker.simplicity, penalty=penalties[number])
        mse = problem.y_variance * (1 - explained)
        coef, atoms = maker.view.to_features(w), simplicity.count_atoms(w)
        change = 1.0 if not path or not path[-1].coef.any() else _turn(path[-1].coef, coef)
        path.append(
            Iterate(number, coef, np.zeros(0), None, simplicity.objective(w, mse), mse, atoms, 1.0, change)
        )
    return path


def _turn(w: FloatArray, v: FloatArray) -> float:
    cosine = float(w @ v) / float(np.linalg.norm(w) * np.linalg.norm(v) or 1.0)
    return float(np.sqrt(max(1 - cosine**2, 0.0)))


def _result(path: Sequence[Iterate], level: int, coef: FloatArray) -> SolverResult:
    """Return a solver's result with these coefficients, and the levels up to that one as its history."""
    records = [[float(getattr(one, name)) for name in RECORDED] for one in path[: level + 1]]
    best = replace(path[level], coef=coef)
    return SolverResult(best, Status.CHOSEN, as_history(records, RECORDED), len(records))


def _path_record(cell: Cell, paths: Sequence[Sequence[Iterate]], unit: FloatArray) -> dict[str, Any]:
    coefs = np.array([[u * one.coef for one in path] for u, path in zip(unit, paths, strict=True)])
    mse = np.array([[squared(u) * one.mse for one in path] for u, path in zip(unit, paths, strict=True)])
    return {
        "n_atoms": np.array([level.n_atoms for level in cell.levels], dtype=np.float64),
        "penalty": np.array([level.penalty for level in cell.levels]),
        "coefs": coefs[0] if len(unit) == 1 else coefs.transpose(1, 2, 0),
        "mse": mse.mean(axis=0),
    }
