"""The rows of a design as a source of blocks: there is one, and it stays where it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .arrays import FloatArray
from .base import Design
from .blocks import Block, Target
from .survey import TargetSurvey


class DesignSource:
    """Runs tasks on all rows of a design at once.

    Parameters
    ----------
    design : Design
    Y : array of shape (n, n_outputs)
    weight : array of shape (n,) or None
    groups : array of shape (n,) or None
        What folds keep together.
    """

    feature_names: Sequence[str] | None = None

    def __init__(self, design: Design, Y: FloatArray, weight: FloatArray | None, groups: Any = None) -> None:
        self.block = Block(design, Y, weight, "X", groups=groups)
        self.n_rows, self.n_features = design.shape
        self.dtype = design.dtype
        self.on_rows: Callable[[int], None] | None = None  # never called: no row is worked on before others

    @property
    def targets(self) -> list[Target]:
        """How the outputs are made of Y: they are its columns."""
        return [Target(column=k) for k in range(self.block.y.shape[1])]

    def map(self, task: Callable[..., Any], arguments: Sequence[Any] | None = None) -> Iterator[Any]:
        yield task(self.block) if arguments is None else task(self.block, arguments[0])

    def reduce(self, task: Callable[[Block], Any]) -> Any:
        (result,) = self.map(task)
        return result

    def survey_targets(self) -> TargetSurvey:
        return TargetSurvey.of(self.block.y, self.block.weight, self.block.name)

    def fingerprint(self) -> Any:
        return self.n_rows, self.n_features, str(self.dtype)
