"""What others do for the same questions: the lasso's stability selection, knockoffs, the plain bootstrap."""

from __future__ import annotations

import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LassoCV, lars_path

N_BOOTSTRAP = 50


def lasso_shares(X, y, n_chosen: int, n_pairs: int, seed: int):
    """Return in which share of complementary halves each feature is among the first that a lasso takes up."""
    rng, counts = np.random.default_rng([seed, 1]), np.zeros(X.shape[1])
    for _ in range(n_pairs):
        mixed = rng.permutation(len(y))
        for rows in (mixed[: len(y) // 2], mixed[len(y) // 2 : 2 * (len(y) // 2)]):
            counts[first_of_lasso(X[rows], y[rows], n_chosen)] += 1
    return counts / (2 * n_pairs)


def first_of_lasso(X, y, n_chosen: int):
    """Return the features in the order in which scikit-learn's lasso takes them up, as many as are wanted."""
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    first: list[int] = []
    for n_steps in (n_chosen + 5, 4 * n_chosen):
        _, _, path = lars_path(X, y - y.mean(), method="lasso", max_iter=n_steps)
        entered = np.where(path.any(axis=1), (path != 0).argmax(axis=1), path.shape[1])
        order = np.argsort(entered, kind="stable")
        first = order[entered[order] < path.shape[1]][:n_chosen].tolist()
        if len(first) == n_chosen:
            break
    return first


def knockoff_choice(X, y, seed: int):
    """Return what hidimstat's knockoffs choose with one false feature expected at most.

    Features in the order of their statistics, up to the first that is negative (Janson & Su, 2016). The lasso
    has a hundred levels in the scale of the data: the twenty of hidimstat begin below zero where no feature
    rises with y.
    """
    from hidimstat import ModelXKnockoff

    lasso = LassoCV(alphas=100, cv=5)
    knockoffs = ModelXKnockoff(lasso, preconfigure_lasso_path=False, random_state=seed)
    statistic = knockoffs.fit_importance(X, y)[0]
    order = np.argsort(-np.abs(statistic), kind="stable")
    order = order[statistic[order] != 0]
    negative = np.flatnonzero(statistic[order] < 0)
    return order[: negative[0]] if len(negative) else order


def bootstrap_band(index, y, at, level: float, seed: int):
    """Return percentiles of isotonic links fitted to rows drawn with replacement."""
    rng, curves = np.random.default_rng([seed, 2]), []
    for _ in range(N_BOOTSTRAP):
        rows = rng.integers(len(y), size=len(y))
        curves.append(IsotonicRegression(out_of_bounds="clip").fit(index[rows], y[rows]).predict(at))
    low, high = np.quantile(curves, ((1 - level) / 2, (1 + level) / 2), axis=0)
    return low, high
