"""What a search asks of blocks of rows: moments by folds, and one visit for many models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .blocks import Block, Target, check_finite, too_large
from .many import IntArray, ManySweep, ManyVisit
from .moments import Moments
from .survey import Survey, survey_rows


@dataclass(frozen=True, eq=False)
class FoldFacts:
    """What is to be known of the rows before any model is: of all of them, and the moments of each fold."""

    survey: Survey
    moments: tuple[Moments, ...]

    def merge(self, other: FoldFacts) -> FoldFacts:
        return FoldFacts(
            self.survey.merge(other.survey),
            tuple(a.merge(b) for a, b in zip(self.moments, other.moments, strict=True)),
        )


@dataclass(frozen=True)
class FoldRule:
    """Which fold each row of a block is in."""

    folds: Any
    n_total: int

    def __call__(self, block: Block) -> IntArray:
        fold = self.folds.fold_of(block.X, block.start, len(block), self.n_total, block.groups)
        return np.ascontiguousarray(fold, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class FoldSurveys:
    """The surveys of the rows of each fold."""

    surveys: tuple[Survey, ...]

    def merge(self, other: FoldSurveys) -> FoldSurveys:
        pairs = zip(self.surveys, other.surveys, strict=True)
        return FoldSurveys(tuple(mine.merge(theirs) for mine, theirs in pairs))


@dataclass(frozen=True)
class FoldSurveysTask:
    """Checks a block, and sums up its columns, by folds."""

    targets: tuple[Target, ...]
    rule: FoldRule

    def __call__(self, block: Block) -> FoldSurveys:
        check_finite(block)
        Y = np.column_stack([target.values(block) for target in self.targets])
        weight, fold, found = self.targets[0].weights(block), self.rule(block), []
        for k in range(self.rule.folds.get_n_splits()):
            rows = np.flatnonzero(fold == k)
            # A fold may have no row here; then any row, of no weight.
            part = np.zeros(1) if not len(rows) else None if weight is None else weight[rows]
            rows = rows if len(rows) else np.zeros(1, dtype=np.intp)
            found.append(survey_rows(block.design.take(rows), Y[rows], part))
        return FoldSurveys(tuple(found))


@dataclass(frozen=True)
class FoldFactsTask:
    """Checks a block, and sums up its columns and their products, by folds."""

    targets: tuple[Target, ...]
    rule: FoldRule

    def __call__(self, block: Block) -> FoldFacts:
        check_finite(block)
        Y = np.column_stack([target.values(block) for target in self.targets])
        weight, fold = self.targets[0].weights(block), self.rule(block)
        n_folds = self.rule.folds.get_n_splits()
        moments = block.design.moments_of_folds(Y, weight, fold, n_folds)
        if not all(np.isfinite(one.covariance).all() for one in moments):
            raise too_large(block)
        return FoldFacts(survey_rows(block.design, Y, weight), tuple(moments))


@dataclass(frozen=True, eq=False)
class SweepManyTask:
    """Visits the rows of a block once, for many models."""

    visit: ManyVisit
    targets: tuple[Target, ...]
    rule: FoldRule

    def __call__(self, block: Block) -> ManySweep:
        Y = np.stack([target.values(block) for target in self.targets])
        weight = self.targets[0].weights(block)
        sweep = block.design.sweep_many(self.visit, Y, weight, self.rule(block))
        if not (np.isfinite(sweep.gradient).all() and np.isfinite(sweep.residual).all()):
            raise too_large(block)
        return sweep
