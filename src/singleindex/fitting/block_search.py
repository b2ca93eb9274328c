"""The search behind the CV estimators over files and Dask: every reading serves every fold, level and output.

One reading gives the moments of all folds. From these come, without another, the models of all paths with a
straight line in place of the link, and what can already be told of them on held-out rows. Each further
reading takes all that are left one exact step further, and sums the rows that each has not seen into bins;
what is beyond hope is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design import BlockDesign, HashKFold
from ..design.blocks import Target
from ..design.fold_blocks import FoldRule
from ..design.folds import FOLDS
from ..design.survey import TargetSurvey
from ..solvers.checkpoint import fingerprint
from ..solvers.many import Mover, look_at
from ..solvers.result import FloatArray
from .bank import Scores
from .binned import BinnedJudge, check_binned_scoring, line_losses
from .block_choice import MOST_LATER, finish, second_stage
from .block_columns import telling_columns, with_all_columns
from .block_models import Candidate, CellModels, FoldData, as_bank
from .blocks import survey_targets
from .grid import EXACT, check_sizes, is_exact, make_cells
from .memory import check_spread
from .plan import Plan
from .progress import RowsBar, SearchProgress, Teller
from .readings import ReadingLog, Readings
from .record import Fitted
from .search import SearchSettings, choose_first
from .trace import Key

# Bins of the index of every model, and readings that a stage takes at the most.
N_BINS, MOST_READINGS = 1024, 8
# Standard errors by which a candidate must be behind the best to be dropped: before any model has seen a
# row, and later. It must also be behind by so many times what its last step has brought.
_BEHIND_LINES, _BEHIND, _STEPS_BEHIND = 20.0, 6.0, 4.0
# The most models of one reading.
_MOST_MODELS = 3000


def search_blocks(
    plan: Plan,
    settings: SearchSettings,
    scoring: Any,
    source: Any,
    read_targets: Callable[[TargetSurvey], tuple[list[Target], FloatArray]],
    teller: Teller,
    checkpoint: Any = None,
) -> Fitted:
    """Choose the settings on held-out rows of blocks, then learn w and the link from all."""
    folds, score = folds_of(settings.cv), check_binned_scoring(scoring, plan.is_classifier)
    with RowsBar(teller, source, most=2 + MOST_READINGS + MOST_LATER):
        facts = survey_targets(source)
        targets, unit = read_targets(facts)
        check_blocks(plan, len(targets))
        rule = FoldRule(folds, facts.n_rows)
        log = None
        if checkpoint is not None:
            asked = (plan, replace(settings, n_jobs=None), score, rule, tuple(targets), source.fingerprint())
            known = (facts.total, facts.low, facts.high, facts.label_weight)
            log = ReadingLog(checkpoint, fingerprint(*map(repr, asked), *known))
        readings = Readings(source, targets, rule, log)
        telling = telling_columns(plan, readings)
        if telling is None:
            fitted = BlockSearch(plan, settings, score, readings, unit, teller).run()
        else:
            which = telling.which
            narrow = replace(plan, n_features=len(which)), settings, score, readings.on_columns(which)
            found = BlockSearch(*narrow, unit, teller, telling.allowed).run()
            fitted = with_all_columns(found, which, source.n_features)
        readings.end()
        return fitted


def as_folds(cv: Any) -> Any:
    """Return the folds that `cv` asks for, where rows tell by themselves which one they are in; else None."""
    if isinstance(cv, FOLDS):
        return cv
    if cv is None or (np.ndim(cv) == 0 and isinstance(cv, int | np.integer) and not isinstance(cv, bool)):
        return HashKFold(5 if cv is None else int(cv))
    return None


def folds_of(cv: Any) -> Any:
    """Return the folds that `cv` asks for, or raise."""
    folds = as_folds(cv)
    if folds is not None:
        return folds
    raise ValueError(
        f"cv={cv!r} needs all rows at once; for files and Dask give a number, or HashKFold(...), "
        "BlockKFold(...) or GroupHashKFold(...) of singleindex.design."
    )


def goes_by_blocks(plan: Plan, n_outputs: int) -> bool:
    """Tell whether a search over blocks has steps for what is asked."""
    return is_exact(plan, n_outputs) and not plan.is_joint(n_outputs)


def check_blocks(plan: Plan, n_outputs: int) -> None:
    """Raise where a search over blocks has no steps for what is asked."""
    if not goes_by_blocks(plan, n_outputs):
        raise ValueError(
            "searches and paths over files and Dask need a structure that is a sum over features or disjoint "
            f"groups, for each output by itself; {type(plan.structure).__name__} is not. Choose the settings "
            "on a sample of the rows, as arrays, then fit SingleIndexRegressor or SingleIndexClassifier."
        )


class BlockSearch:
    """One search over blocks of rows."""

    def __init__(
        self,
        plan: Plan,
        settings: SearchSettings,
        score: str,
        readings: Readings,
        unit: FloatArray,
        teller: Teller,
        allowed: Mapping[int, NDArray[np.bool_]] | None = None,
    ) -> None:
        self.plan, self.settings, self.readings = plan, settings, readings
        self.progress = SearchProgress(teller)
        facts = readings.facts()
        design = BlockDesign(readings.source, facts.survey.lengths)
        self.data = FoldData(facts, design, unit, allowed)
        check_spread(self.data.spread)
        self.judge = BinnedJudge(plan, score, self.data.held_out, unit)

    def run(self) -> Fitted:
        plan, settings, data = self.plan, self.settings, self.data
        sizes = check_sizes(plan, settings.n_atoms, data.n_features)
        self.progress.begin(0, 2)
        cells = make_cells(plan, settings, data.design, data.spread, data.n_rows, data.n_outputs)
        cells = [cell for cell in cells if cell.method == EXACT]
        makers = [CellModels(plan, cell, data) for cell in cells]
        keys, candidates = self.promising(*self._all(makers))
        first = self.advance(candidates)
        self.progress.step("stage scored")
        bank = as_bank(keys, candidates, plan)
        none_dense = np.zeros(len(keys), dtype=bool)
        weights = np.column_stack([
            choose_first(settings, k, first[k], bank, none_dense, data) for k in range(data.n_outputs)
        ])  # fmt: skip
        chosen = second_stage(self, sizes, bank, weights, first)
        self.progress.step("stage scored")
        fitted = finish(self, cells, makers, bank, first, weights, chosen)
        self.progress.end(fitted)
        return fitted

    # ------------------------------------------------------------ candidates

    def _all(self, makers: Sequence[CellModels]) -> tuple[list[Key], list[Candidate]]:
        """Return every level of every path that uses anything, as straight lines have it."""
        keys, candidates = list[Key](), list[Candidate]()
        for number, maker in enumerate(makers):
            paths = [
                [maker.path(held, output) for held in self.data.used] for output in range(self.data.n_outputs)
            ]
            for level in range(len(maker.cell.levels)):
                candidate = [[path[level] for path in by_fold] for by_fold in paths]
                is_last = level == len(maker.cell.levels) - 1 and not keys
                if is_last or all(one.w.any() for by_fold in candidate for one in by_fold):
                    keys.append(Key(number, level, 0.0))
                    candidates.append(candidate)
        return keys, candidates

    def promising(
        self, keys: Sequence[Key], candidates: Sequence[Candidate]
    ) -> tuple[list[Key], list[Candidate]]:
        """Return what moments do not show to be hopeless, for one output at least."""
        losses = np.array([
            [line_losses(by_fold, self.data.held_out) for by_fold in one] for one in candidates
        ])  # fmt: skip
        behind = np.full(len(keys), np.inf)
        for k in range(self.data.n_outputs):
            own = Scores(losses[:, k], np.ones(losses.shape[2]), -losses[:, k])
            gap, error = own.behind()
            unit = np.maximum(error, float(own.error_of(own.losses[own.best])))
            behind = np.minimum(behind, np.divide(gap, unit, out=np.zeros_like(gap), where=unit > 0))
        most = max(1, _MOST_MODELS // (losses.shape[1] * losses.shape[2]))
        kept = np.sort(np.argsort(behind, kind="stable")[:most])
        kept = kept[behind[kept] <= _BEHIND_LINES]
        return [keys[k] for k in kept], [candidates[k] for k in kept]

    # ------------------------------------------------------------ readings

    def advance(self, candidates: Sequence[Candidate], most: int = MOST_READINGS) -> list[Scores]:
        """Read the data until all candidates stand still or are dropped; return their scores, by output."""
        moving = {(c, k) for c, one in enumerate(candidates) for k in range(len(one))}
        last: list[Scores] | None = None
        for n_readings in range(1, most + 1):
            seen = [one for c, k in sorted(moving) for one in candidates[c][k] if not (last and one.is_still)]
            self.look(seen)
            scores = self.scores(candidates, moving, last)
            moving = {at for at in moving if self._goes_on(at, candidates, scores, last)}
            last = scores
            if n_readings == most:
                break
            for c, k in sorted(moving):
                for one in candidates[c][k]:
                    if not one.is_still:
                        one.advance()
            moving = {(c, k) for c, k in moving if not all(one.is_still for one in candidates[c][k])}
            if not moving:
                break
        assert last is not None
        return last

    def look(self, movers: Sequence[Mover], needs_gradient: bool = True, n_bins: int = N_BINS) -> None:
        look_at(movers, n_bins, self.readings.sweep, needs_gradient)

    def scores(
        self, candidates: Sequence[Candidate], changed: set[tuple[int, int]], last: list[Scores] | None
    ) -> list[Scores]:
        """Return the scores of candidates by output; what has not changed has those it had."""
        scores = []
        for k in range(self.data.n_outputs):
            which = [c for c in range(len(candidates)) if last is None or (c, k) in changed]
            if last is not None and not which:
                scores.append(last[k])
                continue
            fresh = self.judge.scores([candidates[c][k] for c in which], k)
            losses, splits = fresh.losses, fresh.splits
            if last is not None:
                losses, splits = last[k].losses.copy(), last[k].splits.copy()
                losses[which], splits[which] = fresh.losses, fresh.splits
            scores.append(Scores(losses, np.ones(losses.shape[1]), splits))
        return scores

    def _goes_on(
        self,
        at: tuple[int, int],
        candidates: Sequence[Candidate],
        scores: list[Scores],
        last: list[Scores] | None,
    ) -> bool:
        """Tell whether a candidate may yet be among the best of an output."""
        c, k = at
        own = scores[k]
        if last is None:
            return True
        gap, _ = own.behind()
        unit = float(own.error_of(own.losses[own.best]))
        gain = max(float(last[k].mean[c] - own.mean[c]), 0.0)
        return not gap[c] > max(_BEHIND * unit, _STEPS_BEHIND * gain)
