"""What a solver returns: the best iterate, the reason it stopped, and how it came there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..files.arrays import check_finite, check_floats, check_reals
from ..link.bins import Points
from ..link.stored import check_link

FloatArray = NDArray[np.float64]


class Status(Enum):
    """Why a solver stopped."""

    CONVERGED = "the direction of the index changed by less than tol"
    MAX_ITER = "max_iter was reached before the direction of the index settled"
    FLAT = "no direction in X is correlated with y: the link is constant"
    STOPPED = "a callback asked to stop"
    CHOSEN = "by rows that were held out"
    STREAMED = "the stream of batches ended"


@dataclass(frozen=True)
class Iterate:
    """One iterate of a solver, as its callback sees it.

    `points` is what the link was fitted to, where that is not the index of all rows; `fitted` are the values
    of the link at the index, where they are known.
    """

    RECORDED: ClassVar = ("objective", "mse", "n_atoms", "step_size", "change")

    n_iter: int
    coef: FloatArray
    index: FloatArray
    link: Any
    objective: float
    mse: float
    n_atoms: int
    step_size: float
    change: float
    points: Points | None = None
    fitted: FloatArray | None = None

    def check(self, *shape: int) -> None:
        """Raise where this is no iterate with coefficients of this shape: for what comes from a file."""
        check_floats("coef", self.coef, *shape)
        check_floats("index", self.index, len(self.index), *shape[1:])
        if self.fitted is not None:
            check_floats("fitted", self.fitted, *self.index.shape)
        if self.points is not None:
            self.points.check()
        check_finite(self.objective, self.mse)
        check_reals(self.n_iter, self.n_atoms, self.step_size, self.change)
        links = self.link if shape[1:] else [self.link]
        if [len(links)] != list(shape[1:] or (1,)):
            raise ValueError("there must be one link for each output.")
        for link in links:
            check_link(link)

    def by_output(self) -> list[Iterate]:
        """Return one iterate per output; they share all but the coefficients, the index and the link."""
        if self.coef.ndim == 1:
            return [self]
        return [
            replace(self, coef=self.coef[:, k], index=self.index[:, k], link=link)
            for k, link in enumerate(self.link)
        ]

    def in_units(self, unit: float) -> Iterate:
        """Return the iterate of a fit to y / unit as that of a fit to y."""
        if unit == 1:
            return self
        return replace(
            self, coef=self.coef * unit, index=self.index * unit, link=self.link.rescale(unit),
            mse=self.mse * squared(unit), objective=self.objective * squared(unit),
        )  # fmt: skip

    def rescaled(self, by: float, link: Any) -> Iterate:
        """Return the iterate with w multiplied by `by`, and the link that goes with it."""
        return replace(self, coef=by * self.coef, index=by * self.index, link=link)


@dataclass(frozen=True)
class SolverResult:
    """The iterate that is returned, why the solver stopped, and how it came there.

    `history` holds one array per recorded quantity; `n_iter` counts the iterations run.
    """

    best: Any
    status: Status
    history: dict[str, FloatArray]
    n_iter: int

    def by_output(self) -> list[SolverResult]:
        """Return one result per output; they share status and history."""
        return [replace(self, best=one) for one in self.best.by_output()]


def squared(unit: Any) -> Any:
    """Return the square of a unit of y, infinity where it is beyond all numbers."""
    with np.errstate(over="ignore"):
        return np.square(np.asarray(unit, dtype=np.float64))


def as_history(records: list[list[float]], names: tuple[str, ...]) -> dict[str, FloatArray]:
    """Return one array per quantity of the records of all iterations."""
    return dict(zip(names, np.array(records, dtype=np.float64).T.copy(), strict=True))
