"""What is asked of w beside a small error: formulas, and the step that bounds the loss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singleindex.solvers import Simplicity
from singleindex.structures import Sparse
from singleindex.structures.base import Structure

W = np.array([3.0, -1.0, 0.5, 0.0])


def test_the_objective_is_the_formula():
    plain = Simplicity(Sparse(), slope=2.0, alpha=0.5)
    assert plain.objective(W, mse=4.0) == pytest.approx(0.5 * (4 + 0.5 * 2 * (W @ W)))
    penalised = Simplicity(Sparse(), slope=2.0, alpha=0.5, penalty=0.25)
    assert penalised.objective(W, 4.0) == pytest.approx(plain.objective(W, 4.0) + 2 * 0.25 * np.abs(W).sum())


@pytest.mark.parametrize(
    ("n_atoms", "penalty", "expected"),
    [
        (None, 0.0, [3.0, -1.0, 0.5, 0.0]),
        (1, 0.0, [3.0, 0.0, 0.0, 0.0]),
        (None, 0.5, [2.0, 0.0, 0.0, 0.0]),  # by step × penalty
        (2, 0.1, [2.8, -0.8, 0.0, 0.0]),  # both
    ],
)
def test_simplifying_is_soft_thresholding_then_the_projection(n_atoms, penalty, expected):
    before = W.copy()
    found = Simplicity(Sparse(), 1.0, n_atoms, penalty=penalty).simplify(W, step=2.0)
    np.testing.assert_allclose(found, expected)
    assert (before == W).all()


def test_the_largest_penalty_is_the_least_at_which_nothing_is_left():
    largest = Simplicity(Sparse(), 1.0).largest_penalty(W)
    assert not Simplicity(Sparse(), 1.0, penalty=largest).simplify(W, 1.0).any()
    assert Simplicity(Sparse(), 1.0, penalty=0.99 * largest).simplify(W, 1.0).any()


@given(slope=st.floats(0.1, 10), alpha=st.floats(0, 10), seed=st.integers(0, 1000), d=st.integers(1, 5))
def test_a_step_minimises_the_quadratic_along_the_move(slope, alpha, seed, d):
    """Of g·v + v·Hv/2 with H = slope XᵀX/n + alpha, along −g, the minimiser is the step."""
    rng = np.random.default_rng(seed)
    X, gradient = rng.normal(size=(8, d)), rng.normal(size=d)
    X -= X.mean(axis=0)
    length, spread = gradient @ gradient, np.mean((X @ gradient) ** 2)
    step = Simplicity(Sparse(), slope, alpha=alpha).step_size(length, spread)
    curvature = gradient @ (slope * X.T @ X / 8 + alpha * np.eye(d)) @ gradient
    assert step * curvature == pytest.approx(length)


def test_no_move_has_no_step():
    assert Simplicity(Sparse(), 1.0).step_size(0.0, 0.0) == 0.0


def test_each_fit_has_a_structure_of_its_own():
    class Remembering(Structure):
        def fresh(self):
            return Remembering()

    once = Simplicity(Remembering(), 1.0, n_atoms=3, alpha=0.2, penalty=0.1)
    again = once.for_one_fit()
    assert again.structure is not once.structure
    assert (again.n_atoms, again.alpha, again.penalty) == (3, 0.2, 0.1)
    assert once.for_one_fit().structure is not again.structure
