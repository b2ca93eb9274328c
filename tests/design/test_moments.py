"""Moments of columns: folds by subtraction, parts by addition, other units by factors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from singleindex.design import DenseDesign, Moments, Scaling, SparseDesign, View


def make(seed, n=60, d=7, centre=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 2.0 ** rng.integers(-3, 4, d) + centre * rng.normal(size=d)
    return X, rng.normal(size=(n, 2)) + 5.0, rng.integers(0, 4, n).astype(float)


def assert_same(left, right, rtol=1e-8):
    spread = np.sqrt(np.diag(right.covariance))
    assert left.total == pytest.approx(right.total)
    np.testing.assert_allclose(left.mean, right.mean, rtol=1e-13, atol=1e-12)
    np.testing.assert_allclose(
        left.covariance, right.covariance, rtol=0, atol=rtol * np.max(np.outer(spread, spread))
    )
    np.testing.assert_allclose(left.y_mean, right.y_mean, rtol=1e-12)
    np.testing.assert_allclose(
        left.cross, right.cross, rtol=0, atol=rtol * np.max(spread) * np.sqrt(right.y_variance.max())
    )
    np.testing.assert_allclose(left.y_variance, right.y_variance, rtol=rtol)


def test_the_comparison_sees_a_wrong_covariance():
    X, y, weight = make(0)
    moments = Moments.of(DenseDesign(X), y, weight)
    with pytest.raises(AssertionError):
        assert_same(moments.scaled(np.full(7, 1 + 1e-7)), moments)


@pytest.mark.parametrize(
    "convert", [DenseDesign, lambda X: SparseDesign(sparse.csr_array(X))], ids=["dense", "csr"]
)
@given(seed=st.integers(0, 10**6), centre=st.sampled_from([0.0, 1e6]))
def test_taking_rows_off_keeps_the_digits(convert, seed, centre):
    X, y, weight = make(seed, centre=centre)
    out = np.arange(60) % 5 == seed % 5
    weight[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]] = 1.0
    whole, part, rest = (
        Moments.of(convert(X[rows]), y[rows], weight[rows]) for rows in (np.full(60, True), out, ~out)
    )
    assert_same(whole.minus(part), rest)
    assert_same(part.plus(rest), whole)


@given(seed=st.integers(0, 10**6))
def test_weights_are_repetition(seed):
    X, y, weight = make(seed)
    weight[0] = 1.0
    times = weight.astype(int)
    repeated = Moments.of(DenseDesign(np.repeat(X, times, axis=0)), np.repeat(y, times, axis=0))
    assert_same(Moments.of(DenseDesign(X), y, weight), repeated)


def test_other_units_are_factors():
    X, y, weight = make(1)
    scale = np.array([1.0, 2.0, 0.0, 0.5, -1.0, 1e3, 3.0])
    scaled = Moments.of(View(DenseDesign(X), Scaling(scale)), y, weight)
    assert_same(Moments.of(DenseDesign(X), y, weight).scaled(scale), scaled)


def test_they_are_those_of_numpy():
    X, y, _ = make(2)
    moments = Moments.of(DenseDesign(X), y[:, 0])
    both = np.cov(np.column_stack([X, y[:, 0]]).T, bias=True)
    np.testing.assert_allclose(moments.covariance, both[:-1, :-1], atol=1e-12)
    np.testing.assert_allclose(moments.cross[:, 0], both[:-1, -1], atol=1e-12)
    np.testing.assert_allclose(moments.y_variance, both[-1, -1])


def test_no_rows_left_is_an_error():
    X, y, weight = make(3)
    moments = Moments.of(DenseDesign(X), y, weight)
    with pytest.raises(ValueError, match="no rows are left"):
        moments.minus(moments)
    with pytest.raises(ValueError, match="positive weight"):
        Moments.of(DenseDesign(X), y, np.zeros(60))
