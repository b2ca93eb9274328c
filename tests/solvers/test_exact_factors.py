"""Exact steps with factors, signs and columns that are never penalised, against other ways to the same w."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression

from singleindex.design import as_design
from singleindex.link import FixedLink, PerOutput
from singleindex.solvers import Gradient, Simplicity
from singleindex.solvers.exact import Exact, exact_path
from singleindex.solvers.relax import relax
from singleindex.structures import GroupSparse, RowSparse, Sparse
from singleindex.structures.separable import Separable


def rows(seed=0, n=80, d=10, n_outputs=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, 1))
    Y = X[:, :3] @ rng.normal(size=(3, n_outputs)) + rng.normal(size=(n, n_outputs))
    return X, Y[:, 0] if n_outputs == 1 else Y


def exact(X, y, structure, link="identity", weight=None):
    fitter = FixedLink(link)
    return Exact(
        as_design(np.asfortranarray(X)), y, Simplicity(structure, fitter.slope),
        PerOutput(fitter) if y.ndim == 2 else fitter, sample_weight=weight, inner_tol=1e-13,
    )  # fmt: skip


def solve(X, y, structure, share, link="identity", weight=None, n_steps=1):
    """Return the largest penalty, and w at a share of it."""
    method = exact(X, y, structure, link, weight)
    largest = method.largest_penalty()
    (iterate,) = exact_path(method, [share * largest], n_steps=n_steps)
    return largest, iterate.coef


@given(seed=st.integers(0, 50), share=st.sampled_from([0.02, 0.2, 0.7]))
def test_a_factor_is_a_column_divided_by_it(seed, share):
    X, y = rows(seed)
    factor = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], X.shape[1])
    largest, w = solve(X, y, Sparse(factors=factor), share)
    plain, v = solve(X / factor, y, Sparse(), share)
    assert largest == pytest.approx(plain)
    np.testing.assert_allclose(w, v / factor, atol=1e-7)
    oracle = Lasso(alpha=share * largest, tol=1e-13, max_iter=100_000).fit(X / factor, y).coef_ / factor
    np.testing.assert_allclose(w, oracle, atol=1e-6)


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_signs_against_a_lasso_of_columns_that_are_turned(share):
    X, y = rows(3)
    signs = np.where(np.arange(X.shape[1]) % 2, 1, -1)
    largest, w = solve(X, y, Sparse(signs=signs), share)
    oracle = Lasso(alpha=share * largest, positive=True, tol=1e-13, max_iter=100_000).fit(X * signs, y).coef_
    np.testing.assert_allclose(w, signs * oracle, atol=1e-6)
    assert solve(X, y, Sparse(positive=True), share)[1].min() >= 0


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_what_is_never_penalised_is_projected_out(share):
    """Frisch, Waugh and Lovell: the others are a lasso of what it leaves of X and y."""
    X, y = rows(4)
    free, others = [2, 5], [j for j in range(X.shape[1]) if j not in (2, 5)]
    rest_y = y - LinearRegression().fit(X[:, free], y).predict(X[:, free])
    rest_X = X[:, others] - LinearRegression().fit(X[:, free], X[:, others]).predict(X[:, free])
    largest, w = solve(X, y, Sparse(factors=dict.fromkeys(free, 0)), share)
    plain, v = solve(rest_X, rest_y, Sparse(), share)
    assert largest == pytest.approx(plain)
    np.testing.assert_allclose(w[others], v, atol=1e-7)
    last = LinearRegression().fit(X[:, free], y - X[:, others] @ v).coef_
    np.testing.assert_allclose(w[free], last, atol=1e-7)


@pytest.mark.parametrize(
    "structure",
    [
        Sparse(factors={2: 0, 5: 0}),
        RowSparse(factors={2: 0, 5: 0}),
        GroupSparse([[0, 1], [2, 5], [3, 4, 6], [7, 8, 9]], [1, 0, 1, 2]),
    ],
    ids=lambda structure: type(structure).__name__,
)
def test_at_the_largest_penalty_nothing_else_is_in_use(structure):
    X, y = rows(5, n_outputs=3 if structure.joint else 1)
    _, at = solve(X, y, structure, 1.0 + 1e-9)
    used = np.flatnonzero(at if at.ndim == 1 else at.any(axis=1))
    assert used.tolist() == [2, 5]
    np.testing.assert_allclose(at[used], LinearRegression().fit(X[:, used], y).coef_.T, atol=1e-7)
    _, below = solve(X, y, structure, 0.99)
    assert structure.count_atoms(below) == 1


def test_through_a_logistic_link():
    X, y = rows(6)
    y = (y > 0).astype(float)
    method = exact(X, y, Sparse(factors={2: 0, 5: 0}), "logistic")
    oracle = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(X[:, [2, 5]], y)
    np.testing.assert_allclose(method.start().w[[2, 5]], oracle.coef_[0], rtol=1e-5)
    rest = X.T @ (y - oracle.predict_proba(X[:, [2, 5]])[:, 1]) / len(y)
    assert method.largest_penalty() == pytest.approx(np.abs(rest).max(), rel=1e-5)


def test_gradient_steps_have_the_same_largest_penalty():
    X, y = rows(4)
    structure = Sparse(factors={2: 0})
    fitter = FixedLink("identity")
    gradient = Gradient(as_design(X), y, Simplicity(structure, fitter.slope), fitter)
    assert gradient.largest_penalty() == pytest.approx(exact(X, y, structure).largest_penalty())
    plain = Gradient(as_design(X), y, Simplicity(Sparse(), fitter.slope), fitter)
    assert gradient.largest_penalty() < 0.99 * plain.largest_penalty()


@pytest.mark.parametrize("link", ["identity", "logistic"])
@pytest.mark.parametrize(
    "structure",
    [
        Sparse(factors={1: 0, 4: 2, 6: np.inf}, signs={0: 1, 2: -1}),
        GroupSparse([0, 0, 1, 1, 2] * 2, [1, 0, 2]),
    ],
)
def test_weights_are_repetition(structure, link):
    X, y = rows(7, n=40)
    y = y if link == "identity" else (y > 0).astype(float)
    times = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    again = np.repeat(np.arange(len(y)), times.astype(int))
    one = solve(X, y, structure, 0.2, link, times, n_steps=5)
    other = solve(X[again], y[again], structure, 0.2, link, n_steps=5)
    assert one[0] == pytest.approx(other[0])
    np.testing.assert_allclose(one[1], other[1], atol=1e-7)


# ---------------------------------------------------------------- relaxed


def bounds_of(signs):
    return Sparse(signs=signs).separable(len(signs)).bounds_of(np.arange(len(signs)))


def test_relaxed_within_signs_is_a_ridge_within_them():
    X, y = rows(8)
    signs = np.array([1, -1, 0, 1, -1, 0, 1, -1, 1, -1])
    centred = X - X.mean(axis=0)
    ridge = 1e-2 * np.mean(np.square(centred).mean(axis=0))
    share = np.full(len(y), 1 / len(y))
    w = relax(X, y, share, np.zeros(10), FixedLink("identity"), bounds=bounds_of(signs))
    stacked = np.vstack([centred / np.sqrt(len(y)), np.sqrt(ridge) * np.eye(10)])
    target = np.append((y - y.mean()) / np.sqrt(len(y)), np.zeros(10))
    lower, upper = np.where(signs > 0, 0, -np.inf), np.where(signs < 0, 0, np.inf)
    oracle = lsq_linear(stacked, target, (lower, upper), tol=1e-14).x
    np.testing.assert_allclose(w, oracle, atol=1e-4)
    assert (w >= lower).all()
    assert (w <= upper).all()
    assert (w[signs != 0] == 0).any()


@pytest.mark.parametrize("link", ["identity", "logistic"])
def test_bounds_that_do_not_bind_change_nothing(link):
    X, y = rows(9)
    y = y if link == "identity" else (y > 0).astype(float)
    share, fitter = np.full(len(y), 1 / len(y)), FixedLink(link)
    plain = relax(X, y, share, np.zeros(10), fitter)
    wide = Separable(np.zeros(10), lower=np.full(10, -1e6), upper=np.full(10, 1e6))
    np.testing.assert_allclose(relax(X, y, share, np.zeros(10), fitter, bounds=wide), plain, atol=1e-4)
