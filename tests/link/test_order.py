"""The sort in front of LPAV: the order is the one of a stable argsort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from singleindex.link._order import sort_order


def assert_sorts(x):
    """Assert that the order is a permutation that sorts x, equal values in the order they come in."""
    x = np.ascontiguousarray(x, dtype=float)
    order = np.full(len(x), -1, dtype=np.intp)
    sort_order(x, order)
    assert (np.sort(order) == np.arange(len(x))).all()
    assert (x[order] == np.sort(x)).all()
    if not (x == 0).any():  # the zeros of either sign are equal, and may change places
        assert (order == np.argsort(x, kind="stable")).all()


def test_assert_sorts_fails_on_a_wrong_order(monkeypatch):
    def backwards(x, order):
        order[:] = np.argsort(-x)

    x = np.array([1.0, 3.0, 2.0])
    assert_sorts(x)
    monkeypatch.setitem(assert_sorts.__globals__, "sort_order", backwards)
    with pytest.raises(AssertionError):
        assert_sorts(x)


FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(FLOATS | st.sampled_from([0.0, -0.0, 1.0, np.nextafter(1.0, 2.0), 5e-324]), max_size=60))
def test_any_floats(values):
    assert_sorts(values)


SIZES = [1, 2, 23, 24, 25, 26, 255, 2999, 3000, 3001, 3002, 20_000]


@pytest.mark.parametrize("n", SIZES)
def test_sizes_and_ranges(n):
    rng = np.random.default_rng(n)
    normal = rng.normal(size=n)
    assert_sorts(normal)
    assert_sorts(np.sort(normal))
    assert_sorts(-np.sort(normal))
    assert_sorts(np.full(n, 2.5))
    assert_sorts(np.round(normal, 1))
    assert_sorts(rng.integers(-5, 5, n))
    assert_sorts(1e8 + normal)
    assert_sorts(-1e8 + 1e-6 * normal)
    assert_sorts(normal * 10.0 ** rng.integers(-300, 300, n))
    assert_sorts(1 + np.finfo(float).eps * rng.integers(0, n, n))
    assert_sorts(np.r_[-1e300, normal, 1e300])


@pytest.mark.parametrize("n", SIZES)
def test_values_that_differ_in_their_last_bits_only(n):
    """Long runs agree in the leading bits, next to values far away."""
    rng = np.random.default_rng(n)
    bits = np.float64(1.5).view(np.uint64) + rng.integers(0, 50, n).astype(np.uint64)
    close = bits.view(np.float64)
    assert_sorts(np.r_[close, -1e300, 1e300])
    assert_sorts(np.r_[-close, 1e-300, -1e300])
    bits = np.float64(1.5).view(np.uint64) + rng.integers(0, 2**31, n).astype(np.uint64)
    assert_sorts(np.r_[bits.view(np.float64), -1.0, 1e300])


def test_all_bit_patterns():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2**64, 50_000, dtype=np.uint64).view(np.float64)
    assert_sorts(values[np.isfinite(values)])


def test_infinities_sort_too():
    order = np.empty(4, dtype=np.intp)
    sort_order(np.array([np.inf, 0.0, -np.inf, 1.0]), order)
    assert order.tolist() == [2, 1, 3, 0]


def test_empty_read_only_and_wrong_length():
    sort_order(np.empty(0), np.empty(0, dtype=np.intp))
    x = np.array([2.0, 1.0])
    x.flags.writeable = False
    order = np.empty(2, dtype=np.intp)
    sort_order(x, order)
    assert order.tolist() == [1, 0]
    with pytest.raises(ValueError, match="cannot sort 2 values into an order of 3"):
        sort_order(x, np.empty(3, dtype=np.intp))
