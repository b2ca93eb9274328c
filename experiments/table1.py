"""Table 1: sparse recovery on six text sets, 50-25-25 splits."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from singleindex.datasets import TEXT_SETS, load_text

from .classifiers import METHODS, Outcome
from .splits import Split, shuffled
from .units import Unit, timed

NAME = "table1"
SHARES = (0.5, 0.25, 0.25)
# The files of link and page hold ready-made weights only.
WITHOUT_COUNTS = ("link", "page")
ROWS = tuple(
    (dataset, variant)
    for dataset in TEXT_SETS
    for variant in ("tfidf", "counts")
    if not (variant == "counts" and dataset in WITHOUT_COUNTS)
)
QUICK_ROWS = (("link", "tfidf"), ("page", "tfidf"), ("ath-rel", "tfidf"))
SEEDS = 5


@functools.lru_cache(maxsize=2)
def load(dataset: str, variant: str) -> tuple[Any, np.ndarray]:
    data = load_text(dataset, variant)
    return data.data, np.asarray(data.target)


def split_of(dataset: str, variant: str, seed: int) -> Split:
    X, y = load(dataset, variant)
    return Split(X, y, *shuffled(len(y), SHARES, seed))


def measure(unit: Unit) -> tuple[dict[str, Any], dict[str, Any]]:
    split = split_of(unit.dataset, unit.variant, unit.seed)
    outcome, seconds = timed(METHODS[unit.method], split, unit.seed)
    return figures_of(outcome, split) | {"seconds": seconds}, outcome.settings


def figures_of(outcome: Outcome, split: Split) -> dict[str, Any]:
    y = split.y[split.test]
    probability = np.clip(outcome.probability, 1e-6, 1 - 1e-6)
    return {
        "auc": float(roc_auc_score(y, outcome.score)),
        "accuracy": float(accuracy_score(y, probability > 0.5)),
        "log_loss": float(log_loss(y, probability)),
        "n_features": outcome.n_features,
    }
