import numpy as np
import pytest

from singleindex.fitting.conformal import (
    at_least,
    at_most,
    calibrate_interval,
    interval_at,
    quantiles_of,
    spread_along,
)

RNG = np.random.default_rng(0)


def test_quantiles_are_those_of_conformal_prediction():
    kept = quantiles_of(np.arange(1.0, 20.0), np.ones(19))
    # A new one of 20 lies at or below the 18th of 19 in 18 of 20 cases.
    assert at_most(kept, 0.9) == 18
    assert at_least(kept, 0.1) == 2
    assert at_most(kept, 0.96) == np.inf
    assert at_least(kept, 0.04) == -np.inf


def test_weights_are_repetitions():
    values, times = RNG.normal(size=40), RNG.integers(1, 4, 40)
    once = quantiles_of(values, times.astype(float))
    often = quantiles_of(np.repeat(values, times), np.ones(times.sum()))
    for share in (0.05, 0.31, 0.5, 0.9):
        assert at_most(once, share) == at_most(often, share)
        assert at_least(once, share) == pytest.approx(at_least(often, share))


def test_of_many_residuals_few_quantiles_are_kept():
    values = RNG.normal(size=50_000)
    kept = quantiles_of(values, np.ones(len(values)))
    assert len(kept["value"]) <= 1000
    for share in (0.05, 0.5, 0.95):
        assert at_most(kept, share) == pytest.approx(np.quantile(values, share), abs=0.02)


def test_an_even_spread_is_one_number_and_an_uneven_one_is_followed():
    index = RNG.normal(size=2000)
    even, uneven = (np.abs(s * RNG.normal(size=2000)) for s in (np.ones(2000), np.exp(index)))
    assert np.ptp(spread_along(index, even, np.ones(2000))[1]) < 0.25
    places, spread = spread_along(index, uneven, np.ones(2000))
    assert np.interp(1, places, spread) / np.interp(-1, places, spread) == pytest.approx(np.e**2, rel=0.3)


def test_equal_indices_have_one_spread():
    places, spread = spread_along(np.zeros(100), np.arange(100.0), np.ones(100))
    assert len(places) == len(spread) == 1
    assert spread[0] == pytest.approx(49.5)


def test_intervals_cover_where_noise_is_small_and_where_it_is_large():
    index = RNG.uniform(-1, 1, 60_000)
    noise = np.where(index > 0, 1.0, 0.2) * (RNG.exponential(size=len(index)) - 1)
    kept = calibrate_interval(index[:2000], noise[:2000], np.ones(2000))
    low, high = interval_at(kept, index[2000:], np.zeros(len(index) - 2000), 0.9).T
    covered = (low <= noise[2000:]) & (noise[2000:] <= high)
    assert covered.mean() == pytest.approx(0.9, abs=0.02)
    for part in (index[2000:] > 0.2, index[2000:] < -0.2):
        assert covered[part].mean() == pytest.approx(0.9, abs=0.04)
    # Skewed noise has its interval to the right of the prediction.
    assert (high > 2 * -low).all()
