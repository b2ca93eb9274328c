"""What every link fitter owes its caller: one list over all of them."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singleindex.link import FixedLink, Link, LinkFitter, Lpav, Pav, ShiftedLink


def smooth_step(index):
    """An increasing function of slope at most one, as a user might pass."""
    return np.arctan(index)


# A new fitter is one more line.
FITTERS = [
    Lpav(1.0),
    Lpav(5.0),
    Lpav(0.01),
    Pav(),
    FixedLink("identity"),
    FixedLink("logistic"),
    FixedLink("tanh"),
    FixedLink(smooth_step, slope_bound=1.0),
]
# Every test runs for each of them.
fewer_examples = settings(max_examples=settings().max_examples // 3)
every_fitter = pytest.mark.parametrize("fitter", FITTERS)


@st.composite
def points(draw, max_size=30):
    """An index, responses inside the range of every link, and counts as weights."""
    n = draw(st.integers(2, max_size))
    number = st.integers(-3000, 3000).map(lambda k: k / 1000)
    index = np.array(draw(st.lists(number | st.sampled_from([0.0, 1.0]), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, 4).map(lambda k: k / 4), min_size=n, max_size=n)))
    y[:2] = 0.0, 1.0
    count = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    count[:2] += 1
    return index, y, count.astype(float)


def assert_weighted_sum_is_zero(residual, weight):
    assert abs(weight @ residual) <= 1e-10 * weight.sum()


def assert_link_rises_no_faster_than(link, slope, at):
    at = np.unique(at)
    rise = np.diff(link(at))
    assert (rise >= -1e-12).all()
    assert (rise <= slope * np.diff(at) + 1e-12).all()


def test_the_assertions_fail_on_wrong_answers():
    with pytest.raises(AssertionError):
        assert_weighted_sum_is_zero(np.array([1e-3, 0.0]), np.ones(2))
    at = np.array([0.0, 1.0])
    assert_link_rises_no_faster_than(lambda t: 2 * t, 2.0, at)
    for wrong in (lambda t: 2.1 * t, lambda t: -t):
        with pytest.raises(AssertionError):
            assert_link_rises_no_faster_than(wrong, 2.0, at)


@every_fitter
@fewer_examples
@given(data=points())
def test_weighted_residuals_sum_to_zero(fitter, data):
    index, y, weight = data
    _, fitted = fitter.fit(index, y)
    assert_weighted_sum_is_zero(fitted - y, np.ones(len(y)))
    _, fitted = fitter.fit(index, y, weight)
    assert_weighted_sum_is_zero(fitted - y, weight)


@every_fitter
@fewer_examples
@given(data=points())
def test_fitted_values_are_the_link_of_the_index(fitter, data):
    index, y, weight = data
    link, fitted = fitter.fit(index, y, weight)
    assert fitted.shape == index.shape
    np.testing.assert_allclose(link(index), fitted, rtol=0, atol=1e-13)


@every_fitter
@fewer_examples
@given(data=points())
def test_link_is_monotone_and_of_bounded_slope(fitter, data):
    index, y, weight = data
    link, _ = fitter.fit(index, y, weight)
    slope = np.inf if isinstance(fitter, Pav) else fitter.slope
    with np.errstate(invalid="ignore"):
        assert_link_rises_no_faster_than(link, slope, np.r_[index, np.linspace(-10, 10, 101)])


@every_fitter
@fewer_examples
@given(data=points())
def test_weights_are_repetitions(fitter, data):
    index, y, weight = data
    count = weight.astype(int)
    link, _ = fitter.fit(index, y, weight)
    repeated, _ = fitter.fit(np.repeat(index, count), np.repeat(y, count))
    at = np.linspace(-5, 5, 51)
    np.testing.assert_allclose(link(at), repeated(at), rtol=0, atol=1e-9)


@every_fitter
@fewer_examples
@given(data=points(), by=st.sampled_from([-2.5, 0.25, 64.0]))
def test_shift_moves_the_index(fitter, data, by):
    index, y, weight = data
    link, fitted = fitter.fit(index, y, weight)
    np.testing.assert_allclose(link.shift(by)(index + by), fitted, rtol=0, atol=1e-9)


@every_fitter
@fewer_examples
@given(data=points(), level=st.sampled_from([0.2, 0.5, 0.7]))
def test_crossing_separates_below_from_above(fitter, data, level):
    index, y, _ = data
    link, _ = fitter.fit(index, y)
    c = link.crossing(level)
    at = np.r_[index, np.linspace(-5, 5, 41)]
    if not link(at).min() <= level < link(at).max():
        at = index  # the curve does not cross: promised is only that its own points fall on one side
    # Nearer than rounding to the crossing there is nothing to say.
    at = at[np.abs(at - c) > 1e-9]
    assert (link(at[at < c]) <= level + 1e-9).all()
    assert (link(at[at > c]) >= level - 1e-9).all()
    strictly = link(at[at > c + 1e-3])
    if isinstance(fitter, FixedLink):
        assert (strictly > level).all()


@every_fitter
def test_nothing_is_changed_and_read_only_is_taken(fitter):
    rng = np.random.default_rng(0)
    index, y, weight = rng.normal(size=40), rng.random(40), rng.random(40)
    before = [v.copy() for v in (index, y, weight)]
    for v in (index, y, weight):
        v.flags.writeable = False
    fitter.fit(index, y, weight)
    for v, old in zip((index, y, weight), before, strict=True):
        assert (v == old).all()


@every_fitter
def test_fitter_and_link_pickle(fitter):
    index, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.5])
    again = pickle.loads(pickle.dumps(fitter))
    assert again == fitter
    link, fitted = again.fit(index, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(link))(index), fitted)


@every_fitter
def test_is_a_link_fitter(fitter):
    fit: LinkFitter = fitter
    assert 0 < fit.slope < np.inf
    link, _ = fit.fit(np.arange(4.0), np.array([0.0, 1.0, 0.0, 1.0]))
    assert link(np.zeros((2, 3))).shape == (2, 3)
    assert np.shape(link(0.5)) == ()


@every_fitter
def test_constant_index_gives_the_mean(fitter):
    y = np.array([0.0, 1.0, 1.0, 0.25])
    _, fitted = fitter.fit(np.full(4, 2.0), y)
    np.testing.assert_allclose(fitted, y.mean(), rtol=0, atol=1e-12)


class Cubic(Link):
    """A link of one's own: nothing but a function."""

    def __call__(self, index):
        return np.asarray(index) ** 3


def test_every_link_adds_its_offset_to_the_index():
    for link, moved in ((Cubic(), Cubic().shift(2.0)), (ShiftedLink("tanh"), ShiftedLink("tanh").shift(2.0))):
        assert (link.offset, moved.offset) == (0.0, -2.0)
        assert moved(2.5) == link(0.5)
    assert Cubic().shift(2.0).rescale(4.0).offset == -8.0
