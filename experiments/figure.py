"""Figure: how far the iterates are from w*, for CSI as printed, as corrected, and with exact steps.

n = 500 rows of N(0, I_d), or with one common factor; w* has √d entries of N(0, 1); labels −1 and 1 with mean
2/(1 + e^{-w*·x}) − 1; λ = 0.001 and s = 5√d. The paper names neither its three dimensions nor its step size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from singleindex import SingleIndexRegressor

from .baselines import LiteralCSI
from .units import Unit

NAME = "figure"
N_SAMPLES = 500
DIMENSIONS = (400, 900, 1600)
DATASETS = tuple(f"d = {d}" for d in DIMENSIONS)
ALPHA = 0.001
N_ITER = 100
SEEDS = 10
# The paper's columns, and columns that all have the same correlation with each other.
INDEPENDENT, CORRELATED = VARIANTS = ("independent columns", "one common factor")
ROWS = QUICK_ROWS = tuple((dataset, variant) for dataset in DATASETS for variant in VARIANTS)
CORRELATION = 0.7
# A share of the one at which w is zero, for soft thresholds in place of s.
PENALTY = 0.1


def draw(d: int, seed: int, variant: str = INDEPENDENT) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, labels and w* of the paper's synthetic experiment."""
    rng = np.random.default_rng([seed, d])
    w = np.zeros(d)
    k = math.isqrt(d)
    w[rng.choice(d, k, replace=False)] = rng.standard_normal(k)
    X = rng.standard_normal((N_SAMPLES, d))
    if variant == CORRELATED:
        X = math.sqrt(1 - CORRELATION) * X + math.sqrt(CORRELATION) * rng.standard_normal((N_SAMPLES, 1))
    mean = np.tanh(X @ w / 2)
    y = np.where(rng.random(N_SAMPLES) < (1 + mean) / 2, 1.0, -1.0)
    return X, y, w


class Recorder:
    """A callback of scikit-learn that keeps the w of every iterate."""

    def __init__(self):
        self.iterates: list[np.ndarray] = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **told):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None, **told):
        if context.task_name == "iteration":
            self.iterates.append(np.asarray(fitted_estimator.coef_, dtype=np.float64))


def printed_iterates(X: np.ndarray, y: np.ndarray, n_atoms: int) -> list[np.ndarray]:
    iterates: list[np.ndarray] = []
    LiteralCSI(n_atoms, alpha=ALPHA, n_iter=N_ITER, on_iteration=lambda t, w: iterates.append(w)).fit(X, y)
    return iterates


def library_iterates(X: np.ndarray, y: np.ndarray, **settings: Any) -> list[np.ndarray]:
    """The steps of this library, on X as it is; the length of w is that of the steps."""
    recorder = Recorder()
    model = SingleIndexRegressor(alpha=ALPHA, scale_power=None, max_iter=N_ITER + 1, tol=0.0, **settings)
    model.set_callbacks(recorder).fit(X, y)
    return recorder.iterates


METHODS: dict[str, Callable[[np.ndarray, np.ndarray, int], list[np.ndarray]]] = {
    "CSI as printed": printed_iterates,
    "CSI corrected": lambda X, y, s: library_iterates(X, y, n_atoms=s, solver="two-pass"),
    "exact steps": lambda X, y, s: library_iterates(X, y, n_atoms=s, solver="exact"),
    "CSI corrected, soft": lambda X, y, s: library_iterates(X, y, penalty=PENALTY, solver="two-pass"),
    "exact steps, soft": lambda X, y, s: library_iterates(X, y, penalty=PENALTY, solver="exact"),
}


def measure(unit: Unit) -> tuple[dict[str, Any], dict[str, Any]]:
    d = int(unit.dataset.removeprefix("d = "))
    X, y, truth = draw(d, unit.seed, unit.variant)
    n_atoms = 5 * math.isqrt(d)
    found = METHODS[unit.method](X, y, n_atoms)
    # Steps that change nothing any more are not taken.
    iterates = np.array(found + [found[-1]] * (N_ITER + 1 - len(found)))
    lengths = np.linalg.norm(iterates, axis=1)
    turned = iterates / lengths[:, None] - truth / np.linalg.norm(truth)
    figures = {
        "distance": rounded(np.linalg.norm(iterates - truth, axis=1)),
        "direction": rounded(np.linalg.norm(turned, axis=1)),
        "n_steps": len(found) - 1,
    }
    return figures, {"n_atoms": n_atoms, "alpha": ALPHA}


def rounded(values: np.ndarray) -> list[float]:
    """Five digits: what a plot can show, and no more than a result file should hold."""
    return [float(f"{value:.5g}") for value in values]
