"""What every design owes a solver: one list over all ways of reading data."""

import numpy as np
import pytest
from every_design import (
    DESIGNS,
    assert_product,
    every_design,
    fewer_examples,
    matrices,
    memory_mapped,
    read_only,
    vectors,
    with_explicit_zeros,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from singleindex.design import (
    CsrDesign,
    DenseDesign,
    Design,
    Scaling,
    SparseDesign,
    View,
    as_design,
    chunk_arrays,
)


def test_assert_product_fails_on_wrong_answers():
    X, w = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, -1.0])
    assert_product(np.array([-1.0, -1.0]), X, w)
    for wrong in ([-1.0, -1.1], [np.nan, -1.0], [-1.0], [[-1.0], [-1.0]]):
        with pytest.raises(AssertionError):
            assert_product(np.array(wrong), X, w)


@every_design
@fewer_examples
@given(data=st.data())
def test_products(build, data):
    design, X = build(data.draw(matrices()))
    n, d = X.shape
    w, r = data.draw(vectors(d)), data.draw(vectors(n))
    assert isinstance(design, Design)
    assert design.shape == (n, d)
    assert_product(design.matvec(w), X, w)
    assert_product(design.rmatvec(r), X.T, r)


@every_design
@fewer_examples
@given(data=st.data())
def test_products_with_several_outputs(build, data):
    design, X = build(data.draw(matrices()))
    n, d = X.shape
    k = data.draw(st.integers(1, 3))
    W = np.column_stack([data.draw(vectors(d)) for _ in range(k)])
    R = np.column_stack([data.draw(vectors(n)) for _ in range(k)])
    assert_product(design.matvec(W), X, W)
    assert_product(design.rmatvec(R), X.T, R)


@every_design
@fewer_examples
@given(data=st.data())
def test_adjoint(build, data):
    design, X = build(data.draw(matrices()))
    w, r = data.draw(vectors(X.shape[1])), data.draw(vectors(X.shape[0]))
    there, back = design.matvec(w) @ r, w @ design.rmatvec(r)
    assert there == pytest.approx(back, abs=1e-6 * (np.abs(r) @ np.abs(X) @ np.abs(w)))


def exact_product(X, w):
    return np.array([np.sum(np.longdouble(row) * w) for row in X], dtype=np.float64)


@pytest.mark.parametrize("name", [name for name in DESIGNS if "float32" not in name])
def test_double_precision_is_kept(name):
    rng = np.random.default_rng(0)
    design, X = DESIGNS[name](rng.normal(size=(50, 30)))
    d = X.shape[1]
    for count in (1, 3, d):
        w = np.where(np.arange(d) < count, rng.normal(size=d), 0)
        np.testing.assert_allclose(design.matvec(w), exact_product(X, w), rtol=0, atol=1e-12)
    r = rng.normal(size=50)
    np.testing.assert_allclose(design.rmatvec(r), exact_product(X.T, r), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in DESIGNS if "float32" in name])
def test_sums_over_few_float32_columns_are_double(name):
    rng = np.random.default_rng(0)
    design, X = DESIGNS[name](rng.normal(size=(50, 40)))
    w = np.where(np.arange(40) < 3, rng.normal(size=40), 0)
    np.testing.assert_allclose(design.matvec(w), exact_product(X, w), rtol=0, atol=1e-13)


@every_design
def test_vectors_may_be_strided_and_read_only(build):
    design, X = build(np.arange(12.0).reshape(3, 4) - 5)
    d = X.shape[1]
    w, r = read_only(np.arange(2.0 * d))[::2], read_only(np.arange(6.0))[::-2]
    assert_product(design.matvec(w), X, w)
    assert_product(design.rmatvec(r), X.T, r)
    W = np.arange(2.0 * d).reshape(d, 2)
    assert_product(design.matvec(W), X, W)
    assert_product(design.matvec(np.asfortranarray(W)), X, W)


@every_design
def test_nothing_is_changed(build):
    rng = np.random.default_rng(0)
    source = np.where(rng.random((20, 30)) < 0.3, rng.normal(size=(20, 30)), 0)
    before = source.copy()
    design, X = build(source)
    d = X.shape[1]
    w, r, weight = rng.normal(size=d), rng.normal(size=20), np.full(20, 0.05)
    sparse_w = np.where(np.arange(d) < 2, w, 0)
    kept = [v.copy() for v in (w, r, weight, sparse_w)]
    first = design.matvec(w)
    for _ in range(2):
        design.matvec(sparse_w), design.rmatvec(r), design.column_moments(weight)
        design.matvec(np.column_stack([w, w])), design.rmatvec(np.column_stack([r, r]))
    assert (design.matvec(w) == first).all()
    assert (source == before).all()
    for v, old in zip((w, r, weight, sparse_w), kept, strict=True):
        assert (v == old).all()
    assert_product(design.matvec(w), X, w)


@every_design
def test_a_gradient_may_be_changed_by_who_asked_for_it(build):
    rng = np.random.default_rng(0)
    design, _ = build(np.where(rng.random((20, 30)) < 0.3, rng.normal(size=(20, 30)), 0))
    r = rng.normal(size=20)
    first = design.rmatvec(r)
    kept = first.copy()
    first *= 0
    assert (design.rmatvec(r) == kept).all()


