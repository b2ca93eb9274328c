"""Prediction intervals at 90 % of `SingleIndexRegressorCV`, by 2000 new rows a draw.

Beside them stand a plain quantile of the training rows' residuals of the same model, and MAPIE's CV+ on a
lasso (ten folds, its penalty chosen once by cross-validation on all rows, which is in its favour). Coverage
is to lie between .87 and .95 in every cell. Numbers with normal noise of .3, ten features with an effect; ρ
.7 is the correlation of any two columns. In the last cells the noise grows with the true index, from .1 to
.5: coverage is given for the third of the rows with the lowest index, and for that with the highest.
"""

from __future__ import annotations

import numpy as np

from benchmarks.exact_steps.compare import mean_of, means_text, passed
from benchmarks.exact_steps.elsewhere import ask_peer
from benchmarks.pages import as_table, paragraphs
from singleindex import SingleIndexRegressorCV
from singleindex.datasets import make_single_index

NAME = "prediction"
TITLE = "Prediction intervals"
LEVEL = 0.9
LEAST, MOST = 0.87, 0.95
N_TEST = 2000
NOISE, N_ATOMS = 0.3, 10
SIZES = {"400 × 60": (400, 60), "200 × 500": (200, 500)}
COLUMNS = {"independent": 0.0, "ρ .7": 0.7}
LINKS = ("clipped", "ramp", "steps", "logistic")
UNEVEN = "uneven noise"
OURS, PLAIN, MAPIE = "predict_interval", "residual quantile", "MAPIE, lasso"
METHODS = (OURS, PLAIN, MAPIE)
CELLS = (
    *(f"{size}, {columns}, {link}" for size in SIZES for columns in COLUMNS for link in LINKS),
    *(f"{size}, independent, {UNEVEN}" for size in SIZES),
)


def n_draws(cell: str, family: str) -> int:
    """MAPIE takes minutes for each."""
    return 100 if family in MINE else 10


def make(cell: str, seed: int):
    """Return the rows to learn from, then new rows with their true index."""
    size, columns, link = cell.split(", ")
    n, d = SIZES[size]
    rho = COLUMNS[columns]
    options = {"correlation": rho, "block_size": d} if rho else {}
    data = make_single_index(
        n + N_TEST, d, n_atoms=N_ATOMS, link="clipped" if link == UNEVEN else link, noise="gaussian",
        noise_level=NOISE, random_state=seed, **options,
    )  # fmt: skip
    y = data.y
    if link == UNEVEN:
        along = np.clip(data.index - data.index.mean(), -2, 2) / 2
        y = data.mean + (y - data.mean) * (1 + along * 2 / 3)
    return {"X": data.X[:n], "y": y[:n], "X_test": data.X[n:], "y_test": y[n:], "index": data.index[n:]}


def ours(task):
    model = SingleIndexRegressorCV().fit(task["X"], task["y"])
    half = np.quantile(np.abs(task["y"] - model.predict(task["X"])), LEVEL)
    plain = model.predict(task["X_test"])[:, None] + np.array([-half, half])
    return {
        OURS: figures_of(task, model.predict_interval(task["X_test"], LEVEL)),
        PLAIN: figures_of(task, plain),
    }


def mapie(task):
    arrays = {name: task[name] for name in ("X", "y", "X_test")}
    answer = ask_peer("conformal", "of_mapie", "LassoIntervals", [LEVEL], **arrays)
    return {MAPIE: figures_of(task, answer["interval"])}


FAMILIES = {"ours": ours, "mapie": mapie}
MINE = ("ours",)


def figures_of(task, interval) -> dict[str, float]:
    covered = (interval[:, 0] <= task["y_test"]) & (task["y_test"] <= interval[:, 1])
    order = np.argsort(task["index"])
    third = len(order) // 3
    return {
        "coverage": float(covered.mean()),
        "width": float(np.mean(interval[:, 1] - interval[:, 0])),
        "coverage_low": float(covered[order[:third]].mean()),
        "coverage_high": float(covered[order[-third:]].mean()),
    }


# ---------------------------------------------------------------- the section


def section(figures) -> list[str]:
    found = {cell: mean_of(figures[cell].get(OURS), "coverage") for cell in CELLS if cell in figures}
    even = [cell for cell in found if not cell.endswith(UNEVEN)]
    uneven = [cell for cell in found if cell.endswith(UNEVEN)]
    missed = [cell for cell, coverage in found.items() if not LEAST <= coverage <= MOST]
    rows = ([*cell.split(", "), *texts(figures[cell], "coverage", "width")] for cell in even)
    names = ("coverage_low", "coverage_high", "width")
    uneven_rows = ([cell.split(", ")[0], *texts(figures[cell], *names)] for cell in uneven)
    verdict = f"Coverage from .87 to .95 in every cell: {passed(not missed)}, {len(missed)} missed."
    return paragraphs(
        f"Coverage / mean width; means over draws, of which each cell has {draws_text(figures)}.",
        as_table(["X", "columns", "link", *METHODS], rows),
        [verdict, *(f"- {cell}: {found[cell]:.3f}" for cell in missed)],
        "Noise that grows with the index, coverage of the lowest / highest third / mean width:",
        as_table(["X", *METHODS], uneven_rows),
    )


def draws_text(figures) -> str:
    """Say how many draws the cells have of each method."""
    counts = {
        name: sorted({len(methods[name]) for methods in figures.values() if name in methods})
        for name in METHODS
    }
    return ", ".join(f"{' or '.join(map(str, counts[name]))} of {name}" for name in METHODS if counts[name])


def texts(methods, *figures: str) -> list[str]:
    return [means_text(methods.get(name), *figures) for name in METHODS]
