"""CSI as the paper prints it, Algorithm 1, line by line."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from singleindex import lipschitz_isotonic_regression
from singleindex.structures import Sparse


class LiteralCSI(RegressorMixin, BaseEstimator):
    r"""Algorithm 1 of the paper, with the slips it is printed with.

    Kept as printed:

    - line 1: the start :math:`P_s(X^\top y)` is neither centred nor scaled;
    - line 4: the ridge term is *added*, and not multiplied by the step size:
      :math:`w_{t-1} - \tfrac{\eta}{n}\sum_i(\ldots)x_i + \lambda w_{t-1}`, so it makes w longer;
    - line 4: the step size is fixed;
    - the result is the last iterate, after `n_iter` iterations, 50 in the paper.

    Not kept, since it cannot be computed: line 4 evaluates the link at :math:`w_t`, which line 5 only then
    makes. It is evaluated at :math:`w_{t-1}`, where line 3 fitted it.

    `n_atoms`, `step_size`, `alpha` and `n_iter` are the paper's s, η, λ and T; `on_iteration` is called with
    t and w_t, from t = 0 on. The link is drawn by straight lines between its `knots_`, and constant outside.
    """

    def __init__(self, n_atoms, *, step_size=1.0, alpha=0.001, n_iter=50, on_iteration=None):
        self.n_atoms = n_atoms
        self.step_size = step_size
        self.alpha = alpha
        self.n_iter = n_iter
        self.on_iteration = on_iteration

    def fit(self, X, y):
        """Learn w and g; y is expected in [-1, 1], as the paper assumes."""
        y = np.asarray(y, dtype=np.float64)
        transposed = X.T.tocsr() if hasattr(X, "tocsr") else X.T
        w = Sparse().project(np.asarray(transposed @ y).ravel(), self.n_atoms)  # line 1
        self._tell(0, w)
        for t in range(1, self.n_iter + 1):  # line 2
            index = X @ w
            fitted = lipschitz_isotonic_regression(index, y)  # line 3
            gradient = np.asarray(transposed @ (fitted - y)).ravel() / len(y)
            w = w - self.step_size * gradient + self.alpha * w  # line 4
            w = Sparse().project(w, self.n_atoms)  # line 5
            self._tell(t, w)
        self.coef_ = w
        index = X @ w
        order = np.argsort(index, kind="stable")
        self.knots_ = (index[order], lipschitz_isotonic_regression(index, y)[order])
        return self

    def _tell(self, t, w):
        if self.on_iteration is not None:
            self.on_iteration(t, w)

    def decision_function(self, X):
        """Return the index Xw, to rank by."""
        return np.asarray(X @ self.coef_).ravel()

    def predict(self, X):
        """Return the link at the index."""
        return np.interp(self.decision_function(X), *self.knots_)
