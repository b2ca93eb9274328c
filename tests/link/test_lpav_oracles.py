"""The oracles agree with each other, and the assertions fail on wrong answers."""

import numpy as np
import pytest
from hypothesis import given
from lpav_oracles import (
    solve_by_clarabel,
    solve_by_enumeration,
    solve_by_piqp,
    solve_exactly,
)
from lpav_problems import Problem, assert_close, assert_feasible, assert_optimal, problems, times_as_many

EXAMPLE = Problem(np.array([0.0, 1.0, 2.0]), np.array([0.0, 5.0, 4.0]), y_min=-1.0, y_max=4.5)


@given(problems(max_size=4))
def test_two_exact_solvers_agree(problem):
    by_enumeration = solve_by_enumeration(problem.x, problem.y, **problem.options)
    assert (problem.solve_exactly() == by_enumeration).all()


@pytest.mark.parametrize("solve", [solve_exactly, solve_by_enumeration])
def test_exact_solvers_on_known_answers(solve):
    assert solve([0, 1, 2], [0, 5, 4]).tolist() == [2, 3, 4]
    assert solve([0, 1], [0, 10], y_max=1).tolist() == [0, 1]
    assert solve([1, 0, 1], [1, 3, 5], lipschitz=np.inf).tolist() == [3, 3, 3]
    assert solve([0, 1, 2], [0, 9, 4], [1, 0, 1]).tolist() == [1, 2, 3]
    assert solve([0, 1], [3, 1], [3, 1]).tolist() == [2.5, 2.5]


@pytest.mark.parametrize("solve", [solve_by_clarabel, solve_by_piqp])
@given(problem=problems(max_size=8, weights=("none", "moderate"), steps=[0.0, 0.5, 1.0, 3.0],
                        lipschitz=[0.1, 1.0, np.inf]))  # fmt: skip
@times_as_many(0.4)
def test_qp_solvers_agree_with_the_exact_one(solve, problem):
    problem = problem.but(y=problem.y / max(1, np.abs(problem.y).max()), y_min=None, y_max=None)
    z, exact = solve(problem.x, problem.y, **problem.options), problem.solve_exactly()
    assert_close(z, exact, 1.0, rtol=5e-3)  # their accuracy is one of the cost
    assert problem.cost(z) == pytest.approx(problem.cost(exact), rel=1e-6, abs=1e-6)


WRONG = {
    "shifted": [2.1, 3.1, 4.1],
    "flat": [3.0, 3.0, 3.0],
    "falling": [2.0, 1.0, 4.0],
    "steep": [1.0, 3.0, 4.0],
    "above y_max": [3.0, 4.0, 5.0],
    "below y_min": [-2.0, -1.5, -1.0],
    "nan": [2.0, np.nan, 4.0],
}


@pytest.mark.parametrize("z", WRONG.values(), ids=WRONG)
def test_assert_optimal_fails_on(z):
    assert_optimal(EXAMPLE, np.array([2.0, 3.0, 4.0]))
    with pytest.raises((AssertionError, ValueError)):
        assert_optimal(EXAMPLE, np.array(z))


@pytest.mark.parametrize("name", ["falling", "steep", "above y_max", "below y_min", "nan"])
def test_assert_feasible_fails_on(name):
    assert_feasible(EXAMPLE, np.array([2.0, 3.0, 4.0]))
    assert_feasible(EXAMPLE, np.array(WRONG["flat"]))
    with pytest.raises(AssertionError):
        assert_feasible(EXAMPLE, np.array(WRONG[name]))


def test_assert_feasible_fails_on_two_values_at_one_x():
    tied = Problem(np.array([0.0, 0.0]), np.array([0.0, 1.0]), lipschitz=np.inf)
    with pytest.raises(AssertionError):
        assert_feasible(tied, np.array([0.0, 1.0]))


@pytest.mark.parametrize("wrong", [[1.0, 2.1], [np.nan, 2.0], [1.0]])
def test_assert_close_fails_on(wrong):
    assert_close([1.0, 2.0], [1.0, 2.0 + 1e-12], 2.0)
    with pytest.raises(AssertionError):
        assert_close(wrong, [1.0, 2.0], 2.0)
