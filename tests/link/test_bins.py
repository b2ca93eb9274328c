"""Bins: they merge in any order, and a link fitted to them is near the one fitted to the rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singleindex.link import Bins, Lpav
from singleindex.link.lpav import fit_lpav

VALUES = st.floats(-1e3, 1e3, allow_subnormal=False)


@st.composite
def rows(draw, least=1):
    n = draw(st.integers(least, 40))
    kind = draw(st.sampled_from(["any", "ties", "close", "far"]))
    index = np.array(draw(st.lists(VALUES, min_size=n, max_size=n)))
    if kind == "ties":
        index = np.round(index, -2)
    elif kind == "close":
        index = 1.0 + 1e-13 * index
    elif kind == "far":
        index = np.where(np.arange(n) % 2, index, index * 1e8)
    y = np.array(draw(st.lists(st.floats(-10, 10), min_size=n, max_size=n)))
    weight = np.array(draw(st.lists(st.floats(0.01, 10), min_size=n, max_size=n)))
    return index, y, weight


def assert_equal(a, b):
    """Same width and place; sums equal up to rounding, in units of what was added."""
    assert a.exponent == b.exponent
    pa, pb = a.points(), b.points()
    np.testing.assert_allclose(pa.weight, pb.weight, rtol=1e-12)
    np.testing.assert_allclose(pa.index, pb.index, rtol=1e-9, atol=1e-12 * max(1, np.abs(pa.index).max()))
    np.testing.assert_allclose(pa.y, pb.y, rtol=1e-9, atol=1e-12)


@given(rows(least=2), st.integers(2, 64), st.data())
def test_merging_gives_the_bins_of_all_rows_in_any_order(data, n_bins, draw):
    index, y, weight = data
    whole = Bins(n_bins).add(index, y, weight)
    cut = draw.draw(st.integers(1, len(index) - 1))
    head = Bins(n_bins).add(index[:cut], y[:cut], weight[:cut])
    tail = Bins(n_bins).add(index[cut:], y[cut:], weight[cut:])
    assert_equal(head.merge(tail), whole)
    assert_equal(tail.merge(head), whole)
    assert_equal(head.add(index[cut:], y[cut:], weight[cut:]), whole)


def test_the_helper_tells_different_bins_apart():
    a = Bins(8).add(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    with pytest.raises(AssertionError):
        assert_equal(a, Bins(8).add(np.array([0.0, 1.0]), np.array([0.0, 1.1])))


@given(rows(), st.integers(2, 64))
def test_nothing_is_lost_and_the_size_is_bounded(data, n_bins):
    index, y, weight = data
    bins = Bins(n_bins).add(index, y, weight)
    points = bins.points(float(weight @ y**2))
    assert len(bins.sums) <= n_bins
    assert points.weight.sum() == pytest.approx(weight.sum())
    assert points.weight @ points.index == pytest.approx(
        weight @ index, abs=1e-9 * np.abs(index).max() + 1e-12
    )
    assert points.weight @ points.y == pytest.approx(weight @ y, abs=1e-9)
    assert (np.diff(points.index) >= 0).all()
    # A weighted sum of squares splits into that between and that within the bins.
    assert points.weight @ points.y**2 + points.within == pytest.approx(weight @ y**2, abs=1e-9)


@given(rows(), st.integers(2, 64))
def test_the_width_is_that_of_the_spread(data, n_bins):
    index, y, weight = data
    spread = np.ptp(index)
    # Two bins can stay apart at any width, when the index has zero between them.
    if n_bins > 2 and spread > 1e-6 * np.abs(index).max():
        assert Bins(n_bins).add(index, y, weight).width <= 2 * spread / (n_bins - 2)


@given(rows(least=2), st.integers(3, 64), st.sampled_from([0.1, 1.0, 7.0]))
def test_a_link_on_bins_is_within_its_bound_of_the_exact_one(data, n_bins, lipschitz):
    index, y, weight = data
    bins = Bins(n_bins).add(index, y, weight)
    points = bins.points()
    _, _, exact = fit_lpav(index, y, weight, lipschitz)
    curve, _ = Lpav(lipschitz).fit(points.index, points.y, points.weight)
    error = np.abs(curve(index) - exact).max()
    assert error <= 2 * lipschitz * bins.width + 1e-9 * np.abs(y).max()


def test_many_bins_give_the_exact_link():
    rng = np.random.default_rng(0)
    index, y = rng.standard_normal(3000), rng.standard_normal(3000)
    exact = fit_lpav(index, y, None, 1.0)[2]
    errors = []
    for n_bins in (16, 256, 4096, 1 << 20):
        points = Bins(n_bins).add(index, y).points()
        errors.append(np.abs(Lpav(1.0).fit(points.index, points.y, points.weight)[0](index) - exact).max())
    assert errors[3] < 1e-5 < errors[0]
    assert errors[0] > errors[2] > errors[3]


def test_no_rows_and_one_value():
    assert Bins(4).add(np.zeros(0), np.zeros(0)).width == 0
    bins = Bins(4).add(np.full(3, 2.5), np.array([0.0, 1.0, 2.0]))
    assert bins.points().index.tolist() == [2.5]
    assert bins.merge(Bins(4)).points().y.tolist() == [1.0]
    assert Bins(4).merge(bins).points().weight.tolist() == [3.0]
    assert Bins(4).add(np.zeros(2), np.ones(2)).points().index.tolist() == [0.0]


def test_a_coarse_beginning_is_made_finer_for_the_next():
    bins = Bins(64, exponent=3).add(np.linspace(0, 1, 100), np.zeros(100))
    assert len(bins.sums) == 1
    again = Bins(64, bins.finer_exponent()).add(np.linspace(0, 1, 100), np.zeros(100))
    assert again.width < bins.width


def test_reweighing_counts_rows_less():
    bins = Bins(4).add(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    half = bins.reweigh(0.5).points()
    assert half.weight.tolist() == [0.5, 0.5]
    assert half.y.tolist() == [0.0, 1.0]


def test_numbers_of_bins_stay_within_what_can_be_told_apart():
    """A width that is too fine for an index far from zero gave numbers beyond those of the kernel."""
    index = 1e6 + np.arange(3) * 1e-9
    bins = Bins(64, exponent=-45).add(index, np.arange(3.0))
    bins.check()
    assert abs(bins.first) <= 2.0**53
    assert bins.points().weight.sum() == 3
