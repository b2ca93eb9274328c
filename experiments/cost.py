"""Cost: seconds of every method of Table 1, one after the other in one process: their ratios count."""

from __future__ import annotations

from typing import Any

import numpy as np

from singleindex import SingleIndexClassifier

from . import classifiers, table1
from .baselines.neural import best_epoch, make_network
from .splits import Split
from .units import Unit, timed

NAME = "cost"
ROWS = (("page", "tfidf"), ("ath-rel", "tfidf"), ("cryp-ele", "tfidf"))
QUICK_ROWS = ROWS[:1]
SEEDS = 1
SERIAL = True


def one_index(split: Split) -> None:
    """A single fit with its defaults."""
    SingleIndexClassifier().fit(*split.part(split.train))


def one_network(split: Split) -> None:
    """A single network, with as many epochs as the validation part asks for."""
    X, network = split.X.astype(np.float32), make_network(50, 0.01, len(split.train), 0)
    best_epoch(network, X[split.train], split.y[split.train], X[split.validate], split.y[split.validate])


SINGLE = {"CSI, one fit": one_index, "SLNN, one fit": one_network}
NOT_TIMED = {"null", *classifiers.ABLATIONS}
METHODS = tuple(name for name in (*classifiers.METHODS, *SINGLE) if name not in NOT_TIMED)


def measure(unit: Unit) -> tuple[dict[str, Any], dict[str, Any]]:
    if unit.method in SINGLE:
        split = table1.split_of(unit.dataset, unit.variant, unit.seed)
        return {"seconds": timed(SINGLE[unit.method], split)[1]}, {}
    figures, settings = table1.measure(unit)
    return {name: figures[name] for name in ("seconds", "auc")}, settings
