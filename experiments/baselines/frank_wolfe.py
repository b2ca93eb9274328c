"""SLS: least squares over an L1 ball, by a fully corrective Frank–Wolfe method."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, RegressorMixin


class FrankWolfeLeastSquares(RegressorMixin, BaseEstimator):
    r"""Minimise :math:`\tfrac1{2n}\|y - Xw - b\|^2` subject to :math:`\|w\|_1 \le` `radius`.

    The paper used "a modified Frank Wolfe method": steps to the atom of steepest descent, a re-optimisation
    over the atoms in use, and the removal of those that are no longer needed. So does this one: every
    iteration adds the `n_new` corners ±e_j of steepest descent, finds the best point of the ball that is made
    of the corners in use (a small non-negative least squares problem, solved exactly), and drops the corners
    without weight.

    Parameters
    ----------
    radius : float
        Of the L1 ball.
    max_iter : int, default=30
    n_new : int, default=10
        Corners added in an iteration; 1 is the textbook method, and slower.
    tol : float, default=1e-3
        Ends when the duality gap, which bounds the distance from the least objective, is below this share of
        the objective at w = 0, and of the gap there.

    Attributes
    ----------
    coef_, intercept_
    gap_ : float
        The duality gap of `coef_`: its objective is at most this far above the least one.
    n_iter_ : int
    """

    def __init__(self, radius, *, max_iter=30, n_new=10, tol=1e-3):
        self.radius = radius
        self.max_iter = max_iter
        self.n_new = n_new
        self.tol = tol

    def fit(self, X, y):
        y = np.asarray(y, dtype=np.float64)
        n, d = X.shape
        columns = X.tocsc() if hasattr(X, "tocsc") else np.asfortranarray(X)
        transposed = X.T.tocsr() if hasattr(X, "tocsr") else X.T
        # Centred images and residuals make the gradient that of centred columns: an intercept at no cost.
        target = y - y.mean()
        used, w = np.zeros(0, dtype=np.intp), np.zeros(0)
        images = np.zeros((n, 0))
        for n_iter in range(self.max_iter + 1):
            gradient = np.asarray(transposed @ (images @ w - target)).ravel() / n
            self.gap_ = float(w @ gradient[used] + self.radius * np.abs(gradient).max())
            if n_iter == 0:
                # A small ball can gain but little: what is left is measured by that as well.
                floor = self.tol * min(float(target @ target) / (2 * n), self.gap_)
            if self.gap_ <= floor or n_iter == self.max_iter:
                break
            new = np.setdiff1d(np.argsort(-np.abs(gradient), kind="stable")[: self.n_new], used)
            if len(new) == 0:
                break
            used = np.concatenate([used, new])
            images = np.column_stack([images, centred_columns(columns, new)])
            w = least_squares_in_ball(images, target, self.radius)
            used, images, w = used[w != 0], images[:, w != 0], w[w != 0]
        self.n_iter_ = n_iter
        self.coef_ = np.zeros(d)
        self.coef_[used] = w
        self.intercept_ = float(y.mean() - np.asarray(X.mean(axis=0)).ravel() @ self.coef_)
        return self

    def decision_function(self, X):
        return np.asarray(X @ self.coef_).ravel() + self.intercept_

    predict = decision_function


def centred_columns(columns, which):
    block = columns[:, which]
    block = block.toarray() if hasattr(block, "toarray") else block
    return block - block.mean(axis=0)


def least_squares_in_ball(A, b, radius):
    """Return the w with the least ‖Aw − b‖ among those with ‖w‖₁ ≤ radius.

    Positive and negative parts are separate non-negative unknowns. Where the best ones without the ball lie
    outside of it, those with it lie on its surface: one more equation, of such a weight that it holds.
    """
    gram = A.T @ A
    size = np.trace(gram) / max(1, len(gram))
    gram[np.diag_indices_from(gram)] += 1e-10 * size
    R = cholesky(gram)
    b = solve_triangular(R, A.T @ b, trans="T")
    both = np.hstack([R, -R])
    parts = nnls(both, b, maxiter=20 * both.shape[1])[0]
    if parts.sum() > radius:
        weight = 1e3 * np.sqrt(size)
        both = np.vstack([both, np.full(both.shape[1], weight)])
        parts = nnls(both, np.append(b, weight * radius), maxiter=20 * both.shape[1])[0]
        parts *= radius / parts.sum()
    positive, negative = np.split(parts, 2)
    return positive - negative
