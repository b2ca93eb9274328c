"""A path: one problem at many levels of simplicity, each started from the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..design import Design
from ..link import LinkFitter
from ..structures import Structure
from .drive import drive
from .exact import Exact
from .gradient import Gradient
from .result import FloatArray, Iterate, SolverResult
from .simplicity import Simplicity
from .supports import SoftPath, within_fit


@dataclass(frozen=True, order=True)
class Level:
    """How simple w has to be: a limit on its atoms, a penalty on their norm, or a ridge on its length."""

    n_atoms: int | None = None
    penalty: float = 0.0
    ridge: float = 0.0


def solve_path(
    design: Design,
    y: FloatArray,
    levels: Sequence[Level],
    *,
    simplicity: Simplicity,
    link_fitter: LinkFitter,
    max_iter: int,
    tol: float,
    sample_weight: FloatArray | None = None,
    on_iteration: Callable[[int, Iterate], bool | None] | None = None,
) -> Iterator[SolverResult]:
    """Solve at each level, in the given order, and yield the results.

    The start of a level is the solution of the level before, projected. The first level, which starts cold,
    has twice `max_iter` iterations. `on_iteration` is called with the number of the level and the iterate.
    """
    simplicity = simplicity.for_one_fit()
    start: FloatArray | Iterate | None = None
    largest = None
    if any(level.penalty > 0 for level in levels):
        largest = Gradient(design, y, simplicity, link_fitter, sample_weight=sample_weight).largest_penalty()
    for number, level in enumerate(levels):
        method = Gradient(
            design, y, replace(simplicity, n_atoms=level.n_atoms), link_fitter, penalty=level.penalty,
            largest_penalty=largest, sample_weight=sample_weight, start=start,
        )  # fmt: skip
        told = None if on_iteration is None else partial(on_iteration, number)
        result = drive(method, max_iter=iterations_at(number, max_iter), tol=tol, on_iteration=told)
        yield result
        if number + 1 < len(levels) and result.best.coef.any():
            start = _start_of(result.best, simplicity.structure, levels[number + 1])


def solve_exact_path(
    design: Design,
    y: FloatArray,
    levels: Sequence[Level],
    *,
    simplicity: Simplicity,
    link_fitter: LinkFitter,
    max_iter: int,
    tol: float,
    sample_weight: FloatArray | None = None,
    on_iteration: Callable[[int, Iterate], bool | None] | None = None,
) -> Iterator[SolverResult]:
    """Solve at each level by exact steps, and yield the results: as :func:`solve_path`."""
    counts = [level.n_atoms for level in levels if level.n_atoms is not None]
    soft = SoftPath(design, y, simplicity, link_fitter, sample_weight, max(counts)) if counts else None
    start, largest = None, None
    for number, level in enumerate(levels):
        if soft is not None and level.n_atoms is not None:
            method = within_fit(
                soft, soft.best_fit(level.n_atoms), replace(simplicity, n_atoms=level.n_atoms)
            )
        else:
            method = Exact(
                design, y, simplicity, link_fitter, penalty=level.penalty, largest_penalty=largest,
                sample_weight=sample_weight, start=start,
            )  # fmt: skip
            largest = method.simplicity.penalty / level.penalty if level.penalty > 0 else largest
        told = None if on_iteration is None else partial(on_iteration, number)
        result = drive(method, max_iter=iterations_at(number, max_iter), tol=tol, on_iteration=told)
        yield result
        start = result.best if result.best.coef.any() else None


def _start_of(best: Iterate, structure: Structure, level: Level) -> FloatArray | Iterate:
    """Return what a level starts from: the iterate before it as it is, where the level allows for it."""
    if level.n_atoms is None:
        return best
    return structure.project(best.coef, level.n_atoms)


def iterations_at(number: int, max_iter: int) -> int:
    """Return how many iterations the level of this number has."""
    return 2 * max_iter if number == 0 else max_iter


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
