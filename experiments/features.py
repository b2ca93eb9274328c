"""AUC against the number of features, on the splits of Table 1: this library and L1-logistic regression.

Both have training and validation part to learn from; an L1 path counts with its last w that has no more
features than that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from singleindex.datasets import TEXT_SETS

from . import table1
from .classifiers import logistic_at, penalty_levels, searched
from .splits import Split
from .units import Unit

NAME = "features"
ROWS = tuple((dataset, "tfidf") for dataset in TEXT_SETS)
QUICK_ROWS = ROWS[:1]
SEEDS = 5
SIZES = (5, 10, 20, 50, 100, 300, 1000)
QUARTER = "d/4"
NAMES = (*map(str, SIZES), QUARTER)
Points = dict[str, tuple[np.ndarray, int]]


def sizes_for(d: int) -> dict[str, int]:
    return {str(k): k for k in SIZES if k < d} | {QUARTER: d // 4}


def trace_ours(split: Split, seed: int) -> Points:
    """Return scores and features of searches that are asked for each number."""
    sizes = sizes_for(split.X.shape[1])
    found = {name: searched(split, seed, n_atoms=[k]) for name, k in sizes.items()}
    return {name: (outcome.score, outcome.n_features) for name, outcome in found.items()}


def trace_l1(split: Split, seed: int) -> Points:
    """Return those of the last w of a path before it has more features."""
    X, y = split.part(split.both)
    path = np.array([logistic_at(penalty).fit(X, y).coef_[0] for penalty in penalty_levels(X, y)])
    counts = np.count_nonzero(path, axis=1)
    points = {}
    for name, k in sizes_for(split.X.shape[1]).items():
        more = np.flatnonzero(counts > k)
        last = more[0] - 1 if len(more) else len(counts) - 1
        points[name] = (split.X[split.test] @ path[max(last, 0)], int(counts[max(last, 0)]))
    return points


METHODS = {"CSI": trace_ours, "SLR": trace_l1}


def measure(unit: Unit) -> tuple[dict[str, Any], dict[str, Any]]:
    split = table1.split_of(unit.dataset, unit.variant, unit.seed)
    figures = {}
    for name, (score, n_features) in METHODS[unit.method](split, unit.seed).items():
        figures[f"auc at {name}"] = float(roc_auc_score(split.y[split.test], score))
        figures[f"features at {name}"] = n_features
    return figures, {}
