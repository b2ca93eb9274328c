"""Real data that nothing was tuned on: default settings beside L1 and L2 with fine grids.

Gene expression (khan), tables of several numbers (wq, rf1) and labels (yeast) in raw units; text is in the
paper's tables. Random splits of 60 to 40. Figures are means over outputs; of R² the median, too, since one
river of rf1 has outliers.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.io.arff import loadarff

from benchmarks.pages import as_table, paragraphs
from singleindex.datasets import load_text

from .compare import difference_text, pair, with_features
from .methods import OURS, families
from .tasks import Task, split_task

NAME = "real"
TITLE = "Real data"
FAMILIES = families("ours", "L1", "L2")
MINE = ("ours",)
METHODS = (OURS, "L1", "L2")
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
N_TARGETS = {"wq": 14, "rf1": 8}
N_LABELS = 14
CELLS = ("khan", *N_TARGETS, "yeast")


def load_khan():
    """Return 63 × 2308 expressions of genes, and the names of four kinds of tumours."""
    with np.load(DATA / "khan" / "khan.npz", allow_pickle=False) as data:
        return data["X"].astype(float), data["y"].astype(str)


def read_table(path: Path):
    with path.open(encoding="utf-8") as file:
        records, meta = loadarff(file)
    return np.column_stack([records[name].astype(float) for name in meta.names()])


def load_targets(name: str):
    table = read_table(DATA / "multi_target" / f"{name}.arff")
    k = N_TARGETS[name]
    return filled(table[:, :-k]), table[:, -k:]


def filled(X):
    """Put the mean of its column in place of what is missing."""
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def load_yeast():
    table = read_table(DATA / "multi_label" / "yeast.arff")
    return table[:, :-N_LABELS], table[:, -N_LABELS:].astype(int)


def n_draws(cell: str, family: str) -> int:
    return 10


def make(cell: str, seed: int) -> Task:
    if cell == "khan":
        X, names = load_khan()
        return split_task(X, np.unique(names, return_inverse=True)[1], seed)
    if cell in N_TARGETS:
        return split_task(*load_targets(cell), seed, is_numeric=True)
    return split_task(*load_yeast(), seed)


def split_text(name: str, seed: int, **options) -> Task:
    data = load_text(name)
    return split_task(data.data, np.asarray(data.target), seed, **options)


def section(figures) -> list[str]:
    rows = []
    for cell in CELLS:
        methods = figures.get(cell, {})
        for figure in ("r2", "median_r2") if cell in N_TARGETS else ("log_loss", "auc"):
            texts = [with_features(methods.get(name), figure) for name in METHODS]
            pairs = [pair(methods.get(OURS), methods.get(name), figure) for name in METHODS[1:]]
            if methods:
                rows.append([cell, figure, *texts, *map(difference_text, pairs)])
    told = "Features in use in brackets; differences with their paired standard errors."
    return paragraphs(told, as_table(["data", "figure", *METHODS, "less L1", "less L2"], rows))
