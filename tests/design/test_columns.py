"""Some columns of a design: as an array, packed, and their covariances."""

import numpy as np
import pytest
from scipy import sparse

from singleindex.design import Chain, DenseDesign, Design, Scaling, SparseColumns, SparseDesign, View
from singleindex.structures.groups import Repeated

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 6)) * (RNG.random((50, 6)) < 0.2)
SCALE = np.array([1.0, 2.0, 0.0, 4.0, -1.0, 0.5])
REPEATED = np.array([0, 1, 1, 5, 3, 0])


class OnlyProducts(Design):
    """A design that knows its products, and nothing more."""

    shape = X.shape

    def matvec(self, w):
        return X @ w

    def rmatvec(self, r):
        return X.T @ r

    def column_moments(self, weight):
        return DenseDesign(X).column_moments(weight)


class Sums:
    """Coordinates that are sums of columns."""

    def width(self, n_features):
        return n_features

    def to_features(self, z):
        return np.cumsum(z, axis=0)

    def pull_back(self, gradient):
        return np.cumsum(gradient[::-1], axis=0)[::-1]


CSC = SparseDesign(sparse.csc_array(X))
DESIGNS = {
    "dense": (DenseDesign(X), X),
    "dense, F order": (DenseDesign(np.asfortranarray(X)), X),
    "dense, float32": (DenseDesign(X.astype(np.float32)), X.astype(np.float32).astype(float)),
    "csc": (CSC, X),
    "csr": (SparseDesign(sparse.csr_array(X)), X),
    "scaled": (View(CSC, Scaling(SCALE)), X * SCALE),
    "repeated": (View(CSC, Repeated(REPEATED)), X[:, REPEATED]),
    "scaled, then repeated": (View(CSC, Chain(Scaling(SCALE), Repeated(REPEATED))), (X * SCALE)[:, REPEATED]),
    "sums": (View(CSC, Chain(Scaling(SCALE), Sums())), (X * SCALE) @ np.tril(np.ones((6, 6)))),
    "only products": (OnlyProducts(), X),
}
every_design = pytest.mark.parametrize(("design", "expected"), DESIGNS.values(), ids=DESIGNS)


@every_design
@pytest.mark.parametrize("which", [[2, 0, 5], [1, 1], [], list(range(6))])
def test_columns_are_those_of_the_array(design, expected, which):
    which = np.array(which, dtype=np.intp)
    np.testing.assert_allclose(design.columns(which), expected[:, which], atol=1e-14)
    packed = design.pack(which)
    np.testing.assert_allclose(packed.toarray(), expected[:, which], atol=1e-14)
    np.testing.assert_allclose(
        packed.times(np.full(len(which), 2.0)).toarray(), 2 * expected[:, which], atol=1e-14
    )


@every_design
def test_covariances_are_those_of_the_array(design, expected):
    weight = RNG.random(50)
    weight /= weight.sum()
    which = np.array([4, 0, 3])
    centred = expected[:, which] - weight @ expected[:, which]
    np.testing.assert_allclose(design.gram(which, weight), (centred.T * weight) @ centred, atol=1e-7)


@pytest.mark.parametrize("name", ["csc", "csr", "scaled", "repeated"])
def test_stored_entries_stay_so(name):
    assert isinstance(DESIGNS[name][0].pack(np.arange(4)), SparseColumns)


@every_design
@pytest.mark.parametrize("which", [[-1], [6], [[0, 1]]])
def test_columns_that_are_not_there_are_refused(design, expected, which):
    if not isinstance(design, OnlyProducts) and not isinstance(design, View):
        with pytest.raises(ValueError, match="flat list of numbers"):
            design.pack(np.array(which))


def test_what_is_packed_is_a_copy():
    for design, expected in DESIGNS.values():
        packed = design.pack(np.array([0, 1]))
        (packed.data if isinstance(packed, SparseColumns) else packed.values)[...] = 0.0
        np.testing.assert_array_equal(design.columns(np.array([0])), expected[:, :1])


def test_covariances_of_full_sparse_columns_keep_their_digits():
    full = RNG.normal(size=(50, 3)) + 1e6
    weight = np.full(50, 1 / 50)
    sparse_gram = SparseDesign(sparse.csc_array(np.column_stack([full, X]))).gram(np.arange(5), weight)
    dense_gram = DenseDesign(np.column_stack([full - 1e6, X])).gram(np.arange(5), weight)
    np.testing.assert_allclose(sparse_gram, dense_gram, atol=1e-8)


def test_some_rows_of_sparse_data_are_held_as_all_were():
    rows = np.array([3, 1, 4, 1])
    for convert in (sparse.csr_array, sparse.csc_array):
        design = SparseDesign(convert(X))
        taken = design.take(rows)
        assert taken.is_by_rows == design.is_by_rows
        np.testing.assert_allclose(taken.rmatvec(np.arange(4.0)), X[rows].T @ np.arange(4.0), atol=1e-14)
        np.testing.assert_allclose(taken.matvec(SCALE), X[rows] @ SCALE, atol=1e-14)
