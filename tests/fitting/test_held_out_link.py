"""The link of held-out ratings: between a line and a curve, as far as the ratings tell."""

import numpy as np

from singleindex.fitting.held_out_link import HeldOut, fit_held_out_link, link_folds
from singleindex.link import Lpav


def held_out(link, n=2000, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    index = rng.standard_normal(n)
    return HeldOut(index, link(index) + noise * rng.standard_normal(n), None, link_folds(n))


def test_a_bent_link_is_trusted_and_found():
    given = held_out(lambda t: np.clip(2 * t, -1, 1))
    found = fit_held_out_link(given, Lpav(1.0))
    assert found.trust > 0.8
    grid = np.linspace(-2, 2, 50)
    assert np.abs(found.link(grid) - np.clip(2 * grid, -1, 1)).max() < 0.15


def test_a_straight_link_stays_close_to_the_line():
    gains = []
    for seed in range(10):
        given = held_out(lambda t: t, n=300, noise=2.0, seed=seed)
        found = fit_held_out_link(given, Lpav(1.0))
        grid = given.index
        free = fit_held_out_link(HeldOut(given.index, given.y, None, given.fold), Lpav(np.inf))
        gains.append(np.mean((found.link(grid) - grid) ** 2) < np.mean((free.link(grid) - grid) ** 2) + 1e-12)
    assert np.mean(gains) >= 0.7


def test_predictions_of_the_link_are_of_parts_it_has_not_seen():
    """With y all noise, a curve fitted to the same points would look better than none."""
    rng = np.random.default_rng(0)
    given = HeldOut(rng.standard_normal(500), rng.standard_normal(500), None, link_folds(500))
    found = fit_held_out_link(given, Lpav(np.inf))
    in_sample = np.mean((found.link(given.index) - given.y) ** 2)
    assert np.mean((found.predicted - given.y) ** 2) > in_sample


def test_weights_of_held_out_ratings_are_repetitions():
    given = held_out(np.tanh, n=200)
    weight = np.ones(200)
    weight[:50] = 3.0
    again = np.concatenate([np.arange(200), np.arange(50), np.arange(50)])
    weighted = fit_held_out_link(HeldOut(given.index, given.y, weight, given.fold), Lpav(1.0))
    repeated = HeldOut(given.index[again], given.y[again], None, given.fold[again])
    grid = np.linspace(-3, 3, 100)
    np.testing.assert_allclose(
        weighted.link(grid), fit_held_out_link(repeated, Lpav(1.0)).link(grid), atol=1e-6
    )
