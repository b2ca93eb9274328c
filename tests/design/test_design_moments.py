"""Means, variances and covariances of columns, and some rows and columns of every design."""

import numpy as np
import pytest
from every_design import DESIGNS, assert_product, every_design, fewer_examples, in_blocks, matrices, vectors
from hypothesis import given
from hypothesis import strategies as st

from singleindex.design import DenseDesign


def draw_shares(data, n):
    """Draw weights of rows that sum to one, zeros among them."""
    weight = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), dtype=float)
    weight[data.draw(st.integers(0, n - 1))] += 1
    return weight / weight.sum()


@every_design
@fewer_examples
@given(data=st.data())
def test_column_moments(build, data):
    design, X = build(data.draw(matrices()))
    weight = draw_shares(data, len(X))
    mean, variance = design.column_moments(weight)
    expected = weight @ X
    spread = np.abs(X).max(axis=0, initial=0)
    assert (np.abs(mean - expected) <= 1e-6 * spread).all()
    assert (np.abs(variance - weight @ (X - expected) ** 2) <= 1e-5 * spread**2).all()
    assert (variance >= 0).all()


@pytest.mark.parametrize("name", [name for name in DESIGNS if "float32" not in name])
def test_column_moments_in_double_precision(name):
    rng = np.random.default_rng(1)
    source = np.where(rng.random((300, 12)) < 0.4, rng.normal(size=(300, 12)), 0)
    weight = rng.random(300) ** 3
    weight /= weight.sum()
    design, X = DESIGNS[name](source)
    mean, variance = design.column_moments(weight)
    np.testing.assert_allclose(mean, weight @ X, rtol=0, atol=1e-13)
    np.testing.assert_allclose(variance, weight @ (X - weight @ X) ** 2, rtol=1e-12, atol=1e-14)


@every_design
def test_constant_columns_have_no_variance(build):
    values = np.array([0.0, 1.0, 0.1, -1 / 3, 1e8])
    for n in (1, 2, 3, 7, 10, 49, 1000, 20_000):
        design, _ = build(np.tile(values, (n, 1)))
        drawn = np.random.default_rng(n).random(n)
        for weight in (np.full(n, 1 / n), drawn / drawn.sum()):
            _, variance = design.column_moments(weight)
            assert (variance == 0).all(), (n, variance)


@every_design
@fewer_examples
@given(mean=st.sampled_from([0.1, 1.0, -1e3, 1e8]), data=st.data())
def test_constant_columns_have_no_variance_whatever_the_weights(build, mean, data):
    counts = np.array(data.draw(st.lists(st.integers(1, 1000), min_size=2, max_size=30)), dtype=float)
    design, _ = build(np.full((len(counts), 2), mean))
    _, variance = design.column_moments(counts / counts.sum())
    assert (variance == 0).all()


@pytest.mark.parametrize(
    "name", [n for n in DESIGNS if not {"float32", "scaled", "expanded"} & set(n.split())]
)
def test_small_variance_beside_a_large_mean(name):
    rng = np.random.default_rng(2)
    for mean, sd in [(1e6, 1e-3), (1e8, 1.0), (-1e3, 1e-6)]:
        design, X = DESIGNS[name](mean + sd * rng.normal(size=(400, 3)))
        found, variance = design.column_moments(np.full(400, 1 / 400))
        np.testing.assert_allclose(found, mean, rtol=1e-6)
        np.testing.assert_allclose(variance, np.var(X - X[0], axis=0), rtol=1e-4)


@every_design
def test_rows_of_weight_zero_do_not_count(build):
    design, X = build(np.array([[1.0, 2.0, 3.0], [1.0, 5.0, -1.0], [9.0, 9.0, 9.0]]))
    mean, variance = design.column_moments(np.array([0.5, 0.5, 0.0]))
    np.testing.assert_allclose(mean, X[:2].mean(axis=0))
    np.testing.assert_allclose(variance, X[:2].var(axis=0))
    assert variance[0] == 0


