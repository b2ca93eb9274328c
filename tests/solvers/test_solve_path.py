"""Warm paths: every level is a solution of its own problem, begun where the one before ended."""

import itertools

import numpy as np
import pytest

from singleindex.datasets import make_single_index
from singleindex.design import as_design
from singleindex.link import FixedLink, Lpav
from singleindex.solvers import Gradient, Level, Simplicity, Status, drive, solve_path
from singleindex.solvers.path import hard_levels, iterations_at, soft_levels
from singleindex.structures import Sparse

HARD = [Level(n_atoms=k) for k in (20, 6, 3)]
SOFT = [Level(penalty=p) for p in (0.8, 0.4, 0.1)]


@pytest.fixture(scope="module")
def rows():
    X, y, *_ = make_single_index(150, 20, n_atoms=4, link="clipped", noise="gaussian", random_state=0)
    return as_design(X), y


def solve(rows, levels, fitter=None, max_iter=5, tol=1e-3, **options):
    fitter = fitter or Lpav(1.0)
    simplicity = Simplicity(Sparse(), fitter.slope, alpha=0.05)
    path = solve_path(
        *rows, levels, simplicity=simplicity, link_fitter=fitter, max_iter=max_iter, tol=tol, **options
    )
    return list(path)


def test_every_level_keeps_to_its_limit(rows):
    results = solve(rows, HARD)
    assert [np.count_nonzero(one.best.coef) for one in results] == [20, 6, 3]


def test_the_first_level_is_a_plain_fit_of_twice_the_iterations(rows):
    first = solve(rows, HARD, tol=0.0)[0]
    simplicity = Simplicity(Sparse(), 1.0, n_atoms=20, alpha=0.05)
    plain = drive(Gradient(*rows, simplicity, Lpav(1.0)), max_iter=10, tol=0.0)
    assert (first.best.coef == plain.best.coef).all()
    assert first.n_iter == plain.n_iter == 10
    assert [iterations_at(k, 5) for k in range(3)] == [10, 5, 5]


@pytest.mark.parametrize("levels", [HARD, SOFT], ids=["hard", "soft"])
def test_a_level_starts_at_the_projection_of_the_one_before(rows, levels):
    told = {}
    results = solve(rows, levels, on_iteration=lambda k, one: told.setdefault(k, one.coef) is None)
    for k, (before, level) in enumerate(zip(results, levels[1:], strict=False), start=1):
        expected = Sparse().project(before.best.coef, level.n_atoms)
        np.testing.assert_array_equal(told[k], expected)


@pytest.mark.parametrize("penalty", [0.4, 0.1])
def test_with_a_convex_loss_a_warm_level_ends_where_a_cold_one_does(rows, penalty):
    options = {"fitter": FixedLink("identity"), "max_iter": 3000, "tol": 1e-10}
    warm = solve(rows, [Level(penalty=0.8), Level(penalty=penalty)], **options)[1]
    cold = solve(rows, [Level(penalty=penalty)], **options)[0]
    assert warm.status is cold.status is Status.CONVERGED
    np.testing.assert_allclose(warm.best.coef, cold.best.coef, atol=1e-7)


def test_the_penalty_is_a_share_of_the_least_at_which_nothing_is_left(rows):
    nothing, little = solve(rows, [Level(penalty=1.0), Level(penalty=0.98)])
    assert nothing.status is Status.FLAT
    assert not nothing.best.coef.any()
    assert little.best.coef.any()  # begun cold: there was nothing to go on from


def test_callbacks_are_told_the_level_and_may_stop_it(rows):
    told = []
    results = solve(rows, HARD, tol=0.0, on_iteration=lambda k, one: told.append((k, one.n_iter)) or k == 1)
    assert [k for k, _ in told] == [0] * 10 + [1] + [2] * 5
    assert [one.status for one in results] == [Status.MAX_ITER, Status.STOPPED, Status.MAX_ITER]


# ---------------------------------------------------------------- which levels there are


def test_levels_are_the_papers_and_small_counts():
    counts = [level.n_atoms for level in hard_levels(4096)]
    assert counts == sorted(counts, reverse=True)
    assert {4096 // 2**k for k in range(11)} <= set(counts)
    assert {1, 2, 3, 5, 7, 10} <= set(counts)
    assert max(a / b for a, b in itertools.pairwise(c.n_atoms for c in hard_levels(10**6)[:-4])) < 2.1
    assert max(level.n_atoms for level in hard_levels(6)) == 6
    assert [level.n_atoms for level in hard_levels(1)] == [1]


def test_penalties_go_from_strong_to_weak():
    shares = [level.penalty for level in soft_levels()]
    assert shares == sorted(shares, reverse=True)
    assert all(0 < share < 1 for share in shares)
    assert {level.n_atoms for level in soft_levels()} == {None}
