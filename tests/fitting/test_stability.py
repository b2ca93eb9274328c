"""Bounds on false features: the theorems, and distributions that come close to them."""

import numpy as np
import pytest

from singleindex.fitting.stability import (
    ASSUMPTIONS,
    _tail_bounds,
    bounds_of,
    number_chosen,
    path_length,
    rule_for,
)


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_bounds_fall_with_the_share(assumption):
    bounds = bounds_of(8, 60, 50, assumption)
    assert (np.diff(bounds) <= 1e-9).all()
    assert (bounds <= 8).all()


def test_who_assumes_more_has_the_lower_bound():
    none, unimodal, concave = (bounds_of(8, 60, 50, assumption) for assumption in ASSUMPTIONS)
    assert (unimodal <= none + 1e-9).all()
    assert (concave <= unimodal + 1e-9).all()
    assert concave[70] < 0.5 * unimodal[70]


def test_the_bound_without_assumptions_is_that_of_theorem_1():
    assert bounds_of(10, 100, 50, "none")[89] == pytest.approx(10**2 / 100 / (2 * 0.9 - 1))


def test_the_unimodal_bound_is_that_of_theorem_2():
    bounds = bounds_of(10, 100, 50, "unimodal")
    assert bounds[69] == pytest.approx(1 / (2 * (2 * 0.7 - 1 - 0.01)))
    assert bounds[89] == pytest.approx(4 * (1 - 0.9 + 0.01) / (1 + 0.02))


def concave_distributions(n, r, mean, rng, n_draws=2000):
    """Yield distributions f on 0 … n with convex f^r, r < 0, whose mean is at most what it may be."""
    for _ in range(n_draws):
        slopes = np.sort(rng.standard_exponential(n + 1) ** rng.uniform(0.3, 6)) * rng.choice([0.01, 1, 30])
        convex = 1e-3 + rng.standard_exponential() + np.cumsum(slopes)
        f = convex ** (1 / r)
        f /= f.sum()
        if f @ np.arange(n + 1) <= mean * n:
            yield f


@pytest.mark.parametrize(("r", "mean"), [(-0.5, 0.05), (-0.25, 0.1), (-0.25, 0.2)])
def test_no_concave_distribution_is_beyond_the_bound(r, mean):
    n = 20
    bounds = _tail_bounds(mean, n, r)
    tails = [
        np.cumsum(f[::-1])[::-1][1:] for f in concave_distributions(n, r, mean, np.random.default_rng(0))
    ]
    assert len(tails) > 100
    worst = np.max(tails, axis=0)
    assert (worst <= bounds + 1e-9).all()
    assert (worst > 0.3 * bounds)[int(2 * mean * n) + 2 :].any()  # or the draws would test nothing


def test_a_rule_keeps_what_was_asked_for():
    for max_false in (0.3, 1.0, 3.0):
        for assumption in ASSUMPTIONS:
            rule = rule_for(max_false, number_chosen(max_false, 60, 200, assumption), 60, 50, assumption)
            assert rule.bound <= max_false + 1e-12
            assert 0.5 < rule.share <= 1


def test_where_no_share_is_enough_none_is_stable():
    assert rule_for(0.001, 8, 60, 5, "none").share > 1


def test_few_rows_choose_few():
    assert number_chosen(1.0, 500, 1000) == round(np.sqrt(1.2 * 500))
    assert number_chosen(1.0, 500, 60) == 10
    assert number_chosen(1.0, 1, 10) == 1
    assert number_chosen(1.0, 60, 200) <= path_length(60, 200) <= 60
