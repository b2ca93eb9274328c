"""Generated numbers with a known truth: beside the lasso and a ridge with fine grids.

RMSE is that of the predicted against the true mean on 2000 new rows, whose standard deviation is one. Ten
features matter and the noise is as large as what they explain, or sixty and it is a tenth of that: numbers,
unlike labels, can tell more features than half the rows. ρ .7 is the correlation of any two columns.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.pages import as_table, paragraphs
from singleindex.datasets import make_single_index

from .compare import difference_text, mean_of, pair, with_features
from .methods import OURS, families, measure
from .rivals import fit_lasso
from .tasks import Task

NAME = "numbers"
TITLE = "Generated numbers"
MINE = ("ours",)
METHODS = (OURS, "L1", "L2")
N_TEST = 2000
# Clear data want weak penalties.
LEAST = 1e-3
# Of the lasso's duality gap, as a share of the squares; a hundredth of it takes minutes for each draw.
TOL = 1e-4
SIZES = {"400 × 100": (400, 100), "200 × 500": (200, 500)}
COLUMNS = {"independent": 0.0, "ρ .7": 0.7}
# How many features matter, and the noise beside a mean of unit spread.
TRUTHS = {"10 features": (10, 1.0), "60 features": (60, 0.1)}
LINKS = ("identity", "ramp")
CELLS = tuple(
    f"{size}, {columns}, {truth}, {link}"
    for size in SIZES
    for columns in COLUMNS
    for truth in TRUTHS
    for link in LINKS
)
FAMILIES = families("ours", "L2") | {"L1": partial(measure, partial(fit_lasso, tol=TOL))}


def n_draws(cell: str, family: str) -> int:
    return 10


def make(cell: str, seed: int) -> Task:
    size, columns, truth, link = cell.split(", ")
    (n, d), rho, (n_atoms, noise) = SIZES[size], COLUMNS[columns], TRUTHS[truth]
    options = {"correlation": rho, "block_size": d} if rho else {}
    data = make_single_index(
        n + N_TEST, d, n_atoms=n_atoms, link=link, noise="none", random_state=seed, **options
    )
    mean = data.mean / np.std(data.mean)
    y = mean + noise * np.random.default_rng([seed, 1]).standard_normal(len(mean))
    return Task(
        data.X[:n], y[:n], data.X[n:], y[n:], is_numeric=True, probability=mean[n:], coef=data.coef,
        least=LEAST,
    )  # fmt: skip


def section(figures) -> list[str]:
    rows = [row(cell, figures[cell]) for cell in CELLS if cell in figures]
    told = "Mean RMSE, features in use in brackets; differences with their paired standard errors."
    return paragraphs(told, as_table(["data", *METHODS, "the better rival", "less it"], rows))


def row(cell: str, methods) -> list[str]:
    texts = [with_features(methods.get(name), "rmse") for name in METHODS]
    there = [name for name in METHODS[1:] if name in methods]
    better = min(there, key=lambda name: mean_of(methods[name], "rmse"), default="")
    gap = pair(methods.get(OURS), methods.get(better), "rmse")
    return [cell, *texts, better or "–", difference_text(gap)]
