"""The fitted curve: evaluation, corners, crossing, shift."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singleindex.link import MonotoneCurve


@st.composite
def curves(draw, max_size=12):
    n = draw(st.integers(1, max_size))
    gaps = draw(st.lists(st.sampled_from([1e-9, 0.1, 1.0, 1.0, 50.0]), min_size=n, max_size=n))
    rises = draw(st.lists(st.sampled_from([0.0, 0.0, 1e-9, 0.1, 1.0, 1.0]), min_size=n, max_size=n))
    start = draw(st.sampled_from([-3.0, 0.0, 100.0]))
    return MonotoneCurve(start + np.cumsum(gaps), -0.5 + np.cumsum(rises))


def around(curve):
    """Points on, between and beyond the knots of a curve."""
    width = np.ptp(curve.x) + 1
    inner = 0.5 * (curve.x[1:] + curve.x[:-1])
    return np.sort(np.r_[curve.x[0] - width, curve.x, inner, curve.x[-1] + width])


@given(curves())
def test_passes_through_its_points_and_is_constant_beyond(curve):
    assert (curve(curve.x) == curve.y).all()
    assert curve(curve.x[0] - 1e9) == curve.y[0]
    assert curve(curve.x[-1] + 1e9) == curve.y[-1]
    assert curve.range_ == (curve.y[0], curve.y[-1])
    assert (np.diff(curve(around(curve))) >= 0).all()


@given(curves())
def test_knots_reproduce_the_curve(curve):
    x, y = curve.knots_.T
    assert set(x) <= set(curve.x)
    assert (x[0], x[-1]) == (curve.x[0], curve.x[-1])
    at = around(curve)
    np.testing.assert_allclose(MonotoneCurve(x, y)(at), curve(at), rtol=0, atol=1e-12)


def test_knots_are_only_the_corners():
    curve = MonotoneCurve([0, 1, 2, 3, 4, 5, 6], [0, 0.5, 1, 1, 1, 2, 3])
    assert curve.knots_.tolist() == [[0, 0], [2, 1], [4, 1], [6, 3]]
    assert MonotoneCurve([1.0], [2.0]).knots_.tolist() == [[1, 2]]
    assert MonotoneCurve([1.0, 2.0], [2.0, 2.0]).knots_.tolist() == [[1, 2], [2, 2]]


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e4, 1e7])
def test_small_bends_add_up(offset):
    """Every point may lie on the chord of its neighbours, up to rounding, and yet the curve is bent."""
    x = np.linspace(0, 1, 20_001)
    curve = MonotoneCurve(x, offset + x**2)
    corners = MonotoneCurve(*curve.knots_.T)
    np.testing.assert_allclose(corners(x), curve.y, rtol=1e-13, atol=1e-13)


def test_a_corner_next_to_a_close_neighbour_is_kept():
    curve = MonotoneCurve([0.0, 1e-9, 0.1, 0.1 + 1e-9, 0.2], [1.0, 1.0, 1.0, 1.0, 1.0 + 1e-9])
    corners = MonotoneCurve(*curve.knots_.T)
    np.testing.assert_allclose(corners(curve.x), curve.y, rtol=1e-13)


@given(curves(), st.floats(-1, 8))
def test_crossing_is_the_largest_index_not_above(curve, level):
    c = curve.crossing(level)
    low, high = curve.range_
    # Rounding of the index shows in the value times the slope.
    steepest = np.max(np.diff(curve.y) / np.diff(curve.x), initial=0.0)
    slack = 1e-12 + 8 * np.finfo(float).eps * steepest * np.abs(curve.x).max()
    assert curve(c) <= level + slack or level < low
    if level < low:
        assert c < curve.x[0]
    elif level >= high:
        assert c > curve.x[-1]
    else:
        beyond = curve.x[curve.x > c]
        assert curve(c) == pytest.approx(level, abs=slack)
        assert (curve(beyond) > level - slack).all()
        assert len(beyond)
        assert curve(beyond[0]) > level


def test_crossing_on_flats_and_corners():
    curve = MonotoneCurve([0.0, 1.0, 2.0, 3.0, 5.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    assert curve.crossing(0.5) == 2
    assert curve.crossing(0.25) == 0.5
    assert curve.crossing(0.75) == 2.5
    assert curve.crossing(0.0) == 0
    assert curve.crossing(-1) < 0
    assert curve.crossing(1.0) > 5
    assert MonotoneCurve([2.0], [0.4]).crossing(0.5) > 2
    assert MonotoneCurve([2.0], [0.6]).crossing(0.5) < 2


@given(curves(), st.integers(-64, 64))
def test_shift(curve, by):
    at = around(curve)
    shifted = curve.shift(by)
    np.testing.assert_allclose(shifted(at + by), curve(at), rtol=0, atol=1e-3)
    assert (shifted(curve.x + by) == curve.y).all()
    assert shifted.crossing(0.5) == pytest.approx(curve.crossing(0.5) + by, abs=1e-6)
    assert shifted is not curve


def test_clip_keeps_values_within_bounds():
    curve = MonotoneCurve([0.0, 1.0, 2.0, 3.0], [-1.0, 0.2, 0.8, 2.0])
    clipped = curve.clip(0.0, 1.0)
    assert clipped.y.tolist() == [0, 0.2, 0.8, 1]
    assert clipped.x.tolist() == curve.x.tolist()
    assert curve.y.tolist() == [-1, 0.2, 0.8, 2]


@given(curves(), st.sampled_from([0.25, 8.0]))
def test_rescale_keeps_slopes(curve, by):
    at = around(curve)
    np.testing.assert_allclose(curve.rescale(by)(by * at), by * curve(at), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(), (1,), (4,), (2, 3)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, int])
def test_shape_is_kept(shape, dtype):
    curve = MonotoneCurve([0.0, 2.0], [1.0, 5.0])
    values = curve(np.ones(shape, dtype=dtype))
    assert values.shape == shape
    assert (values == 3).all()


def test_steep_pieces_do_not_overflow():
    curve = MonotoneCurve([0.0, 1e-16], [0.0, 1e300])
    assert curve([0.0, 1e-16, 1.0]).tolist() == [0, 1e300, 1e300]
    assert 0 <= curve(0.5e-16) <= 1e300


def test_pickles_and_shows_itself():
    curve = MonotoneCurve([0.0, 1.0, 2.0], [0.0, 1.0, 1.0])
    again = pickle.loads(pickle.dumps(curve))
    assert (again.x == curve.x).all()
    assert (again.y == curve.y).all()
    assert repr(curve) == "MonotoneCurve(3 knots, index 0 to 2, value 0 to 1)"


def test_leaves_read_only_points_alone():
    x, y = np.arange(3.0), np.arange(3.0)
    x.flags.writeable = y.flags.writeable = False
    curve = MonotoneCurve(x, y).shift(1.0)
    assert curve(2.5) == 1.5
    assert x.tolist() == [0, 1, 2]


@pytest.mark.parametrize(("x", "y"), [([0, 1], [0]), ([0], [0, 1]), ([], []), ([[0, 1]], [[0, 1]])])
def test_x_and_y_must_have_one_length(x, y):
    """The kernel behind `knots_` would read beyond the shorter one."""
    with pytest.raises(ValueError, match="equal length"):
        MonotoneCurve(x, y)


def test_what_is_no_monotone_curve_is_told():
    MonotoneCurve([0, 1, 1], [2, 2, 3]).check()
    MonotoneCurve([0, 1], [1e9, 1e9 - 1e-7]).check()  # rounding
    for x, y in [([0, 1], [1, 0]), ([1, 0], [0, 1]), ([0, np.nan], [0, 1]), ([0, 1], [0, np.inf])]:
        with pytest.raises(ValueError, match=r"must not fall|finite"):
            MonotoneCurve(x, y).check()
