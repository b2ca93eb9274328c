"""L2-logistic regression along a path, in the principal axes of X: fast enough for ten folds of it."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


def axes_of(Z):
    """Return axes and spreads: Z @ axes has orthogonal columns with mean squares `spreads`."""
    n, d = Z.shape
    if d <= n:
        spreads, axes = np.linalg.eigh(Z.T @ Z / n)
    else:
        spreads, left = np.linalg.eigh(Z @ Z.T / n)
        axes = Z.T @ (left / np.sqrt(n * np.maximum(spreads, 1e-300)))
    kept = spreads > 1e-10 * spreads[-1]
    return axes[:, kept], spreads[kept]


def ridge_logistic_path(Z, y, levels, tol: float = 1e-6):
    r"""Minimise mean log-loss + level/2 |w|² for each level, strongest first, from centred columns Z.

    L-BFGS in coordinates in which the loss has a curvature of at most one in every direction.
    Returns coefficients (levels, d) and intercepts.
    """
    axes, spreads = axes_of(Z)
    index_of = Z @ axes
    intercept = np.log(y.mean() / (1 - y.mean()))
    c = np.zeros(len(spreads))
    coefs, intercepts = [], []
    for level in levels:
        scale = 1 / np.sqrt(spreads / 4 + level)
        B, penalty = index_of * scale, level * scale**2
        start = np.append(c / scale, intercept / 2)
        found = minimize(
            _loss, start, (B, y, penalty), jac=True, method="L-BFGS-B",
            options={"gtol": tol, "ftol": 0.0, "maxiter": 2000, "maxfun": 4000, "maxcor": 20},
        )  # fmt: skip
        c, intercept = found.x[:-1] * scale, 2 * found.x[-1]
        coefs.append(axes @ c)
        intercepts.append(intercept)
    return np.array(coefs), np.array(intercepts)


def _loss(u, B, y, penalty):
    # The intercept is twice its coordinate: its curvature is at most one, too.
    eta = B @ u[:-1] + 2 * u[-1]
    residual = expit(eta) - y
    value = np.mean(np.logaddexp(0, eta) - y * eta) + 0.5 * penalty @ u[:-1] ** 2
    gradient = np.append(residual @ B / len(y) + penalty * u[:-1], 2 * residual.mean())
    return value, gradient
