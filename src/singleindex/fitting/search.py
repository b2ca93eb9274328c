"""The search behind the CV estimators: warm paths on every fold, every candidate scored on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from ..design import Design, as_design, at_hand
from ..solvers.result import FloatArray
from .bank import Bank, Scores, common_bank, equal_weights, soft_weights
from .chosen import Chosen, Outcome, as_record
from .cross_fit import Weight
from .cut import Cut, Cutter, sizes_below
from .dense import dense_win, has_many_rows, with_dense
from .extremes import Spread, in_units
from .fold_paths import largest_penalties, trace_cells
from .folds import splits_of
from .grid import GRADIENT, Cell, check_sizes, is_dense, is_exact, is_unbounded, listed, make_cells
from .judge import Judge
from .memory import prepare
from .plan import Plan
from .progress import FURTHER, PLANNED, SearchProgress, Teller
from .record import Fitted, Targets
from .scoring import Scoring
from .threads import few_threads
from .trace import NOTHING, Fold, Found, Key, on_split
from .weaker import with_weaker

RULES = ("average", "best", "one_se")
REFITS = ("auto", "folds", "all")
# What the whole average keeps of the weight where there are fewer rows than columns: cuts of it are chosen
# by the same few rows.
_WHOLE_SHARE = 0.5


@dataclass(frozen=True)
class SearchSettings:
    """What is tried, and how the best of it is found: the parameters of the CV estimators."""

    n_atoms: Any
    alpha: Any
    penalty: Any
    scale_power: Any
    cv: Any
    rule: str
    refit: str
    held_out_link: bool
    dense: Any
    n_jobs: int | None

    def check(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {RULES}, got {self.rule!r}.")
        if self.refit not in REFITS:
            raise ValueError(f"refit must be one of {REFITS}, got {self.refit!r}.")
        if not (isinstance(self.dense, bool) or self.dense == "auto"):
            raise ValueError(f'dense must be "auto", True or False, got {self.dense!r}.')
        if self.dense is True and not self.is_open:
            raise ValueError(
                "dense=True adds candidates that use every feature; leave n_atoms, alpha and penalty at None."
            )
        if len(listed(self.alpha)) == 0 or len(listed(self.scale_power)) == 0:
            raise ValueError("alpha and scale_power must name at least one value each.")

    def without_averages(self) -> SearchSettings:
        return replace(self, rule="best" if self.rule == "average" else self.rule, refit="all")

    @property
    def is_open(self) -> bool:
        """Whether nothing is asked of w: then a dense one will do where it is better."""
        return self.n_atoms is None and self.penalty is None and self.alpha is None

    @property
    def from_all(self) -> bool:
        """Whether w is learned once more from all rows; else it is the mean over the folds."""
        return self.refit == "all" or (self.refit == "auto" and self.rule != "average")


@dataclass(frozen=True, eq=False)
class Data:
    """The rows of a search; `unit` is what columns that are hardly numbers were multiplied by, if any."""

    X: Any
    Y: FloatArray
    weight: Weight
    design: Design
    spread: Spread
    unit: FloatArray | None = None

    @property
    def whole(self) -> Fold:
        return Fold(self.X, self.Y, self.weight)

    def to_features(self, w: FloatArray) -> FloatArray:
        """Return the coefficients in the units that X came in."""
        return w if self.unit is None else self.unit.reshape(-1, *[1] * (w.ndim - 1)) * w

    @property
    def n_rows(self) -> float:
        return self.whole.n_rows

    @property
    def n_outputs(self) -> int:
        return int(self.Y.shape[1])

    @property
    def n_features(self) -> int:
        return self.design.shape[1]


def make_data(X: Any, Y: FloatArray, weight: Weight) -> Data:
    """Return the rows of a search, their columns in units in which squares are numbers."""
    design, spread = prepare(X, weight)
    if spread.unit is None:
        return Data(X, Y, weight, design, spread)
    scaled = in_units(X, spread.unit)
    return Data(scaled, Y, weight, as_design(scaled), Spread(spread.variance), spread.unit)


def search(
    plan: Plan,
    settings: SearchSettings,
    scoring: Scoring,
    X: Any,
    targets: Targets,
    weight: Weight,
    groups: Any,
    teller: Teller,
) -> Fitted:
    """Choose the settings on held-out rows, then learn w and the link from all."""
    X = at_hand(X)
    data = make_data(X, targets.Y, weight)
    sizes = check_sizes(plan, settings.n_atoms, data.n_features)
    if not is_exact(plan, data.n_outputs):
        # Means of such w are none of the structure: the best one is learned once more.
        sizes, settings = [], settings.without_averages()
    splits = splits_of(settings.cv, plan, X, targets, weight, groups)
    plans = [plan]
    if may_be_together(plan, settings, scoring):
        plans.append(replace(plan, is_together=True))
    progress = SearchProgress(teller)
    progress.begin(len(plans) * len(splits), 2 * len(plans))
    found = []
    with few_threads(data.design.shape):
        for one in plans:
            judge = Judge(one, scoring, X, targets, weight, splits)
            found.append(search_one(one, settings, data, splits, sizes, judge, progress))
        best = found[-1] if found[-1].loss <= found[0].loss else found[0]
        fitted = as_record(settings, data, targets, best, splits, scoring.kind, groups)
    progress.end(fitted)
    return fitted


def may_be_together(plan: Plan, settings: SearchSettings, scoring: Scoring) -> bool:
    """Tell whether classes may be learned as one problem, too: several, with nothing asked of their w."""
    return (
        not scoring.is_apart and scoring.is_by_rows and plan.link_is_free and settings.held_out_link
        and settings.is_open and settings.rule == "average" and not settings.from_all
        and is_unbounded(plan) and not plan.structure.joint
    )  # fmt: skip


def search_one(
    plan: Plan,
    settings: SearchSettings,
    data: Data,
    splits: Sequence[Any],
    sizes: list[int] | None,
    judge: Judge,
    progress: SearchProgress,
) -> Outcome:
    """Trace all paths on every fold, weigh what they find, and cut it."""
    cells = make_cells(plan, settings, data.design, data.spread, data.whole.n_rows, data.n_outputs)
    if plan.is_together:
        cells, sizes = [cell for cell in cells if cell.method != GRADIENT and not cell.fitter.is_learned], []
    largest = largest_penalties(plan, cells, data.design, data.spread, data.whole)

    def trace(cells: Sequence[Cell], only: set[int] | None = None) -> Bank:
        return trace_folds(plan, data, splits, cells, largest, settings.n_jobs, progress, only)

    cells, bank = with_weaker(plan, settings, data, cells, trace(cells), judge, trace)
    bank = with_dense(plan, data, splits, cells, bank, judge, is_asked=settings.dense is True)
    first = judge.scores(bank.held_out)
    progress.step("stage scored")
    dense = np.array([is_dense(cells[key.cell], key.level, data.whole.n_rows) for key in bank.keys])

    def weigh(k: int, scores: Scores) -> FloatArray:
        return choose_first(settings, k, scores, bank, dense, data)

    weights = np.column_stack([weigh(k, one) for k, one in enumerate(first)])
    uncut = Chosen(bank, first, weights, None, weigh=weigh)
    chosen = second_stage(plan, settings, data, splits, sizes, uncut, judge)
    progress.step("stage scored")
    final = judge.scores(chosen.bank.mean_held_out(chosen.weights)[None])
    loss = -float(np.nanmean(final[0].splits))
    return Outcome(plan, cells, largest, bank, first, weights, chosen, loss)


# ---------------------------------------------------------------- the folds


def trace_folds(
    plan: Plan,
    data: Data,
    splits: Sequence[Any],
    cells: Sequence[Cell],
    largest: FloatArray,
    n_jobs: int | None,
    progress: SearchProgress,
    only: set[int] | None = None,
) -> Bank:
    """Return the candidates of all paths, or of some."""
    found = []
    # In the order of the folds, whatever the number of jobs.
    for fold in Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(trace_fold)(plan, data, split, cells, largest, only) for split in splits
    ):
        found.append(fold)
        progress.step(PLANNED[0] if only is None else FURTHER)
    bank = common_bank(found, len(data.Y), data.n_outputs)
    if not bank.keys:  # no column has anything to do with y
        none = [
            ({Key(0, 0, 0.0): NOTHING}, test, np.zeros((1, len(test), data.n_outputs))) for _, test in splits
        ]
        return common_bank(none, len(data.Y), data.n_outputs)
    return bank


def trace_fold(
    plan: Plan, data: Data, split: Any, cells: Sequence[Cell], largest: FloatArray, only: set[int] | None
) -> Found:
    return on_split(data, split, lambda fold: trace_cells(plan, cells, data.spread, fold, largest, only))


# ---------------------------------------------------------------- the choice


def choose_first(
    settings: SearchSettings, output: int, scores: Scores, bank: Bank, dense: NDArray[np.bool_], data: Any
) -> FloatArray:
    """Return the weights of the candidates; with few rows none to dense ones, but where they win."""
    among = bank.is_open(output)
    takes_dense = settings.dense
    if takes_dense == "auto":
        takes_dense = has_many_rows(data) or dense_win(scores, dense)
    if not takes_dense:
        among &= ~dense
    if not among.any():  # as where nothing explains the output, whose path then has ended before it began
        among[:] = True
    if settings.rule == "average":
        return soft_weights(scores, among)
    return single_weights(settings.rule, scores, bank.n_atoms(), among)


def single_weights(rule: str, scores: Scores, n_atoms: FloatArray, among: NDArray[np.bool_]) -> FloatArray:
    """Return the weights of one candidate alone: the best, or the simplest within a standard error of it."""
    mean = np.where(among, scores.mean, np.inf)
    best = int(np.nanargmin(mean))
    # Of candidates that are equal but for rounding the simplest, and the first.
    room = 1e-12 * abs(mean[best])
    if rule == "one_se":
        room = max(room, float(scores.error_of(scores.losses[best])))
    near = np.flatnonzero(mean - mean[best] <= room)
    weight = np.zeros(len(n_atoms))
    weight[near[np.lexsort((np.round(mean[near] / (abs(mean[best]) or 1.0), 9), n_atoms[near]))[0]]] = 1.0
    return weight


def second_stage(
    plan: Plan,
    settings: SearchSettings,
    data: Data,
    splits: Sequence[Any],
    sizes: list[int] | None,
    uncut: Chosen,
    judge: Judge,
) -> Chosen:
    """Cut the averages of all folds to few atoms, where held-out rows are for it."""
    if sizes is not None and not sizes:
        return uncut
    bank, weights = uncut.bank, uncut.weights
    averages = [bank.average(f, weights, data.n_features) for f in range(len(splits))]
    tried = sizes
    if tried is None:
        most = max(most_atoms(plan, average, data.n_outputs) for average in averages)
        tried = sizes_below(most)
    keeps_all = sizes is None and not (settings.penalty is not None and not len(listed(settings.penalty)))
    cutter = Cutter(plan, np.sqrt(data.spread.variance), tried, keeps_all, data.n_outputs)
    found = []
    for number, split in enumerate(splits):
        average, votes = averages[number], bank.votes_of(number, weights, data.n_features)
        found.append(on_split(data, split, partial(cutter.models, average, votes)))
    of_cuts = common_bank(found, len(data.Y), data.n_outputs)
    if not of_cuts.keys:
        return uncut
    scores = judge.scores(of_cuts.held_out)

    def weigh(k: int, of_output: Scores) -> FloatArray:
        if settings.rule == "average" and sizes is None:
            return second_weights(of_output, of_cuts, data)
        every = np.ones(len(of_cuts.keys), dtype=bool)
        return single_weights(settings.rule, of_output, of_cuts.n_atoms(), every)

    second = np.column_stack([weigh(k, one) for k, one in enumerate(scores)])
    return Chosen(of_cuts, scores, second, cutter, averages, sizes is not None, weigh, uncut)


def second_weights(scores: Scores, cuts: Bank, data: Data) -> FloatArray:
    weight = equal_weights(scores)
    whole = [k for k, cut in enumerate(cuts.keys) if cut == Cut(None, 0.0)]
    if whole and data.n_rows < data.n_features:
        weight *= 1 - _WHOLE_SHARE
        weight[whole] += _WHOLE_SHARE
    return weight


def most_atoms(plan: Plan, average: FloatArray, n_outputs: int) -> int:
    if plan.is_joint(n_outputs):
        return plan.structure.count_atoms(average)
    return max(plan.structure.count_atoms(w) for w in average.T)
