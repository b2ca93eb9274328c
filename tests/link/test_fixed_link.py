"""Known links: the offset is all that is fitted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from singleindex.link import FIXED_LINKS, FixedLink, ShiftedLink
from singleindex.link.fitters import find_root


def test_slopes():
    assert {name: FixedLink(name).slope for name in FIXED_LINKS} == {
        "identity": 1.0,
        "logistic": 0.25,
        "tanh": 1.0,
    }
    assert FixedLink(np.tanh).slope == 1.0
    assert FixedLink(np.arctan, slope_bound=2.5).slope == 2.5


def test_identity_offset_is_the_difference_of_means():
    rng = np.random.default_rng(0)
    index, y, weight = rng.normal(size=30), rng.normal(size=30) + 5, rng.random(30)
    link, fitted = FixedLink("identity").fit(index, y, weight)
    assert link.offset == pytest.approx(np.average(y - index, weights=weight))
    np.testing.assert_allclose(fitted, index + link.offset)


def test_logistic_offset_is_the_intercept_of_logistic_regression():
    """With the index at zero the intercept is the logit of the mean."""
    y = np.array([0.0, 1.0, 0.0, 0.0])
    link, fitted = FixedLink("logistic").fit(np.zeros(4), y)
    assert link.offset == pytest.approx(logit(0.25))
    np.testing.assert_allclose(fitted, 0.25)


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_labels_all_alike_send_the_offset_far_out(mean):
    link, fitted = FixedLink("logistic").fit(np.linspace(-1, 1, 5), np.full(5, mean))
    assert np.isfinite(link.offset)
    np.testing.assert_allclose(fitted, mean, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e4])
def test_index_of_any_scale(scale):
    rng = np.random.default_rng(1)
    index, y = scale * rng.normal(size=50), (rng.random(50) < 0.3).astype(float)
    for name in ("logistic", "tanh"):
        _, fitted = FixedLink(name).fit(index, y)
        assert fitted.mean() == pytest.approx(y.mean(), abs=1e-9)


@pytest.mark.parametrize("centre", [-1e5, 1e5, 1e9])
def test_index_far_from_zero(centre):
    rng = np.random.default_rng(2)
    index, y = centre + rng.normal(size=50), (rng.random(50) < 0.3).astype(float)
    _, fitted = FixedLink("logistic").fit(index, y)
    assert fitted.mean() == pytest.approx(y.mean(), abs=1e-6)


def test_a_function_and_its_name_agree():
    index, y = np.linspace(-2, 2, 9), np.linspace(0, 1, 9) ** 2
    by_name, fitted = FixedLink("logistic").fit(index, y)
    by_function, same = FixedLink(expit, slope_bound=0.25).fit(index, y)
    assert by_name.offset == pytest.approx(by_function.offset, rel=1e-12)
    np.testing.assert_allclose(fitted, same, rtol=1e-12)


def test_shifted_link():
    link = ShiftedLink("logistic", 2.0)
    assert link(-2.0) == 0.5
    assert link.crossing(0.5) == pytest.approx(-2.0, abs=1e-12)
    assert link.shift(3.0).crossing(0.5) == pytest.approx(1.0, abs=1e-12)
    assert ShiftedLink(np.arctan)(np.array([0.0, 1.0])).tolist() == [0, np.pi / 4]


@pytest.mark.parametrize("name", FIXED_LINKS)
@given(offset=st.floats(-50, 50), level=st.sampled_from([-0.5, 0.01, 0.5, 0.9]))
def test_crossing_solves_for_the_level(name, offset, level):
    if name == "logistic":
        level = abs(level)
    link = ShiftedLink(name, offset)
    assert float(link(link.crossing(level))) == pytest.approx(level, abs=1e-12)


def test_crossing_of_a_level_never_reached():
    link = ShiftedLink("logistic")
    assert link.crossing(1.5) > 1e5
    assert link.crossing(-0.5) < -1e5


@given(st.floats(-1e5, 1e5), st.floats(-1e5, 1e5))
def test_find_root_from_any_guess(root, guess):
    found = find_root(lambda t: t - root, guess)
    assert found == root


def test_find_root_on_a_step_gives_its_foot():
    assert find_root(lambda t: 1.0 if t > 0.3 else -1.0, 0.0) == 0.3
    assert find_root(lambda t: 1.0 if t > 0.3 else 0.0, 0.0) == 0.3
