"""Single-index models beside penalised logistic regression, on rows that none of them has seen.

Run by `make demo`. Prints a table and saves a plot of the learned links.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from singleindex import SingleIndexClassifierCV
from singleindex.datasets import make_single_index

N_ROWS, N_NEW, N_FEATURES, N_TABLES = 300, 4000, 500, 2
N_LEVELS, N_FOLDS = 50, 5
# The link that makes the data, and how many features matter: few, but in the last case.
CASES = [(link, 5) for link in ("ramp", "clipped", "cloglog", "steps", "logistic")] + [("logistic", 500)]
OUTPUT = Path("demo_output")
INTRO = f"""\
{N_ROWS} rows to learn from, {N_FEATURES} features, {N_NEW:,} new rows to score; means of {N_TABLES} tables.
RMSE: predicted against true probability. Every method chooses its own settings:
  singleindex     the default: {N_LEVELS} penalties for each of 3 column scales, 10 folds, by log-loss
  L1              logistic regression, {N_LEVELS} penalties in the scale of the data (from the largest that
                  lets a feature in down to 3 % of it), {N_FOLDS} folds, by log-loss
  L1 + isotonic   the same weights, probabilities by isotonic regression on the held-out scores
  L2              logistic regression, {N_LEVELS} penalties over six decades, {N_FOLDS} folds, by log-loss
"""


def fit_single_index(X, y):
    model = SingleIndexClassifierCV().fit(X, y)
    return {
        "singleindex": (model.decision_function, lambda X: model.predict_proba(X)[:, 1], model.n_features_)
    }


def fit_penalised(X, y, levels, **kind):
    """Return the model of least held-out log-loss, and the held-out scores of its level."""
    held_out = np.empty((len(y), len(levels)))
    for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y):
        for k, level in enumerate(levels):
            model = LogisticRegression(C=1 / level, **kind).fit(X[train], y[train])
            held_out[test, k] = model.decision_function(X[test])
    best = np.mean(np.logaddexp(0, held_out) - y[:, None] * held_out, axis=0).argmin()
    return LogisticRegression(C=1 / levels[best], **kind).fit(X, y), held_out[:, best]


def fit_l1(X, y):
    levels = np.abs(X.T @ (y - y.mean())).max() * np.geomspace(1, 0.03, N_LEVELS)
    model, scores = fit_penalised(X, y, levels, l1_ratio=1, solver="liblinear", random_state=0)
    curve = IsotonicRegression(y_min=1e-3, y_max=1 - 1e-3, out_of_bounds="clip").fit(scores, y)
    n = np.count_nonzero(model.coef_)
    return {
        "L1": (model.decision_function, lambda X: model.predict_proba(X)[:, 1], n),
        "L1 + isotonic": (model.decision_function, lambda X: curve.predict(model.decision_function(X)), n),
    }


def fit_l2(X, y):
    # Turned so that there are as many columns as rows, which a ridge does not notice.
    turn = np.linalg.svd(X, full_matrices=False)[2].T
    levels = np.linalg.norm(X, 2) ** 2 / 4 * np.geomspace(1e2, 1e-4, N_LEVELS)
    model, _ = fit_penalised(X @ turn, y, levels, max_iter=200, tol=1e-3)
    n = X.shape[1]
    return {
        "L2": (lambda X: model.decision_function(X @ turn), lambda X: model.predict_proba(X @ turn)[:, 1], n)
    }


def make_table(link, n_true, seed):
    return make_single_index(N_ROWS + N_NEW, N_FEATURES, n_atoms=n_true, link=link, random_state=seed)


def evaluate(data):
    """Return by method AUC, log-loss and RMSE on new rows, features in use and seconds."""
    X, y, new = data.X[:N_ROWS], data.y[:N_ROWS], slice(N_ROWS, None)
    found = {}
    for fit in (fit_single_index, fit_l1, fit_l2):
        began = time.perf_counter()
        answers = fit(X, y)
        seconds = time.perf_counter() - began
        for name, (rank, probability, n_used) in answers.items():
            p = probability(data.X[new])
            rmse = np.sqrt(np.mean((p - data.mean[new]) ** 2))
            auc = roc_auc_score(data.y[new], rank(data.X[new]))
            found[name] = [auc, log_loss(data.y[new], p), rmse, n_used, seconds]
    return found


def show(link, n_true, means):
    """Print one case, the best of each measure with a star; return whether singleindex has the least loss."""
    table = np.array(list(means.values()))
    best = [table[:, 0].max(), table[:, 1].min(), table[:, 2].min()]
    for name, row in means.items():
        cells = "".join(
            f"{value:8.3f}{'*' if value == top else ' '}" for value, top in zip(row, best, strict=False)
        )
        print(f"{link:9s}{n_true:8d}  {name:15s}{cells}{row[3]:7.0f}{row[4]:8.1f}")
    sys.stdout.flush()
    return means["singleindex"][1] == best[1]


def draw(ax, data, name):
    """Draw the learned link over the true one, both against the true index's own scale."""
    X, y = data.X[:N_ROWS], data.y[:N_ROWS]
    model = SingleIndexClassifierCV().fit(X, y)
    index = model.decision_function(X)
    # The scale of w is not identified: put the learned index on the scale of the true one.
    slope, offset = np.polyfit(index, data.index[:N_ROWS], 1)
    grid = np.linspace(index.min(), index.max(), 400)
    truth = np.linspace(data.index[:N_ROWS].min(), data.index[:N_ROWS].max(), 400)
    jitter = np.random.default_rng(0).uniform(-0.03, 0.03, len(index))
    ax.plot(slope * index + offset, y + jitter, ".", color="0.75", ms=3, zorder=0)
    ax.plot(truth, data.link(truth), color="black", lw=1.2, ls="--", label="true link")
    ax.plot(slope * grid + offset, model.link_(grid), color="#0072B2", lw=2, label="learned link")
    ax.set(title=f"{name} link", xlabel="index  w·x", ylabel="P(y = 1 | x)", ylim=(-0.08, 1.08))


def main():
    warnings.simplefilter("ignore")
    OUTPUT.mkdir(exist_ok=True)
    print(INTRO)
    heads = "".join(f"{head:>9s}" for head in ("AUC", "log-loss", "RMSE"))
    print(f"{'link':9s}{'matter':>8s}  {'method':15s}{heads}{'in use':>7s}{'seconds':>8s}")
    lost = []
    for link, n_true in CASES:
        tables = [evaluate(make_table(link, n_true, seed)) for seed in range(N_TABLES)]
        means = {name: np.mean([table[name] for table in tables], axis=0) for name in tables[0]}
        if not show(link, n_true, means):
            lost.append(f"{link} with {n_true} of {N_FEATURES} features that matter")
    print(
        f"\nsingleindex has the least log-loss on new rows in {len(CASES) - len(lost)} of {len(CASES)} cases",
        end="",
    )
    print(f"; not in: {', '.join(lost)}." if lost else ".")
    figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
    for (link, n_true), ax in zip(CASES, axes.flat, strict=False):
        draw(ax, make_table(link, n_true, 0), link)
    axes[0, 0].legend(loc="upper left", frameon=False)
    path = OUTPUT / "links.png"
    figure.savefig(path, dpi=150)
    print(f"The learned links are drawn in {path}")


if __name__ == "__main__":
    main()
