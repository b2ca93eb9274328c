"""Honest probabilities on the paper's text data: log-loss and Brier score on the test part.

75-25 splits. Beside L2-logistic regression (one of 60 levels, by log-loss over five folds), as it is and
calibrated by sigmoid and by isotonic regression on held-out rows.
"""

from __future__ import annotations

import warnings

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss

from singleindex import SingleIndexClassifierCV
from singleindex.datasets import TEXT_SETS, load_text

from .grids import l2_search
from .pages import as_table, paragraphs

OURS = {
    "singleindex": SingleIndexClassifierCV(scoring="neg_log_loss"),
    "singleindex, best": SingleIndexClassifierCV(scoring="neg_log_loss", rule="best"),
    "singleindex, dense": SingleIndexClassifierCV(scoring="neg_log_loss", dense=True),
}
RIVALS = ("L2", "L2 + sigmoid", "L2 + isotonic")


def measure(name, seed):
    warnings.simplefilter("ignore")
    data = load_text(name)
    X, y = sparse.csr_matrix(data.data), np.asarray(data.target)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[: 3 * len(y) // 4], order[3 * len(y) // 4 :]
    l2 = l2_search(X[train], "neg_log_loss").fit(X[train], y[train])
    plain = LogisticRegression(C=float(np.ravel(l2.C_)[0]), solver="liblinear")
    models = {title: clone(model) for title, model in OURS.items()}
    for kind in ("sigmoid", "isotonic"):
        models[f"L2 + {kind}"] = CalibratedClassifierCV(plain, method=kind, cv=5, ensemble=False)
    fitted = {"L2": l2} | {title: model.fit(X[train], y[train]) for title, model in models.items()}
    p = {title: model.predict_proba(X[test])[:, 1] for title, model in fitted.items()}
    return {title: (log_loss(y[test], p[title]), brier_score_loss(y[test], p[title])) for title in p}


def run(quick=False):
    seeds = range(1 if quick else 10)
    titles = [*OURS, *RIVALS]
    # Sets on which ours is not worse than the best rival, and clearly worse, by log-loss and Brier score.
    not_worse, clearly_worse = ({title: np.zeros(2, dtype=int) for title in OURS} for _ in range(2))
    rows = []
    for name in TEXT_SETS:
        found = Parallel(n_jobs=2)(delayed(measure)(name, seed) for seed in seeds)
        scores = {title: np.array([f[title] for f in found]) for title in titles}
        means = {title: values.mean(axis=0) for title, values in scores.items()}
        rows.append([name, *("{:.4f} / {:.4f}".format(*means[title]) for title in titles)])
        best = np.argmin([means[rival] for rival in RIVALS], axis=0)
        of_best = np.column_stack([scores[RIVALS[k]][:, i] for i, k in enumerate(best)])
        for title in OURS:
            behind = scores[title] - of_best
            error = np.std(behind, axis=0, ddof=min(1, len(found) - 1)) / np.sqrt(len(found))
            not_worse[title] += behind.mean(axis=0) <= 0
            clearly_worse[title] += behind.mean(axis=0) > error
    verdicts = [
        f"- {title}: not worse than the best of the three others in log-loss on {count[0]}, in Brier score "
        f"on {count[1]} of {len(TEXT_SETS)} sets; worse by more than one standard error of the difference on "
        f"{clearly_worse[title][0]} and {clearly_worse[title][1]}."
        for title, count in not_worse.items()
    ]
    head = f"Means over {len(seeds)} splits: log-loss / Brier score."
    return paragraphs(head, as_table(["set", *titles], rows), verdicts)
