"""The kernel's functions one by one, as the Python around them relies on them."""

import numpy as np
import pytest
from hypothesis import given
from lpav_problems import assert_close, problems
from singleindex.link._certificate import largest_violation
from singleindex.link._lpav import merge_ties, solve_lpav, spread_ties


def merged(problem):
    x, y = problem.x, problem.y
    knots, means, weights = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    n = merge_ties(x, y, problem.sample_weight, np.argsort(x), knots, means, weights)
    return knots[:n].copy(), means[:n].copy(), weights[:n].copy()


@given(problems())
def test_merge_ties(problem):
    knots, means, weights = merged(problem)
    used = problem.weight > 0
    x, y, weight = problem.x[used], problem.y[used], problem.weight[used]
    assert (knots == np.unique(x)).all()
    for knot, mean, total in zip(knots, means, weights, strict=True):
        at = x == knot
        assert total == pytest.approx(weight[at].sum(), rel=1e-14)
        assert_close(mean, np.average(y[at], weights=weight[at]), np.abs(y[at]).max(), 1e-13)
        assert y[at].min() <= mean <= y[at].max()


def test_merge_ties_of_huge_values():
    """Neither a sum of y nor of w y may be formed: both overflow."""
    x, order = np.zeros(4), np.arange(4)
    y, weight = np.full(4, 1e308), np.full(4, 1e300)
    out = [np.empty(4) for _ in range(3)]
    assert merge_ties(x, y, weight, order, *out) == 1
    assert [v[0] for v in out] == [0, 1e308, 4e300]


@given(problems(lipschitz=[1e-12, 0.1, 1.0, 10.0, 1e12, np.inf]))
def test_solve_and_certify(problem):
    knots, means, weights = merged(problem)
    low = -np.inf if problem.y_min is None else problem.y_min
    high = np.inf if problem.y_max is None else problem.y_max
    values = np.full(len(knots), np.nan)
    solve_lpav(knots, means, weights, problem.lipschitz, low, high, values)
    expected = problem.but(x=knots, y=means, sample_weight=weights).solve_exactly()
    scale = max(np.abs(means).max(), np.abs(expected).max())
    assert_close(values, expected, scale, 1e-9)
    rest = (problem.lipschitz, low, high, 1e-12 * scale)
    heavy_to_light = weights.max() / weights.min()
    found = largest_violation(knots, means, weights, expected, *rest)
    assert found <= scale * (1e-11 + 1e-14 * min(heavy_to_light, 1e12))


def test_solve_leaves_its_input_alone_and_takes_read_only_arrays():
    x, y, w = np.arange(4.0), np.array([2.0, 0.0, 1.0, 2.0]), np.ones(4)
    for v in (x, y, w):
        v.flags.writeable = False
    out = np.empty(4)
    solve_lpav(x, y, w, 1.0, -np.inf, np.inf, out)
    assert out.tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 65, 127, 1000])
def test_every_size_of_chunk(n):
    """Sizes around those in which pieces are stored."""
    rng = np.random.default_rng(n)
    x, w = np.cumsum(rng.uniform(0.1, 1, n)), rng.uniform(0.1, 1, n)
    for y in (np.where(np.arange(n) % 2, 1.0, -1.0), rng.normal(size=n), -x, 3 * x):
        out = np.empty(n)
        for low, high in [(-np.inf, np.inf), (-0.5, 0.5), (-np.inf, 0.2), (0.1, np.inf)]:
            solve_lpav(x, y, w, 1.0, low, high, out)
            scale = max(np.abs(y).max(), np.abs(out).max())
            assert largest_violation(x, y, w, out, 1.0, low, high, 1e-11 * scale) <= 1e-11 * scale


def test_spread_ties_reads_off_the_curve():
    x = np.array([5.0, 0.0, 1.5, 1.0, -2.0, 2.0, 1.0])
    out = np.empty(7)
    spread_ties(x, np.argsort(x), np.array([0.0, 1.0, 2.0]), np.array([0.0, 4.0, 5.0]), out)
    assert out.tolist() == [5, 0, 4.5, 4, 0, 5, 4]
