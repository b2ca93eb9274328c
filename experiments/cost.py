"""Cost: seconds of every method of Table 1, one after the other in one process: their ratios count."""

from __future__ import annotations

from typing import Any

from . import table1
from .classifiers import METHODS
from .units import Unit

NAME = "cost"
DATASETS = ("page", "ath-rel", "cryp-ele")
SEEDS = 1
SERIAL = True


def units(n_seeds: int, quick: bool = False) -> list[Unit]:
    datasets = DATASETS[:1] if quick else DATASETS
    methods = [method for method in METHODS if method != "null"]
    return [Unit(NAME, dataset, "tfidf", method, 0) for dataset in datasets for method in methods]


def measure(unit: Unit) -> tuple[dict[str, Any], dict[str, Any]]:
    figures, settings = table1.measure(unit)
    return {name: figures[name] for name in ("seconds", "auc")}, settings
