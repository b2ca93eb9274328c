"""CSI on a stream: its step, its moments, its average, and a state that says everything."""

import copy

import numpy as np
import pytest

from singleindex.datasets import make_single_index
from singleindex.design import DenseDesign, column_factors
from singleindex.link import FixedLink, Lpav
from singleindex.solvers import Status, Stochastic, StochasticCsi
from singleindex.solvers.stochastic import check_state
from singleindex.structures import GroupSparse, Sparse


def make_rows(n=1030, d=12, noise="gaussian"):
    X, y, *_ = make_single_index(n, d, n_atoms=4, link="clipped", noise=noise, random_state=0)
    return X * np.linspace(0.2, 3, d), y


def make_solver(
    fitter=None, structure=None, state=None, n_atoms=None, alpha=0.1, penalty=0.0, power=0.5, **settings
):
    return StochasticCsi(
        structure or Sparse(), fitter or Lpav(1.0), Stochastic(**settings), n_atoms=n_atoms, alpha=alpha,
        penalty=penalty, power=power, state=state,
    )  # fmt: skip


def feed(solver, X, y, size=50, weight=None, is_new=True):
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        solver.step(DenseDesign(X[part]), y[part], None if weight is None else weight[part], is_new)
    return solver


def test_a_batch_of_all_rows_is_a_step_of_the_gradient():
    """One batch, a fixed step: w must move by the step along the gradient of the scaled columns."""
    X, y = make_rows(300)
    step, alpha = 0.05, 0.2
    solver = StochasticCsi(
        Sparse(), FixedLink("identity"), Stochastic(step_size=step, decay=0.0), n_atoms=None, alpha=alpha,
        penalty=0.0, power=None,
    )  # fmt: skip
    design = DenseDesign(X)
    solver.step(design, y, None)
    before = solver.state["w"].copy()
    centred = X - X.mean(axis=0)
    residual = centred @ before - (y - y.mean())
    solver.step(design, y, None)
    expected = before - step * (centred.T @ residual / len(y) + alpha * before)
    np.testing.assert_allclose(solver.state["w"], expected, rtol=1e-10, atol=1e-12)


def test_the_moments_are_those_of_all_rows_so_far():
    X, y = make_rows(500)
    solver = StochasticCsi(Sparse(), Lpav(1.0), Stochastic(), n_atoms=None, alpha=0.1, penalty=0.0, power=0.5)
    for part in np.split(np.arange(500), [20, 300]):
        solver.step(DenseDesign(X[part]), y[part], None)
    np.testing.assert_allclose(solver.state["mean"], X.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(solver.state["variance"], X.var(axis=0), rtol=1e-10)
    np.testing.assert_allclose(solver.state["covariance"], np.cov(X.T, y, ddof=0)[:-1, -1], rtol=1e-9)


def test_scaled_columns_are_stepped_along_in_their_own_units():
    """A step of the gradient for the scaled columns, told in the units of X."""
    X, y = make_rows(300)
    solver = make_solver(FixedLink("identity"), power=1.0, step_size=0.05, decay=0.0)
    design = DenseDesign(X)
    solver.step(design, y, None)
    before, scale = solver.state["w"].copy(), column_factors(X.var(axis=0), 1.0)
    solver.step(design, y, None)
    centred = (X - X.mean(axis=0)) * scale
    v = before / scale
    moved = v - 0.05 * (centred.T @ (centred @ v - (y - y.mean())) / len(y) + 0.1 * v)
    np.testing.assert_allclose(solver.state["w"], scale * moved, rtol=1e-9, atol=1e-12)


def test_the_step_falls_by_the_root_of_the_number_of_steps():
    X, y = make_rows(1000)
    solver = make_solver(step_size=0.1)
    feed(solver, X, y, size=10)
    assert solver.state["step_size"] == pytest.approx(0.1 / np.sqrt(1 + 99 / 100))


def test_the_average_is_the_mean_of_the_iterates_where_late_ones_count_alike():
    X, y = make_rows(200)
    solver, iterates = make_solver(average=0.0, refit_every=1000), []
    for start in range(0, 200, 20):
        solver.step(DenseDesign(X[start : start + 20]), y[start : start + 20], None)
        iterates.append(solver.state["w"])
    np.testing.assert_allclose(solver.state["average"], np.mean(iterates, axis=0), atol=1e-12)


def test_w_is_projected_when_the_link_is_refitted():
    X, y = make_rows(400)
    solver = make_solver(n_atoms=3, refit_every=4)
    counts = []
    for start in range(0, 400, 50):
        solver.step(DenseDesign(X[start : start + 50]), y[start : start + 50], None)
        counts.append(np.count_nonzero(solver.state["w"]))
    assert counts[3] == counts[7] == 3
    assert np.count_nonzero(solver.result().best.coef) == 3


def test_groups_are_projected_as_groups():
    X, y = make_rows(400)
    solver = feed(make_solver(structure=GroupSparse(np.arange(12) // 3), n_atoms=2, refit_every=4), X, y)
    used = solver.result().best.coef.reshape(4, 3).any(axis=1)
    assert used.sum() == 2


def test_a_batch_without_weight_leaves_no_trace():
    X, y = make_rows(100)
    solver = feed(make_solver(), X, y)
    before = copy.deepcopy(solver.state)
    solver.step(DenseDesign(X), y, np.zeros(100))
    assert repr(solver.state) == repr(before)


def test_rows_that_were_seen_before_do_not_count_again_in_the_moments():
    X, y = make_rows(200)
    solver = feed(make_solver(), X, y)
    before = solver.state["mean"].copy()
    feed(solver, X[:100] + 5, y[:100], is_new=False)
    np.testing.assert_array_equal(solver.state["mean"], before)


@pytest.mark.parametrize("fitter", [Lpav(1.0), FixedLink("logistic")], ids=repr)
def test_a_solver_with_the_same_state_goes_on_bit_for_bit(fitter):
    X, y = make_rows(600)
    y = (y > 0.5).astype(float)
    one = feed(make_solver(fitter, refit_every=3), X[:300], y[:300])
    other = make_solver(fitter, refit_every=3, state=copy.deepcopy(one.state))
    copied = one.copy()
    for solver in (one, other, copied):
        feed(solver, X[300:], y[300:])
    assert repr(one.state) == repr(other.state) == repr(copied.state)


def test_the_result_is_a_streams_and_comes_near_the_truth():
    data = make_single_index(4000, 12, n_atoms=4, link="clipped", noise="gaussian", random_state=0)
    result = feed(make_solver(refit_every=8), data.X, data.y).result()
    assert result.status is Status.STREAMED
    assert result.n_iter == 80
    assert {len(values) for values in result.history.values()} == {11}  # ten periods, and the rows since
    coef = result.best.coef
    assert coef @ data.coef / np.linalg.norm(coef) / np.linalg.norm(data.coef) > 0.97


def test_a_state_is_checked():
    X, y = make_rows(200)
    state = feed(make_solver(refit_every=2), X, y).state
    check_state(state, 12)
    check_state({}, 12)
    wrong = {
        "w": np.zeros(11),
        "mean": np.full(12, np.nan),
        "total": np.inf,
        "t": -1,
        "history": np.zeros((2, 2)),
    }
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=name):
            check_state(state | {name: value}, 12)
