"""What users touch: estimators in the manner of scikit-learn."""

from .classifier import SingleIndexClassifier
from .completer import SingleIndexCompleter
from .completer_cv import SingleIndexCompleterCV
from .cv import SingleIndexClassifierCV, SingleIndexRegressorCV
from .isotonic import LipschitzIsotonicRegression
from .path import SingleIndexPath, single_index_path
from .regressor import SingleIndexRegressor
from .slisotron import Slisotron

__all__ = [
    "LipschitzIsotonicRegression",
    "SingleIndexClassifier",
    "SingleIndexClassifierCV",
    "SingleIndexCompleter",
    "SingleIndexCompleterCV",
    "SingleIndexPath",
    "SingleIndexRegressor",
    "SingleIndexRegressorCV",
    "Slisotron",
    "single_index_path",
]
