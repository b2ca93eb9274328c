"""Generated rows of known origin: independent, counts, common factors, blocks, mixed units."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from singleindex.datasets import LINKS, make_single_index

from .tasks import Task

N_TEST = 2000
N_ATOMS = 10
SIGNAL = 2.0
ALL_LINKS = ("clipped", "steps", "cloglog", "ramp", "logistic", "cubic", "relu")
FEW_LINKS = ("clipped", "ramp", "steps", "logistic")


@dataclass(frozen=True)
class Design:
    """How X is made: by `make_single_index` with `options`, or by factors; then in units of its columns."""

    n: int
    d: int
    options: dict = field(default_factory=dict)
    n_factors: int = 0
    has_units: bool = False
    is_correlated: bool = False
    links: tuple[str, ...] = FEW_LINKS


def _factor(rho: float) -> dict:
    """Return the options of one common factor: a single block of all columns."""
    return {"correlation": rho, "block_size": 200}


_NEIGHBOURS = {"correlation": 0.7}
_COUNTS = {"design": "counts"}
DESIGNS = {
    "Gaussian 1000 × 200": Design(1000, 200, links=ALL_LINKS),
    "counts 1000 × 200": Design(1000, 200, _COUNTS, links=ALL_LINKS),
    "neighbours .7 1000 × 200": Design(1000, 200, _NEIGHBOURS, is_correlated=True, links=ALL_LINKS),
    "Gaussian 300 × 2000": Design(300, 2000, links=ALL_LINKS),
    "counts 300 × 2000": Design(300, 2000, _COUNTS, links=ALL_LINKS),
    "neighbours .7 300 × 2000": Design(300, 2000, _NEIGHBOURS, is_correlated=True, links=ALL_LINKS),
    "one factor .5 800 × 200": Design(800, 200, _factor(0.5), is_correlated=True),
    "one factor .7 800 × 200": Design(800, 200, _factor(0.7), is_correlated=True),
    "one factor .9 800 × 200": Design(800, 200, _factor(0.9), is_correlated=True),
    "5 factors 200 × 2000": Design(200, 2000, n_factors=5, is_correlated=True),
    "10 factors 400 × 1000": Design(400, 1000, n_factors=10, is_correlated=True),
    "blocks of 20 .9 500 × 400": Design(
        500, 400, {"correlation": 0.9, "block_size": 20}, is_correlated=True
    ),
    "mixed units 400 × 30": Design(400, 30, has_units=True),
}  # fmt: skip


def cell_names() -> list[str]:
    return [f"{name}, {link}" for name, design in DESIGNS.items() for link in design.links]


def design_of(cell: str) -> Design:
    return DESIGNS[cell.rsplit(", ", 1)[0]]


def make_task(cell: str, seed: int) -> Task:
    design, link = design_of(cell), cell.rsplit(", ", 1)[1]
    n_rows = design.n + N_TEST
    if design.n_factors:
        X, y, coef, mean = draw_factors(design, n_rows, link, seed)
    else:
        data = make_single_index(
            n_rows, design.d, n_atoms=N_ATOMS, link=link, signal=SIGNAL, random_state=seed, **design.options
        )
        X, y, coef, mean = data.X, data.y, data.coef, data.mean
    units = draw_units(design.d, seed) if design.has_units else np.ones(design.d)
    X = X * units if design.has_units else X
    n = design.n
    return Task(X[:n], y[:n], X[n:], y[n:], probability=mean[n:], coef=coef, units=units)


def draw_units(d: int, seed: int):
    """Draw factors from 10⁻³ to 10³; columns times these are in units of their own."""
    return 10.0 ** np.random.default_rng([seed, 1]).uniform(-3, 3, d)


def draw_factors(design: Design, n_rows: int, link: str, seed: int):
    """Draw rows with common factors; columns have loadings of their own, and noise of variance one."""
    rng = np.random.default_rng(seed)
    k, d = design.n_factors, design.d
    loadings = rng.standard_normal((k, d)) * 1.5 / np.sqrt(k)
    coef = np.zeros(d)
    support = rng.choice(d, N_ATOMS, replace=False)
    coef[support] = rng.choice([-1.0, 1.0], N_ATOMS) * rng.uniform(0.5, 1.5, N_ATOMS)
    coef *= SIGNAL / np.sqrt(np.sum((loadings @ coef) ** 2) + coef @ coef)
    X = rng.standard_normal((n_rows, k)) @ loadings + rng.standard_normal((n_rows, d))
    mean = LINKS[link](X @ coef)
    y = (rng.random(n_rows) < mean).astype(int)
    return X, y, coef, mean
