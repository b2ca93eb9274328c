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
    models = {
        **{title: clone(model).fit(X[train], y[train]) for title, model in OURS.items()},
        "L2": l2,
        **{
            f"L2 + {kind}": CalibratedClassifierCV(plain, method=kind, cv=5, ensemble=False).fit(
                X[train], y[train]
            )
            for kind in ("sigmoid", "isotonic")
        },
    }
    found = {}
    for title, model in models.items():
        p = model.predict_proba(X[test])[:, 1]
        found[title] = (log_loss(y[test], p), brier_score_loss(y[test], p))
    return found


def run(quick=False):
    seeds = range(1 if quick else 10)
    titles = [*OURS, *RIVALS]
    lines = [
        f"Means over {len(seeds)} splits: log-loss / Brier score.",
        "",
        f"| set | {' | '.join(titles)} |",
        "|---|" + "---|" * len(titles),
    ]
    not_worse = {title: np.zeros(2, dtype=int) for title in OURS}
    clearly_worse = {title: np.zeros(2, dtype=int) for title in OURS}
    for name in TEXT_SETS:
        found = Parallel(n_jobs=2)(delayed(measure)(name, seed) for seed in seeds)
        means = {title: np.mean([f[title] for f in found], axis=0) for title in titles}
        best = np.argmin([means[rival] for rival in RIVALS], axis=0)
        for title in OURS:
            # By which score the best rival is one, and how far behind it this one is on each split.
            behind = np.array([[f[title][i] - f[RIVALS[k]][i] for i, k in enumerate(best)] for f in found])
            error = np.std(behind, axis=0, ddof=min(1, len(found) - 1)) / np.sqrt(len(found))
            not_worse[title] += behind.mean(axis=0) <= 0
            clearly_worse[title] += behind.mean(axis=0) > error
        lines.append(f"| {name} | " + " | ".join("{:.4f} / {:.4f}".format(*means[t]) for t in titles) + " |")
    return [*lines, ""] + [
        f"- {title}: not worse than the best of the three others in log-loss on {count[0]}, in Brier score "
        f"on {count[1]} of {len(TEXT_SETS)} sets; worse by more than one standard error of the difference on "
        f"{clearly_worse[title][0]} and {clearly_worse[title][1]}."
        for title, count in not_worse.items()
    ]
