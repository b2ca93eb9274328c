"""One visit for many models is as good as a visit for each, on every design."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from singleindex.design import (
    BlockDesign,
    ManyVisit,
    View,
    as_design,
    as_row_design,
    chunk_arrays,
)
from singleindex.design.blocks import Target
from singleindex.design.fold_blocks import FoldRule
from singleindex.design.folds import HashKFold
from singleindex.design.many import NO_FOLD, bin_edges, bin_width, points_of
from singleindex.design.view import Scaling

N, D, K, BINS = 157, 6, 7, 32


def make_visit(seed=0, n_outputs=2):
    rng = np.random.default_rng(seed)
    table = np.sort(rng.standard_normal((K, BINS + 1)), axis=1)
    held = np.array([0, 1, 2, NO_FOLD, 0, 1, NO_FOLD], dtype=np.int32)
    output = (np.arange(K) % n_outputs).astype(np.int32)
    return ManyVisit(rng.standard_normal((D, K)), rng.standard_normal(K), table, held, output)


def make_rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    X[rng.random(X.shape) < 0.4] = 0
    weight = rng.integers(0, 4, N).astype(float)
    return X, rng.standard_normal((2, N)), weight


def one_by_one(visit, X, Y, weight, fold):
    """Return gradients, sums of residuals and bins, by the definition."""
    edges = bin_edges(BINS)
    edges[[0, -1]] = -np.inf, np.inf
    gradient, residual, bins = np.zeros((D, K)), np.zeros(K), np.zeros((K, 2, BINS, 3))
    for k in range(K):
        u, y = X @ visit.W[:, k] + visit.offset[k], Y[visit.output[k]]
        learned = fold != visit.held[k]
        b = np.searchsorted(edges, u, side="right") - 1
        place = (u / (4 + np.abs(u)) + 1) * BINS / 2
        g = visit.table[k, b] + (place - b) * (visit.table[k, b + 1] - visit.table[k, b])
        r = np.where(learned, weight * (g - y), 0.0)
        gradient[:, k], residual[k] = X.T @ r, r.sum()
        for i in range(N):
            bins[k, int(not learned[i]), b[i]] += weight[i] * np.array([1, u[i], y[i]])
    return gradient, residual, bins


def as_view(X):
    return View(as_design(X), Scaling(np.ones(D)))


DESIGNS = {
    "dense": as_row_design,
    "F order": lambda X: as_row_design(np.asfortranarray(X)),
    "CSR": lambda X: as_row_design(sparse.csr_matrix(X)),
    "CSC": lambda X: as_design(sparse.csc_matrix(X)),
    "view": as_view,
}


@pytest.mark.parametrize("kind", DESIGNS)
@pytest.mark.parametrize("weighted", [True, False])
def test_many_models_see_what_each_would(kind, weighted):
    visit, (X, Y, weight) = make_visit(), make_rows()
    fold = HashKFold(3).fold_of(None, 0, N, N)
    expected = one_by_one(visit, X, Y, weight if weighted else np.ones(N), fold)
    sweep = DESIGNS[kind](X).sweep_many(visit, Y, weight if weighted else None, fold)
    for got, target in zip((sweep.gradient, sweep.residual, sweep.bins), expected, strict=True):
        np.testing.assert_allclose(got, target, rtol=0, atol=1e-11)


@pytest.mark.parametrize("chunk_rows", [N, 50, 1])
def test_blocks_see_what_the_memory_does(chunk_rows):
    visit, (X, Y, weight) = make_visit(), make_rows()
    expected = as_row_design(X).sweep_many(visit, Y, weight, HashKFold(3).fold_of(None, 0, N, N))
    data = chunk_arrays(X, Y.T.copy(), weight, chunk_rows)
    design = BlockDesign(data, [N])
    sweep = design.sweep_many(visit, [Target(column=0), Target(column=1)], None, FoldRule(HashKFold(3), N))
    np.testing.assert_allclose(sweep.gradient, expected.gradient, atol=1e-11)
    np.testing.assert_allclose(sweep.bins, expected.bins, atol=1e-11)


def test_many_rows_are_visited_piece_by_piece(monkeypatch):
    from singleindex.design import many_products

    visit, (X, Y, weight) = make_visit(), make_rows()
    fold = HashKFold(3).fold_of(None, 0, N, N)
    expected = as_row_design(X).sweep_many(visit, Y, weight, fold)
    monkeypatch.setattr(many_products, "_AT_A_TIME", 1)
    monkeypatch.setattr(many_products, "_FEWEST_ROWS", 13)
    for X_ in (X, sparse.csr_matrix(X)):
        sweep = as_row_design(X_).sweep_many(visit, Y, weight, fold)
        np.testing.assert_allclose(sweep.gradient, expected.gradient, atol=1e-11)
        np.testing.assert_allclose(sweep.bins, expected.bins, atol=1e-11)


def test_without_gradients_there_are_bins_alone():
    visit, (X, Y, weight) = make_visit(), make_rows()
    bare = ManyVisit(visit.W, visit.offset, visit.table, visit.held, visit.output, needs_gradient=False)
    fold = HashKFold(3).fold_of(None, 0, N, N)
    sweep = as_row_design(X).sweep_many(bare, Y, weight, fold)
    assert sweep.gradient.shape == (D, 0)
    assert (sweep.bins == as_row_design(X).sweep_many(visit, Y, weight, fold).bins).all()


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50),
    st.sampled_from([4, 64, 1024]),
)
def test_no_row_is_further_from_its_bin_than_a_width(values, n_bins):
    X = np.array(values)[:, None]
    visit = ManyVisit(
        np.ones((1, 1)), np.zeros(1), np.zeros((1, n_bins + 1)), np.array([NO_FOLD], dtype=np.int32),
        np.zeros(1, dtype=np.int32), False,
    )  # fmt: skip
    fold = np.zeros(len(X), dtype=np.int32)
    points = points_of(as_row_design(X).sweep_many(visit, X.T.copy(), None, fold).bins[0, 0])
    assert points.weight.sum() == len(X)
    # y is the index itself, so that the mean of y is that of the index.
    np.testing.assert_allclose(points.y, points.index, atol=1e-9)
    inside = np.abs(X[:, 0]) < np.abs(bin_edges(n_bins)[0])
    for x in X[inside, 0]:
        assert np.abs(points.index - x).min() <= bin_width(x, n_bins) * (1 + 1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_stays_within_the_bins(bad):
    visit, (X, Y, _) = make_visit(), make_rows()
    X[3, 2] = bad
    with np.errstate(invalid="ignore"):
        sweep = as_row_design(X).sweep_many(visit, Y, None, np.zeros(N, dtype=np.int32))
    assert not np.isfinite(sweep.gradient).all()
