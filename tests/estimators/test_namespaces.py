"""Arrays of other libraries, as scikit-learn's convention has them; GPUs: tests/design/test_gpu_device.py."""

import numpy as np
import pytest
from sklearn import config_context

from singleindex import SingleIndexClassifier, SingleIndexRegressor, load, save
from singleindex.estimators.namespaces import as_numpy, with_numpy

xp = pytest.importorskip("array_api_strict")
pytest.importorskip("scipy", minversion="1.14", reason="scikit-learn dispatches arrays from scipy 1.14 on")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    return X, X[:, 0] + 0.1 * rng.standard_normal(300)


@pytest.fixture
def followed(rows):
    """Return a model that was fitted to arrays of another library."""
    X, y = rows
    with config_context(array_api_dispatch=True):
        return SingleIndexRegressor().fit(xp.asarray(X), xp.asarray(y))


def test_what_comes_out_is_of_the_namespace_of_X(rows, followed):
    X, y = rows
    truth = SingleIndexRegressor().fit(X, y)
    with config_context(array_api_dispatch=True):
        predicted = followed.predict(xp.asarray(X))
        assert followed.score(xp.asarray(X), xp.asarray(y)) == truth.score(X, y)
    assert isinstance(predicted, type(followed.coef_))
    assert isinstance(predicted, type(xp.asarray(X)))
    np.testing.assert_array_equal(as_numpy_there(predicted), truth.predict(X))
    np.testing.assert_array_equal(as_numpy_there(followed.coef_), truth.coef_)


def as_numpy_there(values):
    with config_context(array_api_dispatch=True):
        return as_numpy(values)


def test_classes_that_are_text_stay_numpys(rows):
    X, y = rows
    labels = np.where(y > 0, "high", "low")
    with config_context(array_api_dispatch=True):
        model = SingleIndexClassifier().fit(xp.asarray(X), labels)
        assert set(model.predict(xp.asarray(X))) == {"high", "low"}
        assert isinstance(model.predict_proba(xp.asarray(X)), type(xp.asarray(X)))


def test_another_namespace_than_that_of_the_fit_is_refused(rows, followed):
    X, _ = rows
    with config_context(array_api_dispatch=True), pytest.raises(ValueError, match="same namespace"):
        followed.predict(X)


def test_without_the_setting_all_is_numpys(rows):
    X, y = rows
    model = SingleIndexRegressor().fit(X, y)
    assert with_numpy(model) is model
    assert isinstance(model.predict(X), np.ndarray)


def test_such_a_model_is_told_of_and_saved_as_any_other(rows, followed, tmp_path):
    X, y = rows
    truth = SingleIndexRegressor().fit(X, y)
    assert str(followed.summary()) == str(truth.summary())
    save(followed, tmp_path / "model.sim")
    np.testing.assert_array_equal(load(tmp_path / "model.sim").coef_, truth.coef_)
