"""scikit-learn's own checks, for every estimator, with no expected failures."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import singleindex
from singleindex import (
    LipschitzIsotonicRegression,
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    Slisotron,
)

# Some checks have data with one column only: n_atoms is 1 or None here.
ESTIMATORS = [
    SingleIndexRegressor(),
    SingleIndexRegressor(n_atoms=1, alpha=0.0),
    SingleIndexRegressor(lipschitz=np.inf, scale_power=None),
    SingleIndexRegressor(link="identity", scale_power=1.0, max_iter=20),
    SingleIndexRegressor(link="tanh", tol=0.1),
    SingleIndexClassifier(),
    SingleIndexClassifier(n_atoms=1, lipschitz=5.0),
    SingleIndexClassifier(link="logistic", scale_power=1.0),
    SingleIndexClassifier(class_weight="balanced", alpha=1.0, scale_power=None),
    SingleIndexRegressorCV(n_atoms=[1], alpha=[0.1], penalty=[0.3], cv=3),
    SingleIndexClassifierCV(n_atoms=[1], alpha=[0.1], penalty=[0.3], cv=3, refit="folds"),
    Slisotron(),
    Slisotron(lipschitz=10.0, max_iter=20, tol=1e-3),
]
# scikit-learn's checks have data of several columns; of an estimator for one column they can test only
# what needs no data, and say so by a warning. The rest is in test_isotonic.py.
ISOTONIC = [
    LipschitzIsotonicRegression(),
    LipschitzIsotonicRegression(lipschitz=np.inf, out_of_bounds="clip"),
    LipschitzIsotonicRegression(lipschitz=0.5, y_min=-1.0, y_max=5.0, increasing=False),
]


# Some checks have y that no feature predicts.
@pytest.mark.filterwarnings("ignore::singleindex.fitting.cross_fit.IndexNotIdentifiedWarning")
@pytest.mark.every_case
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)


with warnings.catch_warnings():
    warnings.simplefilter("ignore", SkipTestWarning)
    isotonic_checks = parametrize_with_checks(ISOTONIC)


@pytest.mark.every_case
@isotonic_checks
def test_scikit_learn_check_of_one_column(estimator, check):
    check(estimator)


def test_every_public_estimator_is_checked():
    """A new estimator has to join the list."""
    public = {
        getattr(singleindex, name)
        for name in singleindex.__all__
        if hasattr(getattr(singleindex, name), "fit")
    }
    # Completers learn from pairs, not from rows of features: scikit-learn's checks do not apply. Those of
    # data frames are checked in tests/tables.
    public -= {singleindex.SingleIndexCompleter, singleindex.SingleIndexCompleterCV}
    public -= {singleindex.TableClassifier, singleindex.TableRegressor}
    missing = {c.__name__ for c in public - {type(e) for e in ESTIMATORS + ISOTONIC}}
    if missing:
        pytest.fail(f"add to ESTIMATORS: {sorted(missing)}")
