"""Lipschitz isotonic regression: optimality, agreement with oracles, properties."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from lpav_oracles import solve_by_clarabel, solve_by_piqp
from lpav_problems import (
    PLAIN_STEPS,
    Problem,
    assert_close,
    assert_feasible,
    assert_optimal,
    problems,
    times_as_many,
)
from scipy import optimize
from sklearn.isotonic import IsotonicRegression, check_increasing

from singleindex import lipschitz_isotonic_regression
from singleindex.link.lpav import fit_lpav, fit_monotone

MODERATE = ("none", "counts", "moderate")

# Light points that hang together far above heavy ones: only what is left of a piece after the
# weight of the heavy points has been taken off tells where they belong.
LIGHT_BEHIND_HEAVY = [
    Problem(
        np.array([1.0, 1.001, 11.001, 12.001, 12.001999999999999, 1012.002, 1012.0029999999999]),
        np.array([-0.975, -0.5612, 0.5144, -1.4238, 0.2846, -0.0891, 0.851]),
        np.array([10.0, 10.0, 1e5, 0.01, 1e5, 1e-6, 1e-4]),
    ),
    Problem(
        np.array([1001.001000000003, 3001.002000000004, 5002.003000000005, 5002.003000000006]),
        np.array([-0.8490691287819969, 0.5045435445731515, -0.0876955367032201, 0.9793259237475915]),
        np.array([0.002755433595262419, 12396.952264140968, 2.648738616606655e-06, 3.636766326e-4]),
        lipschitz=10.0,
    ),
]
ONE_POINT = Problem(np.array([3.0]), np.array([2.0]))
TWO_POINTS = Problem(np.array([0.0, 1.0]), np.array([0.0, 10.0]), y_max=1.0)


# ---------------------------------------------------------------- optimality


@given(problems())
@times_as_many(4)
@example(ONE_POINT)
@example(TWO_POINTS)
def test_optimal_for_any_data(problem):
    z = problem.fit()
    assert_feasible(problem, z)
    assert_optimal(problem, z)


@given(problems(weights=MODERATE))
@times_as_many(3)
@example(ONE_POINT)
@example(TWO_POINTS)
def test_equals_the_exact_solution(problem):
    z, exact = problem.fit(), problem.solve_exactly()
    assert_close(z, exact, problem.scale(exact), rtol=1e-13)


@given(problems(weights=("wide",)))
@times_as_many(3)
def test_equals_the_exact_solution_with_weights_over_12_orders(problem):
    z, exact = problem.fit(), problem.solve_exactly()
    assert_close(z, exact, problem.scale(exact), rtol=1e-9)


@pytest.mark.parametrize("problem", LIGHT_BEHIND_HEAVY)
def test_light_points_behind_heavy_ones(problem):
    z, exact = problem.fit(), problem.solve_exactly()
    assert_close(z, exact, problem.scale(exact), rtol=1e-10)


@given(problems(max_size=12), st.sampled_from([True, False, "auto"]))
def test_rising_falling_and_auto(problem, increasing):
    rising = increasing
    if increasing == "auto":
        assume(len(problem.y) > 1 and np.ptp(problem.y) > 0 and np.ptp(problem.x) > 0)
    with warnings.catch_warnings():
        # scikit-learn says where the data leave the direction open.
        warnings.filterwarnings("ignore", "Confidence interval of the Spearman")
        if increasing == "auto":
            rising = check_increasing(problem.x, problem.y)
        z = problem.but(increasing=increasing).fit()
    checked = problem.but(increasing=bool(rising))
    assert_optimal(checked, z)
    mirrored = checked if rising else checked.but(x=-problem.x, increasing=True)
    assert_feasible(mirrored, z)


EXPONENTS = st.sampled_from([-990, -500, 0, 500, 990])


@given(problems(max_size=12, weights=MODERATE, steps=PLAIN_STEPS, lipschitz=[0.1, 1.0, 10.0, np.inf]),
       EXPONENTS, EXPONENTS, EXPONENTS)  # fmt: skip
@times_as_many(3)
@example(TWO_POINTS.but(sample_weight=np.array([1.0, 3.0])), 990, 0, 990)
@example(TWO_POINTS.but(sample_weight=np.array([1.0, 3.0])), -990, 0, -990)
def test_scales_far_from_one(problem, in_y, in_x, in_weight):
    """Powers of two as factors change nothing but exponents: up to 1e298 and down to 1e-298."""
    cap = problem.lipschitz
    if np.isfinite(cap):
        assume(-1000 < in_y - in_x < 1000)
        cap = float(np.ldexp(cap, in_y - in_x))
    assume(np.abs(problem.y).max() <= 100 and np.abs(problem.x).max() <= 4000)
    bounds = {
        name: None if getattr(problem, name) is None else np.ldexp(getattr(problem, name), in_y)
        for name in ("y_min", "y_max")
    }
    scaled = Problem(
        np.ldexp(problem.x, in_x),
        np.ldexp(problem.y, in_y),
        None if problem.sample_weight is None else np.ldexp(problem.sample_weight, in_weight),
        cap,
        **bounds,
    )
    exact = problem.solve_exactly()
    z = np.ldexp(scaled.fit(), -in_y)
    assert_close(z, exact, problem.scale(exact), rtol=1e-12)
    assert_optimal(scaled, scaled.fit())


@pytest.mark.parametrize("lipschitz", [0.0, 1e-300, 1.0, 1e300, np.inf])
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
@pytest.mark.parametrize("weight_scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_lipschitz_and_y_and_weights_far_apart(lipschitz, scale, weight_scale):
    y = np.array([2.0, -1.0, 0.5, 3.0, 2.5]) * scale
    weight = np.array([1.0, 2.0, 3.0, 1.0, 0.5]) * weight_scale
    problem = Problem(np.arange(5.0), y, weight, lipschitz)
    exact = problem.solve_exactly()
    assert_close(problem.fit(), exact, problem.scale(exact), rtol=1e-12)
    assert_optimal(problem, problem.fit())


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_gaps_far_from_y(scale):
    """Caps that never bind and caps that always bind."""
    y = np.array([0.0, 2.0, 1.0, 4.0])
    problem = Problem(scale * np.arange(4.0), y)
    exact = problem.solve_exactly()
    assert_close(problem.fit(), exact, 4.0, rtol=1e-12)


N = 20_000
GRID = np.arange(N, dtype=float)


def families():
    rng = np.random.default_rng(0)
    steps = np.floor(8 * GRID / N)
    return {
        "alternating": (GRID, np.where(np.arange(N) % 2, 1.0, -1.0), 1.0),
        "alternating, narrow cap": (GRID, np.where(np.arange(N) % 2, 1.0, -1.0), 1e-3),
        "alternating, wide cap": (GRID, np.where(np.arange(N) % 2, 1.0, -1.0), 10.0),
        "alternating in pairs": (GRID, np.where(np.arange(N) // 2 % 2, 1.0, -1.0), 0.3),
        "alternating, growing": (GRID, np.where(np.arange(N) % 2, GRID, -GRID), 1.0),
        "random binary": (GRID, (rng.random(N) < GRID / N).astype(float), 1e-3),
        "random binary, uneven": (np.sort(rng.exponential(size=N)), 1.0 * (rng.random(N) < 0.5), 1.0),
        "random signs walk": (GRID, np.cumsum(rng.choice([-1.0, 1.0], N)), 0.5),
        "heavy tails": (rng.standard_t(2, N), rng.standard_cauchy(N), 0.1),
        "noisy line": (rng.normal(size=N), rng.normal(size=N), 1.0),
        "decreasing": (GRID, -GRID, 1.0),
        "sorted": (GRID, np.sort(rng.normal(size=N)), 1e-4),
        "steeper than the cap": (GRID, 3 * GRID, 1.0),
        "steps": (GRID / N, steps + 0.1 * rng.normal(size=N), 20.0),
        "sawtooth": (GRID, GRID % 100, 0.5),
        "convex": (GRID / N, (GRID / N) ** 4, 1.0),
        "constant": (GRID, np.full(N, 0.1), 1.0),
        "ties": (np.round(rng.normal(size=N), 1), rng.normal(size=N), 0.5),
        "tiny gaps": (np.cumsum(rng.choice([1e-16, 1e-8, 1.0], N)), rng.normal(size=N), 1.0),
    }


FAMILIES = families()


def make_family(name, weighted, bounded):
    x, y, lipschitz = FAMILIES[name]
    rng = np.random.default_rng(1)
    order = rng.permutation(N)
    weight = 10 ** rng.uniform(-1, 1, N) if weighted else None
    bounds = np.quantile(y, [0.3, 0.6]) if bounded else (None, None)
    return Problem(x[order], y[order], weight, lipschitz, *bounds)


every_family = pytest.mark.parametrize(
    ("name", "weighted", "bounded"),
    [(name, *kind) for name in FAMILIES for kind in [(False, False), (True, False), (True, True)]],
)


@every_family
def test_hard_families(name, weighted, bounded):
    problem = make_family(name, weighted, bounded)
    z = problem.fit()
    assert_feasible(problem, z)
    assert problem.violation(z, tol=1e-10 * problem.scale(z)) <= 1e-10 * problem.scale(z)


@every_family
def test_the_certificates_own_tolerance_suffices(name, weighted, bounded):
    """Rounding over 20,000 points must not make a flat step look like a rising one."""
    problem = make_family(name, weighted, bounded)
    z = problem.fit()
    assert problem.violation(z) <= 1e-9 * problem.scale(z)


# ---------------------------------------------------------------- oracles


@pytest.mark.parametrize("solve", [solve_by_clarabel, solve_by_piqp])
@pytest.mark.parametrize("bounds", [(None, None), (-0.4, None), (None, 0.7), (-0.3, 0.6)])
@pytest.mark.parametrize("seed", range(4))
def test_not_worse_than_a_qp_solver(solve, bounds, seed):
    rng = np.random.default_rng(seed)
    n = 300
    x = np.round(rng.normal(size=n), 2 if seed % 2 else 8)
    y = np.tanh(2 * x) + rng.normal(size=n)
    weight = rng.uniform(0.1, 3, n) if seed >= 2 else None
    problem = Problem(x, y, weight, [0.3, 1.0, 3.0, 1.0][seed], *bounds)
    z, by_qp = problem.fit(), solve(x, y, **problem.options)
    assert_feasible(problem, z)
    assert problem.cost(z) <= problem.cost(by_qp) * (1 + 1e-8)
    assert_close(z, by_qp, 1.0, rtol=1e-4)


@given(problems(weights=("none", "moderate"), steps=PLAIN_STEPS[1:], lipschitz=[np.inf], bounds=False))
def test_infinite_lipschitz_is_scipys_isotonic_regression(problem):
    order = np.argsort(problem.x)
    x, y, weight = problem.x[order], problem.y[order], problem.weight[order]
    expected = optimize.isotonic_regression(y, weights=weight).x
    assert_close(problem.but(x=x, y=y, sample_weight=weight).fit(), expected, problem.scale(expected), 1e-12)


@given(problems(max_size=15, weights=("none", "moderate"), steps=PLAIN_STEPS, lipschitz=[np.inf]))
def test_infinite_lipschitz_is_scikit_learns_isotonic_regression(problem):
    """scikit-learn clips to the bounds, which without a slope bound is optimal."""
    model = IsotonicRegression(y_min=problem.y_min, y_max=problem.y_max)
    expected = model.fit(problem.x, problem.y, problem.sample_weight).predict(problem.x)
    assert_close(problem.fit(), expected, problem.scale(expected), 1e-6)


@given(problems(lipschitz=[0.0]))
def test_zero_lipschitz_is_the_weighted_mean(problem):
    mean = np.average(problem.y, weights=problem.sample_weight)
    low = -np.inf if problem.y_min is None else problem.y_min
    high = np.inf if problem.y_max is None else problem.y_max
    expected = np.full(len(problem.y), np.clip(mean, low, high))
    assert_close(problem.fit(), expected, problem.scale(expected), 1e-12)


@given(problems(bounds=False), st.sampled_from([1.0, 3.0]))
def test_feasible_data_are_their_own_fit(problem, lipschitz):
    z = problem.but(lipschitz=lipschitz).fit()
    again = problem.but(y=z, lipschitz=lipschitz)
    assert_close(again.fit(), z, problem.scale(z), 1e-12)


@given(problems())
def test_idempotent(problem):
    z = problem.fit()
    assert_close(problem.but(y=z).fit(), z, problem.scale(z), 1e-9)


# ---------------------------------------------------------------- properties


@given(problems(bounds=False))
def test_weighted_residuals_sum_to_zero(problem):
    z, weight = problem.fit(), problem.weight
    assert abs(weight @ (z - problem.y)) <= 1e-12 * weight.sum() * problem.scale(z)


@given(problems(weights=("counts",)))
def test_weights_are_repetitions(problem):
    count = problem.weight.astype(int)
    x, y = np.repeat(problem.x, count), np.repeat(problem.y, count)
    z = problem.fit()
    repeated = problem.but(x=x, y=y, sample_weight=None).fit()
    assert_close(repeated, np.repeat(z, count), problem.scale(z), 1e-12)


@given(problems(weights=("counts",)))
def test_points_of_weight_zero_have_no_influence(problem):
    z, used = problem.fit(), problem.weight > 0
    without = problem.but(x=problem.x[used], y=problem.y[used], sample_weight=problem.weight[used])
    rest = without.fit()
    assert_close(z[used], rest, problem.scale(z), 1e-12)
    order = np.argsort(without.x)
    on_curve = np.interp(problem.x[~used], without.x[order], rest[order])
    assert_close(z[~used], on_curve, problem.scale(z), 1e-12)


@given(problems(weights=MODERATE), st.randoms(use_true_random=False))
def test_order_of_the_points_does_not_matter(problem, random):
    z = problem.fit()
    order = list(range(len(z)))
    random.shuffle(order)
    weight = None if problem.sample_weight is None else problem.sample_weight[order]
    shuffled = problem.but(x=problem.x[order], y=problem.y[order], sample_weight=weight)
    assert_close(shuffled.fit(), z[order], problem.scale(z), 1e-12)


@given(problems(weights=MODERATE), st.sampled_from([1e-6, 0.3, 1.0, 7.0, 1e6]), st.sampled_from([-1e3, 0, 1]))
def test_equivariant_in_y(problem, factor, shift):
    z = problem.fit()
    bounds = {
        name: None if getattr(problem, name) is None else factor * getattr(problem, name) + shift
        for name in ("y_min", "y_max")
    }
    moved = problem.but(y=factor * problem.y + shift, lipschitz=factor * problem.lipschitz, **bounds)
    expected = factor * z + shift
    assert_close(moved.fit(), expected, moved.scale(expected), 1e-12)


@given(problems(), st.integers(-60, 60))
def test_equivariant_in_x(problem, exponent):
    factor = 2.0**exponent
    z = problem.fit()
    stretched = problem.but(x=factor * problem.x, lipschitz=problem.lipschitz / factor)
    assert_close(stretched.fit(), z, problem.scale(z), 1e-12)


@given(problems())
def test_falling_is_the_negative_of_rising(problem):
    low, high = problem.y_min, problem.y_max
    negated = problem.but(
        y=-problem.y,
        y_min=None if high is None else -high,
        y_max=None if low is None else -low,
        increasing=False,
    )
    assert (negated.fit() == -problem.fit()).all()


@given(problems(weights=MODERATE))
def test_looks_the_same_from_either_end(problem):
    low, high = problem.y_min, problem.y_max
    turned = problem.but(
        x=-problem.x,
        y=-problem.y,
        y_min=None if high is None else -high,
        y_max=None if low is None else -low,
    )
    z = problem.fit()
    assert_close(turned.fit(), -z, problem.scale(z), 1e-12)


@given(problems(weights=MODERATE), st.data())
def test_larger_y_give_no_smaller_fit(problem, data):
    """The solution map is monotone and moves by no more than y does."""
    rise = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(problem.y), max_size=len(problem.y))))
    z, higher = problem.fit(), problem.but(y=problem.y + rise).fit()
    slack = 1e-12 * problem.scale(z)
    assert (higher >= z - slack).all()
    assert (higher <= z + rise.max() + slack).all()


@given(problems(weights=MODERATE, bounds=False))
def test_the_cost_rises_as_the_slope_bound_falls(problem):
    caps = [np.inf, 5.0, 0.5, 0.0]
    costs = [problem.cost(problem.but(lipschitz=cap).fit()) for cap in caps]
    assert (np.diff(costs) >= -1e-12 * max(costs)).all()


def test_bounds_are_part_of_the_problem():
    assert lipschitz_isotonic_regression([0, 1], [0, 10], y_max=1).tolist() == [0, 1]
    assert lipschitz_isotonic_regression([0, 1], [-10, 1], y_min=0).tolist() == [0, 1]
    falling = lipschitz_isotonic_regression([0, 1], [10, 0], y_max=1, increasing=False)
    assert falling.tolist() == [1, 0]


def test_fitted_values_come_in_the_order_of_x():
    assert lipschitz_isotonic_regression([2, 0, 1], [4, 0, 5]).tolist() == [4, 2, 3]


# ---------------------------------------------------------------- the call that solvers make


@given(problems())
def test_fit_lpav_returns_the_curve(problem):
    low = -np.inf if problem.y_min is None else problem.y_min
    high = np.inf if problem.y_max is None else problem.y_max
    knots, values, fitted = fit_lpav(
        problem.x, problem.y, problem.sample_weight, problem.lipschitz, low, high
    )
    assert (knots == np.unique(problem.x[problem.weight > 0])).all()
    assert (fitted == problem.fit()).all()
    used = problem.weight > 0
    assert (fitted[used] == values[np.searchsorted(knots, problem.x[used])]).all()


def test_fit_monotone_falling_returns_a_falling_curve():
    x, y = np.arange(3.0), np.array([4.0, 5.0, 0.0])
    knots, values, fitted = fit_monotone(x, y, None, 1.0, -np.inf, np.inf, False)
    assert knots.tolist() == [0, 1, 2]
    assert values.tolist() == fitted.tolist() == [4, 3, 2]
