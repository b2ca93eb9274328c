"""AUC with few features: the best that each method makes of 5, 10, 20 or 50 of them (text: up to 1000).

L1 takes, of the levels with no more features than that, the one with the least held-out log-loss (a choice
by AUC did worse on the one tuning split of ath-rel it was tried on), on text also of columns as they are.
The relaxed lasso blends the weakest of these levels with an unpenalised fit on its features; held-out rows
choose the share, but the features and the penalised fit have seen them, which favours the penalised one.
abess has that many features, MCP (skglm) the weakest level within.
"""

from __future__ import annotations

import numpy as np

from benchmarks.pages import as_table
from singleindex.datasets import load_text

from . import ours
from .compare import mean_of, pair, passed
from .designs import make_task
from .elsewhere import ask_peer
from .ours import OURS
from .real import load_khan
from .rivals import N_FOLDS, divide, folds_of, held_out_losses, l1_path, penalty_levels, ridge_path, scale_of
from .tasks import Task, count_features, is_sparse, mean_auc, split_task

NAME = "frontier"
TITLE = "AUC against the number of features"
COUNTS = (5, 10, 20, 50)
TEXT_COUNTS = (*COUNTS, 100, 300, 1000)
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
# Splicing takes hours beyond this on text.
MOST_SPLICED = 50
METHODS = (OURS, "L1", "relaxed lasso", "abess", "MCP")
MINE = ("ours",)
GENERATED = "one factor .7 800 × 200, ramp"


def cells() -> list[str]:
    return ["ath-rel", GENERATED, "khan, EWS"]


def make(cell: str, seed: int) -> Task:
    if cell == GENERATED:
        return make_task(cell, seed)
    if cell == "ath-rel":
        data = load_text("ath-rel")
        return split_task(data.data, np.asarray(data.target), seed, least=1e-3, powers=(1.0, 0.0))
    X, y = load_khan()
    return split_task(X, (y == "EWS").astype(int), seed, least=1e-3)


def counts_for(task: Task) -> tuple[int, ...]:
    return TEXT_COUNTS if is_sparse(task.X) else COUNTS


def point(task: Task, coef) -> dict[str, float]:
    return {"auc": mean_auc(task.y_test, task.X_test @ coef), "features": count_features(coef)}


def as_figures(points: dict[int, dict[str, float]]) -> dict[str, float]:
    return {f"{name} at {k}": value for k, found in points.items() for name, value in found.items()}


def measure(family, task):
    return {name: as_figures(points) for name, points in FAMILIES[family](task).items()}


# ---------------------------------------------------------------- methods


def trace_ours(task: Task):
    return {OURS: {k: point(task, ours.fit_at_most(task, k).coef) for k in counts_for(task)}}


def trace_l1(task: Task):
    """Return the best L1 fits with so many features at most, and relaxations."""
    paths = [l1_path(task, power) for power in task.powers]
    counts = [np.count_nonzero(path["coefs"][:, 0], axis=1) for path in paths]
    plain, relaxed = {}, {}
    for k in counts_for(task):
        ends = [levels_within(each, k) for each in counts]
        best = [int(np.argmin(path["losses"][:end])) for path, end in zip(paths, ends, strict=True)]
        path, level = min(zip(paths, best, strict=True), key=lambda each: each[0]["losses"][each[1]])
        plain[k] = point(task, path["coefs"][level, 0])
        if counts[0][ends[0] - 1] and k < len(task.y):
            relaxed[k] = point(task, relax(task, paths[0]["coefs"][ends[0] - 1, 0]))
    return {"L1": plain, "relaxed lasso": relaxed}


def levels_within(counts, k: int) -> int:
    """Return the number of levels before the first with more features; later ones may have fewer again."""
    return int(np.argmax(counts > k)) if (counts > k).any() else len(counts)


def relax(task: Task, coef):
    """Blend an L1 fit with an unpenalised one on its features; ten folds choose the share of the latter."""
    used = np.flatnonzero(coef)
    X = task.X[:, used]
    X = X.toarray() if is_sparse(X) else X
    y, fold = np.asarray(task.y, dtype=float), folds_of(task.y)
    # The features were found with all rows; folds choose a share only.
    held_out = np.empty((len(y), len(SHARES), 1))
    for k in range(N_FOLDS):
        free, intercept = unpenalised(X[fold != k], y[fold != k])
        for j, share in enumerate(SHARES):
            held_out[fold == k, j, 0] = X[fold == k] @ blend(free, coef[used], share) + intercept
    share = SHARES[int(np.argmin(held_out_losses(held_out - held_out.mean(axis=0), y)))]
    relaxed = np.zeros_like(coef)
    relaxed[used] = blend(unpenalised(X, y)[0], coef[used], share)
    return relaxed


