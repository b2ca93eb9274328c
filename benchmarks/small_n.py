"""Few rows, thousands of columns: test AUC beside L1-logistic regression, all chosen by AUC over ten folds.

The folds are the same for all; the L1 penalty is one of 60 in the scale of the data, on standardised columns.

60 rows of the breast cancer data with 2000 columns of noise; and generated data, 80 rows of 5000 columns in
correlated blocks of 10 (ρ = 0.7), 10 of them with an effect.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from singleindex import SingleIndexClassifierCV
from singleindex.datasets import make_single_index

from .grids import fit_l1
from .pages import as_table, paragraphs

FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)
METHODS = {
    "singleindex": SingleIndexClassifierCV(cv=FOLDS, scoring="roc_auc").fit,
    "singleindex, dense": SingleIndexClassifierCV(cv=FOLDS, scoring="roc_auc", dense=True).fit,
    "singleindex, one w": SingleIndexClassifierCV(cv=FOLDS, scoring="roc_auc", refit="all").fit,
    "L1-logistic": partial(fit_l1, scoring="roc_auc", cv=FOLDS),
}
LINKS = ("clipped", "ramp", "steps", "logistic")


def breast_cancer(seed):
    data = load_breast_cancer()
    rng = np.random.default_rng(seed)
    X = StandardScaler().fit_transform(data.data)
    X = np.hstack([X, rng.standard_normal((len(X), 2000))])
    order = rng.permutation(len(X))
    return X[order], data.target[order], 60


def generated(link, seed):
    data = make_single_index(
        1080, 5000, n_atoms=10, link=link, correlation=0.7, block_size=10, random_state=seed
    )
    return data.X, data.y, 80


def measure(make, *args):
    warnings.simplefilter("ignore")
    X, y, n = make(*args)
    models = {name: fit(X[:n], y[:n]) for name, fit in METHODS.items()}
    return {name: roc_auc_score(y[n:], model.decision_function(X[n:])) for name, model in models.items()}


def run(quick=False):
    seeds = range(2 if quick else 20)
    sets = {"breast cancer + noise": (breast_cancer,)}
    sets |= {f"generated, {link} link": (generated, link) for link in LINKS}
    rows = []
    for title, data in sets.items():
        found = Parallel(n_jobs=2)(delayed(measure)(*data, seed) for seed in seeds)
        rows.append([title, *(mean_text([one[name] for one in found]) for name in METHODS)])
    head = f"Mean test AUC over {len(seeds)} seeds, with standard errors."
    return paragraphs(head, as_table(["data", *METHODS], rows))


def mean_text(scores):
    return f"{np.mean(scores):.4f} ± {np.std(scores, ddof=1) / np.sqrt(len(scores)):.4f}"
