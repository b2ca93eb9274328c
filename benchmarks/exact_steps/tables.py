"""scikit-learn's tables in raw units, ten random splits of 60 to 40: beside L1 and L2 with fine grids.

Log-loss with probabilities clipped to 10⁻⁶, or R². The California table is generated: skewed, correlated
columns in raw units, and prices that end at five. It is lost where we are worse than the better rival (by
its mean) by more than the paired standard error of the difference.
"""

from __future__ import annotations

import numpy as np
from sklearn import datasets

from benchmarks.pages import as_table, paragraphs

from . import cells
from .compare import Paired, difference_text, mean_of, pair, passed, with_features
from .methods import OURS
from .tasks import Task, split_task

NAME = "tables"
TITLE = "Tables in raw units"
FAMILIES, MINE, METHODS, n_draws = cells.FAMILIES, cells.MINE, cells.METHODS, cells.n_draws
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


# How each is loaded, and the figure it is judged by.
CELLS = {
    "breast cancer": (lambda: datasets.load_breast_cancer(return_X_y=True), "log_loss"),
    "wine, one class": (load_wine_pair, "log_loss"),
    "wine, three classes": (lambda: datasets.load_wine(return_X_y=True), "log_loss"),
    "digits 3 and 8": (load_digits_pair, "log_loss"),
    "diabetes": (lambda: datasets.load_diabetes(return_X_y=True, scaled=False), "r2"),
    "California, generated": (make_california, "r2"),
}


def make(cell: str, seed: int) -> Task:
    load, figure = CELLS[cell]
    return split_task(*load(), seed, is_numeric=figure == "r2", least=LEAST)


# ---------------------------------------------------------------- the verdict


def judge(cell: str, methods) -> tuple[str, Paired, bool] | None:
    """Return the better of L1 and L2, our figure against its, and whether we are not worse; None without."""
    figure = CELLS[cell][1]
    there = [name for name in ("L1", "L2") if methods.get(name)]
    if not there or not methods.get(OURS):
        return None
    best_of = max if figure == "r2" else min
    better = best_of(there, key=lambda name: mean_of(methods[name], figure))
    found = pair(methods[OURS], methods[better], figure)
    is_worse = found.is_below(1) if figure == "r2" else found.is_beyond(1)
    return better, found, not is_worse


def section(figures) -> list[str]:
    judged = {cell: judge(cell, figures.get(cell, {})) for cell in CELLS}
    held = [found[2] for found in judged.values() if found]
    head = ["table", *METHODS, "the better rival", "difference", "not worse"]
    return paragraphs(
        "Log-loss (the lower the better), or R² for diabetes and California; features in use in brackets.",
        as_table(head, (row(cell, figures.get(cell, {}), found) for cell, found in judged.items())),
        f"Not worse than the better of L1 and L2 in {sum(held)} of {len(held)} tables.",
    )


def row(cell: str, methods, judged) -> list[str]:
    told = ["–", "–", "–"]
    if judged:
        better, found, held = judged
        told = [better, difference_text(found), passed(held)]
    return [cell, *(with_features(methods.get(name), CELLS[cell][1]) for name in METHODS), *told]
