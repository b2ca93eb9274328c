"""What every design owes a solver: one list over all ways of reading data."""

import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from singleindex.design import (
    BlockDesign,
    Chain,
    CsrDesign,
    DenseDesign,
    Design,
    Scaling,
    SparseDesign,
    View,
    as_design,
    chunk_arrays,
)
from singleindex.structures.groups import Repeated


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def memory_mapped(X):
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[...] = X
    return mapped


def strided(X):
    return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]


def with_long_indices(X):
    X = sparse.csc_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def with_mixed_indices(convert, starts=np.int64, indices=np.int32):
    """As scipy leaves them where they are set one by one, or by some loaders."""

    def build(X):
        X = convert(X)
        X.indices, X.indptr = X.indices.astype(indices), X.indptr.astype(starts)
        return X

    return build


def with_strided_entries(X):
    X = sparse.csr_array(X)
    X.data = np.repeat(X.data, 2)[::2]
    return X


def with_explicit_zeros(X):
    """Every entry stored, the zeros too."""
    n, d = X.shape
    rows = np.tile(np.arange(n, dtype=np.int32), d)
    starts = np.arange(0, n * d + 1, n, dtype=np.int32)
    return sparse.csc_array((X.ravel(order="F"), rows, starts), shape=(n, d))


def with_duplicates(X):
    """Every entry stored as two halves."""
    X = sparse.csc_array(X)
    parts = np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), X.indptr * 2
    return sparse.csc_array(parts, shape=X.shape)


def frozen(X):
    for part in (X.data, X.indices, X.indptr):
        part.flags.writeable = False
    return X


def unsorted(X):
    X = sparse.csc_array(X)
    for j in range(X.shape[1]):
        part = slice(X.indptr[j], X.indptr[j + 1])
        X.data[part], X.indices[part] = X.data[part][::-1].copy(), X.indices[part][::-1].copy()
    X.has_sorted_indices = False
    return X


def scaled(make):
    """Put factors on the columns, one of them zero; undo them in the expected matrix."""

    def build(X):
        scale = np.where(np.arange(X.shape[1]) % 4 == 3, 0.0, 0.5 + np.arange(X.shape[1]))
        design, stored = make(X)
        return View(design, Scaling(scale)), stored * scale

    return build


def expanded(make):
    """Some columns several times, as overlapping groups need them."""

    def build(X):
        view, stored = scaled(make)(X)
        columns = np.r_[np.arange(X.shape[1]), 0, 0, X.shape[1] - 1]
        return View(view.design, Chain(view.linear_map, Repeated(columns))), stored[:, columns]

    return build


class Turn:
    """A symmetric map: all but the first change places, and are doubled."""

    def width(self, n_features):
        return n_features

    def to_features(self, z):
        return np.concatenate([z[:1], 2.0 * z[:0:-1]])

    def pull_back(self, gradient):
        return self.to_features(gradient)


def mapped(make):
    """Coordinates of w that are not its entries."""

    def build(X):
        view, stored = scaled(make)(X)
        turn = Turn()
        matrix = np.column_stack([turn.to_features(e) for e in np.eye(X.shape[1])])
        return View(view.design, Chain(view.linear_map, turn)), stored @ matrix

    return build


def dense(convert):
    def build(X):
        stored = convert(X)
        return DenseDesign(stored), np.array(stored, dtype=np.float64)

    return build


def in_columns(convert):
    def build(X):
        stored = convert(X)
        return SparseDesign(stored), stored.toarray().astype(np.float64)

    return build


def by_rows(convert):
    def build(X):
        stored = convert(X)
        return CsrDesign(stored), stored.toarray().astype(np.float64)

    return build


