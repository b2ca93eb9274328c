"""The chosen model of a search: its w, its link, and the record of how it was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ..solvers import Iterate, SolverResult
from ..solvers.result import FloatArray
from .bank import Bank, Scores
from .calibration import held_out_record
from .cross_fit import line_length, with_blended_link
from .cut import Cutter
from .dense import trace_ridges
from .extremes import check_kept
from .fold_paths import trace_cells
from .grid import EXACT, GRADIENT, RIDGE, Cell, is_dense
from .memory import with_final_links
from .plan import Plan
from .record import Fitted, Targets, as_fitted
from .together import with_links_together
from .unseen import predict_unseen
from .whole import whole_path

Weigh = Callable[[int, Scores], FloatArray]

# Coefficients that fewer of the averaged models use are left out.
LEAST_VOTES = 0.3


@dataclass(frozen=True, eq=False)
class Chosen:
    """The candidates that the model is made of, with their weights by outputs.

    Attributes
    ----------
    bank : Bank
    scores : list of Scores
    weights : array of shape (n_candidates, n_outputs)
    cutter : Cutter or None
        What made the candidates of averages; None where they are those of the paths.
    averages : list of array
        By fold, what was cut.
    is_limited : bool
        Whether the number of atoms must not be exceeded.
    weigh : callable
        From the number of an output and what some rows say of it to the weights of the candidates; None of
        data in blocks, whose held-out rows are not kept.
    uncut : Chosen or None
        What the averages that were cut are made of.
    """

    bank: Bank
    scores: Sequence[Scores]
    weights: FloatArray
    cutter: Cutter | None
    averages: list[FloatArray] = field(default_factory=list)
    is_limited: bool = False
    weigh: Weigh | None = None
    uncut: Chosen | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a search has found: its paths, the candidates along them with their weights, and what they became.

    `largest` are the least penalties without an atom, by cell and output; `loss` is that of held-out rows.
    """

    plan: Plan
    cells: Sequence[Cell]
    largest: FloatArray
    bank: Bank
    first: Sequence[Scores]
    weights: FloatArray
    chosen: Chosen
    loss: float

    @property
    def goes_on(self) -> bool:
        """Whether most of the weight is on paths that went on beyond their end."""
        further = [self.cells[key.cell].is_further for key in self.bank.keys]
        return bool(self.weights[further].sum(axis=0).mean() > 0.5)

    @property
    def best(self) -> Any:
        """The candidate of most weight on a path that can be shown."""
        return self.bank.keys[heaviest(self.first, self.weights, on_shown_paths(self.bank, self.cells))]


def as_record(
    settings: Any, data: Any, targets: Targets, found: Outcome, splits: Sequence[Any], kind: str, groups: Any
) -> Fitted:
    """Return the model with its link and the record of the search."""
    plan, chosen, best = found.plan, found.chosen, found.best
    dense = [is_dense(found.cells[key.cell], key.level, data.whole.n_rows) for key in found.bank.keys]
    votes = chosen.bank.votes(chosen.weights, data.n_features)
    coef = coef_of(settings, data, found)
    if settings.rule == "average" and not chosen.is_limited:
        coef = without_rare(coef, votes, plan, data.n_outputs)
    cell = found.cells[best.cell]
    if cell.is_further:  # beyond what was chosen its levels are the dearest of all
        cell = replace(cell, levels=cell.levels[: best.level + 1])
    path = whole_path(plan, cell, data.design, data.spread, data.whole, found.largest[best.cell])
    results = [path.result(k, best.level, coef[:, k]) for k in range(data.n_outputs)]
    held_out = chosen.bank.mean_held_out(chosen.weights)
    results = with_links(plan, settings, data, results, held_out)
    unseen = uncut = predict_unseen(plan, data, splits, chosen, results, settings.held_out_link)
    if chosen.uncut is not None:
        uncut = predict_unseen(plan, data, splits, chosen.uncut, results, settings.held_out_link)
    unit = targets.unit
    more = {
        **search_record(found),
        "path_": path.record(unit, data.to_features),
        "stability_": votes[:, 0] if votes.shape[1] == 1 else votes,
        "dense_": bool(found.weights[dense].sum(axis=0).mean() > 0.5),
        **held_out_record(kind, data, targets, unseen, uncut, groups),
    }
    if plan.is_classifier:
        more["coupled_"] = plan.is_together
    return replace(as_fitted(results, data.to_features, unit, more), held_out=held_out)


