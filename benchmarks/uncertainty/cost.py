"""CPU seconds of `resample` with a hundred halves and all it tells, beside those of one default search."""

from __future__ import annotations

import numpy as np

from benchmarks.pages import as_table
from benchmarks.timing import timed
from singleindex import SingleIndexClassifierCV
from singleindex.inspection import resample

from .problems import OURS, make_problem

NAME = "cost"
TITLE = "Cost"
MINE = (OURS,)
CELLS = {"800 × 200": (800, 200), "400 × 60": (400, 60), "200 × 500": (200, 500)}


def n_draws(cell: str, family: str) -> int:
    return 3


def make(cell: str, seed: int):
    return make_problem(*CELLS[cell], 0.0, "ramp", seed)


def measure(problem) -> dict[str, dict[str, float]]:
    X, y = problem.X, problem.y
    model, search = timed(lambda: SingleIndexClassifierCV().fit(X, y))
    resampled, halves = timed(lambda: resample(model, X, y, 100, random_state=0, n_permutations=0))
    _, rest = timed(lambda: (resampled.effects(), resampled.link_band([0.0])))
    _, both = timed(lambda: resample(model, X, y, 100, random_state=0))
    return {OURS: {"search": search, "halves": halves, "rest": rest, "evidence": both - halves}}


FAMILIES = {OURS: measure}


def section(figures) -> list[str]:
    rows = []
    for cell in CELLS:
        draws = list(figures.get(cell, {}).get(OURS, {}).values())
        if draws:
            parts = [np.median([f[name] for f in draws]) for name in ("search", "halves", "rest", "evidence")]
            rows.append([cell, *(f"{part:.2f}" for part in parts), f"{sum(parts[1:]) / parts[0]:.1f}"])
    head = ["X", "search", "100 halves", "band and effects", "100 orders of y", "all of it, in searches"]
    return as_table(head, rows)
