"""Table 2: group sparsity, where several outputs share their features: atp7d and flags.

A group is one feature in all outputs, the L2,1 norm of the MALSAR package that the paper used. The scaling of
features and targets comes from the rows that are not for the test.
"""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from singleindex.datasets import load_atp, load_flags

from .multi_output import LABEL_METHODS, NUMBER_METHODS
from .splits import Split, shuffled
from .units import Unit

NAME = "table2"
DATASETS = ("atp7d", "flags")
SEEDS = 10
# atp7d: which targets.
ATP_VARIANTS = ("two targets", "six targets")
# flags: the 19 features as they are coded in the file, or nominal ones as one column for each category; on
# the published split and on random ones of the same size.
FLAG_VARIANTS = (
    "19 columns, published split", "19 columns, random splits",
    "43 columns, published split", "43 columns, random splits",
)  # fmt: skip
N_FLAGS_TRAIN = 129


def units(n_seeds: int, quick: bool = False) -> list[Unit]:
    found = [
        Unit(NAME, "atp7d", variant, method, seed)
        for variant in ATP_VARIANTS
        for seed in range(n_seeds)
        for method in NUMBER_METHODS
    ]
    found += [
        Unit(NAME, "flags", variant, method, seed)
        for variant in FLAG_VARIANTS
        for seed in range(n_seeds)
        for method in LABEL_METHODS
    ]
    return found


def measure(unit: Unit) -> tuple[dict[str, Any], dict[str, Any]]:
    if unit.dataset == "atp7d":
        return measure_prices(unit)
    return measure_flags(unit)


# ---------------------------------------------------------------- atp7d


@functools.cache
def prices() -> tuple[np.ndarray, np.ndarray]:
    data = load_atp("atp7d")
    return data.data, data.target


def prices_split(variant: str, seed: int) -> Split:
    """Return an 80-10-10 split; columns have mean 0 and variance 1 over the rows not for the test."""
    X, Y = prices()
    if variant == "two targets":
        Y = Y[:, :2]
    parts = shuffled(len(Y), (0.8, 0.1, 0.1), seed)
    known = np.concatenate(parts[:2])
    return Split(standardised(X, known), standardised(Y, known), *parts)


def standardised(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return columns with mean 0 and standard deviation 1 over these rows; constant ones at 0."""
    sd = values[rows].std(axis=0)
    return (values - values[rows].mean(axis=0)) / np.where(sd > 0, sd, 1.0)


def measure_prices(unit: Unit) -> tuple[dict[str, Any], dict[str, Any]]:
    split = prices_split(unit.variant, unit.seed)
    began = time.process_time()
    predicted, settings = NUMBER_METHODS[unit.method](split, unit.seed)
    seconds = time.process_time() - began
    error = predicted - split.y[split.test]
    # The same predictions in the other units: the known prices run from −1 to 1.
    known = split.y[split.both]
    unit = 2 / (known.max(axis=0) - known.min(axis=0))
    figures = {"mse": float(np.mean(error**2)), "mse_in_range": float(np.mean((error * unit) ** 2))}
    return figures | {"seconds": seconds}, settings


# ---------------------------------------------------------------- flags


@functools.cache
def flags(name: str | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    data = load_flags(name)
    return data.raw_data, data.data, data.target


def flags_split(variant: str, seed: int) -> Split:
    """Return a split into 129 and 65 rows, a tenth of the 129 set aside for validation."""
    which = 0 if variant.startswith("19") else 1
    if variant.endswith("published split"):
        train, test = flags("train"), flags("test")
        X, Y = np.vstack([train[which], test[which]]), np.vstack([train[2], test[2]])
        first, held_out = np.arange(N_FLAGS_TRAIN), np.arange(N_FLAGS_TRAIN, len(X))
    else:
        X, Y = flags(None)[which], flags(None)[2]
        first, held_out = shuffled(len(X), ((N_FLAGS_TRAIN + 0.5) / len(X), 0.0), seed)
    inner, validate = shuffled(N_FLAGS_TRAIN, (0.9, 0.1), seed)
    return Split(standardised(X, first), Y, first[inner], first[validate], held_out)


def measure_flags(unit: Unit) -> tuple[dict[str, Any], dict[str, Any]]:
    split = flags_split(unit.variant, unit.seed)
    began = time.process_time()
    predicted, settings = LABEL_METHODS[unit.method](split, unit.seed)
    seconds = time.process_time() - began
    Y = split.y[split.test]
    figures = {
        f"f1_{average}": float(f1_score(Y, predicted, average=average, zero_division=0))
        for average in ("micro", "macro")
    }
    return figures | {"seconds": seconds}, settings
