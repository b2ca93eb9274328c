"""Cost: seconds of every method of Table 1, one after the other in one process: their ratios count."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from singleindex import SingleIndexClassifier

from . import table1
from .baselines.neural import best_epoch, make_network
from .classifiers import METHODS
from .splits import Split
from .units import Unit

NAME = "cost"
DATASETS = ("page", "ath-rel", "cryp-ele")
SEEDS = 1
SERIAL = True


def one_index(split: Split) -> None:
    """A single fit with its defaults."""
    SingleIndexClassifier().fit(*split.part(split.train))


def one_network(split: Split) -> None:
    """A single network, with as many epochs as the validation part asks for."""
    X = split.X.astype(np.float32)
    parts = (split.train, split.validate)
    best_epoch(
        make_network(50, 0.01, len(split.train), 0),
        *(each for rows in parts for each in (X[rows], split.y[rows])),
    )


SINGLE = {"CSI, one fit": one_index, "SLNN, one fit": one_network}
ORDER = (*METHODS, *SINGLE)


def units(n_seeds: int, quick: bool = False) -> list[Unit]:
    datasets = DATASETS[:1] if quick else DATASETS
    methods = [method for method in ORDER if method != "null"]
    return [Unit(NAME, dataset, "tfidf", method, 0) for dataset in datasets for method in methods]


def measure(unit: Unit) -> tuple[dict[str, Any], dict[str, Any]]:
    if unit.method in METHODS:
        figures, settings = table1.measure(unit)
        return {name: figures[name] for name in ("seconds", "auc")}, settings
    split = table1.split_of(unit.dataset, unit.variant, unit.seed)
    began = time.process_time()
    SINGLE[unit.method](split)
    return {"seconds": time.process_time() - began}, {}
