"""Strong rivals: L1 and L2 with fine grids in the data's own scale, ten folds, and a refit on all rows.

The level with the least mean held-out loss is taken. `L1 + isotonic` is the same w, with probabilities by
isotonic regression on the held-out scores of that level.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LassoCV, LogisticRegressionCV, RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.timing import timed

from .elsewhere import ask_peer
from .tasks import Answer, Task, is_sparse

N_FOLDS = 10
N_LEVELS = 100
N_RIDGE_LEVELS = 50
# Of the largest eigenvalue of the loss; the weakest leaves any of these data unpenalised for all purposes.
RIDGE_RANGE = (1e2, 1e-6)


def folds_of(y):
    """Return the number of the fold that holds each row out; the same in every run."""
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    fold = np.empty(len(y), dtype=int)
    for k, (_, held_out) in enumerate(splitter.split(np.zeros(len(y)), y)):
        fold[held_out] = k
    return fold


def scale_of(X, power: float = 1.0):
    """Return what to divide columns by: their standard deviation to a power; constant columns stay."""
    if is_sparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        variance = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
        sd = np.sqrt(np.maximum(variance, 0))
    else:
        sd = np.std(X, axis=0)
    return np.where(sd > 1e-12, sd, 1.0) ** power


def scaled(X, power: float = 1.0):
    """Return X with its columns divided by their scale, and the scale."""
    scale = scale_of(X, power)
    return X.multiply(1 / scale).tocsr() if is_sparse(X) else X / scale, scale


def as_dense(X):
    return X.toarray() if is_sparse(X) else X


def penalty_levels(Z, y, least: float | None, n_levels: int = N_LEVELS):
    """Return penalties from the largest that lets a feature in down to a share `least` of it."""
    n, d = Z.shape
    indicator = np.equal.outer(y, np.unique(y)[-1:] if len(np.unique(y)) == 2 else np.unique(y)).astype(float)
    largest = np.abs(Z.T @ (indicator - indicator.mean(axis=0))).max() / n
    return largest * np.geomspace(1.0, least or (1e-3 if n > d else 1e-2), n_levels)


# ---------------------------------------------------------------- classes


def held_out_losses(scores, y):
    """Return the mean log-loss of every level, from scores (rows, levels, outputs)."""
    if scores.shape[2] == 1:
        eta = scores[:, :, 0]
        return np.mean(np.logaddexp(0, eta) - y[:, None] * eta, axis=0)
    return -np.mean(log_softmax(scores, axis=2)[np.arange(len(y)), :, y.astype(int)], axis=0)


def linear_answer(coef, intercept, seconds) -> Answer:
    """Return a logistic model; `coef` has a row for each output."""
    if len(coef) == 1:
        w, b = coef[0], intercept[0]
        return Answer(lambda X: expit(X @ w + b), lambda X: X @ w, w, seconds)

    def shares(X):
        return softmax(X @ coef.T + intercept, axis=1)

    return Answer(shares, shares, coef.T, seconds)


def l1_path(task: Task, power: float = 1.0, solver: str = "LogisticFolds", n_first: int = N_LEVELS):
    """Return glmnet's path on all rows, in the units of X, with the held-out scores of the first levels."""
    Z, scale = scaled(task.X, power)
    levels = penalty_levels(Z, task.y, task.least)[:n_first]
    path = ask_peer("numpy 2", "of_glmnet", solver, levels, X=Z, y=task.y, fold=folds_of(task.y))
    path["coefs"] = path["coefs"] / scale
    path["losses"] = held_out_losses(path["held_out"], task.y)
    return path


