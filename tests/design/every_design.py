"""Every way of reading data as a design, and small matrices and vectors to try it with."""

import tempfile

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from scipy import sparse

from singleindex.design import (
    BlockDesign,
    Chain,
    CsrDesign,
    DenseDesign,
    Scaling,
    SparseDesign,
    View,
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
fewer_examples = settings(max_examples=settings().max_examples // 10)
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