# ---------------------------------------------------------------- w


def coef_of(settings: Any, data: Any, found: Outcome) -> FloatArray:
    """Return w in the units of X: the mean over folds, or learned once more from all rows."""
    chosen = found.chosen
    # Where y is so clear that paths go on, the rows that a fold holds out are what w lacks most.
    if settings.from_all or (settings.refit == "auto" and found.goes_on):
        average = average_of_all(data, found)
    elif chosen.is_limited:
        average = np.mean(chosen.averages, axis=0)
    else:
        return chosen.bank.mean(chosen.weights, data.n_features)
    if chosen.cutter is None:
        return average
    models = dict(chosen.cutter.cuts(average, np.ones_like(average), data.whole, data.design))
    coef, total = np.zeros_like(average), np.zeros(average.shape[1])
    for cut, weight in zip(chosen.bank.keys, chosen.weights, strict=True):
        model = models.get(cut)
        if weight.any() and model is not None:
            model.add_to(coef, weight)
            total += weight
    return np.divide(coef, total, out=average, where=total > 0)


def average_of_all(data: Any, found: Outcome) -> FloatArray:
    """Return the weighted mean of the candidates, learned from all rows."""
    bank, weights = found.bank, found.weights
    used = {bank.keys[k] for k in np.flatnonzero(weights.any(axis=1))}
    only = {key.cell for key in used}
    models = trace_cells(found.plan, found.cells, data.spread, data.whole, found.largest, only)
    ridges = sorted(number for number in only if found.cells[number].method == RIDGE)
    models |= trace_ridges(found.plan, found.cells, ridges, data.spread, data.whole)
    average, total = np.zeros((data.n_features, data.n_outputs)), np.zeros(data.n_outputs)
    for key, weight in zip(bank.keys, weights, strict=True):
        if key in used and key in models:
            models[key].add_to(average, weight)
            total += weight
    if not total.all():  # all rows explain y further than any fold, and their path has ended earlier
        return bank.mean(weights, data.n_features)
    average /= total
    return average


def without_rare(coef: FloatArray, votes: FloatArray, plan: Plan, n_outputs: int) -> FloatArray:
    """Return w without what few of the averaged models use; what is never penalised stays."""
    if plan.is_joint(n_outputs):
        votes = np.broadcast_to(votes.max(axis=1, keepdims=True), votes.shape)
    least = np.minimum(LEAST_VOTES, votes.max(axis=0))
    kept = votes >= least - 1e-12
    shape = plan.structure.separable(plan.n_features)
    if shape is not None:
        kept |= shape.is_free[:, None]
    return np.where(kept, coef, 0.0)


# ---------------------------------------------------------------- its link


def with_links(
    plan: Plan, settings: Any, data: Any, results: list[SolverResult], held_out: FloatArray
) -> list[SolverResult]:
    """Return the results with their final links, and w at the length that goes with them."""
    if plan.is_together:
        return with_links_together(plan, data, results, held_out)
    results = [
        replace(one, best=_at_rows(one.best, data.design, plan, data, k)) for k, one in enumerate(results)
    ]
    if not plan.fitter.is_learned:
        return results
    if not settings.held_out_link:
        return with_final_links(plan, results, data.Y, data.weight, None)
    if not plan.link_is_free:
        return with_final_links(plan, results, data.Y, data.weight, held_out)
    return [
        replace(one, best=with_blended_link(one.best, plan, data.Y[:, k], data.weight, held_out[:, k]))
        for k, one in enumerate(results)
    ]


