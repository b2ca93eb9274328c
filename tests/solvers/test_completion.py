"""The solver in factors: against the convex problem's certificate and against dense arithmetic."""

from dataclasses import replace

import numpy as np
import pytest

from singleindex.datasets import make_completion
from singleindex.design import EntriesDesign
from singleindex.link import FixedLink, Lpav
from singleindex.solvers import Status, drive
from singleindex.solvers.alternate import Ridge, solve_side
from singleindex.solvers.completion import Completion, CompletionProblem, settle
from singleindex.structures.graph import GraphSmoother, as_graph

TIGHT = {"max_iter": 3000, "tol": 1e-9}


def make_problem(strength=3.0, weight=None, seed=0, **settings):
    data = make_completion(
        30, 25, 400, **{"n_atoms": 2, "noise": "gaussian", "random_state": seed} | settings
    )
    design = EntriesDesign(*data.pairs.T.copy(), data.shape, weight)
    rows = GraphSmoother(as_graph(data.row_graph, 30, "g"), strength, 30)
    cols = GraphSmoother(as_graph(data.col_graph, 25, "g"), strength, 25)
    return CompletionProblem(design, data.y.astype(float), rows, cols), data


def violation(problem, result, ridge, weight_of_norm):
    """Return by how much the conditions of the convex least-squares problem are violated.

    Zero, to rounding, if and only if effects and low-rank part together are its global optimum: the gradient
    in the effects is zero, no atom is aligned with the residuals by more than the weight of the norm, and
    the low-rank part is aligned with them by just that.
    """
    residual = problem.y - result.best.link(result.best.index)
    gradient = problem.gradient(residual)
    parts, (rows, cols) = result.best.parts, problem.smoothers
    scale = np.abs(gradient.data).max()
    gaps = [
        np.abs(
            np.asarray(gradient.sum(axis=1)).ravel() - ridge.effects[0] * rows.apply(parts.row_effects)
        ).max(),
        np.abs(
            np.asarray(gradient.sum(axis=0)).ravel() - ridge.effects[1] * cols.apply(parts.col_effects)
        ).max(),
    ]
    largest = problem.structure.top_atoms(gradient, min(problem.design.shape))[1][0]
    gaps.append(max(0.0, largest - weight_of_norm))
    aligned = np.sum((gradient @ parts.col_factors) * parts.row_factors)
    norm = problem.structure.atom_weights(parts.row_factors, parts.col_factors).sum()
    gaps.append(abs(aligned - weight_of_norm * norm) / max(norm, 1))
    return max(gaps) / scale


def solve(problem, ridge=None, fitter=None, **settings):
    ridge = Ridge((2.0, 1.0)) if ridge is None else ridge
    settings = {"n_atoms": 20, "penalty": 0.4, "on_iteration": None} | TIGHT | settings
    how = {name: settings.pop(name) for name in ("max_iter", "tol", "on_iteration")}
    fitter = FixedLink("identity") if fitter is None else fitter
    return drive(Completion(problem, fitter, ridge, **settings), **how)


def weight_of_norm(problem, ridge, penalty):
    from singleindex.solvers.completion import prepare_start

    return penalty * prepare_start(problem, 1.0, ridge, 5).largest_penalty


# ---------------------------------------------------------------- one side


@pytest.mark.parametrize("strength", [0.0, 5.0])
def test_a_side_is_solved(strength):
    problem, _ = make_problem(strength)
    rng = np.random.default_rng(0)
    features, ridge = rng.standard_normal((25, 3)), np.array([0.5, 1.0, 2.0])
    smoother = problem.smoothers[0]
    found = solve_side(problem.sides[0], smoother, features, problem.y, ridge, np.zeros((30, 3)), 1e-10)
    A = smoother.apply(np.eye(30))
    system, right = np.zeros((90, 90)), np.zeros(90)
    for i, j, t in zip(problem.design.rows, problem.design.cols, problem.y, strict=True):
        block = slice(3 * i, 3 * i + 3)
        system[block, block] += np.outer(features[j], features[j])
        right[block] += t * features[j]
    system += np.kron(A, np.diag(ridge))
    np.testing.assert_allclose(found.ravel(), np.linalg.solve(system, right), atol=1e-7)


def test_rows_without_ratings_and_ridge_stay_zero():
    design = EntriesDesign(np.array([0, 0]), np.array([0, 1]), (3, 2))
    none = GraphSmoother(None, 0.0, 3)
    found = solve_side(
        design.side(0), none, np.ones((2, 1)), np.array([1.0, 2.0]), np.zeros(1), np.zeros((3, 1)), 1e-3
    )
    np.testing.assert_allclose(found.ravel(), [1.5, 0, 0])


# ---------------------------------------------------------------- least squares


@pytest.mark.parametrize("strength", [0.0, 3.0])
@pytest.mark.parametrize("penalty", [0.15, 0.6])
def test_least_squares_reaches_the_global_optimum(strength, penalty):
    problem, _ = make_problem(strength)
    ridge = Ridge((2.0, 1.0))
    result = solve(problem, ridge, penalty=penalty)
    assert result.status is Status.CONVERGED
    weight = weight_of_norm(problem, ridge, penalty)
    assert violation(problem, result, ridge, weight) < 1e-3
    # The certificate fails on another answer.
    parts = replace(result.best.parts, row_factors=1.05 * result.best.parts.row_factors)
    wrong = replace(result, best=replace(result.best, parts=parts, index=problem.index(parts)))
    assert violation(problem, wrong, ridge, weight) > 1e-2
    assert violation(problem, result, ridge, 1.2 * weight) > 1e-2


