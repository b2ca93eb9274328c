import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singleindex.datasets import LINKS

GRID = np.concatenate(
    [np.linspace(-30, 30, 6001), [-1e300, -1e3, 1e3, 1e300], np.linspace(-1e-12, 1e-12, 11)]
)
GRID.sort()
finite = st.floats(-50, 50)
every_link = pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)


def test_table_has_at_least_ten_links_under_their_own_names():
    assert len(LINKS) >= 10
    assert all(link.name == name and link.summary for name, link in LINKS.items())


@every_link
def test_increases_and_keeps_its_bounds(link):
    values = link(GRID)
    assert np.all(np.diff(values) >= 0)
    assert values[0] < values[-1]
    assert values.min() >= link.lower
    assert values.max() <= link.upper


@every_link
def test_most_of_its_range_is_seen_by_an_index_of_standard_deviation_two(link):
    low, high = link([-4.0, 4.0])
    assert high - low >= 0.7


@every_link
@given(a=finite, b=finite)
def test_is_lipschitz_with_its_constant(link, a, b):
    rise = abs(link(a) - link(b))
    bound = link.lipschitz * abs(a - b) if a != b else 0.0
    assert rise <= bound * (1 + 1e-9) + 1e-14


@every_link
def test_lipschitz_constant_is_the_smallest(link):
    if np.isfinite(link.lipschitz):
        x = np.linspace(-5, 5, 100_001)
        steepest = np.max(np.diff(link(x)) / np.diff(x))
        assert steepest == pytest.approx(link.lipschitz, rel=1e-3)
    else:
        assert (link(1e-8) - link(-1e-8)) / 2e-8 > 1e3


@every_link
def test_is_elementwise_and_keeps_the_shape(link):
    values = link(GRID)
    assert values.dtype == np.float64
    assert np.ndim(link(0.3)) == 0
    assert float(link(GRID[7])) == values[7]
    assert link(GRID[:12].reshape(3, 4)).shape == (3, 4)
    assert link([]).shape == (0,)
    assert link([0, 1]).shape == (2,)
    np.testing.assert_allclose(link(GRID[:12].reshape(3, 4)).ravel(), values[:12], rtol=1e-15)


@every_link
def test_does_not_touch_or_alias_its_argument(link):
    x = np.linspace(-3, 3, 20)
    x.flags.writeable = False
    assert not np.shares_memory(link(x), x)


@every_link
def test_pickles(link):
    assert pickle.loads(pickle.dumps(link))(0.7) == link(0.7)


def test_steps_and_ramp_have_flat_pieces():
    assert np.unique(LINKS["steps"](GRID)).size == 4
    assert LINKS["ramp"](-1.0) == LINKS["ramp"](-2.0) == 0.1
    assert LINKS["ramp"](1.0) == LINKS["ramp"](2.0) == 0.9


def test_tanh_is_logistic_at_twice_the_index():
    x = np.linspace(-5, 5, 101)
    np.testing.assert_allclose(LINKS["tanh"](x), LINKS["logistic"](2 * x), rtol=1e-10)
