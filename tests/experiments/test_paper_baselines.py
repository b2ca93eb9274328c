"""Baselines of the experiments: optimality first, then agreement with libraries, then the paper's lines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from experiments.baselines import GroupLogisticRegression, LiteralCSI
from singleindex import lipschitz_isotonic_regression


def make_data(seed=0, n=60, d=25):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.2, 3, d) + rng.standard_normal(d)
    return X, X[:, :4] @ [1.0, -2.0, 0.5, 1.0] + rng.standard_normal(n)


# ---------------------------------------------------------------- group logistic regression


def violation(X, Y, model):
    """Return the largest violation of the optimality conditions of the L2,1 penalty."""
    fitted = 1 / (1 + np.exp(-(X @ model.coef_.T + model.intercept_)))
    gradient = X.T @ (fitted - Y) / len(X)
    norms = np.linalg.norm(model.coef_, axis=0)
    worst = np.abs((fitted - Y).mean(axis=0)).max()
    for row, norm, w in zip(gradient, norms, model.coef_.T, strict=True):
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
    np.testing.assert_allclose(ours.coef_[0], theirs.coef_[0], atol=1e-4)
    np.testing.assert_allclose(ours.predict(X)[:, 0], theirs.predict_proba(X)[:, 1], atol=1e-4)


def test_a_heavy_penalty_leaves_the_shares_and_a_wrong_target_is_refused():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((25, 6)), rng.random((25, 3))
    model = GroupLogisticRegression(5.0).fit(X, Y)
    assert not model.coef_.any()
    np.testing.assert_allclose(model.predict(X), np.tile(Y.mean(axis=0), (25, 1)), atol=1e-4)
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


def test_the_link_is_drawn_between_its_knots_and_sparse_is_dense():
    X, y = make_data()
    y = np.sign(y)
    model = LiteralCSI(5).fit(X, y)
    np.testing.assert_allclose(model.predict(X), lipschitz_isotonic_regression(X @ model.coef_, y), atol=1e-9)
    far = np.vstack([1e6 * model.coef_, -1e6 * model.coef_])
    np.testing.assert_allclose(model.predict(far), [model.predict(X).max(), model.predict(X).min()])
    again = LiteralCSI(5).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-9)
