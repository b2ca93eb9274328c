"""Generated data with a known truth: links and w beside L1 and L2 with fine grids.

RMSE is that of the predicted against the true probability on 2000 new rows; cosine that of w, in
standardised units where columns have units of their own. Binary y, ten features with an effect.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from benchmarks.pages import as_table, paragraphs
from singleindex.datasets import LINKS, make_single_index

from .compare import Paired, as_text, mean_of, means_text, pairs_of, passed
from .methods import FIXED_LINK, OURS, families
from .tasks import Task

NAME = "cells"
TITLE = "Generated data"
FAMILIES = families("ours", "ablation", "L1", "L2")
MINE = ("ours", "ablation")
METHODS = (OURS, FIXED_LINK, "L1", "L1 + isotonic", "L2")
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
    links: tuple[str, ...] = FEW_LINKS

    @property
    def is_correlated(self) -> bool:
        return bool(self.n_factors) or "correlation" in self.options


def blocks(correlation: float, size: int) -> dict:
    return {"correlation": correlation, "block_size": size}


NEIGHBOURS = {"correlation": 0.7}
COUNTS = {"design": "counts"}
DESIGNS = {
    "Gaussian 1000 × 200": Design(1000, 200, links=ALL_LINKS),
    "counts 1000 × 200": Design(1000, 200, COUNTS, links=ALL_LINKS),
    "neighbours .7 1000 × 200": Design(1000, 200, NEIGHBOURS, links=ALL_LINKS),
    "Gaussian 300 × 2000": Design(300, 2000, links=ALL_LINKS),
    "counts 300 × 2000": Design(300, 2000, COUNTS, links=ALL_LINKS),
    "neighbours .7 300 × 2000": Design(300, 2000, NEIGHBOURS, links=ALL_LINKS),
    # One common factor is a single block of all columns.
    "one factor .5 800 × 200": Design(800, 200, blocks(0.5, 200)),
    "one factor .7 800 × 200": Design(800, 200, blocks(0.7, 200)),
    "one factor .9 800 × 200": Design(800, 200, blocks(0.9, 200)),
    "5 factors 200 × 2000": Design(200, 2000, n_factors=5),
    "10 factors 400 × 1000": Design(400, 1000, n_factors=10),
    "blocks of 20 .9 500 × 400": Design(500, 400, blocks(0.9, 20)),
    "mixed units 400 × 30": Design(400, 30, has_units=True),
}
CELLS = {f"{name}, {link}": (design, link) for name, design in DESIGNS.items() for link in design.links}


def n_draws(cell: str, family: str) -> int:
    return 10


def make(cell: str, seed: int) -> Task:
    design, link = CELLS[cell]
    n, n_rows = design.n, design.n + N_TEST
    if design.n_factors:
        X, y, coef, mean = draw_factors(design, n_rows, link, seed)
    else:
        data = make_single_index(
            n_rows, design.d, n_atoms=N_ATOMS, link=link, signal=SIGNAL, random_state=seed, **design.options
        )
        X, y, coef, mean = data.X, data.y, data.coef, data.mean
    units = draw_units(design.d, seed) if design.has_units else np.ones(design.d)
    X = X * units if design.has_units else X
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


# ---------------------------------------------------------------- the verdict


@dataclass(frozen=True)
class Verdict:
    """What the cells say against one rival.

    `worse` are cells with an RMSE higher by both 5 % and two paired standard errors, `turned` those with a
    cosine lower by two; `gain` is the mean gain of the cosine in correlated cells with n > d.
    """

    rival: str
    n_cells: int
    share_lower: float
    worse: dict[str, Paired]
    turned: dict[str, Paired]
    gain: float = float("nan")
    gain_error: float = float("nan")


def judge(figures, rival: str) -> Verdict | None:
    """Hold our figures against a rival's, over the cells and seeds that both have."""
    rmse, cosine = (pairs_of(figures, OURS, rival, figure) for figure in ("rmse", "cosine"))
    if not rmse:
        return None
    share = float(np.mean([p.ours < p.rival for p in rmse.values()]))
    worse = {cell: p for cell, p in rmse.items() if p.ours > 1.05 * p.rival and p.is_beyond(2)}
    turned = {cell: p for cell, p in cosine.items() if p.is_below(2)}
    counted = [p for cell, p in cosine.items() if counts_for_gain(CELLS[cell][0])]
    if not counted:
        return Verdict(rival, len(rmse), share, worse, turned)
    gain = float(np.mean([p.difference for p in counted]))
    error = float(np.sqrt(np.sum([p.error**2 for p in counted])) / len(counted))
    return Verdict(rival, len(rmse), share, worse, turned, gain, error)


def counts_for_gain(design: Design) -> bool:
    return design.is_correlated and design.n > design.d


# ---------------------------------------------------------------- the section


def section(figures) -> list[str]:
    verdicts = [verdict for rival in METHODS[1:] if (verdict := judge(figures, rival))]
    rows = [cell_row(cell, figures[cell]) for cell in CELLS if cell in figures]
    head = ["rival", "cells", "RMSE lower in", "cosine gained where correlated, n > d"]
    return paragraphs(
        "RMSE / cosine; in bold the lowest RMSE.",
        as_table(["X", "link", *METHODS], rows),
        "Verdict against each rival, over all cells and seeds that both have:",
        as_table(head, map(verdict_row, verdicts)),
        (line for verdict in verdicts for line in lost_lines(verdict)),
        cost_lines(figures),
    )


def cell_row(cell: str, methods) -> list[str]:
    means = [mean_of(methods.get(name), "rmse") for name in METHODS]
    texts = []
    for name, rmse in zip(METHODS, means, strict=True):
        shown = f"**{as_text(rmse)}**" if rmse == np.nanmin(means) else as_text(rmse)
        texts.append(f"{shown} / {means_text(methods.get(name), 'cosine')}")
    return [*cell.rsplit(", ", 1), *texts]


def verdict_row(verdict: Verdict) -> list[str]:
    share = f"{verdict.share_lower:.0%}, {passed(verdict.share_lower >= 0.75)}"
    gain = f"{verdict.gain:+.3f} ± {verdict.gain_error:.3f}, {passed(verdict.gain >= 0.01)}"
    return [verdict.rival, str(verdict.n_cells), share, gain]


def lost_lines(verdict: Verdict) -> list[str]:
    """Name every cell that is lost, with its figures."""
    lines = []
    for title, lost in (
        ("RMSE worse by 5 % and two standard errors", verdict.worse),
        ("cosine lower by two standard errors", verdict.turned),
    ):
        lines.append(f"- Against {verdict.rival}, {title}: {passed(not lost)}, {len(lost)} cells.")
        lines += [
            f"  - {cell}: {p.ours:.3f} against {p.rival:.3f} (± {p.error:.3f}, {p.n_seeds} seeds)"
            for cell, p in lost.items()
        ]
    return lines


def cost_lines(figures) -> list[str]:
    """Give the other figures as means over all cells."""
    rows = []
    for name in METHODS:
        per_cell = [methods[name] for methods in figures.values() if name in methods]
        if per_cell:
            means = [np.mean([mean_of(f, key) for f in per_cell]) for key in ("log_loss", "auc", "features")]
            seconds = np.median([mean_of(f, "seconds") for f in per_cell])
            rows.append([name, len(per_cell), *(f"{m:.4g}" for m in means), f"{seconds:.2f}"])
    head = ["means over cells", "cells", "log-loss", "AUC", "features in use", "median CPU seconds"]
    return as_table(head, rows)
