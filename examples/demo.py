"""Correlated columns, an unknown link, few features that matter: single-index models beside what people use.

Run by `make demo`. Prints a table, and writes to `demo_output/` the table for the README and a picture of one
model: its link with a band, its features with their effects and intervals, and the truth.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from scipy.stats import t
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from singleindex import SingleIndexClassifierCV
from singleindex.datasets import make_single_index
from singleindex.inspection import resample

N_ROWS, N_NEW, N_FEATURES, CORRELATION, N_TABLES = 1000, 4000, 100, 0.7, 5
N_LEVELS, N_RIDGES, N_FOLDS = 50, 20, 5
# This kind of data was taken because it suits the library; these seeds had no part in that.
SEEDS = range(20, 20 + N_TABLES)
# The link that makes the data, how many features matter, and where it is known why the case is lost.
CASES = [("ramp", 10, ""), ("clipped", 10, ""), ("logistic", 10, "")]
CASES += [("logistic", N_FEATURES, "every feature matters, which is what a ridge is made for")]
MEASURES = {"RMSE": 1, "log-loss": 1, "AUC": -1}  # and whether more is worse
OUTPUT = Path("demo_output")
BLUE, GREY = "#0072B2", "0.6"
SETTINGS = f"""\
{N_ROWS} rows to learn from, {N_FEATURES} columns, neighbours with correlation {CORRELATION:g}, \
{N_NEW:,} new rows to score; means over {N_TABLES} tables, seeds {SEEDS[0]} to {SEEDS[-1]}.
RMSE: predicted against true probability. Won or lost: zero is outside the 95 % interval of the paired \
difference (Student's t).
Every method chooses its settings by {N_FOLDS} folds and log-loss:

- singleindex: the default search, {N_LEVELS} penalties for each column scale
- L1: logistic regression, {N_LEVELS} penalties from the largest that lets a feature in down to 1 % of it
- L1 + isotonic: the same weights, probabilities by isotonic regression on the held-out scores
- L2: logistic regression, {N_RIDGES} penalties over six decades
"""


@dataclass(frozen=True)
class Answer:
    """What a method says: an index to rank by, probabilities, and how many features it uses."""

    rank: np.ndarray
    probability: np.ndarray
    n_features: int


# ---------------------------------------------------------------- methods


def fit_single_index(X, y, X_new):
    model = SingleIndexClassifierCV(cv=N_FOLDS).fit(X, y)
    answer = Answer(model.decision_function(X_new), model.predict_proba(X_new)[:, 1], model.n_features_)
    return {"singleindex": answer}


def fit_penalised(X, y, levels, **kind):
    """Return the model of least held-out log-loss, and the held-out scores of its level."""
    held_out = np.empty((len(y), len(levels)))
    for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y):
        for k, level in enumerate(levels):
            model = LogisticRegression(C=1 / level, **kind).fit(X[train], y[train])
            held_out[test, k] = model.decision_function(X[test])
    best = np.mean(np.logaddexp(0, held_out) - y[:, None] * held_out, axis=0).argmin()
    return LogisticRegression(C=1 / levels[best], **kind).fit(X, y), held_out[:, best]


def fit_l1(X, y, X_new):
    levels = np.abs(X.T @ (y - y.mean())).max() * np.geomspace(1, 0.01, N_LEVELS)
    model, scores = fit_penalised(X, y, levels, l1_ratio=1, solver="liblinear", random_state=0)
    curve = IsotonicRegression(y_min=1e-3, y_max=1 - 1e-3, out_of_bounds="clip").fit(scores, y)
    rank, n = model.decision_function(X_new), np.count_nonzero(model.coef_)
    return {
        "L1": Answer(rank, model.predict_proba(X_new)[:, 1], n),
        "L1 + isotonic": Answer(rank, curve.predict(rank), n),
    }


def fit_l2(X, y, X_new):
    levels = np.linalg.norm(X - X.mean(axis=0), 2) ** 2 / 4 * np.geomspace(1e2, 1e-4, N_RIDGES)
    model, _ = fit_penalised(X, y, levels, solver="newton-cholesky")
    return {"L2": Answer(model.decision_function(X_new), model.predict_proba(X_new)[:, 1], X.shape[1])}


# ---------------------------------------------------------------- scores


def make_table(link, n_true, seed):
    return make_single_index(
        N_ROWS + N_NEW, N_FEATURES, n_atoms=n_true, link=link, correlation=CORRELATION, random_state=seed
    )  # fmt: skip


def evaluate(link, n_true, seed):
    """Return by method RMSE, log-loss and AUC on new rows, and the number of features."""
    warnings.simplefilter("ignore")
    data, new = make_table(link, n_true, seed), slice(N_ROWS, None)
    y, mean = data.y[new], data.mean[new]
    found = {}
    for fit in (fit_single_index, fit_l1, fit_l2):
        for name, one in fit(data.X[:N_ROWS], data.y[:N_ROWS], data.X[new]).items():
            rmse = np.sqrt(np.mean((one.probability - mean) ** 2))
            found[name] = [rmse, log_loss(y, one.probability), roc_auc_score(y, one.rank), one.n_features]
    return found


def verdicts(ours, other):
    """Return by measure whether ours won, tied or lost, from one row of figures for each table."""
    found = {}
    for k, (measure, sign) in enumerate(MEASURES.items()):
        gain = sign * (other[:, k] - ours[:, k])
        room = t.ppf(0.975, len(gain) - 1) * gain.std(ddof=1) / np.sqrt(len(gain))
        found[measure] = "tied" if abs(gain.mean()) <= room else "won" if gain.mean() > 0 else "lost"
    return found


def in_words(found):
    """Return "won RMSE, log-loss; tied AUC"."""
    parts = {how: [name for name, one in found.items() if one == how] for how in ("won", "tied", "lost")}
    return "; ".join(f"{how} {', '.join(names)}" for how, names in parts.items() if names)


def case_lines(case, tables):
    """Return the lines of a case: what it is, the method, its figures, and how ours did against it."""
    link, n_true, reason = case
    ours = np.array([table["singleindex"] for table in tables])
    for name in tables[0]:
        figures = np.array([table[name] for table in tables])
        words = "" if name == "singleindex" else in_words(verdicts(ours, figures))
        if "lost" in words:
            words += f": {reason or 'why is not known'}"
        means = figures.mean(axis=0)
        yield [link, f"{n_true}", name, *(f"{value:.3f}" for value in means[:3]), f"{means[3]:.0f}", words]


def as_text(lines):
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def as_markdown(lines):
    rows = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([rows[0], f"|{' --- |' * len(lines[0])}", *rows[1:]])


# ---------------------------------------------------------------- picture


def picture(path):
    """Draw what one model says, how sure it is, and the truth: the first case, the first table."""
    data = make_table(*CASES[0][:2], SEEDS[0])
    X, y = data.X[:N_ROWS], data.y[:N_ROWS]
    model = SingleIndexClassifierCV(cv=N_FOLDS).fit(X, y)
    resampled = resample(model, X, y, random_state=0, n_permutations=0)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    draw_link(left, model, resampled, data)
    draw_effects(right, resampled.effects(), data)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_link(ax, model, resampled, data):
    known, new = model.decision_function(data.X[:N_ROWS]), model.decision_function(data.X[N_ROWS:])
    grid = np.linspace(*np.quantile(known, [0.01, 0.99]), 300)
    ax.fill_between(grid, *resampled.link_band(grid), color=BLUE, alpha=0.2, lw=0, label="90 % band")
    # The scale of w is not identified: the true index is put on that of the learned one.
    slope, offset = np.polyfit(new, data.index[N_ROWS:], 1)
    ax.plot(grid, data.link(slope * grid + offset), color="black", lw=1.2, ls="--", label="true link")
    ax.plot(grid, model.link_(grid), color=BLUE, lw=2, label="learned link")
    bins = np.array_split(np.argsort(new), 24)[1:-1]
    truth = [data.mean[N_ROWS:][rows].mean() for rows in bins]
    ax.plot([new[rows].mean() for rows in bins], truth, "ok", ms=3, label="true mean, new rows")
    ax.set(title="The shape of the response", xlabel="index  w·x", ylabel="P(y = 1 | x)", ylim=(-0.02, 1.02))
    ax.legend(loc="upper left", frameon=False)


def draw_effects(ax, effects, data):
    """Draw the effects of the features that matter and of those found stable, the largest on top."""
    shown = [k for k, j in enumerate(effects.feature) if data.coef[j] or effects.stable[k]][::-1]
    for place, k in enumerate(shown):
        color = BLUE if effects.stable[k] else GREY
        ax.plot([effects.low[k], effects.high[k]], [place, place], color=color, lw=2)
        ax.plot(effects.estimate[k], place, "o", color=color, ms=6)
        ax.plot(true_effect(data, effects.feature[k]), place, "D", color="black", ms=4.5, mfc="white")
    ax.axvline(0, color="0.8", lw=1, zorder=0)
    ax.set(title="What one standard deviation of a feature does", xlabel="change of the probability")
    ax.set_yticks(range(len(shown)), [f"x{effects.feature[k]}" for k in shown])
    handles = [
        ax.plot([], [], "o-", color=BLUE, lw=2, label="stable, 90 % interval")[0],
        ax.plot([], [], "o-", color=GREY, lw=2, label="matters, but not stable")[0],
        ax.plot([], [], "D", color="black", mfc="white", ls="", ms=4.5, label="truth")[0],
    ]
    ax.set_ylim(-2.4, len(shown) - 0.5)  # with room for the legend
    ax.legend(handles=handles, loc="lower center", ncols=3, frameon=False, fontsize=8.5, columnspacing=1.2)


def true_effect(data, feature, step=1e-3):
    """Return the mean slope of the true link along a feature, times its standard deviation."""
    index = data.index
    slope = np.mean(data.link(index + step) - data.link(index - step)) / (2 * step)
    return slope * data.coef[feature] * data.X[:, feature].std()


def main():
    OUTPUT.mkdir(exist_ok=True)
    print(SETTINGS)
    jobs = [(case, seed) for case in CASES for seed in SEEDS]
    found = Parallel(n_jobs=2)(delayed(evaluate)(*case[:2], seed) for case, seed in jobs)
    lines = [["link", "matter", "method", *MEASURES, "in use", "singleindex against it"]]
    for k, case in enumerate(CASES):
        lines += case_lines(case, found[k * N_TABLES : (k + 1) * N_TABLES])
    print(as_text(lines))
    (OUTPUT / "demo.md").write_text(f"{SETTINGS}\n{as_markdown(lines)}\n", encoding="utf-8")
    picture(OUTPUT / "demo.png")
    print(f"\nOne of the models, with its band and intervals, is drawn in {OUTPUT / 'demo.png'}")


if __name__ == "__main__":
    main()