# ---------------------------------------------------------------- other columns are not read


POISONED = {
    "C order": lambda X: DenseDesign(np.ascontiguousarray(X)),
    "F order": lambda X: DenseDesign(np.asfortranarray(X)),
    "float32": lambda X: DenseDesign(X.astype(np.float32)),
    "memory map": lambda X: DenseDesign(memory_mapped(X)),
    "csc": lambda X: SparseDesign(with_explicit_zeros(X)),
    "csr": lambda X: SparseDesign(sparse.csr_array(with_explicit_zeros(X))),
    "scaled": lambda X: View(DenseDesign(X), Scaling(np.full(X.shape[1], 2.0))),
}


@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize("make", POISONED.values(), ids=POISONED)
def test_other_columns_are_not_read(make, count):
    rng = np.random.default_rng(0)
    X = np.full((10, 40), np.nan)
    used = rng.choice(40, count, replace=False)
    X[:, used] = rng.normal(size=(10, count))
    w = np.zeros(40)
    w[used] = 1.5
    design = make(X)
    factor = 2.0 if isinstance(design, View) else 1.0
    expected = factor * X[:, used] @ w[used]
    np.testing.assert_allclose(design.matvec(w), expected, atol=1e-6)
    assert np.isnan(design.matvec(np.ones(40))).all()


def test_sparse_reads_only_its_columns_for_any_count():
    X = np.full((3, 6), np.nan)
    X[:, :5] = 1.0
    w = np.array([1.0, 1, 1, 1, 1, 0])
    assert SparseDesign(with_explicit_zeros(X)).matvec(w).tolist() == [5, 5, 5]
    W = np.column_stack([w, 2 * w])
    assert SparseDesign(with_explicit_zeros(X)).matvec(W).tolist() == [[5, 10]] * 3


# ---------------------------------------------------------------- wrapping


def test_as_design_picks_by_type():
    X = np.eye(3)
    assert isinstance(as_design(X), DenseDesign)
    for convert in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        assert isinstance(as_design(convert(X)), SparseDesign)


def test_data_are_not_copied():
    X = np.eye(3)
    assert DenseDesign(X).X is X
    by_columns = sparse.csc_array(X)
    assert np.shares_memory(SparseDesign(by_columns).X.data, by_columns.data)


# ---------------------------------------------------------------- what does not fit


@every_design
def test_wrong_lengths_are_refused(build):
    design, X = build(np.arange(300.0).reshape(50, 6))
    n, d = X.shape
    for wrong in (0, 1, d - 1, d + 1, 100):
        with pytest.raises(ValueError, match=rf"w must have .*{d}"):
            design.matvec(np.ones(wrong))
        with pytest.raises(ValueError, match=rf"w must have .*{d}"):
            design.matvec(np.ones((wrong, 2)))
    for wrong in (0, 1, n - 1, n + 1, 100):
        with pytest.raises(ValueError, match=rf"r must have .*{n}"):
            design.rmatvec(np.ones(wrong))
        with pytest.raises(ValueError, match=rf"r must have .*{n}"):
            design.rmatvec(np.ones((wrong, 2)))
        with pytest.raises(ValueError, match=rf"weight must have .*{n}"):
            design.column_moments(np.ones(wrong))
    with pytest.raises(ValueError, match="must have"):
        design.matvec(np.ones((d, 1, 1)))


def broken(convert, starts=None, index=None):
    """A matrix of 4 × 4 with one start, or one index, that is wrong; scipy does not mind."""
    X = convert(np.eye(4))
    if starts is not None:
        X.indptr = np.array(starts, dtype=X.indptr.dtype)
    else:
        X.indices[2] = index
    return X


BROKEN = {
    "an index too high": {"index": 4},
    "an index far out": {"index": 10**9},
    "a negative index": {"index": -1},
    "a start behind the next": {"starts": [0, 3, 2, 3, 4]},
    "a negative start": {"starts": [0, -5, 2, 3, 4]},
    "a first start behind the first": {"starts": [1, 1, 2, 3, 4]},
    "a last start behind the last": {"starts": [0, 1, 2, 3, 10**6]},
    "too few starts": {"starts": [0, 1, 2, 4]},
}


@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize("convert", [sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("design", [SparseDesign, CsrDesign, lambda X: chunk_arrays(X, np.zeros(4))])
def test_broken_sparse_matrices_are_refused(design, convert, fault):
    with pytest.raises(ValueError, match=r"X is a broken sparse matrix: .* Build it anew"):
        design(broken(convert, **BROKEN[fault]))


@pytest.mark.parametrize(
    ("make", "X"),
    [
        (DenseDesign, np.eye(3, dtype=int)),
        (DenseDesign, np.eye(3, dtype=">f8")),
        (SparseDesign, sparse.csc_array(np.eye(3, dtype=int))),
        (CsrDesign, sparse.csr_array(np.eye(3, dtype=int))),
    ],
)
def test_what_holds_no_floats_is_refused(make, X):
    with pytest.raises(ValueError, match=r"not float32 or float64; use X\.astype"):
        make(X)


def test_what_has_one_dimension_is_refused():
    with pytest.raises(ValueError, match="two dimensions"):
        DenseDesign(np.zeros(3))
