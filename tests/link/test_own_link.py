"""Links and fitters of one's own: what the base classes make of them, and that the estimators take them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singleindex import SingleIndexClassifier, SingleIndexRegressor, SingleIndexRegressorCV
from singleindex.datasets import make_single_index
from singleindex.link import Link, LinkFitter, MonotoneCurve
from singleindex.link.base import AdjustedLink, find_root

AT = np.linspace(-6, 6, 49)
NUMBER = st.integers(-40, 40).map(lambda k: k / 8)
FACTOR = st.integers(1, 40).map(lambda k: k / 8)


class Softplus(Link):
    """A link of one's own: nothing but a function."""

    name = "softplus"

    def __call__(self, index):
        return np.logaddexp(0, np.asarray(index, dtype=np.float64))


CHANGES = {
    "shift": (NUMBER, lambda g, by: lambda t: g(t - by)),
    "rescale": (FACTOR, lambda g, by: lambda t: by * g(t / by)),
    "clip": (st.tuples(NUMBER, NUMBER).map(sorted), lambda g, by: lambda t: np.clip(g(t), *by)),
}


@given(data=st.data())
def test_any_changes_one_after_the_other_are_their_definitions(data):
    link, expected = Softplus(), Softplus()
    for name in data.draw(st.lists(st.sampled_from(sorted(CHANGES)), max_size=6)):
        numbers, definition = CHANGES[name]
        by = data.draw(numbers)
        link = link.clip(*by) if name == "clip" else getattr(link, name)(by)
        expected = definition(expected, by)
    np.testing.assert_allclose(link(AT), expected(AT), rtol=0, atol=1e-9)


def test_a_changed_link_keeps_its_name_and_is_changed_in_one_place():
    link = Softplus().shift(1.0).rescale(2.0).clip(0.0, 1.0).shift(-3.0)
    assert isinstance(link, AdjustedLink)
    assert isinstance(link.link, Softplus)
    assert link.name == "softplus"
    assert link.knots_ is None


@given(level=st.floats(0.01, 5), by=NUMBER, unit=FACTOR)
def test_the_crossing_is_where_the_link_leaves_the_level(level, by, unit):
    link = Softplus().shift(by).rescale(unit)
    c = link.crossing(level)
    assert link(c) <= level
    assert link(np.nextafter(c, np.inf)) > level or link(c + 1e-9 * (1 + abs(c))) > level
    exact = unit * (np.log(np.expm1(level / unit)) + by)
    assert c == pytest.approx(exact, abs=1e-8)


def test_a_crossing_on_a_flat_piece_is_its_end():
    flat = Softplus().clip(-np.inf, 1.0)
    top = np.log(np.expm1(1.0))
    assert Softplus().clip(0.5, 2.0).crossing(0.5) == pytest.approx(np.log(np.expm1(0.5)))
    assert flat.crossing(1.0) > 1e5  # never above: far out on the right
    assert flat.shift(2.0).crossing(0.999) < top + 2.0
    assert Softplus().clip(0.5, 2.0).crossing(0.1) < -1e5  # always above: far out on the left


@pytest.mark.parametrize("root", [-1e5, -0.3, 0.0, 1 / 3, 7e4])
@pytest.mark.parametrize("guess", [0.0, 5.0])
def test_a_root_is_found_to_the_last_digit(root, guess):
    found = find_root(lambda t: t - root, guess)
    assert found <= root
    assert np.nextafter(found, np.inf) > root


# ---------------------------------------------------------------- fitters


class LeastSquaresLine(LinkFitter):
    """A fitter of ten lines: the rising line that fits best."""

    def fit(self, index, y, sample_weight=None):
        centre, mean = (np.average(v, weights=sample_weight) for v in (index, y))
        spread = np.average((index - centre) ** 2, weights=sample_weight)
        rise = np.average((index - centre) * (y - mean), weights=sample_weight)
        slope = max(rise / spread, 0.0) if spread > 0 else 0.0
        ends = np.array([index.min() - 1, index.max() + 1])
        return MonotoneCurve(ends, mean + slope * (ends - centre)), mean + slope * (index - centre)


@pytest.fixture(scope="module")
def data():
    return make_single_index(300, 8, n_atoms=3, link="identity", noise="gaussian", random_state=0)


def least_squares(data, rows=slice(None)):
    X = np.column_stack([data.X[rows], np.ones(len(data.X[rows]))])
    return np.linalg.lstsq(X, data.y[rows], rcond=None)[0][:-1]


@pytest.mark.parametrize("solver", ["two-pass", "one-pass"])
def test_with_a_line_for_a_link_the_regressor_is_least_squares(data, solver):
    model = SingleIndexRegressor(
        link=LeastSquaresLine(), alpha=0.0, tol=1e-9, max_iter=2000, solver=solver
    ).fit(data.X, data.y)
    expected = least_squares(data)
    cosine = model.coef_ @ expected / np.linalg.norm(model.coef_) / np.linalg.norm(expected)
    assert cosine > 1 - 1e-5
    X = np.column_stack([data.X, np.ones(300)])
    projected = X @ np.linalg.lstsq(X, data.y, rcond=None)[0]
    assert np.abs(model.predict(data.X) - projected).max() < 0.02 * data.y.std()


def test_searches_classifiers_and_held_out_links_take_it(data):
    fitter = LeastSquaresLine()
    search = SingleIndexRegressorCV([3, 8], penalty=[], cv=3, link=fitter).fit(data.X, data.y)
    assert search.score(data.X, data.y) > 0.8
    assert SingleIndexRegressor(3, link=fitter, link_cv=3).fit(data.X, data.y).score(data.X, data.y) > 0.8
    labels = (data.y > np.median(data.y)).astype(int)
    model = SingleIndexClassifier(3, link=fitter).fit(data.X, labels)
    assert model.score(data.X, labels) > 0.8
    p = model.predict_proba(data.X)[:, 1]
    assert ((p > 0) & (p < 1)).all()


def test_units_of_y_do_not_matter_to_it(data):
    plain, scaled = (
        SingleIndexRegressor(link=LeastSquaresLine()).fit(data.X, c * data.y) for c in (1.0, 1024.0)
    )
    np.testing.assert_allclose(scaled.coef_, 1024 * plain.coef_)
    np.testing.assert_allclose(scaled.predict(data.X), 1024 * plain.predict(data.X))


def test_a_fitter_has_defaults_for_all_but_fit():
    fitter = LeastSquaresLine()
    assert fitter.is_learned
    assert not fitter.is_bounded
    assert fitter.takes_any_unit
    assert fitter.slope == 1.0
    assert fitter.at_slope(3.0) is fitter.cautious() is fitter
    knots, y = np.arange(4.0), np.array([0.0, 1.0, 3.0, 2.0])
    expected = fitter.fit(knots, y, np.ones(4))[1]
    np.testing.assert_array_equal(fitter.fitted_at(knots, y, np.ones(4), 2.0), expected)


def test_what_is_missing_is_named():
    class Empty(LinkFitter):
        pass

    class Silent(Link):
        pass

    with pytest.raises(NotImplementedError, match=r"Empty needs a method fit\(index, y, sample_weight\)"):
        Empty().fit(np.zeros(2), np.zeros(2))
    with pytest.raises(NotImplementedError, match=r"Silent needs a method __call__\(index\)"):
        Silent()(0.0)