def _at_rows(best: Iterate, design: Any, plan: Plan, data: Any, k: int) -> Iterate:
    """Return an iterate with its index, and a link fitted to the rows it was learned from."""
    y, fitter = np.ascontiguousarray(data.Y[:, k]), plan.fitter
    index = design.matvec(best.coef)
    factor = line_length(index, y, fitter, data.weight) if fitter.is_learned else 1.0
    link, _ = fitter.fit(factor * index, y, data.weight)
    longer = replace(best, index=index).rescaled(factor, link)
    check_kept(best.coef, longer.coef)
    return longer


# ---------------------------------------------------------------- how it was found


def heaviest(scores: Sequence[Scores], weights: FloatArray, among: Any = True) -> int:
    """Return the candidate of the largest weight, the best one of several."""
    weight = np.where(among, weights.mean(axis=1), -1.0)
    mean = np.where(weight >= weight.max() - 1e-9, np.mean([one.mean for one in scores], axis=0), np.inf)
    return int(np.argmax(mean <= np.nanmin(mean) + 1e-12 * abs(np.nanmin(mean))))  # the first of equals


def on_shown_paths(bank: Bank, cells: Sequence[Cell]) -> NDArray[np.bool_]:
    """Tell which candidates lie on a path to be shown: one of exact steps, where there are such."""
    methods = {cell.method for cell in cells}
    return np.array(
        [cells[key.cell].method == (EXACT if EXACT in methods else GRADIENT) for key in bank.keys]
    )


def search_record(found: Outcome) -> dict[str, Any]:
    """Return `best_params_`, `best_score_` and `cv_results_`."""
    bank, first, first_weights, chosen = found.bank, found.first, found.weights, found.chosen
    rows = [_settings_of(found.cells[key.cell], key) for key in bank.keys]
    tables = [_table(rows, 1, bank, first, first_weights)]
    at, final = heaviest(first, first_weights), first
    params = dict(rows[at])
    if chosen.cutter is not None:
        cuts = [params | {"n_atoms": cut.n_atoms, "relaxation": cut.form} for cut in chosen.bank.keys]
        tables.append(_table(cuts, 2, chosen.bank, chosen.scores, chosen.weights))
        at, final = heaviest(chosen.scores, chosen.weights), chosen.scores
        params = cuts[at]
    results = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    results["rank_test_score"] = rankdata(-results["mean_test_score"], method="min").astype(int)
    score = float(np.nanmean(final[0].splits[at]))
    return {"best_params_": params, "best_score_": score, "cv_results_": results}


def _settings_of(cell: Cell, key: Any) -> dict[str, Any]:
    level = cell.levels[key.level]
    return {
        "scale_power": cell.scale_power, "link": cell.link, "alpha": cell.alpha, "penalty": level.penalty,
        "n_atoms": level.n_atoms, "ridge": level.ridge,
        "relaxation": float(key.form) if cell.method == EXACT else 0.0,
    }  # fmt: skip


def _table(
    rows: list[dict[str, Any]], stage: int, bank: Bank, scores: Sequence[Scores], weights: FloatArray
) -> dict[str, Any]:
    """Return one array per quantity, one entry per candidate; None, no limit, becomes NaN."""
    table: dict[str, Any] = {"stage": np.full(len(rows), stage)}
    for name in rows[0]:
        values = [row[name] for row in rows]
        table[name] = np.array(values) if name == "link" else np.array(values, dtype=np.float64)
    splits = scores[0].splits
    table["mean_n_atoms"] = bank.n_atoms()
    table["weight"] = weights.mean(axis=1)
    table["mean_test_score"] = np.nanmean(splits, axis=1)
    table["std_test_score"] = np.nanstd(splits, axis=1)
    for k, column in enumerate(splits.T):
        table[f"split{k}_test_score"] = column.copy()
    return table
