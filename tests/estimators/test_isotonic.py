"""LipschitzIsotonicRegression: in place of scikit-learn's IsotonicRegression."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from singleindex import LipschitzIsotonicRegression, lipschitz_isotonic_regression
from singleindex.link import lpav_certificate

RNG = np.random.default_rng(0)
X = RNG.normal(size=60)
Y = np.tanh(2 * X) + 0.2 * RNG.normal(size=60)
SETTINGS = {
    "default": {},
    "steep": {"lipschitz": 5.0},
    "isotonic": {"lipschitz": np.inf},
    "constant": {"lipschitz": 0.0},
    "bounded": {"y_min": -0.5, "y_max": 0.6},
    "falling": {"increasing": False},
    "auto": {"increasing": "auto", "lipschitz": 2.0},
}
every_setting = pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
WEIGHT = RNG.random(60)


@every_setting
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
def test_predicts_the_fitted_values(settings, weight):
    model = LipschitzIsotonicRegression(**settings).fit(X, Y, sample_weight=weight)
    expected = lipschitz_isotonic_regression(X, Y, sample_weight=weight, **settings)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-12)


@every_setting
def test_is_optimal(settings):
    model = LipschitzIsotonicRegression(**settings).fit(X, Y)
    checked = {**settings, "increasing": bool(model.increasing_)}
    assert lpav_certificate(X, Y, model.predict(X), **checked, tol=1e-9) < 1e-9


@st.composite
def data_without_ties(draw):
    n = draw(st.integers(2, 20))
    x = np.cumsum(draw(st.lists(st.sampled_from([0.25, 1.0, 30.0]), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(-50, 50), min_size=n, max_size=n))) / 8
    w = np.array(draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))) / 4
    order = draw(st.permutations(range(n)))
    return x[order], y, w


BOUNDS = [(None, None), (-1.0, None), (None, 2.0), (-1.0, 2.0)]


@given(data_without_ties(), st.booleans(), st.sampled_from(BOUNDS))
def test_replaces_isotonic_regression(data, increasing, bounds):
    x, y, w = data
    settings = {"y_min": bounds[0], "y_max": bounds[1], "increasing": increasing, "out_of_bounds": "clip"}
    ours = LipschitzIsotonicRegression(lipschitz=np.inf, **settings).fit(x, y, sample_weight=w)
    theirs = IsotonicRegression(**settings).fit(x, y, sample_weight=w)
    at = np.r_[x, np.linspace(x.min() - 2, x.max() + 2, 41)]
    np.testing.assert_allclose(ours.predict(at), theirs.predict(at), atol=1e-9)
    assert (ours.X_min_, ours.X_max_) == (theirs.X_min_, theirs.X_max_)
    assert ours.increasing_ == theirs.increasing_


def test_attributes_are_those_of_isotonic_regression():
    ours = LipschitzIsotonicRegression(lipschitz=np.inf).fit(X, Y)
    theirs = IsotonicRegression().fit(X, Y)
    public = {name for name in vars(theirs) if name.endswith("_") and not name.startswith("_")}
    # f_ is a function of scipy's, not documented for use.
    assert public - {"f_"} <= set(vars(ours))
    assert ours.X_thresholds_[0] == theirs.X_thresholds_[0]
    assert ours.X_thresholds_[-1] == theirs.X_thresholds_[-1]
    on_theirs = np.interp(ours.X_thresholds_, theirs.X_thresholds_, theirs.y_thresholds_)
    np.testing.assert_allclose(ours.y_thresholds_, on_theirs, atol=1e-12)
    for name in ("fit", "predict", "transform", "fit_transform", "score", "get_feature_names_out"):
        assert hasattr(ours, name)
    assert ours.get_feature_names_out().shape == theirs.get_feature_names_out().shape


@every_setting
def test_thresholds_are_the_curve(settings):
    model = LipschitzIsotonicRegression(**settings).fit(X, Y)
    assert model.X_thresholds_.shape == model.y_thresholds_.shape
    assert (np.diff(model.X_thresholds_) > 0).all()
    assert (model.X_min_, model.X_max_) == (X.min(), X.max())
    at = np.linspace(X.min(), X.max(), 101)
    np.testing.assert_array_equal(model.predict(at), np.interp(at, model.X_thresholds_, model.y_thresholds_))
    direction = 1 if model.increasing_ else -1
    assert (direction * np.diff(model.predict(at)) >= -1e-12).all()


def test_thresholds_are_few_where_the_curve_is_straight():
    model = LipschitzIsotonicRegression().fit(np.arange(1000.0), 3 * np.arange(1000.0))
    assert len(model.X_thresholds_) == 2


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_thresholds_of_a_smooth_curve(offset):
    x = np.linspace(0, 1, 20_001)
    model = LipschitzIsotonicRegression(lipschitz=np.inf).fit(x, offset + x**2)
    np.testing.assert_allclose(model.predict(x), offset + x**2, rtol=1e-12, atol=1e-9)


# ---------------------------------------------------------------- outside of the training range


def test_out_of_bounds_nan():
    model = LipschitzIsotonicRegression().fit([0, 1, 2], [0, 5, 4])
    found = model.predict([-0.1, 0.0, 1.5, 2.0, 2.1])
    assert np.isnan(found).tolist() == [True, False, False, False, True]
    assert found[1:4].tolist() == [2, 3.5, 4]


def test_out_of_bounds_clip():
    model = LipschitzIsotonicRegression(out_of_bounds="clip").fit([0, 1, 2], [0, 5, 4])
    assert model.predict([-9, 0.5, 9]).tolist() == [2, 2.5, 4]


def test_out_of_bounds_raise():
    model = LipschitzIsotonicRegression(out_of_bounds="raise").fit([0, 1, 2], [0, 5, 4])
    assert model.predict([0, 2]).tolist() == [2, 4]
    telling = r"2 values lie outside of the training range \[0, 2\]; use out_of_bounds='clip'"
    with pytest.raises(ValueError, match=telling):
        model.predict([-1, 1, 3])


def test_rows_of_weight_zero_set_no_range():
    data = ([0, 1, 2, 99], [0, 5, 4, 7], [1, 1, 1, 0])
    model = LipschitzIsotonicRegression(out_of_bounds="clip").fit(*data)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(*data)
    assert model.X_max_ == theirs.X_max_ == 2
    assert model.predict([99]).tolist() == [4]


# ---------------------------------------------------------------- input


@pytest.mark.parametrize("dtype", [np.float64, np.float32, int])
def test_one_column_in_two_dimensions(dtype):
    x = np.array([3, 0, 1, 2]).astype(dtype)
    y = np.array([4.0, 1.0, 3.0, 2.0])
    flat = LipschitzIsotonicRegression().fit(x, y)
    tall = LipschitzIsotonicRegression().fit(x[:, None], y)
    np.testing.assert_array_equal(flat.predict(x), tall.predict(x[:, None]))
    assert tall.predict(x[:, None]).shape == (4,)
    np.testing.assert_array_equal(flat.transform(x), flat.predict(x))
    np.testing.assert_array_equal(flat.fit_transform(x, y), flat.predict(x))


def test_ties_are_merged():
    model = LipschitzIsotonicRegression(lipschitz=np.inf).fit([1, 1, 2], [0, 4, 5], sample_weight=[3, 1, 1])
    assert model.predict([1, 2]).tolist() == [1, 5]


def test_one_point():
    model = LipschitzIsotonicRegression(out_of_bounds="clip").fit([2.0], [7.0])
    assert model.predict([1.0, 2.0, 3.0]).tolist() == [7, 7, 7]


def test_read_only_and_unchanged():
    x, y, w = X.copy(), Y.copy(), WEIGHT.copy()
    for v in (x, y, w):
        v.flags.writeable = False
    LipschitzIsotonicRegression().fit(x, y, sample_weight=w).predict(x)
    assert (x == X).all()
    assert (y == Y).all()
    assert (w == WEIGHT).all()


BAD = {
    "two features": ({"X": np.ones((60, 2))}, "X must have one feature.*X\\[:, 0\\]"),
    "X NaN": ({"X": np.where(X > 0, X, np.nan)}, "contains NaN"),
    "y infinite": ({"y": np.where(X > 0, Y, np.inf)}, "y contains infinity"),
    "y too short": ({"y": Y[:-1]}, "inconsistent numbers of samples"),
    "y with two columns": ({"y": np.ones((60, 2))}, "y must be one-dimensional"),
    "weights negative": ({"sample_weight": -WEIGHT}, "must not be negative"),
    "weights all zero": ({"sample_weight": 0 * WEIGHT}, "at least one must be positive"),
    "weights NaN": ({"sample_weight": np.nan * WEIGHT}, "sample_weight holds NaN"),
    "no rows": ({"X": [], "y": []}, "minimum of 1 is required"),
    "lipschitz negative": ({"lipschitz": -1.0}, "lipschitz must be a number from 0 to infinity"),
    "lipschitz a word": ({"lipschitz": "steep"}, "lipschitz must be a number from 0 to infinity"),
    "bounds crossed": ({"y_min": 1.0, "y_max": 0.0}, "y_min must be at most y_max"),
    "out_of_bounds unknown": ({"out_of_bounds": "extend"}, "out_of_bounds must be one of.*'clip'"),
    "increasing unknown": ({"increasing": "down"}, "increasing"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "telling"), BAD.values(), ids=BAD)
def test_refuses(change, telling):
    data = {"X": X, "y": Y, "sample_weight": None}
    data |= {name: value for name, value in change.items() if name in data}
    settings = {name: value for name, value in change.items() if name not in data}
    model = LipschitzIsotonicRegression(**settings)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=telling):
        model.fit(**data)
    assert vars(model).keys() == before.keys()


def test_bad_input_to_predict():
    with pytest.raises(NotFittedError):
        LipschitzIsotonicRegression().predict(X)
    model = LipschitzIsotonicRegression().fit(X, Y)
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict([np.nan])
    with pytest.raises(ValueError, match="one feature"):
        model.predict(np.ones((3, 2)))


@pytest.mark.parametrize("fitted", [False, True])
def test_an_interrupt_leaves_no_half_fit(fitted, monkeypatch):
    model = LipschitzIsotonicRegression()
    if fitted:
        model.fit(X, Y)
    before = pickle.dumps(vars(model))

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("singleindex.estimators.isotonic.fit_monotone", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(2 * X, -Y)
    assert pickle.dumps(vars(model)) == before


# ---------------------------------------------------------------- scikit-learn's tools


@every_setting
def test_pickle_and_clone(settings):
    model = LipschitzIsotonicRegression(**settings).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "X_thresholds_")


def test_grid_search():
    search = GridSearchCV(
        LipschitzIsotonicRegression(out_of_bounds="clip"), {"lipschitz": [0.1, 1.0, 2.0, np.inf]}, cv=3
    )
    search.fit(X, Y)
    assert search.best_score_ > 0.8
    assert search.best_params_["lipschitz"] in (1.0, 2.0)


def test_in_a_pipeline_as_a_step():
    model = make_pipeline(PolynomialFeatures(1, include_bias=False), LipschitzIsotonicRegression())
    model.fit(X[:, None], Y)
    assert model.score(X[:, None], Y) > 0.8


def test_a_failing_second_fit_keeps_the_first():
    model = LipschitzIsotonicRegression().fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, Y[:-1])
    np.testing.assert_array_equal(model.predict(X), before)
