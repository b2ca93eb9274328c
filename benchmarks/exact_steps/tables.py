"""scikit-learn's tables in raw units, ten random splits of 60 to 40: beside L1 and L2 with fine grids.

Log-loss with probabilities clipped to 10⁻⁶, or R². The California table is generated: skewed, correlated
columns in raw units, and prices that end at five. It is lost where we are worse than the better rival (by
its mean) by more than the paired standard error of the difference.
"""

from __future__ import annotations

import numpy as np
from sklearn import datasets

from benchmarks.pages import as_table

from .cells import FAMILIES, METHODS
from .compare import Paired, difference_text, mean_of, pair, passed, with_features
from .ours import OURS
from .tasks import Task, split_task, task_figures

NAME = "tables"
TITLE = "Tables in raw units"
MINE = ("ours", "ablation")
# Columns are few: the weakest penalties are worth a try.
LEAST = 1e-4


def load_wine_pair():
    X, y = datasets.load_wine(return_X_y=True)
    return X, (y == 1).astype(int)


def load_digits_pair():
    X, y = datasets.load_digits(return_X_y=True)
    kept = np.isin(y, (3, 8))
    return X[kept], (y[kept] == 8).astype(int)


def make_california(n: int = 3000, seed: int = 0):
    """Draw a table like that of Californian houses, whose file cannot be had offline."""
    rng = np.random.default_rng(seed)
    wealth, crowding = rng.standard_normal((2, n))
    income = np.exp(1.25 + 0.42 * wealth)
    age = np.clip(28 + 12 * rng.standard_normal(n) - 2 * wealth, 1, 52).round()
    rooms = np.exp(1.63 + 0.22 * wealth + 0.25 * rng.standard_normal(n))
    bedrooms = 0.2 * rooms * np.exp(0.12 * rng.standard_normal(n)) + np.exp(2.5 * rng.standard_normal(n) - 6)
    population = np.exp(7.1 + 0.7 * rng.standard_normal(n) + 0.2 * crowding).round()
    occupancy = np.exp(1.03 + 0.2 * crowding + 0.15 * rng.standard_t(2.5, n))
    north = rng.random(n) < 0.42
    latitude = np.where(north, 37.8, 34.0) + 0.7 * rng.standard_normal(n)
    longitude = -119.6 - 0.85 * (latitude - 35.6) + 0.6 * rng.standard_normal(n)
    coast = np.abs(longitude + 0.85 * (latitude - 35.6) + 120.4)
    log_price = (
        0.65 + 0.23 * income + 0.006 * (age - 28) - 0.45 * np.log(occupancy) - 0.25 * coast
        + 0.2 * np.log(bedrooms / rooms + 0.1) + 0.3 * rng.standard_normal(n)
    )  # fmt: skip
    X = np.column_stack([income, age, rooms, bedrooms, population, occupancy, latitude, longitude])
    return X, np.clip(np.exp(log_price), 0.15, 5.0)


TABLES = {
    "breast cancer": (lambda: datasets.load_breast_cancer(return_X_y=True), False),
    "wine, one class": (load_wine_pair, False),
    "wine, three classes": (lambda: datasets.load_wine(return_X_y=True), False),
    "digits 3 and 8": (load_digits_pair, False),
    "diabetes": (lambda: datasets.load_diabetes(return_X_y=True, scaled=False), True),
    "California, generated": (make_california, True),
}


def cells() -> list[str]:
    return list(TABLES)


def make(cell: str, seed: int) -> Task:
    load, is_numeric = TABLES[cell]
    return split_task(*load(), seed, is_numeric=is_numeric, least=LEAST)


def measure(family, task):
    return {name: task_figures(task, answer) for name, answer in FAMILIES[family](task).items()}


# ---------------------------------------------------------------- the verdict


def figure_of(cell: str) -> str:
    return "r2" if TABLES[cell][1] else "log_loss"


def judge(cell: str, methods) -> tuple[str, Paired, bool] | None:
    """Return the better of L1 and L2, our figure against its, and whether we are not worse; None without."""
    figure = figure_of(cell)
    there = [name for name in ("L1", "L2") if methods.get(name)]
    if not there or not methods.get(OURS):
        return None
    sign = -1 if figure == "r2" else 1
    better = min(there, key=lambda name: sign * mean_of(methods[name], figure))
    found = pair(methods[OURS], methods[better], figure)
    is_worse = found.is_below(1) if figure == "r2" else found.is_beyond(1)
    return better, found, not is_worse


def section(figures) -> list[str]:
    rows, n_held, n_judged = [], 0, 0
    for cell in cells():
        methods = figures.get(cell, {})
        judged = judge(cell, methods)
        told = ["–", "–", "–"]
        if judged is not None:
            better, found, held = judged
            told = [better, difference_text(found), passed(held)]
            n_held, n_judged = n_held + held, n_judged + 1
        rows.append([cell, *(with_features(methods.get(name), figure_of(cell)) for name in METHODS), *told])
    head = ["table", *METHODS, "the better rival", "difference", "not worse"]
    return [
        "Log-loss (the lower the better), or R² for diabetes and California; features in use in brackets.",
        "",
        *as_table(head, rows),
        "",
        f"Not worse than the better of L1 and L2 in {n_held} of {n_judged} tables.",
    ]
