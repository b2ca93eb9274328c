"""The figures of `how_it_works.md`, from data that are made here: `make images` draws them anew.

The picture and the table of the start page and of the README are those of the demo, and are put there.
"""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from singleindex import SingleIndexClassifierCV
from singleindex.datasets import make_single_index
from singleindex.design import as_design
from singleindex.link import Lpav
from singleindex.solvers import Exact, Gradient, Simplicity, drive
from singleindex.structures import Sparse

ROOT = Path(__file__).parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.provenance import commits_text, source_commit  # noqa: E402

IMAGES = ROOT / "docs" / "images"
BEGIN, END = "<!-- the table of make demo, by make images -->\n", "<!-- end of the table -->"
OURS, OTHER, TRUTH = "#0072B2", "#D55E00", "0.45"
# One common factor, ten features with an effect.
N_ROWS, N_COLUMNS, N_TRUE = 800, 200, 10
N_NEW, SEEDS = 5000, range(5)
SIZES = (3, 5, 7, 10, 14, 20, 40)


def factor_data(n_rows: int, correlation: float, seed: int):
    """Return rows whose columns all have the same correlation with each other."""
    return make_single_index(
        n_rows, N_COLUMNS, n_atoms=N_TRUE, link="clipped", correlation=correlation, block_size=N_COLUMNS,
        random_state=seed,
    )  # fmt: skip


# ---------------------------------------------------------------- convergence


def cosines(method, truth, n_steps: int) -> list[float]:
    """Return the cosine of every iterate's w and the true one."""
    found: list[float] = []

    def keep(iterate) -> None:
        length = np.linalg.norm(iterate.coef) * np.linalg.norm(truth)
        found.append(float(iterate.coef @ truth / length) if length else 0.0)

    drive(method, max_iter=n_steps, tol=0.0, on_iteration=keep)
    return found


def draw_convergence(path: Path, n_steps: int = 1000) -> None:
    """Draw how near w comes to the truth in so many steps, of gradients and in the metric of X."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
    for ax, correlation in zip(axes, (0.0, 0.7), strict=True):
        for kind, name, color in ((Gradient, "gradient steps", OTHER), (Exact, "exact steps", OURS)):
            runs = []
            for seed in SEEDS:
                data = factor_data(N_ROWS, correlation, seed)
                problem = (as_design(data.X), data.y.astype(float), Simplicity(Sparse(), 1.0), Lpav())
                run = cosines(kind(*problem, penalty=0.1), data.coef, n_steps if kind is Gradient else 30)
                runs.append(run + [run[-1]] * (n_steps - len(run)))  # an exact step more changes nothing
            mean = np.mean(runs, axis=0)
            ax.plot(np.arange(1, n_steps), mean[1:], color=color, lw=2, label=name)
        ax.set(
            xscale="log", xlabel="steps", title=f"correlation of the columns {correlation:g}", ylim=(0, 1.02)
        )
        ax.grid(axis="y", color="0.9")
    axes[0].set_ylabel("cosine of w and the truth")
    axes[0].legend(loc="lower right", frameon=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)


# ---------------------------------------------------------------- AUC against the number of features


def l1_path(X, y, n_levels: int = 100):
    """Yield w along an L1-logistic path of the standardised columns, levels in the scale of the data."""
    sd = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / sd
    largest = np.abs(Z.T @ (y - y.mean())).max()
    for share in np.geomspace(1.0, 1e-3, n_levels + 1)[1:]:
        model = LogisticRegression(C=1 / (share * largest), l1_ratio=1, solver="liblinear", random_state=0)
        yield model.fit(Z, y).coef_.ravel() / sd


def auc(w, X, y) -> float:
    return float(roc_auc_score(y, X @ w)) if w.any() else 0.5


def auc_of_l1(X, y, X_new, y_new) -> list[float]:
    """Return the AUC on new rows at each size: that of the last level with no more features."""
    path = list(l1_path(X, y))
    return [auc([w for w in path if np.count_nonzero(w) <= size][-1], X_new, y_new) for size in SIZES]


def auc_of_search(X, y, X_new, y_new) -> tuple[list[float], list[float]]:
    """Return the AUC at each size on new rows, and what the search says of it by held-out ones."""
    on_new = [auc(SingleIndexClassifierCV(n_atoms=[size]).fit(X, y).coef_, X_new, y_new) for size in SIZES]
    results = SingleIndexClassifierCV(n_atoms=SIZES, scoring="roc_auc").fit(X, y).cv_results_
    second = results["stage"] == 2
    held_out = [results["mean_test_score"][second & (results["n_atoms"] == size)].max() for size in SIZES]
    return on_new, held_out


def draw_sparsity(path: Path) -> None:
    """Draw AUC against the number of features in use."""
    runs = []
    for seed in SEEDS:
        data = factor_data(N_ROWS + N_NEW, 0.7, seed)
        known, new = (data.X[:N_ROWS], data.y[:N_ROWS]), (data.X[N_ROWS:], data.y[N_ROWS:])
        best = auc(data.coef, *new)
        runs.append([*auc_of_search(*known, *new), auc_of_l1(*known, *new), [best] * len(SIZES)])
    new_rows, held_out, l1, truth = np.mean(runs, axis=0)
    figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    ax.plot(SIZES, truth, color=TRUTH, ls="--", label="the true w")
    ax.plot(SIZES, new_rows, "o-", color=OURS, lw=2, label="search, n_atoms=[k]: new rows")
    ax.plot(SIZES, held_out, "o:", color=OURS, mfc="white", label="search: held-out rows (cv_results_)")
    ax.plot(SIZES, l1, "s-", color=OTHER, lw=2, label="L1-logistic, 100 levels: new rows")
    ax.axvline(N_TRUE, color="0.85", zorder=0)
    ax.set(xscale="log", xlabel="features in use, at most", ylabel="AUC", xticks=SIZES, xticklabels=SIZES)
    ax.minorticks_off()
    ax.legend(loc="lower right", frameon=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)


# ---------------------------------------------------------------- what the demo made


def with_table(page: str, table: str) -> str:
    """Return the page with this table between its marks."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}"


def take_from_demo(made: Path, images: Path = IMAGES, page: Path = ROOT / "README.md") -> None:
    """Keep the picture and the table of the demo with their commit, and put the table on the page."""
    shutil.copyfile(made / "demo.png", images / "demo.png")
    table = f"{(made / 'demo.md').read_text(encoding='utf-8')}\n{commits_text([source_commit()])}\n"
    (images / "demo.md").write_text(table, encoding="utf-8")
    page.write_text(with_table(page.read_text(encoding="utf-8"), table), encoding="utf-8")


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", FutureWarning)  # of names that we do not use
    take_from_demo(ROOT / "demo_output")
    draw_convergence(IMAGES / "convergence.png")
    draw_sparsity(IMAGES / "sparsity.png")


if __name__ == "__main__":
    main()
