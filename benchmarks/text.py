"""Test AUC on the paper's text sets: the plain classifier beside L1- and L2-logistic regression.

50-25-25 splits; every method chooses its settings by AUC on the validation part.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from singleindex import SingleIndexClassifier
from singleindex.datasets import TEXT_SETS, load_text

PAPER_CSI = {
    "link": 0.981, "page": 0.997, "ath-rel": 0.879, "aut-mot": 0.941, "cryp-ele": 0.990, "mac-win": 0.646,
}  # fmt: skip


def split(n, seed):
    order = np.random.default_rng(seed).permutation(n)
    return order[: n // 2], order[n // 2 : 3 * n // 4], order[3 * n // 4 :]


def single_index_candidates(d):
    counts = sorted({max(1, d >> k) for k in range(11)})
    for n_atoms in counts:
        for alpha in 10.0 ** np.arange(-2, 3):
            yield SingleIndexClassifier(n_atoms=n_atoms, alpha=alpha)


def logistic_candidates(l1_ratio):
    for c in 2.0 ** np.arange(-10, 11):
        yield LogisticRegression(C=c, l1_ratio=l1_ratio, solver="liblinear", max_iter=1000)


def test_auc(candidates, X, y, parts):
    """Return two test AUCs of the candidate that is best on the validation part.

    Of the model fitted to the training part, and of the same settings fitted to training and validation part.
    """
    train, validate, test = parts
    best = max(
        (model.fit(X[train], y[train]) for model in candidates),
        key=lambda model: roc_auc_score(y[validate], model.decision_function(X[validate])),
    )
    first = roc_auc_score(y[test], best.decision_function(X[test]))
    both = np.concatenate([train, validate])
    again = clone(best).fit(X[both], y[both])
    return first, roc_auc_score(y[test], again.decision_function(X[test]))


METHODS = {
    "CSI": single_index_candidates,
    "L1-logistic": lambda d: logistic_candidates(1),
    "L2-logistic": lambda d: logistic_candidates(0),
}


def run(quick=False):
    seeds = range(2 if quick else 10)
    tables = [[], []]
    for name in TEXT_SETS:
        data = load_text(name)
        X, y = sparse.csr_matrix(data.data), np.asarray(data.target)
        scores = {
            method: np.array([test_auc(make(X.shape[1]), X, y, split(len(y), seed)) for seed in seeds])
            for method, make in METHODS.items()
        }
        for k, rows in enumerate(tables):
            cells = [
                f"{s[:, k].mean():.4f} ± {s[:, k].std(ddof=1) / np.sqrt(len(s)):.4f}" for s in scores.values()
            ]
            rows.append(f"| {name} | {' | '.join(cells)} | {PAPER_CSI[name]:.3f} |")
    head = [f"| set | {' | '.join(METHODS)} | CSI in the paper |", "|---|" + "---|" * (len(METHODS) + 1)]
    return [
        f"Means over {len(seeds)} splits, with standard errors. Fitted to the training half:",
        "",
        *head,
        *tables[0],
        "",
        "The same settings fitted to the training and the validation part, three quarters of the rows:",
        "",
        *head,
        *tables[1],
    ]
