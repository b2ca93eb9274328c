"""The length of w: where the residuals no longer tell the index."""

import numpy as np
import pytest

from singleindex.link import FixedLink, Lpav, Pav
from singleindex.solvers import fit_scale


def make_points(n=600, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    index = rng.normal(size=n)
    return index, np.clip(index, -1, 1) + noise * rng.normal(size=n)


def correlation(index, y, factor, weight=None, fitter=None):
    """Return the correlation of index and residual once the index has been multiplied by the factor."""
    _, fitted = (fitter or Lpav(1.0)).fit(factor * index, y, weight)
    weight = np.ones(len(y)) if weight is None else weight
    centred = index - np.average(index, weights=weight)
    size = np.average(centred**2, weights=weight) * np.average((y - y.mean()) ** 2, weights=weight)
    return np.average(centred * (fitted - y), weights=weight) / np.sqrt(size)


@pytest.mark.parametrize("short", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("weighted", [False, True])
def test_at_the_right_length_residuals_do_not_tell_the_index(short, weighted):
    index, y = make_points()
    weight = np.random.default_rng(1).random(len(y)) if weighted else None
    factor = fit_scale(short * index, y, Lpav(1.0), weight, 1)
    assert factor > 1
    assert abs(correlation(short * index, y, factor, weight)) < 2e-6
    assert correlation(short * index, y, 0.8 * factor, weight) < -1e-4


def test_the_length_is_found_whatever_the_index_is_multiplied_by():
    index, y = make_points()
    lengths = [short * fit_scale(short * index, y, Lpav(1.0), None, 1) for short in (0.5, 0.1, 0.02)]
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-6)


def test_an_index_that_is_long_enough_stays():
    index, y = make_points()
    assert fit_scale(50.0 * index, y, Lpav(1.0), None, 1) == 1.0


@pytest.mark.parametrize("fitter", [Pav(), FixedLink("logistic")], ids=repr)
def test_links_of_any_slope_leave_the_length_alone(fitter):
    index, y = make_points()
    assert fit_scale(0.1 * index, y, fitter, None, 1) == 1.0


def test_nothing_to_scale():
    index, y = make_points(50)
    assert fit_scale(0.1 * index, y, Lpav(1.0), None, 0) == 1.0
    assert fit_scale(np.zeros(50), y, Lpav(1.0), None, 1) == 1.0


def test_few_rows_per_coefficient_are_trusted_in_part():
    """Fifty rows for each coefficient are trusted in full, fewer as a power of the factor."""
    index, y = make_points(200)
    full = fit_scale(0.1 * index, y, Lpav(1.0), None, 4)
    assert fit_scale(0.1 * index, y, Lpav(1.0), None, 1) == full
    assert fit_scale(0.1 * index, y, Lpav(1.0), None, 8) == pytest.approx(full**0.5)
    assert fit_scale(0.1 * index, y, Lpav(1.0), None, 40) == pytest.approx(full**0.1)


@pytest.mark.parametrize("guess", [0.5, 1.0, 3.0, 9.0, 11.0, 40.0, 1e6])
def test_a_guess_changes_nothing(guess):
    index, y = make_points()
    found = fit_scale(0.1 * index, y, Lpav(1.0), None, 1)
    assert fit_scale(0.1 * index, y, Lpav(1.0), None, 1, guess=guess) == pytest.approx(found, rel=1e-6)


def test_many_rows_that_are_trusted_in_part_are_summed_up():
    index, y = make_points(5000)
    full = fit_scale(0.1 * index, y, Lpav(1.0), None, 100)
    assert fit_scale(0.1 * index, y, Lpav(1.0), None, 200) == pytest.approx(full**0.5, rel=0.02)


def test_y_that_jumps_ends_at_the_largest_factor():
    index = np.linspace(-1, 1, 100)
    assert fit_scale(1e-4 * index, np.sign(index), Lpav(1.0), None, 1) == 1024.0
