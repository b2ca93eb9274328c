"""Single-index models learn what there is to be learned, by whatever designs give."""

import numpy as np
import pytest
from single_index_models import cosine, make_regression

from singleindex import (
    SingleIndexClassifier,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    Slisotron,
    single_index_path,
)
from singleindex.datasets import make_single_index
from singleindex.design import DenseDesign
from singleindex.design.sweep import without_rows
from singleindex.estimators.classifier import few_classes
from singleindex.structures import RowSparse

# ---------------------------------------------------------------- it learns


@pytest.mark.parametrize("link", ["logistic", "ramp", "steps", "clipped"])
def test_regressor_finds_features_among_many(link):
    data = make_regression(400, 500, n_atoms=5, link=link, noise_level=0.05)
    model = SingleIndexRegressor(5, alpha=0.01).fit(data.X, data.y)
    assert set(np.flatnonzero(model.coef_)) == set(data.support)
    assert cosine(model.coef_, data.coef) > 0.95
    assert np.sqrt(np.mean((model.predict(data.X) - data.mean) ** 2)) < 0.1


@pytest.mark.parametrize("link", ["logistic", "ramp", "steps"])
def test_classifier_finds_the_direction(link):
    data = make_single_index(1500, 100, n_atoms=5, link=link, random_state=0)
    model = SingleIndexClassifier(5).fit(data.X, data.y)
    assert cosine(model.coef_, data.coef) > 0.95
    assert np.sqrt(np.mean((model.predict_proba(data.X)[:, 1] - data.mean) ** 2)) < 0.1


def test_slisotron_learns_in_low_dimension():
    data = make_single_index(600, 5, n_atoms=5, link="logistic", noise="gaussian", random_state=0)
    model = Slisotron(max_iter=300).fit(data.X, data.y)
    assert cosine(model.coef_, data.coef) > 0.95


def test_a_scoring_monitor_sees_models_in_the_units_of_y():
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has no callbacks before 1.9")
    data = make_single_index(100, 20, n_atoms=3, noise="gaussian", random_state=0)
    for model, y, scoring in (
        (SingleIndexRegressor(3), 1000 * data.y, "r2"),
        (SingleIndexClassifier(3), (data.y > 0.5).astype(int), "accuracy"),
        (Slisotron(max_iter=4), data.y, "r2"),
        (SingleIndexRegressorCV([3], penalty=[], cv=3), data.y, "r2"),
        (SingleIndexRegressor(3, solver="one-pass"), data.y, "r2"),
    ):
        monitor = callback.ScoringMonitor(scoring=scoring)
        model.set_callbacks(monitor).fit(data.X, y)
        assert not [name for name in vars(model) if name.startswith("_") and name != "_skl_callbacks"]
        assert model.score(data.X, y) > 0.1


def test_outputs_fitted_together_have_one_history():
    data = make_single_index(
        80, 12, structure="rows", n_outputs=3, n_atoms=3, noise="gaussian", random_state=0
    )
    joint = SingleIndexRegressor(3, structure=RowSparse()).fit(data.X, data.y)
    apart = SingleIndexRegressor(3).fit(data.X, data.y)
    assert isinstance(joint.history_, dict)
    assert len(apart.history_) == len(apart.status_) == 3


def test_a_shared_link_means_nothing_for_one_output():
    data = make_single_index(80, 12, n_atoms=3, noise="gaussian", random_state=0)
    plain, shared = (SingleIndexRegressor(3, shared_link=s).fit(data.X, data.y) for s in (False, True))
    np.testing.assert_array_equal(plain.coef_, shared.coef_)


@pytest.mark.parametrize(
    "y",
    [[3, 1, 1, 2], [True, False, True], [-5, 5], [250, 255], [-128, -120, -128], [0, 0]],
    ids=str,
)
@pytest.mark.parametrize("dtype", [None, np.int16, np.float64])
def test_few_classes_are_those_of_numpy(y, dtype):
    y = np.array(y, dtype=dtype)
    classes = few_classes(y)
    if y.dtype.kind == "f":
        assert classes is None
    else:
        np.testing.assert_array_equal(classes, np.unique(y), strict=True)


@pytest.mark.parametrize(
    "y", [np.array([0, 1000]), np.array([2**63], np.uint64), np.eye(2, dtype=int), ["a"]]
)
def test_other_labels_are_left_to_scikit_learn(y):
    assert few_classes(y) is None


class Reticent(DenseDesign):
    """Keeps the index of its rows to itself, as data on a GPU do."""

    def sweep(self, visit, y, weight=None):
        return without_rows(super().sweep(visit, y, weight))

    def take(self, rows):
        return Reticent(self.X[rows])


class Apart(DenseDesign):
    """Has no columns at hand, as data on a GPU; what needs them gets an array."""

    has_columns = False

    def at_hand(self):
        return self.X

    def columns(self, which):
        raise AssertionError("columns are not at hand")

    pack = columns


@pytest.mark.parametrize("settings", [{"n_atoms": 3}, {"penalty": 0.1}, {"alpha": 0.1}])
def test_without_columns_at_hand_exact_steps_go_by_products(settings):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 8)) + rng.standard_normal((3000, 1))
    y = np.tanh(X[:, 0] - X[:, 1]) + 0.1 * rng.standard_normal(3000)
    model = SingleIndexRegressor(solver="exact", **settings)
    truth = model.fit(X, y).coef_
    found = model.fit(Apart(X), y).coef_
    np.testing.assert_allclose(found, truth, atol=0.02 * np.abs(truth).max())


def test_what_goes_by_columns_gets_them():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8)) + rng.standard_normal((300, 1))
    y = np.tanh(X[:, 0] - X[:, 1]) + 0.1 * rng.standard_normal(300)
    for fit in (
        lambda X: SingleIndexRegressor(3).fit(X, y).coef_,
        lambda X: SingleIndexRegressorCV(cv=3).fit(X, y).coef_,
        lambda X: single_index_path(X, y, penalty=[0.5, 0.1], solver="exact").coefs,
    ):
        np.testing.assert_array_equal(fit(Apart(X)), fit(X))


def test_a_design_need_not_tell_the_index_of_its_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 6))
    y = np.tanh(X[:, 0]) + 0.1 * rng.standard_normal(2000)
    weight = rng.random(2000)
    model = SingleIndexRegressor(solver="one-pass", link_cv=3)
    truth = model.fit(X, y, weight).coef_
    np.testing.assert_allclose(model.fit(Reticent(X), y, weight).coef_, truth, rtol=1e-9)
