"""Whether anything predicts y: pure noise, and signals that L1 sees with an AUC of about .7.

A test of level 5 %: of noise, evidence is seen in one draw of twenty. "L1" is scikit-learn's logistic
regression with an L1 penalty chosen among 60 by five folds; its AUC is that of new rows.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.exact_steps.compare import mean_of, values_of
from benchmarks.grids import l1_search
from benchmarks.pages import as_table
from singleindex import SingleIndexClassifier
from singleindex.inspection import resample

from .problems import OURS, make_problem

NAME = "evidence"
TITLE = "Is there anything at all"
L1 = "L1"
MINE = (OURS,)
# Rows, columns, correlation, and the spread of the true index; 0 is noise.
CELLS = {
    "noise 400 × 8": (400, 8, 0.0, 0.0),
    "noise 400 × 60": (400, 60, 0.0, 0.0),
    "noise 400 × 60, ρ 0.7": (400, 60, 0.7, 0.0),
    "noise 200 × 500": (200, 500, 0.0, 0.0),
    "noise 200 × 500, ρ 0.7": (200, 500, 0.7, 0.0),
    "signal 400 × 8": (400, 8, 0.0, 0.85),
    "signal 400 × 60": (400, 60, 0.0, 1.05),
    "signal 200 × 500": (200, 500, 0.0, 1.7),
    "signal 200 × 500, ρ 0.7": (200, 500, 0.7, 1.5),
}


def n_draws(cell: str, family: str) -> int:
    """Rare events in noise take more draws; how well L1 ranks rows is asked of signals alone."""
    if cell.startswith("signal"):
        return 100
    return 200 if family in MINE else 0


def make(cell: str, seed: int):
    n, d, rho, signal = CELLS[cell]
    problem = make_problem(n, d, rho, "logistic", seed, signal or 1.0)
    if not signal:  # the same shares of the classes, in random order
        np.random.default_rng([seed, 3]).shuffle(problem.y)
    return problem


def measure_ours(problem):
    model = SingleIndexClassifier(5).fit(problem.X, problem.y)
    resampled = resample(model, problem.X, problem.y, 2, random_state=problem.seed, n_permutations=99)
    return {OURS: {"p": resampled.evidence.p_value, "score": resampled.evidence.score}}


def measure_l1(problem):
    rival = l1_search(problem.X, problem.y, "neg_log_loss").fit(problem.X, problem.y)
    return {L1: {"auc": float(roc_auc_score(problem.y_new, rival.decision_function(problem.X_new)))}}


FAMILIES = {OURS: measure_ours, L1: measure_l1}


def section(figures) -> list[str]:
    rows = [row(cell, figures[cell]) for cell in CELLS if OURS in figures.get(cell, {})]
    wanted = "no evidence in 91 %, or evidence in 95 %"
    return as_table(["X", "AUC of L1", "draws", "evidence in", "no evidence in", wanted], rows)


def row(cell: str, methods) -> list[object]:
    p = list(values_of(methods[OURS], "p").values())
    rival = methods.get(L1)
    told = f"{mean_of(rival, 'auc'):.3f} ({len(rival)} draws)" if rival else "–"
    seen = np.mean(np.array(p) <= 0.05)
    holds = seen <= 0.09 if cell.startswith("noise") else seen >= 0.95
    return [cell, told, len(p), f"{seen:.1%}", f"{1 - seen:.1%}", "yes" if holds else "**no**"]