def test_effects_alone_are_a_ridge_regression():
    problem, _ = make_problem(3.0)
    result = solve(problem, n_atoms=0)
    n, m = problem.design.shape
    X = np.zeros((len(problem.y), n + m))
    X[np.arange(len(X)), problem.design.rows] = 1
    X[np.arange(len(X)), n + problem.design.cols] = 1
    penalty = np.zeros((n + m, n + m))
    penalty[:n, :n] = 2.0 * problem.smoothers[0].apply(np.eye(n))
    penalty[n:, n:] = problem.smoothers[1].apply(np.eye(m))
    centred = problem.y - result.best.link.offset
    expected = np.linalg.solve(X.T @ X + penalty, X.T @ centred)
    np.testing.assert_allclose(result.best.parts.row_effects, expected[:n], atol=1e-5)
    np.testing.assert_allclose(result.best.parts.col_effects, expected[n:], atol=1e-5)


def test_least_squares_descends():
    problem, _ = make_problem()
    objective = solve(problem, max_iter=50, tol=0.0).history["objective"]
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()


def test_at_the_whole_penalty_there_are_no_factors():
    problem, _ = make_problem()
    assert solve(problem, penalty=1.0).best.parts.row_factors.shape[1] == 0
    assert solve(problem, penalty=0.97).history["n_atoms"][-1] >= 1


def test_rank_is_bounded_by_the_limit():
    problem, _ = make_problem()
    assert solve(problem, n_atoms=1, penalty=0.05, max_iter=30).history["n_atoms"][-1] == 1


def test_weights_are_repetitions():
    problem, data = make_problem()
    weight = np.ones(400)
    weight[:100] = 2.0
    weighted, _ = make_problem(weight=weight)
    again = np.concatenate([np.arange(400), np.arange(100)])
    design = EntriesDesign(data.pairs[again, 0], data.pairs[again, 1], data.shape)
    repeated = CompletionProblem(design, data.y[again], *problem.smoothers)
    for fitter in (FixedLink("identity"), Lpav(1.0)):
        a, b = (solve(p, fitter=fitter, max_iter=5) for p in (weighted, repeated))
        np.testing.assert_allclose(
            a.best.parts.left @ a.best.parts.right.T, b.best.parts.left @ b.best.parts.right.T, atol=1e-6
        )
        assert a.history["mse"] == pytest.approx(b.history["mse"], abs=1e-6)


def test_other_units_of_y_are_other_units_of_the_index():
    problem, _ = make_problem()
    scaled = CompletionProblem(problem.design, 1000 * problem.y, *problem.smoothers)
    for fitter in (FixedLink("identity"), Lpav(1.0)):
        a, b = (solve(p, fitter=fitter, max_iter=10) for p in (problem, scaled))
        np.testing.assert_allclose(1000 * a.best.index, b.best.index, rtol=1e-6, atol=1e-3)


# ---------------------------------------------------------------- a learned link


def test_the_known_link_of_the_data_descends_and_fits():
    problem, _ = make_problem(link="tanh", signal=2.0, noise_level=0.05)
    y = 2 * problem.y - 1
    tanh = CompletionProblem(problem.design, y, *problem.smoothers)
    result = solve(tanh, fitter=FixedLink("tanh"), penalty=0.02, max_iter=100)
    assert result.history["mse"][-1] < result.history["mse"][0]
    assert result.best.n_iter == result.n_iter - 1


def test_a_learned_link_fits_better_than_least_squares():
    problem, _ = make_problem(link="ramp", signal=3.0, noise_level=0.05)
    linear = solve(problem, n_atoms=2, penalty=0.1)
    learned = solve(problem, fitter=Lpav(1.0), n_atoms=2, penalty=0.1, max_iter=50, tol=1e-4)
    np.testing.assert_allclose(learned.best.start_index, linear.best.index, atol=0.02)
    assert learned.history["mse"][learned.best.n_iter] < 0.9 * linear.history["mse"][-1]
    assert learned.history["objective"][learned.best.n_iter] == learned.history["objective"].min()


def test_the_callback_sees_every_iterate_and_may_stop():
    problem, _ = make_problem()
    seen = []
    result = solve(problem, fitter=Lpav(1.0), max_iter=4, tol=0.0, on_iteration=seen.append)
    assert [step.n_iter for step in seen] == [0, 1, 2, 3]
    assert result.status is Status.MAX_ITER
    np.testing.assert_array_equal(seen[0].index, result.best.start_index)
    stopped = solve(
        problem, fitter=Lpav(1.0), max_iter=4, tol=0.0, on_iteration=lambda step: step.n_iter == 1
    )
    assert stopped.status is Status.STOPPED
    assert stopped.n_iter == 2


def test_settling_ends_at_once_where_nothing_is_to_be_done():
    problem, _ = make_problem()
    parts = settle(problem, problem.empty_parts(), np.zeros(400), Ridge((1.0, 1.0)), 5)
    assert not parts.row_effects.any()