def l1_path_to_best(task: Task, power: float):
    """Return the path to well beyond its best level; the weakest levels take longest, and are rarely near."""
    for n_first in (N_LEVELS // 2, 3 * N_LEVELS // 4, N_LEVELS):
        path = l1_path(task, power, n_first=n_first)
        if np.argmin(path["losses"]) < 0.8 * n_first:
            break
    return path


def fit_l1(task: Task) -> dict[str, Answer]:
    paths = [l1_path_to_best(task, power) for power in task.powers]
    path = min(paths, key=lambda path: path["losses"].min())
    best = int(np.argmin(path["losses"]))
    seconds = float(sum(path["seconds"] for path in paths))
    coef, intercept = path["coefs"][best], path["intercepts"][best]
    answer = linear_answer(coef, intercept, seconds)
    if len(coef) > 1:
        return {"L1": answer}
    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    curve.fit(path["held_out"][:, best, 0], task.y)
    calibrated = replace(answer, predict=lambda X: curve.predict(answer.score(X) + intercept[0]))
    return {"L1": answer, "L1 + isotonic": calibrated}


def fit_l2(task: Task) -> dict[str, Answer]:
    if len(np.unique(task.y)) > 2:
        return {"L2": fit_multinomial_l2(task)}
    found, seconds = timed(lambda: [ridge_search(task, power) for power in task.powers])
    _, coef, intercept = min(found, key=lambda each: each[0])
    return {"L2": linear_answer(coef[None], [intercept], seconds)}


def ridge_search(task: Task, power: float):
    """Return the least held-out loss, with w in the units of X and the intercept of its level."""
    Z, scale = scaled(task.X, power)
    Z = as_dense(Z)
    mean = Z.mean(axis=0)
    # A ridge does not see rotations: all folds work in the axes of all rows, of which there are n at most.
    axes, spreads = axes_of(Z - mean)
    B = (Z - mean) @ axes
    y, fold = np.asarray(task.y, dtype=float), folds_of(task.y)
    levels = np.geomspace(*RIDGE_RANGE, N_RIDGE_LEVELS) * spreads[-1] / 4
    held_out = np.empty((len(y), len(levels), 1))
    for k in range(N_FOLDS):
        coefs, intercepts = ridge_path(B[fold != k], y[fold != k], levels)
        held_out[fold == k, :, 0] = B[fold == k] @ coefs.T + intercepts
    losses = held_out_losses(held_out, y)
    best = int(np.argmin(losses))
    coefs, intercepts = ridge_path(B, y, levels[: best + 1])
    coef = axes @ coefs[-1]
    return losses[best], coef / scale, intercepts[-1] - coef @ mean


def ridge_path(Z, y, levels):
    """Return coefficients (levels, d) and intercepts of a ridge; columns need not be centred."""
    mean = Z.mean(axis=0)
    coefs, intercepts = ridge_logistic_path(Z - mean, y, levels)
    return coefs, intercepts - coefs @ mean


def fit_multinomial_l2(task: Task) -> Answer:
    search = LogisticRegressionCV(
        Cs=np.geomspace(1e-5, 1e4, N_RIDGE_LEVELS), l1_ratios=[0], scoring="neg_log_loss", max_iter=10_000,
        cv=StratifiedKFold(N_FOLDS, shuffle=True, random_state=0), use_legacy_attributes=False,
    )  # fmt: skip
    model, seconds = fit_standardised(task, search)
    return Answer(model.predict_proba, model.predict_proba, search.coef_.T, seconds)


def fit_standardised(task: Task, search):
    """Return the fitted pipeline, and its seconds."""
    return timed(lambda: make_pipeline(StandardScaler(), search).fit(task.X, task.y))


# ---------------------------------------------------------------- numbers


def fit_lasso(task: Task, tol: float = 1e-6) -> dict[str, Answer]:
    n, d = task.X.shape
    least = task.least or (1e-3 if n > d else 1e-2)
    cv = KFold(N_FOLDS, shuffle=True, random_state=0)
    search = LassoCV(alphas=N_LEVELS, eps=least, cv=cv, tol=tol, max_iter=100_000)
    return {"L1": number_answer(task, search)}


def fit_ridge(task: Task) -> dict[str, Answer]:
    # Left-one-out errors in closed form: no fold is smoother than that.
    search = RidgeCV(alphas=np.geomspace(*RIDGE_RANGE, N_RIDGE_LEVELS) * len(task.X))
    return {"L2": number_answer(task, search)}


def number_answer(task: Task, search) -> Answer:
    model, seconds = fit_standardised(task, search)
    return Answer(model.predict, model.predict, np.ravel(search.coef_) / model[0].scale_, seconds)


# ---------------------------------------------------------------- any y


def l1(task: Task) -> dict[str, Answer]:
    return by_column(task, fit_lasso if task.is_numeric else fit_l1)


def l2(task: Task) -> dict[str, Answer]:
    return by_column(task, fit_ridge if task.is_numeric else fit_l2)


def by_column(task: Task, fit) -> dict[str, Answer]:
    """Fit y, or each of its columns for itself."""
    if np.ndim(task.y) == 1:
        return fit(task)
    found = [fit(replace(task, y=column)) for column in task.y.T]
    names = [name for name in found[0] if all(name in answers for answers in found)]
    return {name: side_by_side([answers[name] for answers in found]) for name in names}


def side_by_side(answers: list[Answer]) -> Answer:
    return Answer(
        lambda X: np.column_stack([answer.predict(X) for answer in answers]),
        lambda X: np.column_stack([answer.score(X) for answer in answers]),
        np.column_stack([answer.coef for answer in answers]),
        sum(answer.seconds for answer in answers),
    )


# ---------------------------------------------------------------- a ridge in the principal axes of X


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
