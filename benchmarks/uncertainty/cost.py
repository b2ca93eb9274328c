"""CPU seconds of `resample` with a hundred halves and all it tells, beside those of one default search."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.pages import as_table
from singleindex import SingleIndexClassifierCV
from singleindex.inspection import resample

from .problems import make_problem

NAME = "cost"
TITLE = "Cost"
OURS = "singleindex"
FAMILIES = (OURS,)
MINE = (OURS,)
CELLS = {"800 × 200": (800, 200), "400 × 60": (400, 60), "200 × 500": (200, 500)}


def cells() -> list[str]:
    return list(CELLS)


def make(cell: str, seed: int):
    return make_problem(*CELLS[cell], 0.0, "ramp", seed)


def measure(family, problem):
    model, search = timed(lambda: SingleIndexClassifierCV().fit(problem.X, problem.y))
    resampled, halves = timed(
        lambda: resample(model, problem.X, problem.y, 100, random_state=0, n_permutations=0)
    )
    _, rest = timed(lambda: (resampled.effects(), resampled.link_band([0.0])))
    _, both = timed(lambda: resample(model, problem.X, problem.y, 100, random_state=0))
    return {family: {"search": search, "halves": halves, "rest": rest, "evidence": both - halves}}


def timed(task):
    began = time.process_time()
    found = task()
    return found, time.process_time() - began


def section(figures) -> list[str]:
    rows = []
    for cell in cells():
        draws = list(figures.get(cell, {}).get(OURS, {}).values())
        if draws:
            parts = {name: np.median([f[name] for f in draws]) for name in draws[0]}
            total = parts["halves"] + parts["rest"] + parts["evidence"]
            told = [f"{parts[name]:.2f}" for name in ("search", "halves", "rest", "evidence")]
            rows.append([cell, *told, f"{total / parts['search']:.1f}"])
    head = ["X", "search", "100 halves", "band and effects", "100 orders of y", "all of it, in searches"]
    return as_table(head, rows)
