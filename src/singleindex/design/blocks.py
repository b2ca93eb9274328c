"""Data in blocks of rows, none of which is kept: files in chunks, and the blocks of a cluster.

A source of blocks runs a task on each of them and gives back the results, in the order of the rows, or
merged. Tasks are small records, so that they can travel to where the blocks are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .arrays import FloatArray
from .base import Design
from .checks import check_length
from .convert import as_row_design
from .many import ManySweep, ManyVisit
from .moments import Moments
from .survey import Survey, TargetSurvey, survey_rows
from .sweep import Sweep, Visit, without_rows

# Of rows that are never held together, so that their weights cannot all be brought nearer to 1.
LARGEST_WEIGHT = 1e30


class ChunkError(ValueError):
    """A chunk of the data cannot be read or used; the message names it."""


@dataclass(frozen=True)
class Block:
    """Some rows: X, what is to be learned or None, the weights or None, and what to call them in messages.

    `files` are those they were read from, `start` is the number of the first row among all, `groups` what
    folds may keep together.
    """

    X: Any
    y: Any
    weight: FloatArray | None = None
    name: str = "block 0"
    files: tuple[str, ...] = ()
    start: int = 0
    groups: Any = None

    @cached_property
    def design(self) -> Design:
        return as_row_design(self.X)

    def __len__(self) -> int:
        return int(self.X.shape[0]) if self.y is None else len(self.y)


@dataclass(frozen=True)
class Target:
    """How one output is made of y as given, and the weights of the rows of those given.

    `classes` are the labels for a classifier; `column` is the class, or the column of y, that is learned;
    None where y is learned as it is. y is divided by `unit`; `factors` are the weights of the classes.
    """

    classes: Any = None
    column: int | None = None
    unit: float = 1.0
    factors: FloatArray | None = field(default=None)

    def values(self, block: Block) -> FloatArray:
        y = block.y
        if self.classes is not None:
            y = self.codes(block) == self.column
        elif y.ndim == 2:
            y = y[:, self.column or 0]
        return np.ascontiguousarray(y, dtype=np.float64) / self.unit

    def weights(self, block: Block) -> FloatArray | None:
        if self.factors is None:
            return block.weight
        factors: FloatArray = self.factors[self.codes(block)]
        return factors if block.weight is None else factors * block.weight

    def codes(self, block: Block) -> Any:
        codes = np.searchsorted(self.classes, block.y)
        known = self.classes[np.minimum(codes, len(self.classes) - 1)] == block.y
        if not known.all():
            raise ChunkError(
                f"{block.name}: y holds {block.y[~known][0]!r}, which was in no chunk before; the data "
                "must not "
                "change while they are read."
            )
        return codes


class BlockSource(Protocol):
    """Runs tasks on blocks of rows."""

    n_features: int
    n_rows: int | None
    feature_names: Sequence[str] | None
    dtype: Any
    on_rows: Callable[[int], None] | None

    def fingerprint(self) -> Any:
        """Return what tells these data from others, without reading them."""
        ...

    def map(self, task: Callable[..., Any], arguments: Sequence[Any] | None = None) -> Iterator[Any]:
        """Yield `task(block)` or `task(block, argument)` for each block, in the order of the rows."""
        ...

    def reduce(self, task: Callable[[Block], Any]) -> Any:
        """Return the results of all blocks merged, by their method `merge`, in a fixed order."""
        ...

    def survey_targets(self) -> TargetSurvey:
        """Return what there is to know of y and of the weights."""
        ...


def merge_all(results: Iterator[Any]) -> Any:
    merged = reduce(lambda a, b: b if a is None else a.merge(b), results, None)
    if merged is None:
        raise ChunkError("the data have no rows; check the files, or the filter they come from.")
    return merged


# ---------------------------------------------------------------- tasks


@dataclass(frozen=True)
class SurveyTask:
    """Checks a block, and sums up its columns."""

    targets: tuple[Target, ...]

    def __call__(self, block: Block) -> Survey:
        check_finite(block)
        values = np.column_stack([target.values(block) for target in self.targets])
        return survey_rows(block.design, values, self.targets[0].weights(block))


@dataclass(frozen=True)
class SurveyTargetsTask:
    """Checks and sums up the y of a block."""

    def __call__(self, block: Block) -> TargetSurvey:
        return TargetSurvey.of(block.y, block.weight, block.name)


@dataclass(frozen=True)
class SweepTask:
    """Visits the rows of a block once."""

    visit: Visit
    target: Target

    def __call__(self, block: Block) -> Sweep:
        weight = self.target.weights(block)
        sweep = block.design.sweep(self.visit, self.target.values(block), weight)
        if not np.isfinite(sweep.gradient).all():
            raise too_large(block)
        return without_rows(sweep)


@dataclass(frozen=True)
class CovarianceTask:
    """Sums up products of the columns of a block, of some of them or of all."""

    targets: tuple[Target, ...]
    which: NDArray[np.intp] | None = None

    def __call__(self, block: Block) -> Moments:
        weight = self.targets[0].weights(block)
        if not (len(block) if weight is None else weight.any()):
            d = block.design.shape[1] if self.which is None else len(self.which)
            return Moments.none(d, len(self.targets))
        values = np.column_stack([target.values(block) for target in self.targets])
        moments = Moments.of(block.design, values, weight, self.which)
        if not np.isfinite(moments.covariance).all():
            raise too_large(block)
        return moments


@dataclass(frozen=True)
class ProductTask:
    """Multiplies a block with w."""

    w: FloatArray

    def __call__(self, block: Block) -> FloatArray:
        return block.design.matvec(self.w)


@dataclass(frozen=True)
class AdjointTask:
    """Multiplies the transpose of a block with its part of r."""

    def __call__(self, block: Block, r: FloatArray) -> FloatArray:
        return block.design.rmatvec(r)


@dataclass(frozen=True)
class TargetTask:
    """Gives the values of an output and the weights, row by row."""

    target: Target

    def __call__(self, block: Block) -> tuple[FloatArray, FloatArray | None]:
        return self.target.values(block), self.target.weights(block)


@dataclass(frozen=True)
class MomentsTask:
    """Sums up the columns of a block under given weights."""

    def __call__(self, block: Block, weight: FloatArray) -> Survey:
        return survey_rows(block.design, np.zeros((len(block), 1)), weight)


# ---------------------------------------------------------------- the design


class BlockDesign(Design):
    """Rows in blocks as a design. Every product, and every sweep, reads each block once."""

    def __init__(self, source: BlockSource, lengths: Sequence[int]) -> None:
        self.source = source
        self.ends = np.cumsum(lengths)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.ends[-1]), self.source.n_features

    def matvec(self, w: FloatArray) -> FloatArray:
        check_length(w, self.shape[1], "w")
        return np.concatenate(list(self.source.map(ProductTask(w))))

    def rmatvec(self, r: FloatArray) -> FloatArray:
        total: FloatArray = sum(self.source.map(AdjointTask(), self._by_block(r, "r")), start=np.zeros(()))
        return total

    def column_moments(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        survey = merge_all(self.source.map(MomentsTask(), self._by_block(weight, "weight")))
        return survey.mean, survey.variance

    def sweep(self, visit: Visit, y: Target, weight: FloatArray | None = None) -> Sweep:
        """Visit all rows; `y` says what is learned, the weights are those of the blocks."""
        sweep: Sweep = self.source.reduce(SweepTask(replace(visit, index_old=None), y))
        return sweep

    def moments(
        self, y: Sequence[Target], weight: FloatArray | None = None, which: NDArray[np.intp] | None = None
    ) -> Moments:
        moments: Moments = self.source.reduce(CovarianceTask(tuple(y), which))
        return moments

    def sweep_many(self, visit: ManyVisit, Y: Any, weight: FloatArray | None, fold: Any) -> ManySweep:
        """Visit all rows for many models; `Y` are the targets, `fold` the rule of the folds."""
        from .fold_blocks import SweepManyTask

        sweep: ManySweep = self.source.reduce(SweepManyTask(visit, tuple(Y), fold))
        return sweep

    def rows_of(self, target: Target) -> tuple[FloatArray, FloatArray | None]:
        """Return an output and the weights row by row, for solvers that need them so."""
        values, weights = zip(*self.source.map(TargetTask(target)), strict=True)
        return np.concatenate(values), None if weights[0] is None else np.concatenate(weights)

    def _by_block(self, values: FloatArray, name: str) -> list[FloatArray]:
        check_length(values, self.shape[0], name)
        return np.split(values, self.ends[:-1])


# ---------------------------------------------------------------- checks


def check_finite(block: Block) -> None:
    """Raise where X or the weights of a block cannot be used. A design answers for its own numbers."""
    check_weight(block.weight, block.name)
    if isinstance(block.X, Design):
        return
    values = block.X.data if sparse.issparse(block.X) else block.X
    # One sum tells in most cases; only where it does not are all values looked at.
    with np.errstate(over="ignore", invalid="ignore"):
        fine = np.isfinite(np.sum(values, dtype=np.float64))
    if not fine and not np.isfinite(values).all():
        raise ChunkError(
            f"{block.name}: X holds NaN or infinity ({_first_bad(block.X)}); remove these rows, or impute "
            "them."
        )


def too_large(block: Block) -> ChunkError:
    """Return the error of a block whose sums are no numbers."""
    check_finite(block)
    return ChunkError(f"{block.name}: its numbers are too large to be summed; rescale the columns of X.")


def check_weight(weight: FloatArray | None, name: str) -> None:
    if weight is not None and not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ChunkError(
            f"{name}: sample weights must be finite and not negative; correct or drop these rows."
        )
    if weight is not None and np.max(weight, initial=0.0) > LARGEST_WEIGHT:
        raise ChunkError(
            f"{name}: there is a sample weight of {np.max(weight):g}, and sums of such are no numbers; "
            "divide all weights by a common number, so that they average about one."
        )


def _first_bad(X: Any) -> str:
    if sparse.issparse(X):
        X = X.tocoo()
        at = int(np.flatnonzero(~np.isfinite(X.data))[0])
        return f"first in its row {X.coords[0][at]}, column {X.coords[1][at]}"
    row, column = np.argwhere(~np.isfinite(X))[0]
    return f"first in its row {row}, column {column}"
