"""Single-index models on data with fewer rows than features and a link that nobody told the model.

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
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from singleindex import SingleIndexClassifierCV
from singleindex.datasets import make_single_index

LINKS = ("ramp", "clipped", "cloglog", "steps")
N_SAMPLES, N_FEATURES, N_TRUE, N_FOLDS = 600, 2000, 10, 3
OUTPUT = Path("demo_output")


def fit_single_index(X, y):
    model = SingleIndexClassifierCV().fit(X, y)
    return model, model.coef_


def fit_l1_logistic(X, y):
    # By AUC: by Brier score it would take too weak a penalty, to make up for its shrinkage.
    model = LogisticRegressionCV(
        Cs=np.logspace(-2, 1, 10),
        l1_ratios=[1],
        solver="liblinear",
        cv=5,
        scoring="roc_auc",
        random_state=0,
    ).fit(X, y)
    return model, model.coef_.ravel()


def fit_l1_isotonic(X, y):
    chosen, coef = fit_l1_logistic(X, y)
    model = LogisticRegression(
        C=float(np.ravel(chosen.C_)[0]), l1_ratio=1, solver="liblinear", random_state=0
    )
    return CalibratedClassifierCV(model, method="isotonic", cv=5, ensemble=False).fit(X, y), coef


METHODS = {
    "singleindex": fit_single_index,
    "L1-logistic": fit_l1_logistic,
    "L1-logistic + isotonic": fit_l1_isotonic,
}


def evaluate(data, fit, folds):
    """Return AUC, Brier score, RMSE of the link, cosine of w and seconds, means over the folds."""
    rows = []
    for train, test in folds:
        began = time.perf_counter()
        model, coef = fit(data.X[train], data.y[train])
        seconds = time.perf_counter() - began
        p = model.predict_proba(data.X[test])[:, 1]
        score = model.decision_function(data.X[test]) if hasattr(model, "decision_function") else p
        cosine = coef @ data.coef / (np.linalg.norm(coef) * np.linalg.norm(data.coef) + 1e-300)
        rmse = np.sqrt(np.mean((p - data.mean[test]) ** 2))
        rows.append(
            [roc_auc_score(data.y[test], score), brier_score_loss(data.y[test], p), rmse, cosine, seconds]
        )
    return np.mean(rows, axis=0)


def draw(ax, data, name):
    """Draw the learned link over the true one, both against the true index's own scale."""
    model, _ = fit_single_index(data.X, data.y)
    index = model.decision_function(data.X)
    # The scale of w is not identified: put the learned index on the scale of the true one.
    slope, offset = np.polyfit(index, data.index, 1)
    grid = np.linspace(index.min(), index.max(), 400)
    truth = np.linspace(data.index.min(), data.index.max(), 400)
    jitter = np.random.default_rng(0).uniform(-0.03, 0.03, len(index))
    ax.plot(slope * index + offset, data.y + jitter, ".", color="0.75", ms=3, zorder=0)
    ax.plot(truth, data.link(truth), color="black", lw=1.2, ls="--", label="true link")
    ax.plot(slope * grid + offset, model.link_(grid), color="#0072B2", lw=2, label="learned link")
    ax.set(title=f"{name} link", xlabel="index  w·x", ylabel="P(y = 1 | x)", ylim=(-0.08, 1.08))


def main():
    warnings.simplefilter("ignore")
    OUTPUT.mkdir(exist_ok=True)
    print(
        f"{N_SAMPLES} rows, {N_FEATURES} features of which {N_TRUE} matter; every method chooses its "
        f"own sparsity;\nmeans over the same {N_FOLDS} folds. RMSE: predicted against true probability.\n"
    )
    print(f"{'link':9s}{'method':25s}{'AUC':>7s}{'Brier':>8s}{'RMSE':>8s}{'cosine':>8s}{'seconds':>9s}")
    figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
    for link, ax in zip(LINKS, axes.flat, strict=True):
        data = make_single_index(N_SAMPLES, N_FEATURES, n_atoms=N_TRUE, link=link, random_state=0)
        splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
        folds = list(splitter.split(data.X, data.y))
        for name, fit in METHODS.items():
            auc, brier, rmse, cosine, seconds = evaluate(data, fit, folds)
            print(f"{link:9s}{name:25s}{auc:7.3f}{brier:8.4f}{rmse:8.4f}{cosine:8.3f}{seconds:9.2f}")
            sys.stdout.flush()
        draw(ax, data, link)
    axes[0, 0].legend(loc="upper left", frameon=False)
    path = OUTPUT / "links.png"
    figure.savefig(path, dpi=150)
    print(f"\nThe learned links are drawn in {path}")


if __name__ == "__main__":
    main()
