"""CPU seconds of a default search beside glmnet's cross-validation: 100 levels, ten folds, its own tolerance.

Both are measured in turn, seed by seed, on one thread. At most twice as long is the aim.
"""

from __future__ import annotations

import numpy as np

from benchmarks.pages import as_table
from singleindex.datasets import load_text

from . import ours
from .compare import passed
from .designs import make_task
from .ours import OURS
from .rivals import l1_path
from .tasks import Task, split_task

NAME = "time"
TITLE = "The time of a search"
GENERATED = "one factor .7 800 × 200, ramp"
# Timings of two methods compare within one run only: glmnet is measured again with each of our commits.
MINE = ("ours", "glmnet")
LIMIT = 2.0


def cells() -> list[str]:
    return ["ath-rel", GENERATED]


def make(cell: str, seed: int) -> Task:
    if cell == GENERATED:
        return make_task(cell, seed)
    data = load_text("ath-rel")
    return split_task(data.data, np.asarray(data.target), seed)


FAMILIES = {
    "ours": lambda task: {OURS: ours.fit_search(task).seconds},
    "glmnet": lambda task: {"glmnet": float(l1_path(task, solver="DefaultLogisticFolds")["seconds"])},
}


def measure(family, task):
    return {name: {"seconds": seconds} for name, seconds in FAMILIES[family](task).items()}


def section(figures) -> list[str]:
    rows = []
    for cell, methods in figures.items():
        if OURS in methods and "glmnet" in methods:
            mine, theirs = (median_seconds(methods[name]) for name in (OURS, "glmnet"))
            ratio = mine / theirs
            rows.append([cell, f"{mine:.3f}", f"{theirs:.3f}", f"{ratio:.2f}", passed(ratio <= LIMIT)])
    return as_table(["data", OURS, "glmnet", "ratio of medians", "at most 2"], rows)


def median_seconds(found) -> float:
    return float(np.median([figures["seconds"] for figures in found.values()]))
