"""lpav_certificate: zero at optima, above zero elsewhere, and in units of y."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from lpav_oracles import solve_by_clarabel, solve_exactly
from lpav_problems import Problem, assert_optimal, certificate_tolerance, problems

from singleindex import lipschitz_isotonic_regression
from singleindex.link import lpav_certificate

MODERATE = ("none", "moderate", "counts")


# ---------------------------------------------------------------- zero at optima


@given(problems(max_size=10, weights=MODERATE))
def test_zero_at_exact_solutions(problem):
    assert_optimal(problem, problem.solve_exactly())


@given(problems(max_size=10, weights=MODERATE))
def test_zero_at_exact_falling_solutions(problem):
    falling = problem.but(y=-problem.y, increasing=False)
    low, high = problem.y_min, problem.y_max
    falling.y_min = None if high is None else -high
    falling.y_max = None if low is None else -low
    assert_optimal(falling, -problem.solve_exactly())


def test_documented_values():
    assert lpav_certificate([0, 1, 2], [0, 5, 4], [2, 3, 4]) == 0
    assert lpav_certificate([0, 1, 2], [0, 5, 4], [3, 3, 3]) == 3
    assert lpav_certificate([2, 0, 1], [4, 0, 5], [4, 2, 3]) == 0
    assert lpav_certificate([0, 1, 2], [4, 5, 0], [4, 3, 2], increasing=False) == 0


def test_interior_point_solution_needs_its_own_tolerance():
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.normal(size=40)), rng.normal(size=40)
    z = solve_by_clarabel(x, y)
    assert lpav_certificate(x, y, z, tol=1e-6) < 1e-6
    assert lpav_certificate(x, y, z + 1e-3, tol=1e-6) >= 0.99e-3


# ---------------------------------------------------------------- above zero elsewhere

SHIFTS = st.sampled_from([-10.0, -0.3, 1e-3, 1e-6, 2.0])


@given(problems(weights=MODERATE, bounds=False), SHIFTS)
def test_shift_of_everything_is_measured(problem, shift):
    z = problem.solve_exactly()
    size = abs(shift) * max(problem.scale(z), 1.0)
    shifted = z + np.sign(shift) * size
    assert problem.violation(shifted) >= 0.999 * size


@given(problems(weights=MODERATE, bounds=False), st.data())
def test_shift_of_the_points_from_one_on_is_measured(problem, data):
    """Moving the upper part violates a constraint or leaves its block off its mean."""
    z = problem.solve_exactly()
    size = data.draw(SHIFTS) * max(problem.scale(z), 1.0)
    upper = problem.x >= data.draw(st.sampled_from(problem.x))
    assume(problem.weight[upper].any())
    # Half a shift can hide in each side of the cut: in the block's mean and in the step.
    assert problem.violation(np.where(upper, z + size, z)) >= 0.2 * abs(size) / len(z)


@given(problems(weights=MODERATE), st.data())
def test_one_moved_point_is_seen(problem, data):
    z = problem.solve_exactly()
    i = data.draw(st.integers(0, len(z) - 1))
    assume(problem.weight[i] > 0)
    z[i] += data.draw(SHIFTS) * max(problem.scale(z), 1.0)
    assert problem.violation(z) > certificate_tolerance(problem, z)


@given(problems(weights=MODERATE), SHIFTS)
def test_violated_bound_is_measured(problem, shift):
    z = problem.solve_exactly()
    size = abs(shift) * max(problem.scale(z), 1.0)
    inner = z[problem.weight > 0]
    assert problem.but(y_max=inner.max() - size, y_min=None).violation(z) >= 0.999 * size
    assert problem.but(y_min=inner.min() + size, y_max=None).violation(z) >= 0.999 * size


@given(problems(max_size=8, weights=MODERATE), st.data())
def test_violation_bounds_the_distance_to_the_optimum(problem, data):
    """For feasible z with violation v, the mean square of e = z - optimum is at most v (max|e| + TV(e)).

    It follows from the strong convexity of the cost by summation in parts.
    """
    best = problem.solve_exactly()
    other = problem.but(y=data.draw(st.permutations(problem.y.tolist()).map(np.array)))
    part = data.draw(st.sampled_from([1e-3, 0.1, 0.5, 1.0]))
    z = best + part * (other.solve_exactly() - best)
    order = np.argsort(problem.x)
    used = order[problem.weight[order] > 0]
    error = (z - best)[used]
    mean_square = np.average(error**2, weights=problem.weight[used])
    reach = np.abs(error).max() + np.abs(np.diff(error)).sum()
    violation = problem.violation(z) + certificate_tolerance(problem, z)
    assert mean_square <= 1.0001 * violation * reach


@pytest.mark.parametrize("increasing", [True, False])
def test_clipping_the_unbounded_solution_is_not_optimal(increasing):
    sign = 1 if increasing else -1
    x, y = [0, sign], [0, 10]
    bounds = {"y_max": 1, "increasing": increasing}
    clipped = np.minimum(lipschitz_isotonic_regression(x, y, increasing=increasing), 1)
    assert clipped.tolist() == [1, 1]
    assert lpav_certificate(x, y, clipped, **bounds) == 1
    assert lpav_certificate(x, y, [0, 1], **bounds) == 0


ISOLATED = {
    "falling step": ([0, 1, 2, 3], [0, 0.5, 0.4, 1], [0, 0.5, 0.4, 1], 0.1),
    "steep step": ([0, 1, 2, 3], [0, 0.5, 1.75, 2], [0, 0.5, 1.75, 2], 0.25),
    # The cap holds apart what would rather come together, and the other way round.
    "cap without need": ([0, 1], [0, 0], [-0.5, 0.5], 0.5),
    "flat without need": ([0, 1], [0, 1], [0.5, 0.5], 0.5),
    "flat that should split": ([0, 1, 2, 3], [0, 0, 1, 1], [0.5, 0.5, 0.5, 0.5], 0.5),
    "ties with two values": ([0, 0, 1], [0, 1, 2], [0, 1, 1.5], 1.0),
    "block off its mean": ([0, 1, 2], [1, 0, 9], [0.75, 0.75, 1.75], None),
    "light point off": ([0, 100], [0, 1], [0, 1.5], 0.5),
}


@pytest.mark.parametrize(("x", "y", "z", "violation"), ISOLATED.values(), ids=ISOLATED)
def test_value_of_single_faults(x, y, z, violation):
    found = lpav_certificate(x, y, z)
    assert found > 0.05
    if violation is not None:
        assert found == pytest.approx(violation)
    fit = lipschitz_isotonic_regression(x, y)
    assert lpav_certificate(x, y, fit) <= 1e-14


def test_weight_of_a_point_does_not_hide_its_fault():
    weight = [1.0, 1e-6, 1.0]
    assert lpav_certificate([0, 10, 20], [0, 1, 2], [0, 1.5, 2], sample_weight=weight) >= 0.49


@pytest.mark.parametrize("bounds", [{"y_min": 0.0}, {"y_max": 1.0}, {"y_min": 0.0, "y_max": 1.0}])
def test_bounds_excuse_only_what_they_hold(bounds):
    """The multiplier of a bound has a sign: it may hold a block in, not out."""
    x, y = np.arange(4.0), np.array([-1.0, 0.2, 0.7, 2.5])
    z = solve_exactly(x, y, **bounds)
    assert lpav_certificate(x, y, z, **bounds) <= 1e-15
    pushed_in = np.clip(z, 0.1, 0.9)
    assert lpav_certificate(x, y, pushed_in, **bounds) >= 0.1
    inner = np.array([0.4, 0.5, 0.5, 0.6])
    assert lpav_certificate(x, inner, np.zeros(4), **bounds) >= 0.4
    assert lpav_certificate(x, inner, np.ones(4), **bounds) >= 0.4


@pytest.mark.parametrize("lipschitz", [0.5, 1.0, 4.0])
def test_equal_bounds_leave_one_answer(lipschitz):
    x, y = np.arange(3.0), np.array([3.0, -1.0, 7.0])
    options = {"y_min": 2.0, "y_max": 2.0, "lipschitz": lipschitz}
    assert lpav_certificate(x, y, np.full(3, 2.0), **options) == 0
    assert lpav_certificate(x, y, np.full(3, 2.1), **options) >= 0.0999


@pytest.mark.parametrize("exponent", [(990, 0), (0, 990), (-990, 0), (0, -990), (500, 990), (-500, -990)])
def test_wrong_answers_are_seen_at_extreme_scales(exponent):
    """Neither overflow nor underflow of w (z - y) may pass for optimality."""
    y_scale, w_scale = 2.0 ** exponent[0], 2.0 ** exponent[1]
    x, y, weight = np.arange(4.0), np.array([2.0, 0, 1, 5]) * y_scale, np.array([1.0, 2, 1, 1]) * w_scale
    options = {"sample_weight": weight, "lipschitz": y_scale}
    best = solve_exactly(x, y, **options)
    assert lpav_certificate(x, y, best, **options) <= 1e-14 * y_scale
    shifted = lpav_certificate(x, y, best + 0.25 * y_scale, **options)
    assert 0.249 * y_scale <= shifted < np.inf
    flat = lpav_certificate(x, y, np.full(4, np.average(y, weights=weight / w_scale)), **options)
    assert 0.1 * y_scale <= flat < np.inf


# ---------------------------------------------------------------- invariances


@given(problems(weights=MODERATE), st.integers(-20, 20))
@example(Problem(np.array([0.0]), np.array([1.0])), 3)
def test_scales_with_y(problem, exponent):
    c = 2.0**exponent
    z = problem.y[np.argsort(np.argsort(problem.x))]
    scaled = problem.but(
        y=c * problem.y,
        lipschitz=c * problem.lipschitz,
        y_min=None if problem.y_min is None else c * problem.y_min,
        y_max=None if problem.y_max is None else c * problem.y_max,
    )
    assert scaled.violation(c * z) == c * problem.violation(z)


@given(problems(weights=MODERATE), st.randoms(use_true_random=False))
def test_order_of_the_points_does_not_matter(problem, random):
    z = problem.solve_exactly() + 0.5
    order = list(range(len(z)))
    random.shuffle(order)
    weight = problem.sample_weight
    shuffled = problem.but(
        x=problem.x[order],
        y=problem.y[order],
        sample_weight=None if weight is None else weight[order],
    )
    slack = certificate_tolerance(problem, z)
    assert shuffled.violation(z[order]) == pytest.approx(problem.violation(z), abs=slack)


@given(problems(weights=("counts",)))
def test_weights_are_repetitions(problem):
    z = problem.solve_exactly() + 0.5
    count = problem.weight.astype(int)
    repeated = Problem(*(np.repeat(v, count) for v in (problem.x, problem.y)), lipschitz=problem.lipschitz,
                       y_min=problem.y_min, y_max=problem.y_max)  # fmt: skip
    slack = certificate_tolerance(problem, z)
    found = repeated.violation(np.repeat(z, count))
    assert found == pytest.approx(problem.violation(z), abs=slack)


def test_points_of_weight_zero_do_not_count():
    assert lpav_certificate([0, 1, 2], [0, 9, 2], [0, 1, 2], sample_weight=[1, 0, 1], lipschitz=2) == 0


# ---------------------------------------------------------------- input


@pytest.mark.parametrize(
    ("change", "telling"),
    [
        ({"z": [0, 1]}, "z has 2 values where 3 are needed"),
        ({"z": [0, np.nan, 1]}, "z holds NaN"),
        ({"y": [0, 1]}, "y has 2 values where 3"),
        ({"x": [0, 1, np.inf]}, "x holds NaN or infinity"),
        ({"z": [[0, 1, 2], [0, 1, 2]]}, "z must be one-dimensional"),
        ({"sample_weight": [1, -1, 1]}, "must not be negative"),
        ({"sample_weight": [0, 0, 0]}, "at least one must be positive"),
        ({"lipschitz": -1}, "from 0 to infinity"),
        ({"y_min": 2, "y_max": 1}, "y_min must be at most y_max"),
    ],
)
def test_bad_input(change, telling):
    arguments = {"x": [0, 1, 2], "y": [0, 1, 2], "z": [0, 1, 2], **change}
    with pytest.raises(ValueError, match=telling):
        lpav_certificate(**arguments)
