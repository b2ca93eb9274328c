"""Logistic regression of several outputs that share their features (the L2,1 norm), by FISTA."""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator


class GroupLogisticRegression(BaseEstimator):
    r"""Minimise the mean logistic loss, summed over outputs, plus `alpha` times :math:`\sum_j\|W_j\|_2`.

    The problem of MALSAR's `Logistic_L21`, which the paper used; scikit-learn and skglm have it for least
    squares only. Targets may be any numbers from 0 to 1, not 0 and 1 alone, so that it can be set against
    bounded responses; the intercepts are not penalised. It ends when no optimality condition is violated by
    more than `tol`. With `warm_start` it starts from the last fit, for a path from strong to weak penalties.
    """

    def __init__(self, alpha, *, max_iter=2000, tol=1e-5, warm_start=False):
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start

    def fit(self, X, Y):
        X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
        if Y.min() < 0 or Y.max() > 1:
            raise ValueError("targets must lie between 0 and 1; scale them before.")
        # A column of ones beside X; the proximal step leaves its coefficients alone.
        A = np.column_stack([X, np.ones(len(X))])
        step = 4 * len(A) / np.linalg.norm(A, 2) ** 2
        W = np.zeros((A.shape[1], Y.shape[1]))
        if self.warm_start and hasattr(self, "coef_"):
            W = np.vstack([self.coef_.T, self.intercept_])
        ahead, momentum = W, 1.0
        for n_iter in range(1, self.max_iter + 1):
            new = self._shrink(ahead - step * self._gradient(A, Y, ahead), step)
            if np.sum((ahead - new) * (new - W)) > 0:  # momentum against the step: start it again
                momentum = 1.0
            after = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = new + (momentum - 1) / after * (new - W)
            W, momentum = new, after
            if n_iter % 10 == 0 and self._violation(A, Y, W) <= self.tol:
                break
        self.coef_, self.intercept_ = W[:-1].T, W[-1]
        return self

    @staticmethod
    def _gradient(A, Y, W):
        return A.T @ (expit(A @ W) - Y) / len(A)

    def _shrink(self, W, step):
        norms = np.linalg.norm(W, axis=1)
        keep = np.maximum(0, 1 - step * self.alpha / np.maximum(norms, 1e-300))
        keep[-1] = 1.0
        return W * keep[:, None]

    def _violation(self, A, Y, W):
        """Return how far the gradient is from where the optimality conditions want it."""
        gradient = self._gradient(A, Y, W)
        norms = np.linalg.norm(W[:-1], axis=1)
        used = norms > 0
        wanted = -self.alpha * W[:-1][used] / norms[used][:, None]
        violations = [np.linalg.norm(gradient[-1])]
        violations.extend(np.linalg.norm(gradient[:-1][used] - wanted, axis=1))
        violations.extend(np.linalg.norm(gradient[:-1][~used], axis=1) - self.alpha)
        return float(max(0.0, *violations))

    def predict(self, X):
        """Return the probability of each label, or the expected value of each target."""
        return expit(np.asarray(X) @ self.coef_.T + self.intercept_)
