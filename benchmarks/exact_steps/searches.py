"""CPU seconds of a default search beside glmnet's cross-validation: 100 levels, ten folds, its own tolerance.

Both are measured in turn, seed by seed, on one thread. At most twice as long is the aim.
"""

from __future__ import annotations

import numpy as np

from benchmarks.pages import as_table

from . import cells
from .compare import passed, values_of
from .methods import OURS, fit_search
from .real import split_text
from .rivals import l1_path
from .tasks import Task

NAME = "time"
TITLE = "The time of a search"
CELLS = ("ath-rel", "one factor .7 800 × 200, ramp")
FAMILIES = {
    "ours": lambda task: {OURS: {"seconds": fit_search(task).seconds}},
    "glmnet": lambda task: {"glmnet": {"seconds": seconds_of_glmnet(task)}},
}
# Timings of two methods compare within one run only: glmnet is measured again with each of our commits.
MINE = ("ours", "glmnet")
LIMIT = 2.0


def n_draws(cell: str, family: str) -> int:
    return 10


def make(cell: str, seed: int) -> Task:
    return cells.make(cell, seed) if cell in cells.CELLS else split_text(cell, seed)


def seconds_of_glmnet(task: Task) -> float:
    return float(l1_path(task, solver="DefaultLogisticFolds")["seconds"])


def section(figures) -> list[str]:
    rows = []
    for cell, methods in figures.items():
        if OURS in methods and "glmnet" in methods:
            mine, theirs = (
                np.median(list(values_of(methods[name], "seconds").values())) for name in (OURS, "glmnet")
            )
            ratio = mine / theirs
            rows.append([cell, f"{mine:.3f}", f"{theirs:.3f}", f"{ratio:.2f}", passed(ratio <= LIMIT)])
    return as_table(["data", OURS, "glmnet", "ratio of medians", "at most 2"], rows)
