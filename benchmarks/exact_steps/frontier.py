"""AUC with few features: the best that each method makes of 5, 10, 20 or 50 of them (text: up to 1000).

L1 takes, of the levels with no more features than that, the one with the least held-out log-loss, on text
also of columns as they are.
The relaxed lasso blends the weakest of these levels with an unpenalised fit on its features; held-out rows
choose the share, but the features and the penalised fit have seen them, which favours the penalised one.
abess has that many features, MCP (skglm) the weakest level within.
"""

from __future__ import annotations

import numpy as np

from benchmarks.pages import as_table, paragraphs

from . import cells
from .compare import pairs_of, passed, with_features
from .elsewhere import ask_peer
from .methods import OURS, fit_search
from .real import load_khan, split_text
from .rivals import N_FOLDS, as_dense, folds_of, held_out_losses, l1_path, penalty_levels, ridge_path, scaled
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
CELLS = ("ath-rel", "one factor .7 800 × 200, ramp", "khan, EWS")


def n_draws(cell: str, family: str) -> int:
    return 10


def make(cell: str, seed: int) -> Task:
    if cell in cells.CELLS:
        return cells.make(cell, seed)
    if cell == "ath-rel":
        return split_text(cell, seed, least=1e-3, powers=(1.0, 0.0))
    X, y = load_khan()
    return split_task(X, (y == "EWS").astype(int), seed, least=1e-3)


def counts_for(task: Task) -> tuple[int, ...]:
    return TEXT_COUNTS if is_sparse(task.X) else COUNTS


def point(task: Task, coef) -> dict[str, float]:
    return {"auc": mean_auc(task.y_test, task.X_test @ coef), "features": count_features(coef)}


def as_figures(points: dict[int, dict[str, float]]) -> dict[str, float]:
    return {f"{name} at {k}": value for k, found in points.items() for name, value in found.items()}


# ---------------------------------------------------------------- methods


def trace_ours(task: Task):
    fits = {k: fit_search(task, n_atoms=[k], penalty=[]) for k in counts_for(task)}
    return {OURS: as_figures({k: point(task, answer.coef) for k, answer in fits.items()})}


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
    return {"L1": as_figures(plain), "relaxed lasso": as_figures(relaxed)}


def levels_within(counts, k: int) -> int:
    """Return the number of levels before the first with more features; later ones may have fewer again."""
    return int(np.argmax(counts > k)) if (counts > k).any() else len(counts)


def relax(task: Task, coef):
    """Blend an L1 fit with an unpenalised one on its features; ten folds choose the share of the latter."""
    used = np.flatnonzero(coef)
    X = as_dense(task.X[:, used])
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
    Z, scale = scaled(X)
    coefs, intercepts = ridge_path(Z, y, [1e-4])
    return coefs[0] / scale, intercepts[0]


def path_of_peer(group: str, module: str, solver: str, levels, Z, y):
    """Return w at each level, fitted to all rows: folds hold nothing out."""
    found = ask_peer(group, module, solver, levels, X=Z, y=y, fold=np.full(len(y), -1))
    return found["coefs"][:, 0]


def trace_abess(task: Task):
    Z, scale = scaled(task.X)
    Z = as_dense(Z)
    varies = np.ptp(Z, axis=0) > 0
    points = {}
    for k in counts_for(task):
        if k <= min(MOST_SPLICED, len(task.y) // 3):
            coef = np.zeros(len(scale))
            (found,) = path_of_peer("numpy 2", "of_abess", "AbessPath", [k], Z[:, varies], task.y)
            coef[varies] = found / scale[varies]
            points[k] = point(task, coef)
    return {"abess": as_figures(points)}


def trace_mcp(task: Task):
    Z, scale = scaled(task.X)
    Z = Z if is_sparse(Z) else Z - Z.mean(axis=0)
    levels = penalty_levels(Z, task.y, task.least)
    coefs = path_of_peer("numba", "of_skglm", "McpPath", levels, Z, task.y) / scale
    counts = np.count_nonzero(coefs, axis=1)
    points = {}
    for k in counts_for(task):
        within = np.flatnonzero((counts > 0) & (counts <= k))
        if within.size:
            points[k] = point(task, coefs[within[-1]])
    return {"MCP": as_figures(points)}


FAMILIES = {"ours": trace_ours, "L1": trace_l1, "abess": trace_abess, "MCP": trace_mcp}


# ---------------------------------------------------------------- the section


def judge(figures):
    """Return our AUC against that of L1 at every cell and count, and where it is lower by two errors."""
    found = {k: pairs_of(figures, OURS, "L1", f"auc at {k}") for k in TEXT_COUNTS}
    pairs = {(cell, k): found[k][cell] for cell in figures for k in TEXT_COUNTS if cell in found[k]}
    return pairs, [where for where, paired in pairs.items() if paired.is_below(2)]


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
            names = f"auc at {k}", f"features at {k}"
            texts = [with_features(methods.get(method), *names) for method in METHODS]
            if set(texts) != {"–"}:
                rows.append([cell, k, *texts])
    table = as_table(["data", "at most", *METHODS], rows)
    return paragraphs("Mean AUC, features in use in brackets.", table, verdicts(figures))


def verdicts(figures) -> list[str]:
    (pairs, lost), lines = judge(figures), []
    if pairs:
        mean = float(np.mean([found.difference for found in pairs.values()]))
        told = f"{passed(not lost)}, {len(lost)} of {len(pairs)}"
        lines.append(f"- Against L1 in the mean {mean:+.4f}: {passed(mean > 0)}.")
        lines.append(f"- Below L1 by more than two standard errors: {told}.")
    for cell, k in lost:
        found = pairs[cell, k]
        lines.append(f"  - {cell} at {k}: {found.ours:.4f} against {found.rival:.4f} ± {found.error:.4f}")
    over = over_limit(figures)
    told = ": " + ", ".join(f"{cell} at {k}" for cell, k in over) if over else ""
    return [*lines, f"- No more features than allowed: {passed(not over)}{told}."]
