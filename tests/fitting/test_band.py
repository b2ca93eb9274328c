"""The band of a mean that rises: it covers, and has a width where all rows agree."""

import numpy as np
import pytest

from singleindex.fitting.band import band_at, make_windows, wilson


def curve(t):
    return np.clip(0.5 + t / 2, 0, 1)


@pytest.mark.parametrize("noise", ["binary", "gaussian"])
def test_covers_point_by_point(noise):
    at, right = np.linspace(-1.8, 1.8, 19), []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        t = rng.standard_normal(300)
        y = (
            (rng.random(300) < curve(t)) * 1.0
            if noise == "binary"
            else curve(t) + 0.3 * rng.standard_normal(300)
        )
        low, high = band_at(make_windows(t, y, None), at, 0.9)
        right.append((low <= curve(at) + 1e-9) & (curve(at) <= high + 1e-9))
    assert np.mean(right) > 0.9
    assert np.mean(right, axis=0).min() > 0.7


def test_has_a_width_where_all_rows_agree():
    t = np.linspace(-1, 1, 200)
    low, high = band_at(make_windows(t, (t > 0) * 1.0, None), np.array([-0.9, 0.9]), 0.9)
    assert low[0] == 0
    assert high[0] > 0.02
    assert low[1] < 0.98
    assert high[1] == 1


def test_rises_and_is_narrower_at_a_lower_level():
    rng = np.random.default_rng(0)
    t, at = rng.standard_normal(500), np.linspace(-3, 3, 50)
    windows = make_windows(t, curve(t) + rng.standard_normal(500), None)
    (low, high), (inner_low, inner_high) = (band_at(windows, at, level) for level in (0.9, 0.5))
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()
    assert (low <= inner_low).all()
    assert (inner_high <= high).all()


def test_weights_are_repetitions():
    rng = np.random.default_rng(0)
    t, weight = rng.standard_normal(80), rng.integers(0, 4, 80)
    y, at = (rng.random(80) < curve(t)) * 1.0, np.linspace(-2, 2, 9)
    repeated = make_windows(np.repeat(t, weight), np.repeat(y, weight), None)
    weighted = make_windows(t, y, weight.astype(float))
    np.testing.assert_allclose(band_at(weighted, at, 0.9), band_at(repeated, at, 0.9))


def test_rows_that_were_never_held_out_have_no_say():
    t, y = np.array([0.0, 1.0, np.nan, 2.0] * 5), np.array([0.0, 0.0, 1.0, 1.0] * 5)
    seen = np.isfinite(t)
    for both in zip(band_at(make_windows(t, y, None), t[seen], 0.9),
                    band_at(make_windows(t[seen], y[seen], None), t[seen], 0.9), strict=True):  # fmt: skip
        np.testing.assert_array_equal(*both)


def test_wilson_is_where_the_score_test_ends():
    low, high = wilson(np.array([0.1]), np.array([50.0]), 0.95)
    for limit in (low[0], high[0]):
        assert abs(0.1 - limit) / np.sqrt(limit * (1 - limit) / 50) == pytest.approx(1.959964)
