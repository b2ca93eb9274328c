"""Regressors and classifiers of each kind, and data for them."""

import pickle

import numpy as np
import pytest

from singleindex import (
    SingleIndexClassifier,
    SingleIndexRegressor,
    Slisotron,
)
from singleindex.datasets import make_single_index


def make_regression(n=150, d=12, seed=0, **options):
    options = {"n_atoms": 4, "link": "ramp", "noise": "gaussian", **options}
    return make_single_index(n, d, random_state=seed, **options)


def make_classes(n=150, d=12, seed=0, n_classes=2):
    data = make_single_index(n, d, n_atoms=4, link="logistic", noise="gaussian", random_state=seed)
    y = np.digitize(data.y, np.quantile(data.y, np.arange(1, n_classes) / n_classes))
    noisy = np.random.default_rng(seed).random(n) < 0.1
    return data.X, np.where(noisy, np.roll(y, 1), y), data.coef


REGRESSORS = [
    SingleIndexRegressor(),
    SingleIndexRegressor(4, alpha=0.01),
    SingleIndexRegressor(lipschitz=np.inf, scale_power=None),
    SingleIndexRegressor(link="identity", scale_power=1.0),
    Slisotron(),
]
CLASSIFIERS = [
    SingleIndexClassifier(),
    SingleIndexClassifier(4, lipschitz=5.0),
    SingleIndexClassifier(lipschitz=np.inf, alpha=1.0),
    SingleIndexClassifier(link="logistic"),
]
every_regressor = pytest.mark.parametrize("model", REGRESSORS, ids=repr)
every_classifier = pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)


def fitted_state(model):
    """Return everything `fit` has set, as bytes where it can be compared."""
    return {k: pickle.dumps(v) for k, v in vars(model).items() if k.endswith("_")}


def cosine(a, b):
    return abs(a @ b) / (np.linalg.norm(a) * np.linalg.norm(b))
