"""The link of probabilities: never certain, never far from what the rows say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from singleindex.link import CautiousLpav, Lpav
from singleindex.link.cautious import fit_logistic

whole = st.integers(-300, 300).map(lambda k: k / 100)


@st.composite
def labelled(draw):
    n = draw(st.integers(2, 40))
    index = np.array(draw(st.lists(whole, min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=n, max_size=n)))
    count = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=float)
    count[0] += 1
    return index, y, count


@given(labelled())
def test_it_rises_within_its_slope_and_is_nowhere_certain(problem):
    index, y, weight = problem
    link, fitted = CautiousLpav(1.0).fit(index, y, weight)
    at = np.unique(index[weight > 0])
    rise = np.diff(link(at))
    assert (rise >= -1e-12).all()
    assert (rise <= np.diff(at) + 1e-12).all()
    assert (fitted > 0).all()
    assert (fitted < 1).all()


@given(labelled())
def test_weights_are_repetitions(problem):
    index, y, weight = problem
    repeated = np.repeat(np.arange(len(y)), weight.astype(int))
    by_weight, _ = CautiousLpav(1.0).fit(index, y, weight)
    by_rows, _ = CautiousLpav(1.0).fit(index[repeated], y[repeated])
    at = np.unique(index[weight > 0])
    np.testing.assert_allclose(by_weight(at), by_rows(at), atol=1e-7)


@pytest.mark.parametrize("m", [10, 100, 1000, 10000])
def test_it_comes_no_nearer_to_certainty_than_the_rows(m):
    index = np.concatenate([np.linspace(-50, -49, m), np.linspace(49, 50, m)])
    link, _ = CautiousLpav(1.0).fit(index, (index > 0).astype(float))
    low, high = link.range_
    assert 0.2 / m < low < 2 / m
    assert high == pytest.approx(1 - low)


def test_it_fades_into_the_plain_link():
    rng = np.random.default_rng(0)
    # A step is what a logistic curve cannot be; the more rows, the less of that curve is left.
    far = []
    for n in (100, 10_000, 1_000_000):
        index = rng.uniform(-3, 3, n)
        y = (rng.random(n) < np.where(index > 0, 0.9, 0.3)).astype(float)
        gap = CautiousLpav(20.0).fit(index, y)[1] - Lpav(20.0).fit(index, y)[1]
        far.append(np.sqrt(np.mean(gap**2)))
    assert far[0] > 3 * far[1] > 9 * far[2]
    assert far[2] < 0.003


@given(labelled())
def test_the_logistic_curve_is_the_best_one(problem):
    index, y, weight = problem
    fitted = fit_logistic(index, y, weight)
    total, positive = weight.sum(), weight @ y
    target = y * (positive + 1) / (positive + 2) + (1 - y) / (total - positive + 2)

    def loss(parameters):
        linear = np.abs(parameters[0]) * index + parameters[1]
        return weight @ (np.logaddexp(0, linear) - target * linear)

    oracle = min(minimize(loss, [slope, 0.0], method="Nelder-Mead").fun for slope in (0.01, 1.0))
    ours = -weight @ (target * np.log(fitted) + (1 - target) * np.log1p(-fitted))
    assert ours <= oracle + 1e-6 * total


def test_the_logistic_curve_is_found():
    rng = np.random.default_rng(0)
    index = rng.standard_normal(20_000)
    truth = expit(2 * index - 1)
    fitted = fit_logistic(index, (rng.random(20_000) < truth).astype(float), np.ones(20_000))
    assert np.max(np.abs(fitted - truth)) < 0.03


def test_a_falling_curve_is_level():
    index = np.random.default_rng(0).standard_normal(200)
    fitted = fit_logistic(index, (index < 0).astype(float), np.ones(200))
    assert np.ptp(fitted) == 0
