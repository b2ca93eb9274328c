"""The headline of a search: "no evidence" on pure noise, evidence where there is a signal.

400 rows of eight independent normal features. The signal has three of them in a logistic model whose index
has an AUC of about .7; for numbers, the same index with normal noise. The test is one of level 5 %: "no
evidence" is to come in at least 91 % of the draws of noise, and evidence in at least 95 % of those with a
signal.
"""

from __future__ import annotations

import numpy as np

from benchmarks.exact_steps.compare import as_text, mean_of, passed
from benchmarks.pages import as_table
from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV
from singleindex.estimators.headline import has_evidence

NAME = "evidence"
TITLE = "No evidence, or evidence"
N, D = 400, 8
SIGNAL = 0.75  # an AUC of .7, by the logistic link
# By cell, the size of the signal and the rows and columns.
CELLS = {
    "noise, classes": (0.0, N, D), "noise, numbers": (0.0, N, D), "signal, classes": (SIGNAL, N, D),
    "signal, numbers": (SIGNAL, N, D), "wide noise, classes": (0.0, 200, 500),
}  # fmt: skip
LEAST = {"noise": 0.91, "signal": 0.95, "wide noise": 0.91}


def n_draws(cell: str, family: str) -> int:
    """Rare events take more draws."""
    return 200 if "noise" in cell else 100


def make(cell: str, seed: int):
    size, n, d = CELLS[cell]
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    index = X[:, :3].sum(axis=1) * size / np.sqrt(3)
    if cell.endswith("classes"):
        return SingleIndexClassifierCV(), X, (rng.random(n) < 1 / (1 + np.exp(-index))).astype(int)
    return SingleIndexRegressorCV(), X, index + rng.normal(size=n)


def ours(task):
    model, X, y = task
    model.fit(X, y)
    scores = model.held_out_scores_
    score = scores["AUC"] if "AUC" in scores else scores["R²"]
    seen = float(has_evidence(model.p_value_))
    return {"headline": {"evidence": seen, "p_value": model.p_value_, "score": score["score"]}}


FAMILIES = {"ours": ours}
MINE = ("ours",)


def section(figures) -> list[str]:
    rows = []
    for cell in CELLS:
        found = figures.get(cell, {}).get("headline")
        if not found:
            continue
        kind = cell.split(", ")[0]
        share = mean_of(found, "evidence") if kind == "signal" else 1 - mean_of(found, "evidence")
        below = np.mean([row["p_value"] < 0.1 for row in found.values()])
        rows.append([
            cell, str(len(found)), "evidence" if kind == "signal" else "no evidence", f"{share:.1%}",
            f"≥ {LEAST[kind]:.0%}: {passed(share >= LEAST[kind])}", f"{below:.0%}",
            as_text(mean_of(found, "score")),
        ])  # fmt: skip
    head = ["cell", "draws", "right headline", "in", "asked for", "p below .1", "mean held-out AUC or R²"]
    return as_table(head, rows)
