"""Honest probabilities on the paper's text data: log-loss and Brier score of new rows.

75-25 splits. Beside L2-logistic regression (one of 60 levels, by log-loss over five folds), as it is and
calibrated by sigmoid and by isotonic regression on held-out rows. Probabilities are clipped to 10⁻⁶.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression

from benchmarks.grids import l2_search
from benchmarks.pages import as_table, paragraphs
from benchmarks.timing import timed
from singleindex.datasets import TEXT_SETS, load_text

from .compare import difference_text, mean_of, means_text, pair
from .methods import OURS, fit_searches
from .tasks import Answer, Task, task_figures

NAME = "probabilities"
TITLE = "Probabilities"
CELLS = TEXT_SETS
MINE = ("ours",)
SETTINGS = {OURS: {}, f"{OURS}, best": {"rule": "best"}, f"{OURS}, dense": {"dense": True}}
RIVALS = ("L2", "L2 + sigmoid", "L2 + isotonic")


def n_draws(cell: str, family: str) -> int:
    return 10


def make(cell: str, seed: int) -> Task:
    data = load_text(cell)
    X, y = sparse.csr_matrix(data.data), np.asarray(data.target)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[: 3 * len(y) // 4], order[3 * len(y) // 4 :]
    return Task(X[train], y[train], X[test], y[test])


def calibrated(task: Task) -> dict[str, Answer]:
    search, seconds = timed(lambda: l2_search(task.X, "neg_log_loss").fit(task.X, task.y))
    coef = np.ravel(search.coef_)
    answers = {"L2": as_answer(search, coef, seconds)}
    plain = LogisticRegression(C=float(np.ravel(search.C_)[0]), solver="liblinear")
    for kind in ("sigmoid", "isotonic"):
        model = CalibratedClassifierCV(plain, method=kind, cv=5, ensemble=False)
        _, more = timed(lambda model=model: model.fit(task.X, task.y))
        answers[f"L2 + {kind}"] = as_answer(model, coef, seconds + more)
    return answers


def as_answer(model, coef, seconds: float) -> Answer:
    return Answer(lambda X: model.predict_proba(X)[:, 1], lambda X: X @ coef, coef, seconds)


def measure(fit, task: Task) -> dict[str, dict[str, float]]:
    found = {}
    for name, answer in fit(task).items():
        brier = float(np.mean((answer.predict(task.X_test) - task.y_test) ** 2))
        found[name] = task_figures(task, answer) | {"brier": brier}
    return found


FAMILIES = {"ours": partial(measure, partial(fit_searches, SETTINGS)), "L2": partial(measure, calibrated)}


def section(figures) -> list[str]:
    rows = [row(cell, figures[cell]) for cell in CELLS if cell in figures]
    head = ["set", *SETTINGS, *RIVALS, "the best of the three", "less it", "dense, less it"]
    told = "Mean log-loss / Brier score. Differences are of log-loss, with their paired standard errors."
    return paragraphs(told, as_table(head, rows))


def row(cell: str, methods) -> list[str]:
    texts = [means_text(methods.get(name), "log_loss", "brier", digits=4) for name in (*SETTINGS, *RIVALS)]
    there = [name for name in RIVALS if name in methods]
    best = min(there, key=lambda name: mean_of(methods[name], "log_loss"), default="")
    gaps = (pair(methods.get(n), methods.get(best), "log_loss") for n in (OURS, f"{OURS}, dense"))
    return [cell, *texts, best or "–", *map(difference_text, gaps)]
