"""High-dimensional single-index models with a learned monotone link."""

from .estimators import (
    LipschitzIsotonicRegression,
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexCompleter,
    SingleIndexCompleterCV,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    Slisotron,
    load,
    save,
    single_index_path,
)
from .link import lipschitz_isotonic_regression

__version__ = "0.1.0"

__all__ = [
    "LipschitzIsotonicRegression",
    "SingleIndexClassifier",
    "SingleIndexClassifierCV",
    "SingleIndexCompleter",
    "SingleIndexCompleterCV",
    "SingleIndexRegressor",
    "SingleIndexRegressorCV",
    "Slisotron",
    "lipschitz_isotonic_regression",
    "load",
    "save",
    "single_index_path",
]
