"""Fine grids in the scale of the data for the logistic rivals of our own studies.

scikit-learn's default, ten levels over eight decades, has hardly one where the choice is made.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

N_LEVELS = 60


def largest_penalty(X, y):
    """Return the least penalty of the logistic lasso at which w is zero, for sums over the rows."""
    return float(np.abs(X.T @ (y - np.mean(y))).max())


def l1_search(X, y, scoring, cv=5):
    """Return a search among 60 levels of an L1 penalty; it is not fitted yet."""
    n, d = X.shape
    levels = largest_penalty(X, y) * np.geomspace(1.0, 1e-3 if n > d else 1e-2, N_LEVELS)
    return LogisticRegressionCV(
        Cs=1 / levels, l1_ratios=[1], solver="liblinear", cv=cv, scoring=scoring, random_state=0,
        use_legacy_attributes=False,
    )  # fmt: skip


def l2_search(X, scoring):
    """Return a search among 60 levels of an L2 penalty, in units of the largest eigenvalue of the loss."""
    products = X @ X.T
    products = products.toarray() if sparse.issparse(products) else products
    levels = np.linalg.eigvalsh(products)[-1] / 4 * np.geomspace(1e1, 1e-6, N_LEVELS)
    return LogisticRegressionCV(
        Cs=1 / levels, l1_ratios=[0], solver="liblinear", cv=5, scoring=scoring, use_legacy_attributes=False
    )


def fit_l1(X, y, scoring, cv=5):
    """Return standardised columns and the best L1 fit to them, as one model."""
    scaler = StandardScaler().fit(X)
    Z = scaler.transform(X)
    return make_pipeline(scaler, l1_search(Z, y, scoring, cv).fit(Z, y))
