"""Coordinate descent on a penalised quadratic: a lasso from zero beside its peers, and warm steps.

Each solver has the loosest of its tolerances that reaches the gap asked for; what is compiled at the first
call is warmed up. Peers that are not installed are left out: `pip install skglm celer`.
"""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

import numpy as np
from scipy import sparse
from sklearn.linear_model import Lasso

from singleindex.design import DenseDesign, Moments, Scaling, View, as_design
from singleindex.solvers.descent import Products, Rows, descend
from singleindex.structures.separable import Separable

from .timing import median_times

# The gap, as a share of the objective at zero.
CLOSE = 1e-6
TOLERANCES = tuple(10.0**-k for k in range(2, 11))


def run(quick=False):
    """Return the lines of a report."""
    return [*from_zero(quick), "", *warm(quick)]


# ---------------------------------------------------------------- a lasso from zero


def from_zero(quick):
    factor = 4 if quick else 1
    problems = {
        "dense": dense_problem(2000 // factor, 5000 // factor),
        "text-like": text_problem(2000 // factor, 20_000 // factor),
    }
    names = ["ours", *(name for name in PEERS if name == "scikit-learn" or find_spec(name))]
    lines = [
        f"A lasso from zero to a gap of {CLOSE:.0e} of the objective there; times as multiples of ours.",
        "",
        f"| data | n × d | penalty, of the largest | in use | ours, s | {' | '.join(names[1:])} |",
        "|---" * (len(names) + 4) + "|",
    ]
    for kind, (X, y) in problems.items():
        largest = np.max(np.abs(X.T @ (y - y.mean()))) / len(y)
        for share in (0.1, 0.01):
            calls = {name: at_gap(SOLVERS[name], X, y, share * largest) for name in names}
            times = median_times({name: call for name, call in calls.items() if call}, 3)
            n_used = np.count_nonzero(calls["ours"]())
            ratios = " | ".join(
                f"{times[name] / times['ours']:.1f}" if name in times else "–" for name in names[1:]
            )
            lines.append(
                f"| {kind} | {' × '.join(map(str, X.shape))} | {share} | {n_used} | {times['ours']:.4f} "
                f"| {ratios} |"
            )
    return lines


def dense_problem(n, d, correlation=0.5):
    """Return neighbouring columns that are correlated, a hundred of them used, noise of a third."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    w = np.zeros(d)
    w[rng.choice(d, 100, replace=False)] = rng.choice([-1, 1], 100)
    return np.asfortranarray(X), with_noise(X @ w, rng)


def text_problem(n, d, n_words=50):
    """Return rows of length one, words by Zipf's law."""
    rng = np.random.default_rng(0)
    frequency = 1 / np.arange(1, d + 1) ** 0.8
    words = rng.choice(d, size=n * n_words, p=frequency / frequency.sum())
    X = sparse.coo_matrix(
        (np.ones(n * n_words), (np.repeat(np.arange(n), n_words), words)), shape=(n, d)
    ).tocsr()
    X = sparse.csc_matrix(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))))
    w = np.zeros(d)
    w[rng.choice(d // 10, 100, replace=False)] = rng.normal(size=100)
    return X, with_noise(X @ w, rng)


def with_noise(index, rng):
    return index + rng.normal(size=len(index)) * index.std() / 3


def at_gap(solve, X, y, penalty):
    """Return a call at the loosest tolerance that comes close enough, None where none does."""
    for tol in TOLERANCES:
        if gap(X, y, solve(X, y, penalty, tol), penalty) <= CLOSE * 0.5 * y.var():
            return lambda: solve(X, y, penalty, tol)
    return None


def gap(X, y, w, penalty):
    """Return the duality gap of a lasso with an intercept, by none of the solvers."""
    r = y - X @ w
    r -= r.mean()
    q = X.T @ r / len(y)
    shrink = min(1.0, penalty / np.max(np.abs(q)))
    return 0.5 * (1 - shrink) ** 2 * r @ r / len(y) + penalty * np.abs(w).sum() - shrink * w @ q


def by_descent(X, y, penalty, tol):
    n, d = X.shape
    rows = Rows(as_design(X), np.full(n, 1 / n), y)
    return descend(rows, np.zeros(d), Separable(np.ones(d)), penalty, tol=tol).w


def by_skglm(X, y, penalty, tol):
    from skglm import Lasso as SkglmLasso

    return SkglmLasso(alpha=penalty, tol=tol * penalty, max_iter=500).fit(X, y).coef_


def by_celer(X, y, penalty, tol):
    from celer import Lasso as CelerLasso

    return CelerLasso(alpha=penalty, tol=tol, max_iter=500).fit(X, y).coef_


def by_scikit_learn(X, y, penalty, tol):
    return Lasso(alpha=penalty, tol=tol, max_iter=10_000).fit(X, y).coef_


PEERS = {"skglm": by_skglm, "celer": by_celer, "scikit-learn": by_scikit_learn}
SOLVERS = {"ours": by_descent, **PEERS}


# ---------------------------------------------------------------- warm steps


def warm(quick):
    """Return what a step costs on a path of 50 levels, as in a search: by rows, and by known products."""
    lines = [
        "A warm step on a path of 50 levels down to 0.02 of the largest penalty, columns correlated by .7, "
        "to a gap of 1e-4:",
        "",
        "| n × d | in use at the end | by rows, ms | by products, ms |",
        "|---|---|---|---|",
    ]
    for n, d in ((800, 200), (400, 1000)) if quick else ((800, 200), (400, 1000), (20_000, 300)):
        rng = np.random.default_rng(0)
        X = np.sqrt(0.7) * rng.normal(size=(n, 1)) + np.sqrt(0.3) * rng.normal(size=(n, d))
        y = with_noise(X[:, :10] @ rng.choice([-1, 1], 10), rng)
        design = View(DenseDesign(X), Scaling(1 / X.std(axis=0)))
        moments = Moments.of(design, y)
        levels = np.max(np.abs(moments.cross)) * np.geomspace(1, 0.02, 50)
        calls = {
            "rows": partial(path, partial(by_rows, design, y), d, levels),
            "products": partial(path, partial(by_products, moments), d, levels),
        }
        n_used = np.count_nonzero(calls["rows"]())
        times = median_times(calls, 3)
        lines.append(
            f"| {n} × {d} | {n_used} | {times['rows'] / 0.05:.2f} | {times['products'] / 0.05:.2f} |"
        )
    return lines


def by_rows(design, y, w):
    return Rows(design, np.full(len(y), 1 / len(y)), y - design.matvec(w))


def by_products(moments, w):
    cross = moments.cross[:, 0] - moments.covariance @ w
    return Products(moments.covariance, cross, moments.y_variance[0] - w @ (moments.cross[:, 0] + cross))


def path(quadratic, d, levels):
    w, last = np.zeros(d), None
    for penalty in levels:
        w = descend(quadratic(w), w, Separable(np.ones(d)), penalty, tol=1e-4, last_penalty=last).w
        last = penalty
    return w
