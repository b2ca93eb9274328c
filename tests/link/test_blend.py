"""The link between a curve of two parameters and a learned one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singleindex.link import Line, Sigmoid, fit_blend
from singleindex.link.blend import _curves, mix

RNG = np.random.default_rng(0)


def problem(n, truth, seed=0, numbers=False):
    rng = np.random.default_rng(seed)
    index = rng.normal(size=n)
    mean = truth(index)
    return index, mean + 0.2 * rng.normal(size=n) if numbers else (rng.random(n) < mean).astype(float)


def steps(t):
    return np.where(t < -0.3, 0.1, np.where(t < 0.9, 0.55, 0.95))


def logistic(t):
    return 1 / (1 + np.exp(-2 * t))


@pytest.mark.parametrize(("shape", "numbers"), [(Sigmoid(), False), (Line(), True)])
@pytest.mark.parametrize("truth", [steps, logistic])
@pytest.mark.parametrize("n", [20, 300, 1000])
def test_a_blend_lies_between_its_curves_and_is_no_steeper_than_twice_the_plain_one(n, truth, shape, numbers):
    index, y = problem(n, truth, numbers=numbers)
    blend = fit_blend(index, y, None, shape)
    curves = _curves(index, y, np.ones(n), shape, True)
    at = np.linspace(-4, 4, 400)
    low, high = np.sort([curve(at) for curve in curves], axis=0)
    values = blend.link(at)
    assert ((values >= low - 1e-12) & (values <= high + 1e-12)).all()
    assert (np.diff(blend.link.y) >= 0).all()
    steepest = np.max(np.diff(blend.link.y) / np.diff(blend.link.x))
    assert steepest <= 2 * shape.steepest(shape.fit(index, y, np.ones(n))) * (1 + 1e-6)
    assert 0 <= blend.learned_share <= 1


def test_many_rows_learn_what_no_sigmoid_is_and_few_do_not():
    assert fit_blend(*problem(5000, steps), None, Sigmoid()).learned_share > 0.99
    assert fit_blend(*problem(30, steps), None, Sigmoid()).learned_share < 0.9
    assert fit_blend(*problem(2000, logistic), None, Sigmoid()).learned_share < 0.9


def test_weights_are_repetitions_and_rows_without_weight_are_none():
    index, y = problem(150, steps)
    count = RNG.integers(0, 4, 150)
    weighted = fit_blend(index, y, count.astype(float), Sigmoid())
    order = RNG.permutation(count.sum())
    repeated = fit_blend(np.repeat(index, count)[order], np.repeat(y, count)[order], None, Sigmoid())
    assert weighted.learned_share == pytest.approx(repeated.learned_share, rel=1e-6)
    at = np.linspace(-3, 3, 50)
    np.testing.assert_allclose(weighted.link(at), repeated.link(at), atol=1e-8)


@given(st.integers(2, 8), st.integers(0, 1000))
def test_hardly_any_rows(n, seed):
    rng = np.random.default_rng(seed)
    index, y = np.round(rng.normal(size=n), 1), (np.arange(n) % 2).astype(float)
    for shape, values in ((Sigmoid(), y), (Line(), y + rng.normal(size=n))):
        link = fit_blend(index, values, None, shape).link
        assert np.isfinite(link(index)).all()
        assert (np.diff(link.y) >= 0).all()


def test_a_mix_is_the_weighted_mean_everywhere():
    index, y = problem(100, steps)
    curves = _curves(index, y, np.ones(100), Sigmoid(), True)
    mixed = mix(curves, (0.3, 0.7))
    at = np.linspace(-5, 5, 333)
    np.testing.assert_allclose(mixed(at), 0.3 * curves[0](at) + 0.7 * curves[1](at), atol=1e-12)
