"""How well each structure is found: generated data, a link that is not logistic, fewer rows than features."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

from singleindex import SingleIndexClassifier, SingleIndexRegressor
from singleindex.datasets import make_single_index
from singleindex.structures import GroupSparse, LowRank, RowSparse

from .exact_steps.tasks import cosine
from .pages import paragraphs

NOISES = {"gaussian": SingleIndexRegressor, "binary": SingleIndexClassifier}


def run(quick=False):
    seeds = range(3 if quick else 10)
    lines = [group_line(seeds), row_line(seeds)]
    lines += [low_rank_line(seeds, *kind) for kind in NOISES.items()]
    return paragraphs(f"Means over {len(seeds)} seeds.", *lines)


def recall(found, truth):
    return len(set(found) & set(truth)) / len(truth)


def group_line(seeds):
    """True groups among five; n = 300, d = 500, groups of 10."""
    ours, peer = [], []
    for seed in seeds:
        data = make_single_index(
            300, 500, structure="group", group_size=10, n_atoms=5, link="ramp", random_state=seed
        )
        groups = np.asarray(data.groups)
        truth = np.unique(groups[data.coef != 0])
        model = SingleIndexClassifier(5, structure=GroupSparse(groups)).fit(data.X, data.y)
        ours.append(recall(np.unique(groups[model.coef_ != 0]), truth))
        peer.append(recall(group_lasso_first_groups(data.X, data.y, groups, 5), truth))
    return (
        f"Groups: {100 * np.mean(ours):.0f} % of the true ones are among the five asked for; group-lasso "
        f"logistic regression (skglm), at the weakest of 60 penalties that has five at most: "
        f"{100 * np.mean(peer):.0f} %."
    )


def group_lasso_first_groups(X, y, groups, n_wanted):
    """Return the groups in use at the weakest penalty with no more than `n_wanted` of them."""
    from skglm.datafits import LogisticGroup
    from skglm.penalties import WeightedGroupL2
    from skglm.solvers import GroupProxNewton
    from skglm.utils.data import grp_converter

    sign = np.where(y > 0, 1.0, -1.0)
    X = np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0))
    lists = [np.flatnonzero(groups == g) for g in np.unique(groups)]
    indices, pointers = grp_converter([g.tolist() for g in lists], X.shape[1])
    largest = max(np.linalg.norm(X[:, g].T @ (sign / 2)) for g in lists) / len(y)
    chosen = []
    for share in np.geomspace(0.95, 0.1, 60):
        datafit = LogisticGroup(pointers, indices)
        penalty = WeightedGroupL2(share * largest, np.ones(len(lists)), pointers, indices)
        w = GroupProxNewton(tol=1e-6, fit_intercept=False).solve(X, sign, datafit, penalty)[0]
        used = [k for k, g in enumerate(lists) if np.any(w[g])]
        if len(used) > n_wanted:
            break
        chosen = used
    return np.unique(groups)[chosen]


def row_line(seeds):
    """Share of the true rows that get a coefficient in each task; 6 tasks, n = 200, d = 500, 10 true rows."""
    joint, apart = [], []
    for seed in seeds:
        data = make_single_index(
            200, 500, structure="rows", n_outputs=6, n_atoms=10, link="clipped", random_state=seed
        )
        rows = data.coef.any(axis=1)
        for structure, found in ((RowSparse(), joint), (None, apart)):
            model = SingleIndexClassifier(10, structure=structure).fit(data.X, data.y)
            found.append(np.mean((model.coef_ != 0)[rows]))
    return (
        f"Shared rows of 6 tasks, ten asked for: {100 * np.mean(joint):.0f} % of the true entries of all "
        f"tasks found; by six separate fits of ten each {100 * np.mean(apart):.0f} %."
    )


def ridges_of_numbers(X, y):
    centred = X - X.mean(axis=0)
    for alpha in np.geomspace(1e-3, 1e3, N_RIDGES) * np.sum(centred**2) / X.shape[1]:
        yield Ridge(alpha).fit(X, y).coef_


def ridges_of_classes(X, y):
    for C in np.geomspace(1e-6, 1, N_RIDGES):
        yield np.ravel(LogisticRegression(C=C, max_iter=1000).fit(X, y).coef_)


N_RIDGES = 13
RIDGES = {"gaussian": ridges_of_numbers, "binary": ridges_of_classes}


def low_rank_line(seeds, noise, estimator):
    """Cosine to the true matrix; rank 3, 40 × 40, 800 measurements."""
    ours, ridge = [], []
    for seed in seeds:
        data = make_single_index(
            800, 1600, structure="low_rank", shape=(40, 40), n_atoms=3, link="clipped", noise=noise,
            random_state=seed,
        )  # fmt: skip
        truth = np.ravel(data.coef)
        model = estimator(3, structure=LowRank((40, 40))).fit(data.X, data.y)
        ours.append(cosine(np.ravel(model.coef_), truth))
        # The ridge fits get the penalty that is best against the truth: more than they could know.
        ridge.append(max(cosine(coef, truth) for coef in RIDGES[noise](data.X, data.y)))
    return (
        f"Rank 3, 40 × 40, 800 measurements, {noise} response, the rank known: cosine {np.mean(ours):.3f}; "
        f"ridge fits of the vectorised matrix, at the best of {N_RIDGES} penalties: {np.mean(ridge):.3f}."
    )
