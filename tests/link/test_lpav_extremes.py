"""LPAV at the ends of the numbers: units do not matter, and no product that overflows decides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singleindex import LipschitzIsotonicRegression, lipschitz_isotonic_regression
from singleindex.link import MonotoneCurve, lpav_certificate

RNG = np.random.default_rng(0)
X, Y, WEIGHT = np.round(RNG.normal(size=60), 2), RNG.normal(size=60), RNG.random(60) + 0.01


@given(st.integers(-1000, 1015), st.integers(-1000, 1015), st.integers(-1000, 1015))
def test_units_do_not_matter(of_x, of_y, of_weight):
    of_x = int(np.clip(of_x, of_y - 900, of_y + 900))
    plain = lipschitz_isotonic_regression(X, Y, sample_weight=WEIGHT, lipschitz=0.7, y_max=0.8)
    found = lipschitz_isotonic_regression(
        np.ldexp(X, of_x), np.ldexp(Y, of_y), sample_weight=np.ldexp(WEIGHT, of_weight),
        lipschitz=np.ldexp(0.7, of_y - of_x), y_max=np.ldexp(0.8, of_y),
    )  # fmt: skip
    np.testing.assert_allclose(np.ldexp(found, -of_y), plain, atol=1e-12)


@pytest.mark.parametrize("lipschitz", [1e290, 1e300, 1e307, 1e308, np.finfo(float).max])
@pytest.mark.parametrize("weight", [None, WEIGHT, 1e10 * WEIGHT])
def test_a_huge_slope_is_none_at_all(lipschitz, weight):
    found = lipschitz_isotonic_regression(X, Y, sample_weight=weight, lipschitz=lipschitz)
    plain = lipschitz_isotonic_regression(X, Y, sample_weight=weight, lipschitz=np.inf)
    np.testing.assert_allclose(found, plain, atol=1e-13)


def test_widths_beyond_the_numbers():
    """The differences of x overflow, the rises that they allow do not."""
    x, slope = np.array([-1.7e308, 0.0, 1.7e308]), 1e-308
    found = lipschitz_isotonic_regression(x, [0.0, 0.0, 10.0], lipschitz=slope)
    assert lpav_certificate(x / 4, [0.0, 0.0, 10.0], found, lipschitz=4 * slope) < 1e-12
    between = lipschitz_isotonic_regression(
        [-1.7e308, 0.0, 1.7e308], [-1.7e308, 9.0, 1.7e308], sample_weight=[1, 0, 1], lipschitz=np.inf
    )
    np.testing.assert_allclose(between, [-1.7e308, 0.0, 1.7e308])


def test_ties_beyond_the_numbers():
    found = lipschitz_isotonic_regression([0, 0, 1], [-1.7e308, 1.7e308, 1e308], sample_weight=[1e308] * 3)
    np.testing.assert_allclose(found, 1e308 / 3, rtol=1e-12)


@pytest.mark.parametrize("heavy", [1e20, 1e40, 1e100, 1e300, 1e308])
@pytest.mark.parametrize("lipschitz", [0.5, 1e5, np.inf])
def test_one_huge_weight_fixes_its_point_and_nothing_else(heavy, lipschitz):
    weight = WEIGHT.copy()
    weight[7] = heavy
    found = lipschitz_isotonic_regression(X, Y, sample_weight=weight, lipschitz=lipschitz)
    assert lpav_certificate(X, Y, found, sample_weight=weight, lipschitz=lipschitz) < 1e-12
    weight[7] = 1e13
    np.testing.assert_allclose(
        found, lipschitz_isotonic_regression(X, Y, sample_weight=weight, lipschitz=lipschitz), atol=1e-9
    )


@given(st.lists(st.floats(-300, 0), min_size=2, max_size=40), st.sampled_from([0.1, 1.0, 1e6, np.inf]))
def test_weights_of_any_size(exponents, lipschitz):
    n = len(exponents)
    x, y, weight = X[:n], Y[:n], 10.0 ** np.array(exponents)
    found = lipschitz_isotonic_regression(x, y, sample_weight=weight, lipschitz=lipschitz)
    assert lpav_certificate(x, y, found, sample_weight=weight, lipschitz=lipschitz) < 1e-8


def test_the_certificate_sees_a_light_point_that_is_wrong():
    x, y, weight = np.arange(4.0), np.array([0.0, 0.5, 1.0, 1.5]), np.array([1.0, 1e-20, 1.0, 1e-20])
    assert lpav_certificate(x, y, y, sample_weight=weight) < 1e-12
    for at in (1, 3):
        wrong = y.copy()
        wrong[at] -= 0.2
        assert lpav_certificate(x, y, wrong, sample_weight=weight) > 0.1
    falling = np.array([0.0, 0.5, 1.0, 0.9])
    assert lpav_certificate(x, y, falling, sample_weight=[1.0, 1.0, 1.0, 1e-200]) > 0.05


def test_bounds_beyond_all_points():
    low = lipschitz_isotonic_regression([0, 1, 2], [0, 1, 2], y_min=1e300)
    high = lipschitz_isotonic_regression([0, 1, 2], [1e-300, 2e-300, 0], y_max=-1e300)
    far = lipschitz_isotonic_regression(X, Y, sample_weight=1e20 * WEIGHT, y_min=-1e300, y_max=1e300)
    assert (low == 1e300).all()
    assert (high == -1e300).all()
    np.testing.assert_allclose(far, lipschitz_isotonic_regression(X, Y, sample_weight=WEIGHT), atol=1e-12)


def test_corners_of_slopes_too_steep_for_numbers():
    curve = MonotoneCurve([0.0, 1e-300, 2e-300], [0.0, 1e300, 1.1e300])
    assert len(curve.knots_) == 3
    wide = MonotoneCurve([-1.7e308, 1.6e308, 1.7e308], [0.0, 0.0, 1.0])
    assert len(wide.knots_) == 3
    np.testing.assert_allclose(wide([0.0, 1.65e308]), [0.0, 0.5], atol=1e-12)
    model = LipschitzIsotonicRegression(lipschitz=1e300).fit([0, 1e-290, 2e-290], [0.0, 1e9, 1.1e9])
    np.testing.assert_allclose(model.predict([0.0, 1e-290, 2e-290]), [0.0, 1e9, 1.1e9])


@given(st.integers(0, 10**6), st.sampled_from([1.0, 1e12, 1e308]))
def test_bounds_hold_to_the_last_digit(seed, lipschitz):
    rng = np.random.default_rng(seed)
    x, y = rng.choice([1e12, 2e12, 3e12], 8) + 1e-3 * rng.integers(0, 9, 8), rng.normal(size=8)
    y *= 10.0 ** rng.integers(-10, 10, 8)
    weight, bound = rng.random(8) + 0.5, float(rng.choice(y))
    weight[rng.integers(8)] *= 1e300
    low = lipschitz_isotonic_regression(x, y, sample_weight=weight, lipschitz=lipschitz, y_min=bound)
    high = lipschitz_isotonic_regression(x, y, sample_weight=weight, lipschitz=lipschitz, y_max=bound)
    assert (low >= bound).all()
    assert (high <= bound).all()


def test_a_bound_at_which_rounding_ends_above():
    """Found by a fuzz run."""
    x = 3e12 + np.array([15.003, 7.501, 7.502, 7.503, -2e12, 0.0, 0.001, -1e12])
    y = [-1.463403491355179e-05, 11804.633708846397, 3162.574883819137, -5.396357110086185e-05,
         0.22358074371722378, 0.20187198232853296, -0.16201257342820302, 0.0006647963188089603]  # fmt: skip
    weight = [1.436579488030008, 0.7289263057167659, 0.9335086345373634, 0.5451190944320286,
              1.4622661477270964, 0.5136720399211865, 0.616031058953288, 1.2170169528013997e300]  # fmt: skip
    found = lipschitz_isotonic_regression(x, y, sample_weight=weight, lipschitz=1e308, y_max=y[-1])
    assert (found <= y[-1]).all()
