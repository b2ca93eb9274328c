"""What a solver returns: one frozen record, with the reason it stopped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..link.bins import Points

FloatArray = NDArray[np.float64]


class Status(Enum):
    """Why a solver stopped."""

    CONVERGED = "the direction of the index changed by less than tol"
    MAX_ITER = "max_iter was reached before the direction of the index settled"
    FLAT = "no direction in X is correlated with y: the link is constant"
    STOPPED = "a callback asked to stop"
    CHOSEN = "the held-out score was best at this iterate"
    STREAMED = "the stream of batches ended"


@dataclass(frozen=True)
class Iterate:
    """One iterate of a solver, as its callback sees it."""

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

    def by_output(self) -> list[Iterate]:
        """Return one record per output."""
        return split_outputs(self)


@dataclass(frozen=True)
class SolverResult:
    """The returned iterate, and how the solver came to it.

    `n_iter` counts the iterations run, `best_iter` is the number of the iterate returned.
    `history` holds one array per quantity, one entry per iteration. `points` is what the link was fitted to,
    where that is not the index of all rows; `fitted` are its values at the index, where they are known.
    """

    coef: FloatArray
    index: FloatArray
    link: Any
    n_iter: int
    best_iter: int
    status: Status
    history: dict[str, FloatArray]
    points: Points | None = None
    fitted: FloatArray | None = None

    def by_output(self) -> list[SolverResult]:
        """Return one record per output."""
        return split_outputs(self)


def split_outputs(record: Any) -> list[Any]:
    """Return one record per output; they share all but the coefficients, the index and the link."""
    if record.coef.ndim == 1:
        return [record]
    return [
        replace(record, coef=record.coef[:, k], index=record.index[:, k], link=link)
        for k, link in enumerate(record.link)
    ]


def squared(unit: Any) -> Any:
    """Return the square of a unit of y, infinity where it is beyond all numbers."""
    with np.errstate(over="ignore"):
        return np.square(np.asarray(unit, dtype=np.float64))


def in_units(record: Any, unit: float) -> Any:
    """Return the record of a fit to y / unit as that of a fit to y; errors in a history are left alone."""
    if unit == 1:
        return record
    changed = {"coef": record.coef * unit, "index": record.index * unit, "link": record.link.rescale(unit)}
    if isinstance(record, Iterate):
        square = squared(unit)
        changed |= {"mse": record.mse * square, "objective": record.objective * square}
    return replace(record, **changed)