def in_blocks(X):
    n_rows = max(len(X) // 3, 1)
    lengths = np.diff(np.r_[np.arange(0, len(X), n_rows), len(X)])
    return BlockDesign(chunk_arrays(X, np.zeros(len(X)), chunk_rows=n_rows), lengths), X


# A new design is one more line: from an array, the design and what it must multiply like.
DESIGNS = {
    "C order": dense(np.ascontiguousarray),
    "F order": dense(np.asfortranarray),
    "float32": dense(lambda X: X.astype(np.float32)),
    "float32, F order": dense(lambda X: np.asfortranarray(X, dtype=np.float32)),
    "read-only": dense(read_only),
    "strided": dense(strided),
    "memory map": dense(memory_mapped),
    "csr": in_columns(sparse.csr_array),
    "csc": in_columns(sparse.csc_array),
    "csr matrix": in_columns(sparse.csr_matrix),
    "coo": in_columns(sparse.coo_array),
    "csc, float32": in_columns(lambda X: sparse.csc_array(X.astype(np.float32))),
    "csc, int64 indices": in_columns(with_long_indices),
    "csc, int64 starts": in_columns(with_mixed_indices(sparse.csc_array)),
    "csr, int64 starts": in_columns(with_mixed_indices(sparse.csr_array)),
    "csr, int64 indices": in_columns(with_mixed_indices(sparse.csr_matrix, np.int32, np.int64)),
    "csr, strided entries": in_columns(with_strided_entries),
    "csc, explicit zeros": in_columns(with_explicit_zeros),
    "csc, duplicates": in_columns(with_duplicates),
    "csc, unsorted": in_columns(unsorted),
    "csc, read-only": in_columns(lambda X: frozen(sparse.csc_array(X))),
    "by rows": by_rows(sparse.csr_array),
    "by rows, int64 starts": by_rows(with_mixed_indices(sparse.csr_array)),
    "by rows, int64 indices": by_rows(with_mixed_indices(sparse.csr_array, np.int32, np.int64)),
    "by rows, strided entries": by_rows(with_strided_entries),
    "by rows, of csc, int64 starts": by_rows(with_mixed_indices(sparse.csc_array)),
    "blocks": in_blocks,
    "scaled dense": scaled(dense(np.ascontiguousarray)),
    "scaled sparse": scaled(in_columns(sparse.csc_array)),
    "expanded dense": expanded(dense(np.ascontiguousarray)),
    "expanded sparse": expanded(in_columns(sparse.csc_array)),
    "mapped scaled dense": mapped(dense(np.ascontiguousarray)),
    "mapped scaled sparse": mapped(in_columns(sparse.csc_array)),
    "scaled float32": scaled(in_columns(lambda X: sparse.csc_array(X.astype(np.float32)))),
}
# Every test runs for each of them.
fewer_examples = settings(max_examples=settings().max_examples // 4)
every_design = pytest.mark.parametrize("build", DESIGNS.values(), ids=DESIGNS)

NUMBERS = st.sampled_from([0.0, 0.0, 0.0, 1.0, 1.0, -2.0, 0.5]) | st.integers(-9999, 9999).map(
    lambda k: k / 100
)


@st.composite
def matrices(draw, max_rows=9, max_columns=20):
    """A matrix with many zeros, among them empty rows and columns."""
    n, d = draw(st.integers(1, max_rows)), draw(st.integers(1, max_columns))
    X = np.array(draw(st.lists(NUMBERS, min_size=n * d, max_size=n * d))).reshape(n, d)
    if draw(st.booleans()):
        X[:, draw(st.integers(0, d - 1))] = 0
        X[draw(st.integers(0, n - 1))] = 0
    return X


@st.composite
def vectors(draw, length):
    """A vector with none, one, few or all entries other than zero."""
    count = draw(st.sampled_from([0, 1, 2, length]))
    w = np.zeros(length)
    for j in range(min(count, length)):
        at = j if count >= length else draw(st.integers(0, length - 1))
        w[at] = draw(st.integers(-999, 999)) / 100
    return w


def assert_product(actual, X, w):
    """Assert actual = X w up to rounding, single precision for float32 data."""
    assert actual.dtype == np.float64
    expected = X @ w
    assert actual.shape == expected.shape
    slack = 1e-6 * (np.abs(X) @ np.abs(w))
    assert (np.abs(actual - expected) <= slack).all(), (actual, expected)


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


# ---------------------------------------------------------------- moments


@every_design
@fewer_examples
@given(data=st.data())
def test_column_moments(build, data):
    design, X = build(data.draw(matrices()))
    n = X.shape[0]
    weight = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), dtype=float)
    weight[data.draw(st.integers(0, n - 1))] += 1
    weight /= weight.sum()
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
    n = X.shape[0]
    weight = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), dtype=float)
    weight[data.draw(st.integers(0, n - 1))] += 1
    weight /= weight.sum()
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
