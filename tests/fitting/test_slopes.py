"""Slopes along single columns: least squares with robust errors, and the correction where rows are few."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression

from singleindex.fitting.slopes import correct_slopes, solve_slopes


def make(n=200, d=8, seed=0, sigma=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.geomspace(0.1, 10, d)
    w = np.zeros(d)
    w[:3] = (3.0, -0.5, 0.2)
    return X, (X @ w + sigma * rng.standard_normal(n))[:, None], w


def test_is_least_squares_in_units_of_the_spread():
    X, Y, _ = make()
    spread = X.std(axis=0)
    slopes = solve_slopes(X, Y, None, spread)
    np.testing.assert_allclose(
        slopes.value[:, 0], LinearRegression().fit(X, Y[:, 0]).coef_ * spread, rtol=1e-6
    )
    np.testing.assert_allclose(solve_slopes(sparse.csr_array(X), Y, None, spread).value, slopes.value)


def test_errors_are_those_of_white():
    X, Y, _ = make(n=400)
    spread = X.std(axis=0)
    slopes = solve_slopes(X, Y, None, spread)
    A = np.column_stack([np.ones(400), X / spread])
    inverse = np.linalg.inv(A.T @ A)
    rest = (Y[:, 0] - A @ (inverse @ A.T @ Y[:, 0])) / (1 - np.einsum("ij,jk,ik->i", A, inverse, A))
    covariance = inverse @ (A.T * rest**2) @ A @ inverse
    np.testing.assert_allclose(slopes.error[:, 0], np.sqrt(np.diag(covariance))[1:], rtol=1e-6)
    np.testing.assert_allclose(slopes.turned[:, 0], covariance[1:, 1:] @ slopes.value[:, 0], rtol=1e-6)
    vif = 1 / (np.diag(inverse)[1:] * 400)
    np.testing.assert_allclose(slopes.left, vif, rtol=1e-6)


def test_weights_are_repetitions():
    X, Y, _ = make()
    weight = np.random.default_rng(1).integers(1, 4, len(Y))
    spread = X.std(axis=0)
    weighted = solve_slopes(X, Y, weight.astype(float), spread)
    repeated = solve_slopes(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0), None, spread)
    np.testing.assert_allclose(weighted.value, repeated.value)
    np.testing.assert_allclose(weighted.error, repeated.error)


def test_constant_columns_have_no_slope():
    X, Y, _ = make()
    X[:, 4] = 1.0
    slopes = solve_slopes(X, Y, None, X.std(axis=0))
    assert np.isnan(slopes.value[4, 0])
    assert np.isfinite(np.delete(slopes.value[:, 0], 4)).all()


def test_a_column_twice_makes_intervals_endless_not_wrong():
    X, Y, _ = make()
    X[:, 1] = X[:, 0]
    slopes = solve_slopes(X, Y, None, X.std(axis=0))
    assert slopes.left[:2].max() < 1e-6
    assert np.isfinite(slopes.value).all()


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_the_correction_takes_away_what_a_model_has_too_little(start):
    """From nothing, or from the truth, it ends near the truth with more columns than rows."""
    z = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((120, 200))
        w = np.zeros(200)
        w[0] = 1.0
        Y = (X @ w + 0.5 * rng.standard_normal(120))[:, None]
        spread = X.std(axis=0)
        own = start * (w * spread)[:, None]
        rest = Y - X @ (own / spread[:, None])
        slopes = correct_slopes(X, Y, None, spread, own, rest - rest.mean(), np.array([0, 5]))
        assert np.isnan(slopes.value[1:5]).all()
        z += [(slopes.value[0, 0] - spread[0]) / slopes.error[0, 0], slopes.value[5, 0] / slopes.error[5, 0]]
    assert np.abs(np.mean(z)) < 0.7
    assert np.std(z) < 1.5
