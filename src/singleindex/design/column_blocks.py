"""Blocks of rows with some of their columns alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .blocks import Block
from .survey import TargetSurvey


@dataclass(frozen=True, eq=False)
class OnColumns:
    """A task that sees some columns alone; what folds go by is taken from all of them before."""

    task: Any
    which: NDArray[np.intp]
    folds: Any

    def __call__(self, block: Block, *extra: Any) -> Any:
        groups = self.folds.groups_of(block.X, block.groups)
        return self.task(replace(block, X=block.X[:, self.which], groups=groups), *extra)


class ColumnSource:
    """Runs tasks on some columns of the blocks of another source."""

    def __init__(self, source: Any, which: NDArray[np.intp], folds: Any) -> None:
        self.source, self.which, self.folds = source, which, folds
        self.n_features, self.dtype, self.n_rows = len(which), source.dtype, source.n_rows
        names = source.feature_names
        self.feature_names: Sequence[str] | None = None if names is None else [names[j] for j in which]
        self.on_rows: Callable[[int], None] | None = None

    def map(self, task: Callable[..., Any], arguments: Sequence[Any] | None = None) -> Iterator[Any]:
        yield from self.source.map(OnColumns(task, self.which, self.folds), arguments)

    def reduce(self, task: Callable[[Block], Any]) -> Any:
        return self.source.reduce(OnColumns(task, self.which, self.folds))

    def survey_targets(self) -> TargetSurvey:
        survey: TargetSurvey = self.source.survey_targets()
        return survey

    def fingerprint(self) -> Any:
        return (self.source.fingerprint(), self.which.tobytes())
