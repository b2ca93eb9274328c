"""Test AUC on the paper's text sets: the plain classifier beside L1- and L2-logistic regression.

50-25-25 splits; every method chooses its settings by AUC on the validation part.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
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
    """Fit every candidate on the first part; return the test AUC of the best on the second."""
    train, validate, test = parts
    best = max(
        (model.fit(X[train], y[train]) for model in candidates),
        key=lambda model: roc_auc_score(y[validate], model.decision_function(X[validate])),
    )
    return roc_auc_score(y[test], best.decision_function(X[test]))


METHODS = {
    "CSI": single_index_candidates,
    "L1-logistic": lambda d: logistic_candidates(1),
    "L2-logistic": lambda d: logistic_candidates(0),
}


def run(quick=False):
    seeds = range(2 if quick else 10)
    lines = [f"Means over {len(seeds)} splits, with standard errors.", ""]
    lines += [f"| set | {' | '.join(METHODS)} | CSI in the paper |", "|---|" + "---|" * (len(METHODS) + 1)]
    for name in TEXT_SETS:
        data = load_text(name)
        X, y = sparse.csr_matrix(data.data), np.asarray(data.target)
        cells = []
        for candidates in METHODS.values():
            scores = [test_auc(candidates(X.shape[1]), X, y, split(len(y), seed)) for seed in seeds]
            error = np.std(scores, ddof=1) / np.sqrt(len(scores))
            cells.append(f"{np.mean(scores):.4f} ± {error:.4f}")
        lines.append(f"| {name} | {' | '.join(cells)} | {PAPER_CSI[name]:.3f} |")
    return lines
