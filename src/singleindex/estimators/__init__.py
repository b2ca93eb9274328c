"""What users touch: estimators in the manner of scikit-learn."""

from .classifier import SingleIndexClassifier
from .isotonic import LipschitzIsotonicRegression
from .persistence import load, save
from .regressor import SingleIndexRegressor
from .slisotron import Slisotron

__all__ = [
    "LipschitzIsotonicRegression",
    "SingleIndexClassifier",
    "SingleIndexRegressor",
    "Slisotron",
    "load",
    "save",
]
