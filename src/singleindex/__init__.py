"""High-dimensional single-index models with a learned monotone link."""

from .estimators import (
    LipschitzIsotonicRegression,
    SingleIndexClassifier,
    SingleIndexRegressor,
    Slisotron,
    load,
    save,
)
from .link import lipschitz_isotonic_regression

__version__ = "0.1.0"

__all__ = [
    "LipschitzIsotonicRegression",
    "SingleIndexClassifier",
    "SingleIndexRegressor",
    "Slisotron",
    "lipschitz_isotonic_regression",
    "load",
    "save",
]