def blend(free, penalised, share: float):
    return share * free + (1 - share) * penalised


def unpenalised(X, y):
    """Fit without a penalty, but for as much as keeps separable rows finite."""
    scale = scale_of(X)
    coefs, intercepts = ridge_path(X / scale, y, [1e-4])
    return coefs[0] / scale, intercepts[0]


def whole(task: Task):
    """Return folds that hold nothing out."""
    return np.full(len(task.y), -1)


def trace_abess(task: Task):
    scale = scale_of(task.X)
    Z = divide(task.X, scale)
    Z = Z.toarray() if is_sparse(Z) else Z
    varies = np.ptp(Z, axis=0) > 0
    sizes = [k for k in counts_for(task) if k <= min(MOST_SPLICED, len(task.y) // 3)]
    points = {}
    for k in sizes:
        found = ask_peer("numpy 2", "of_abess", "AbessPath", [k], X=Z[:, varies], y=task.y, fold=whole(task))
        coef = np.zeros(len(scale))
        coef[varies] = found["coefs"][0, 0] / scale[varies]
        points[k] = point(task, coef)
    return {"abess": points}


def trace_mcp(task: Task):
    scale = scale_of(task.X)
    Z = divide(task.X, scale)
    Z = Z if is_sparse(Z) else Z - Z.mean(axis=0)
    levels = penalty_levels(Z, task.y, task.least)
    found = ask_peer("numba", "of_skglm", "McpPath", levels, X=Z, y=task.y, fold=whole(task))
    coefs = found["coefs"][:, 0] / scale
    counts = np.count_nonzero(coefs, axis=1)
    points = {}
    for k in counts_for(task):
        within = np.flatnonzero((counts > 0) & (counts <= k))
        if within.size:
            points[k] = point(task, coefs[within[-1]])
    return {"MCP": points}


FAMILIES = {"ours": trace_ours, "L1": trace_l1, "abess": trace_abess, "MCP": trace_mcp}


# ---------------------------------------------------------------- the section


def judge(figures):
    """Return our AUC against that of L1 at every cell and count, and where it is lower by two errors."""
    pairs = {}
    for cell, methods in figures.items():
        for k in TEXT_COUNTS:
            found = pair(methods.get(OURS, {}), methods.get("L1", {}), f"auc at {k}")
            if found is not None:
                pairs[cell, k] = found
    return pairs, [where for where, found in pairs.items() if found.is_below(2)]


def over_limit(figures) -> list[tuple[str, int]]:
    """Return where we use more features than allowed, with any seed."""
    return [
        (cell, k)
        for cell, methods in figures.items()
        for k in TEXT_COUNTS
        if any(found.get(f"features at {k}", 0) > k for found in methods.get(OURS, {}).values())
    ]


def section(figures) -> list[str]:
    rows = []
    for cell, methods in figures.items():
        for k in TEXT_COUNTS:
            texts = [point_text(methods.get(name), k) for name in METHODS]
            if any(text != "–" for text in texts):
                rows.append([cell, str(k), *texts])
    pairs, lost = judge(figures)
    lines = ["Mean AUC, features in use in brackets.", "", *as_table(["data", "at most", *METHODS], rows), ""]
    if pairs:
        mean = float(np.mean([found.difference for found in pairs.values()]))
        lines.append(f"- Against L1 in the mean {mean:+.4f}: {passed(mean > 0)}.")
        lines.append(
            f"- Below L1 by more than two standard errors: {passed(not lost)}, {len(lost)} of {len(pairs)}."
        )
    for where in lost:
        found = pairs[where]
        lines.append(
            f"  - {where[0]} at {where[1]}: {found.ours:.4f} against {found.rival:.4f} ± {found.error:.4f}"
        )
    over = over_limit(figures)
    told = ", ".join(f"{cell} at {k}" for cell, k in over)
    lines.append(f"- No more features than allowed: {passed(not over)}{': ' if over else ''}{told}.")
    return lines


def point_text(found, k: int) -> str:
    auc = mean_of(found, f"auc at {k}")
    return "–" if np.isnan(auc) else f"{auc:.4f} ({mean_of(found, f'features at {k}'):.0f})"
