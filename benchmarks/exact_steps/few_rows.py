"""Few rows, thousands of columns: AUC of new rows beside L1-logistic regression, all chosen by AUC.

The ten folds are the same for all; the L1 penalty is one of 60 in the scale of the data, on standardised
columns. 60 rows of the breast cancer data with 2000 columns of noise; and generated data, 80 rows of 5000
columns in correlated blocks of 10 (ρ = 0.7), 10 of them with an effect.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from benchmarks.grids import fit_l1
from benchmarks.pages import as_table, paragraphs
from benchmarks.timing import timed
from singleindex.datasets import make_single_index

from .compare import difference_text, pair, with_features
from .methods import OURS, fit_searches, measure
from .tasks import Answer, Task

NAME = "few rows"
TITLE = "Few rows"
BREAST_CANCER = "breast cancer + noise"
LINKS = {f"generated, {link} link": link for link in ("clipped", "ramp", "steps", "logistic")}
CELLS = (BREAST_CANCER, *LINKS)
MINE = ("ours",)
SETTINGS = {OURS: {}, f"{OURS}, dense": {"dense": True}, f"{OURS}, one w": {"refit": "all"}}
METHODS = (*SETTINGS, "L1")
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)


def n_draws(cell: str, family: str) -> int:
    return 20


def make(cell: str, seed: int) -> Task:
    X, y, n = breast_cancer(seed) if cell == BREAST_CANCER else generated(LINKS[cell], seed)
    return Task(X[:n], y[:n], X[n:], y[n:])


def breast_cancer(seed: int):
    data = load_breast_cancer()
    rng = np.random.default_rng(seed)
    X = StandardScaler().fit_transform(data.data)
    X = np.hstack([X, rng.standard_normal((len(X), 2000))])
    order = rng.permutation(len(X))
    return X[order], data.target[order], 60


def generated(link: str, seed: int):
    data = make_single_index(
        1080, 5000, n_atoms=10, link=link, correlation=0.7, block_size=10, random_state=seed
    )
    return data.X, data.y, 80


def l1(task: Task) -> dict[str, Answer]:
    model, seconds = timed(lambda: fit_l1(task.X, task.y, "roc_auc", FOLDS))
    coef = np.ravel(model[-1].coef_)
    return {"L1": Answer(lambda X: model.predict_proba(X)[:, 1], model.decision_function, coef, seconds)}


FAMILIES = {
    "ours": partial(measure, partial(fit_searches, SETTINGS, cv=FOLDS, scoring="roc_auc")),
    "L1": partial(measure, l1),
}


def section(figures) -> list[str]:
    rows = []
    for cell, methods in ((cell, figures[cell]) for cell in CELLS if cell in figures):
        gaps = (pair(methods.get(name), methods.get("L1"), "auc") for name in list(SETTINGS)[:2])
        texts = (with_features(methods.get(name), "auc") for name in METHODS)
        rows.append([cell, *texts, *map(difference_text, gaps)])
    told = "Mean AUC, features in use in brackets; differences with their paired standard errors."
    return paragraphs(told, as_table(["data", *METHODS, "less L1", "dense, less L1"], rows))
