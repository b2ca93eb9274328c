"""Baselines of the experiments: optimality first, then agreement with libraries, then the paper's lines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression

from experiments.baselines import FrankWolfeLeastSquares, GroupLogisticRegression, LiteralCSI
from experiments.baselines.frank_wolfe import least_squares_in_ball
from singleindex import lipschitz_isotonic_regression


def make_data(seed=0, n=60, d=25):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.2, 3, d) + rng.standard_normal(d)
    return X, X[:, :4] @ [1.0, -2.0, 0.5, 1.0] + rng.standard_normal(n)


# ---------------------------------------------------------------- Frank–Wolfe


def duality_gap(X, y, model, radius):
    """Return how far the objective can be from the least one: an oracle of its own, on centred data."""
    A, b = X - X.mean(axis=0), y - y.mean()
    gradient = A.T @ (A @ model.coef_ - b) / len(b)
    return model.coef_ @ gradient + radius * np.abs(gradient).max()


def objective(X, y, coef, intercept):
    return np.mean((y - X @ coef - intercept) ** 2) / 2


@given(seed=st.integers(0, 10**6), power=st.integers(-5, 8), n_new=st.integers(1, 12))
def test_frank_wolfe_ends_with_a_small_gap_inside_of_the_ball(seed, power, n_new):
    X, y = make_data(seed, n=30, d=12)
    radius = 2.0**power
    model = FrankWolfeLeastSquares(radius, max_iter=200, n_new=n_new, tol=1e-6).fit(X, y)
    assert np.abs(model.coef_).sum() <= radius * (1 + 1e-9)
    assert duality_gap(X, y, model, radius) <= 1e-5 * np.var(y)


def test_the_gap_of_a_wrong_answer_is_large():
    X, y = make_data()
    model = FrankWolfeLeastSquares(3.0).fit(X, y)
    model.coef_ = model.coef_[::-1].copy()
    assert duality_gap(X, y, model, 3.0) > 0.1 * np.var(y)


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.5])
def test_frank_wolfe_agrees_with_the_lasso_of_the_same_norm(alpha):
    X, y = make_data()
    lasso = Lasso(alpha=alpha, tol=1e-10, max_iter=10**5).fit(X, y)
    radius = np.abs(lasso.coef_).sum()
    model = FrankWolfeLeastSquares(radius, max_iter=200, tol=1e-9).fit(X, y)
    ours, theirs = (objective(X, y, m.coef_, m.intercept_) for m in (model, lasso))
    assert ours == pytest.approx(theirs, rel=1e-6)


def test_a_large_ball_is_least_squares_and_sparse_is_dense():
    X, y = make_data()
    model = FrankWolfeLeastSquares(1e6, max_iter=200, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, atol=1e-5)
    again = FrankWolfeLeastSquares(1e6, max_iter=200, tol=1e-12).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-8)
    np.testing.assert_allclose(again.predict(sparse.csr_matrix(X)), model.predict(X), atol=1e-7)


def test_a_small_ball_is_filled():
    X, y = make_data()
    model = FrankWolfeLeastSquares(1e-6).fit(X, y)
    assert np.abs(model.coef_).sum() == pytest.approx(1e-6)


def test_few_iterations_leave_few_features():
    X, y = make_data()
    model = FrankWolfeLeastSquares(100.0, max_iter=2, n_new=3).fit(X, y)
    assert np.count_nonzero(model.coef_) <= 6
    assert model.n_iter_ == 2


@given(seed=st.integers(0, 10**6), radius=st.floats(0.01, 10))
def test_the_inner_problem_is_solved_in_the_ball(seed, radius):
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((20, 5)), rng.standard_normal(20)
    w = least_squares_in_ball(A, b, radius)
    gradient = A.T @ (A @ w - b)
    assert np.abs(w).sum() <= radius * (1 + 1e-9)
    assert w @ gradient + min(radius, np.abs(w).sum()) * np.abs(gradient).max() <= 1e-3 * (b @ b)


# ---------------------------------------------------------------- group logistic regression


def violation(X, Y, model):
    """Return the largest violation of the optimality conditions of the L2,1 penalty."""
    fitted = 1 / (1 + np.exp(-(X @ model.coef_ + model.intercept_)))
    gradient = X.T @ (fitted - Y) / len(X)
    norms = np.linalg.norm(model.coef_, axis=1)
    worst = np.abs((fitted - Y).mean(axis=0)).max()
    for row, norm, w in zip(gradient, norms, model.coef_, strict=True):
        if norm > 0:
            worst = max(worst, np.linalg.norm(row + model.alpha * w / norm))
        else:
            worst = max(worst, np.linalg.norm(row) - model.alpha)
    return worst


@given(seed=st.integers(0, 10**6), power=st.integers(-7, 1))
def test_group_logistic_meets_its_optimality_conditions(seed, power):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((25, 6)), rng.random((25, 3))
    model = GroupLogisticRegression(2.0**power, tol=1e-6).fit(X, Y)
    assert violation(X, Y, model) <= 1e-5


def test_the_violation_of_a_wrong_answer_is_large():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((25, 6)), rng.random((25, 3))
    model = GroupLogisticRegression(0.01).fit(X, Y)
    model.coef_ = -model.coef_
    assert violation(X, Y, model) > 0.01


def test_one_output_is_l1_logistic_regression():
    X, y = make_data(n=80, d=8)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    labels = (y > np.median(y)).astype(float)
    ours = GroupLogisticRegression(0.05, tol=1e-8, max_iter=20000).fit(X, labels[:, None])
    theirs = LogisticRegression(C=1 / (0.05 * len(y)), l1_ratio=1, solver="saga", tol=1e-9, max_iter=10**5)
    theirs.fit(X, labels)
    np.testing.assert_allclose(ours.coef_[:, 0], theirs.coef_[0], atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X)[:, 0], theirs.predict_proba(X)[:, 1], atol=1e-4)


def test_a_heavy_penalty_leaves_the_shares_and_a_wrong_target_is_refused():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((25, 6)), rng.random((25, 3))
    model = GroupLogisticRegression(5.0).fit(X, Y)
    assert not model.coef_.any()
    np.testing.assert_allclose(model.predict_proba(X), np.tile(Y.mean(axis=0), (25, 1)), atol=1e-4)
    with pytest.raises(ValueError, match="between 0 and 1"):
        GroupLogisticRegression(1.0).fit(X, 3 * Y - 1)


# ---------------------------------------------------------------- CSI as printed


def top(w, k):
    kept = np.zeros_like(w)
    largest = np.argsort(-np.abs(w), kind="stable")[:k]
    kept[largest] = w[largest]
    return kept


def test_every_line_of_the_algorithm():
    X, y = make_data()
    y = np.sign(y)
    told = []
    model = LiteralCSI(5, step_size=0.5, alpha=0.01, n_iter=3, on_iteration=lambda t, w: told.append((t, w)))
    model.fit(X, y)
    w = top(X.T @ y, 5)
    assert [t for t, _ in told] == [0, 1, 2, 3]
    for _, iterate in told:
        np.testing.assert_allclose(iterate, w, rtol=1e-10)
        fitted = lipschitz_isotonic_regression(X @ w, y)
        w = top(w - 0.5 / len(y) * X.T @ (fitted - y) + 0.01 * w, 5)
    np.testing.assert_array_equal(model.coef_, told[-1][1])


def test_the_ridge_as_printed_makes_w_longer():
    X, y = make_data()
    model = LiteralCSI(7, step_size=0.0, alpha=0.001, n_iter=50).fit(X, np.sign(y))
    np.testing.assert_allclose(model.coef_, 1.001**50 * top(X.T @ np.sign(y), 7), rtol=1e-10)


def test_the_link_is_drawn_between_its_knots_and_sparse_is_dense():
    X, y = make_data()
    y = np.sign(y)
    model = LiteralCSI(5).fit(X, y)
    np.testing.assert_allclose(model.predict(X), lipschitz_isotonic_regression(X @ model.coef_, y), atol=1e-9)
    far = np.vstack([1e6 * model.coef_, -1e6 * model.coef_])
    np.testing.assert_allclose(model.predict(far), [model.predict(X).max(), model.predict(X).min()])
    again = LiteralCSI(5).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-9)
