"""A path: one problem at many levels of simplicity, each started from the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..design import Design
from ..link import LinkFitter
from .csi import for_one_fit, largest_penalty, solve_csi
from .result import FloatArray, Iterate, SolverResult


@dataclass(frozen=True, order=True)
class Level:
    """How simple w has to be: a limit on its atoms, or a penalty on their norm."""

    n_atoms: int | None = None
    penalty: float = 0.0


def solve_path(
    design: Design,
    y: FloatArray,
    levels: Sequence[Level],
    *,
    structure: Any,
    link_fitter: LinkFitter,
    max_iter: int,
    sample_weight: FloatArray | None = None,
    on_iteration: Callable[[int, Iterate], bool | None] | None = None,
    **settings: Any,
) -> Iterator[SolverResult]:
    """Solve at each level, in the given order, and yield the results.

    The start of a level is the solution of the level before, projected. The first level, which starts cold,
    has twice `max_iter` iterations. `on_iteration` is called with the number of the level and the iterate;
    other settings are those of :func:`solve_csi`.
    """
    structure = for_one_fit(structure)
    start: FloatArray | SolverResult | None = None
    largest = None
    if any(level.penalty > 0 for level in levels):
        largest = largest_penalty(design, y, structure, link_fitter, sample_weight)
    for number, level in enumerate(levels):
        told = None if on_iteration is None else _at_level(on_iteration, number)
        result = solve_csi(
            design, y, structure, link_fitter, n_atoms=level.n_atoms, penalty=level.penalty,
            largest_penalty=largest, start=start, max_iter=iterations_at(number, max_iter),
            sample_weight=sample_weight, on_iteration=told, **settings,
        )  # fmt: skip
        yield result
        if number + 1 < len(levels) and result.coef.any():
            start = _start_of(result, structure, levels[number + 1])


def _start_of(result: SolverResult, structure: Any, level: Level) -> FloatArray | SolverResult:
    """Return what a level starts from: the result before it as it is, where the level allows for it."""
    if level.n_atoms is None:
        return result
    start: FloatArray = structure.project(result.coef, level.n_atoms)
    return start


def iterations_at(number: int, max_iter: int) -> int:
    """Return how many iterations the level of this number has."""
    return 2 * max_iter if number == 0 else max_iter


def _at_level(
    on_iteration: Callable[[int, Iterate], bool | None], number: int
) -> Callable[[Iterate], bool | None]:
    return lambda iterate: on_iteration(number, iterate)


def hard_levels(n_available: int) -> list[Level]:
    """Return the paper's fractions of the atoms there are, d/4 to d/1024, and all, half, and small counts.

    From the largest to the smallest, as a warm path goes best. Where d/1024 is large, halves of it follow.
    """
    halves = [max(1, round(n_available / 2**k)) for k in range(max(11, n_available.bit_length()))]
    fractions = {count for k, count in enumerate(halves) if k <= 10 or count > 10}
    small = {k for k in (1, 2, 3, 5, 7, 10) if k <= n_available}
    return [Level(n_atoms=k) for k in sorted(fractions | small, reverse=True)]


def soft_levels() -> list[Level]:
    """Return penalties from strong to weak."""
    return [Level(penalty=float(p)) for p in np.geomspace(0.8, 0.05, 8)]
