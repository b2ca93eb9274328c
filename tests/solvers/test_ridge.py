"""Paths of ridges, and dense fits: against scikit-learn."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from singleindex import SingleIndexRegressor
from singleindex.design import Scaling, View, as_design
from singleindex.link import FixedLink
from singleindex.solvers.ridge import ridge_path, rotate

RNG = np.random.default_rng(0)
SHAPES = [(80, 12), (30, 60)]  # more rows than columns, and fewer


def problem(shape):
    n, d = shape
    X = RNG.normal(size=shape) @ (np.eye(d) + 0.3) + 2.0
    index = X[:, 0] - X[:, 1]
    return X, index + RNG.normal(size=n), RNG.integers(1, 4, n).astype(float)


def traced(X, y, weight, link, ridges):
    view = View(as_design(np.asfortranarray(X)), Scaling(np.ones(X.shape[1])))
    share = weight / weight.sum()
    rotated = rotate(view, share)
    found = list(ridge_path(rotated, y, share, FixedLink(link), ridges))
    return [view.to_features(rotated.coef(c)) for c, _ in found], [index for _, index in found]


@pytest.mark.parametrize("shape", SHAPES)
def test_with_the_identity_it_is_ridge_regression(shape):
    X, y, weight = problem(shape)
    ridges = [10.0, 0.3, 1e-2]
    coefs, indices = traced(X, y, weight, "identity", ridges)
    for ridge, coef, index in zip(ridges, coefs, indices, strict=True):
        oracle = Ridge(alpha=ridge * weight.sum()).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(coef, oracle.coef_, atol=1e-8)
        centred = X @ coef
        np.testing.assert_allclose(index, centred - np.average(centred, weights=weight), atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_with_the_logistic_link_it_is_logistic_regression(shape):
    X, y, weight = problem(shape)
    labels = (y > 0).astype(float)
    ridges = np.geomspace(10, 0.05, 12)
    coefs, _ = traced(X, labels, weight, "logistic", ridges)
    for ridge, coef in list(zip(ridges, coefs, strict=True))[::4]:
        oracle = LogisticRegression(C=1 / (ridge * weight.sum()), tol=1e-10, max_iter=10_000)
        expected = oracle.fit(X, labels, sample_weight=weight).coef_[0]
        np.testing.assert_allclose(coef, expected, atol=1e-3 * np.abs(expected).max())


def test_a_dense_exact_fit_is_ridge_regression_with_its_intercept():
    X, y, _ = problem((200, 6))
    model = SingleIndexRegressor(link="identity", alpha=0.5, solver="exact", scale_power=1.0, tol=1e-8)
    model.fit(X, y)
    scale = X.std(axis=0)
    oracle = Ridge(alpha=0.5 * len(X)).fit(X / scale, y)
    np.testing.assert_allclose(model.coef_ * scale, oracle.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.predict(X), oracle.predict(X / scale), atol=1e-6)


def test_the_learned_link_of_a_dense_exact_fit_is_that_of_its_index():
    """Rows are centred on the way; X here is far from the origin."""
    X, y, weight = problem((200, 6))
    model = SingleIndexRegressor(solver="exact").fit(X + 10, y, sample_weight=weight)
    residual = y - model.predict(X + 10)
    assert abs(np.average(residual, weights=weight)) < 1e-6 * y.std()