@every_design
def test_a_first_row_far_out_does_not_spoil_the_variance(build):
    rng = np.random.default_rng(4)
    source = rng.normal(size=(50, 4))
    source[0, :3] = [1e3, -1e4, 1e5]
    weight = rng.random(50)
    weight[0] = 1e-12
    weight /= weight.sum()
    design, X = build(source)
    _, variance = design.column_moments(weight)
    np.testing.assert_allclose(variance, weight @ (X - weight @ X) ** 2, rtol=1e-6)


def test_moments_of_more_rows_than_a_block(monkeypatch):
    monkeypatch.setattr("singleindex.design.dense._BLOCK", 64)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(101, 7))
    weight = rng.random(101)
    weight /= weight.sum()
    for design in (DenseDesign(X), DenseDesign(np.asfortranarray(X))):
        mean, variance = design.column_moments(weight)
        np.testing.assert_allclose(mean, weight @ X, atol=1e-14)
        np.testing.assert_allclose(variance, weight @ (X - weight @ X) ** 2, rtol=1e-13)


# ---------------------------------------------------------------- rows and columns


def draw_positions(data, length):
    """Some positions, in any order and any of them several times."""
    return np.array(data.draw(st.lists(st.integers(0, length - 1), min_size=1, max_size=6)), dtype=np.intp)


@pytest.mark.parametrize("name", [name for name in DESIGNS if name != "blocks"])
@fewer_examples
@given(data=st.data())
def test_some_rows_are_a_design_of_their_own(name, data):
    design, X = DESIGNS[name](data.draw(matrices()))
    rows = draw_positions(data, X.shape[0])
    some, r = design.take(rows), data.draw(vectors(len(rows)))
    w = data.draw(vectors(X.shape[1]))
    assert some.shape == (len(rows), X.shape[1])
    assert_product(some.matvec(w), X[rows], w)
    assert_product(some.rmatvec(r), X[rows].T, r)


def test_rows_that_are_read_once_cannot_be_taken():
    design, _ = in_blocks(np.eye(4))
    with pytest.raises(ValueError, match="needs a method take"):
        design.take(np.arange(2))


@every_design
@fewer_examples
@given(data=st.data())
def test_columns_are_as_they_are(build, data):
    design, X = build(data.draw(matrices()))
    which = draw_positions(data, X.shape[1])
    columns = design.columns(which)
    assert columns.dtype == np.float64
    assert columns.flags.f_contiguous
    np.testing.assert_array_equal(columns, X[:, which])


def assert_covariances(actual, X, weight):
    """Assert that these are the weighted covariances of the columns of X, up to rounding."""
    centred = X - weight @ X
    expected = (centred.T * weight) @ centred
    assert actual.shape == expected.shape
    largest = np.abs(X).max(axis=0, initial=0)
    assert (np.abs(actual - expected) <= 1e-10 * np.outer(largest, largest)).all()


def test_assert_covariances_fails_on_wrong_answers():
    X, weight = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([0.25, 0.75])
    right = np.array([[0.75, 1.125], [1.125, 1.6875]])
    assert_covariances(right, X, weight)
    for wrong in (right + 1e-6, right * 2, X.T @ X, right[:1]):  # among them without centring
        with pytest.raises(AssertionError):
            assert_covariances(wrong, X, weight)


@every_design
@fewer_examples
@given(data=st.data())
def test_the_gram_matrix_is_weighted_and_centred(build, data):
    design, X = build(data.draw(matrices()))
    weight = draw_shares(data, len(X))
    which = draw_positions(data, X.shape[1])
    assert_covariances(design.gram(which, weight), X[:, which], weight)


@every_design
def test_the_gram_matrix_has_the_variances_on_its_diagonal(build):
    rng = np.random.default_rng(5)
    design, X = build(np.where(rng.random((80, 6)) < 0.5, rng.normal(size=(80, 6)), 0))
    weight = rng.random(80)
    weight /= weight.sum()
    gram = design.gram(np.arange(X.shape[1]), weight)
    np.testing.assert_allclose(np.diag(gram), design.column_moments(weight)[1], atol=1e-6)
    np.testing.assert_allclose(gram, gram.T, atol=1e-12)
    assert np.linalg.eigvalsh(gram).min() > -1e-6 * np.abs(gram).max()
