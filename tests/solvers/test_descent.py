"""The inner problem of an exact step: optimality by certificates first, then other solvers."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import ElasticNet, Lasso

from singleindex.design import DenseDesign, Scaling, SparseDesign, View
from singleindex.solvers.descent import Products, Rows, descend
from singleindex.structures.separable import Separable


def make(seed, n=40, d=25, density=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density) + (density == 1)
    X[:, 3] = X[:, 2] + 0.1 * X[:, 3]
    y = X[:, :4] @ [1.0, -2.0, 1.5, 0.5] + rng.normal(size=n)
    return X, y, rng.random(n) + 0.1


def products(X, v, residual):
    Z = X - v @ X / v.sum()
    residual = residual - v @ residual / v.sum()
    return Products((Z.T * v) @ Z, Z.T @ (v * residual), v @ residual**2)


FORMS = {
    "dense": lambda X, v, r: Rows(DenseDesign(X), v, r),
    "dense, F order": lambda X, v, r: Rows(DenseDesign(np.asfortranarray(X)), v, r),
    "csc": lambda X, v, r: Rows(SparseDesign(sparse.csc_array(X)), v, r),
    "csr": lambda X, v, r: Rows(SparseDesign(sparse.csr_array(X)), v, r),
    "scaled csc": lambda X, v, r: Rows(
        View(SparseDesign(sparse.csc_array(X / np.arange(1, X.shape[1] + 1))), Scaling(np.arange(1.0, X.shape[1] + 1))), v, r
    ),
    "products": products,
}  # fmt: skip
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def residual_at(X, y, v, w):
    """Return the residuals, least over the intercept."""
    r = y - X @ w
    return r - v @ r / v.sum()


def violation(X, y, v, w, shape, penalty, alpha=0.0):
    """Return how far 0 is from the subgradients of the objective, by single coordinates."""
    q = X.T @ (v * residual_at(X, y, v, w)) - alpha * w
    amount = np.where(np.isinf(shape.factor), np.inf, penalty * np.nan_to_num(shape.factor, posinf=0))
    lower = np.full(len(w), -np.inf) if shape.lower is None else shape.lower
    upper = np.full(len(w), np.inf) if shape.upper is None else shape.upper
    assert (lower <= w).all() and (w <= upper).all() and (w[np.isinf(amount)] == 0).all()
    low = np.where(w > 0, amount, -amount)  # of the subdifferential of the penalty
    high = np.where(w < 0, -amount, amount)
    short, over = np.maximum(low - q, 0), np.maximum(q - high, 0)
    return float(max(np.max(short[w > lower], initial=0), np.max(over[w < upper], initial=0)))


@every_form
@pytest.mark.parametrize("density", [1.0, 0.15])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("shares", [0.5, 0.05])
def test_the_answer_is_that_of_scikit_learn(form, density, alpha, shares):
    X, y, _ = make(1, density=density)
    n, d = X.shape
    penalty = shares * np.max(np.abs((X - X.mean(axis=0)).T @ (y - y.mean()))) / n
    descent = descend(
        form(X, np.full(n, 1 / n), y), np.zeros(d), Separable(np.ones(d)), penalty, alpha, tol=1e-14
    )
    oracle = ElasticNet(
        alpha=penalty + alpha, l1_ratio=penalty / (penalty + alpha), tol=1e-13, max_iter=10**6
    ) if alpha else Lasso(alpha=penalty, tol=1e-13, max_iter=10**6)  # fmt: skip
    assert descent.converged
    np.testing.assert_allclose(descent.w, oracle.fit(X, y).coef_, atol=1e-9)
    np.testing.assert_array_equal(descent.w != 0, oracle.coef_ != 0)
