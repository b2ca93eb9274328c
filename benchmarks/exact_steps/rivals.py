"""Strong rivals: L1 and L2 with fine grids in the data's own scale, ten folds, and a refit on all rows.

The level with the least mean held-out loss is taken. `L1 + isotonic` is the same w, with probabilities by
isotonic regression on the held-out scores of that level.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import expit, log_softmax, softmax
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LassoCV, LogisticRegressionCV, RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .elsewhere import ask_peer
from .ridge import axes_of, ridge_logistic_path
from .tasks import Answer, Task, is_sparse

N_FOLDS = 10
N_LEVELS = 100
N_RIDGE_LEVELS = 50
# Of the largest eigenvalue of the loss; the weakest leaves any of these data unpenalised for all purposes.
RIDGE_RANGE = (1e2, 1e-6)


def folds_of(y, is_numeric: bool = False):
    """Return the number of the fold that holds each row out; the same in every run."""
    splitter = (KFold if is_numeric else StratifiedKFold)(N_FOLDS, shuffle=True, random_state=0)
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


def divide(X, scale):
    return X.multiply(1 / scale).tocsr() if is_sparse(X) else X / scale


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
    return Answer(
        lambda X: softmax(X @ coef.T + intercept, axis=1),
        lambda X: softmax(X @ coef.T + intercept, axis=1),
        coef.T,
        seconds,
    )


def l1_path(task: Task, power: float = 1.0, solver: str = "LogisticFolds", n_first: int = N_LEVELS):
    """Return glmnet's path on all rows, in the units of X, with the held-out scores of the first levels."""
    scale = scale_of(task.X, power)
    Z = divide(task.X, scale)
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
    answer = linear_answer(path["coefs"][best], path["intercepts"][best], seconds)
    if path["held_out"].shape[2] > 1:
        return {"L1": answer}
    return {
        "L1": answer,
        "L1 + isotonic": calibrated(answer, path["held_out"][:, best, 0], path, best, task.y),
    }


def calibrated(answer: Answer, held_out, path, best: int, y) -> Answer:
    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(held_out, y)
    intercept = path["intercepts"][best, 0]
    return Answer(
        lambda X: curve.predict(answer.score(X) + intercept), answer.score, answer.coef, answer.seconds
    )


def fit_l2(task: Task) -> dict[str, Answer]:
    if len(np.unique(task.y)) > 2:
        return {"L2": fit_multinomial_l2(task)}
    began = time.process_time()
    found = [ridge_search(task, power) for power in task.powers]
    _, coef, intercept = min(found, key=lambda each: each[0])
    return {"L2": linear_answer(coef[None], [intercept], time.process_time() - began)}


def ridge_search(task: Task, power: float):
    """Return the least held-out loss, with w in the units of X and the intercept of its level."""
    scale = scale_of(task.X, power)
    Z = divide(task.X, scale)
    Z = Z.toarray() if is_sparse(Z) else Z
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
    mean = Z.mean(axis=0)
    coefs, intercepts = ridge_logistic_path(Z - mean, y, levels)
    return coefs, intercepts - coefs @ mean


def fit_multinomial_l2(task: Task) -> Answer:
    began = time.process_time()
    search = LogisticRegressionCV(
        Cs=np.geomspace(1e-5, 1e4, N_RIDGE_LEVELS), l1_ratios=[0], scoring="neg_log_loss", max_iter=10_000,
        cv=StratifiedKFold(N_FOLDS, shuffle=True, random_state=0), use_legacy_attributes=False,
    )  # fmt: skip
    model = make_pipeline(StandardScaler(), search).fit(task.X, task.y)
    seconds = time.process_time() - began
    return Answer(model.predict_proba, model.predict_proba, search.coef_.T, seconds)


# ---------------------------------------------------------------- numbers


def fit_numbers(task: Task, search) -> Answer:
    began = time.process_time()
    model = make_pipeline(StandardScaler(), search).fit(task.X, task.y)
    seconds = time.process_time() - began
    coef = np.ravel(search.coef_) / model[0].scale_
    return Answer(model.predict, model.predict, coef, seconds)


def fit_lasso(task: Task) -> dict[str, Answer]:
    n, d = task.X.shape
    least = task.least or (1e-3 if n > d else 1e-2)
    cv = KFold(N_FOLDS, shuffle=True, random_state=0)
    search = LassoCV(alphas=N_LEVELS, eps=least, cv=cv, tol=1e-6, max_iter=100_000)
    return {"L1": fit_numbers(task, search)}


def fit_ridge(task: Task) -> dict[str, Answer]:
    # Left-one-out errors in closed form: no fold is smoother than that.
    search = RidgeCV(alphas=np.geomspace(*RIDGE_RANGE, N_RIDGE_LEVELS) * len(task.X))
    return {"L2": fit_numbers(task, search)}


# ---------------------------------------------------------------- any y

Fit = Callable[[Task], dict[str, Answer]]


def fit_any(task: Task, of_classes: Fit, of_numbers: Fit) -> dict[str, Answer]:
    """Fit y, or each of its columns for itself."""
    fit = of_numbers if task.is_numeric else of_classes
    if np.ndim(task.y) == 1:
        return fit(task)
    found = [fit(each) for each in columns_of(task)]
    names = [name for name in found[0] if all(name in answers for answers in found)]
    return {name: side_by_side([answers[name] for answers in found]) for name in names}


def columns_of(task: Task) -> Iterator[Task]:
    for k in range(task.y.shape[1]):
        yield Task(task.X, task.y[:, k], None, None, task.is_numeric, least=task.least, powers=task.powers)


def side_by_side(answers: list[Answer]) -> Answer:
    return Answer(
        lambda X: np.column_stack([answer.predict(X) for answer in answers]),
        lambda X: np.column_stack([answer.score(X) for answer in answers]),
        np.column_stack([answer.coef for answer in answers]),
        sum(answer.seconds for answer in answers),
    )


def l1(task: Task) -> dict[str, Answer]:
    return fit_any(task, fit_l1, fit_lasso)


def l2(task: Task) -> dict[str, Answer]:
    return fit_any(task, fit_l2, fit_ridge)
