"""Searches of data on a GPU by readings there, with a stand-in for the device that carries kernels out."""

import sys

import numpy as np
import pytest
from gpu_emulation import emulate_visit_models
from gpu_stand_in import Array, ComputingStandIn
from singleindex.design._many import visit_models
from sklearn.model_selection import KFold

from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV, single_index_path
from singleindex.design import DenseDesign, GroupHashKFold, HashKFold, ManyVisit, chunk_arrays
from singleindex.design.gpu import as_gpu_design, kernels
from singleindex.design.gpu.arrays import cupy
from singleindex.design.gpu.base import GpuDesign
from singleindex.design.many import NO_FOLD
from singleindex.structures import LowRank

K, D = 7, 6
SMALL = {"cv": 3, "penalty": [0.3, 0.1, 0.03], "scale_power": [1.0]}


@pytest.fixture
def stand_in(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", ComputingStandIn())
    caches = cupy, kernels.kernel, kernels.n_multiprocessors
    for one in caches:
        one.cache_clear()
    yield
    for one in caches:
        one.cache_clear()


@pytest.fixture
def in_place(stand_in, monkeypatch):
    """Few rows are enough to be read in place, and any copy to the host is an error."""
    monkeypatch.setattr("singleindex.fitting.in_place.LEAST_ROWS", 100)
    monkeypatch.setattr(GpuDesign, "at_hand", copied)


class CopiedError(Exception):
    pass


def copied(design):
    raise CopiedError


def make_visit(n_bins=32, d=D, seed=0):
    rng = np.random.default_rng(seed)
    table = np.sort(rng.standard_normal((K, n_bins + 1)), axis=1)
    held = np.array([0, 1, 2, NO_FOLD, 0, 1, NO_FOLD], dtype=np.int32)
    output = (np.arange(K) % 2).astype(np.int32)
    return ManyVisit(rng.standard_normal((d, K)), rng.standard_normal(K), table, held, output)


def make_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    fold = HashKFold(3).fold_of(None, 0, n, n)
    return rng.standard_normal((n, D)), rng.standard_normal((2, n)), rng.integers(0, 4, n) / 3, fold


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("n", "n_bins"), [(1, 32), (157, 32), (3001, 1024), (2000, 4096)])
def test_whole_numbers_by_bins_are_the_sums_of_the_processor(n, n_bins, weighted, dtype):
    visit, (X, Y, weight, fold) = make_visit(n_bins), make_rows(n)
    weight = weight if weighted else None
    index = np.ascontiguousarray((visit.W.T @ X.T).astype(dtype))
    index[0, 0] = 1e5  # far beyond the last bin
    found = emulate_visit_models(index, visit.offset, Y, weight, fold, visit.held, visit.output, visit.table)
    residual, bins, sums = index.astype(np.float64), np.zeros((K, 2, n_bins, 3)), np.zeros(K)
    visit_models(
        residual, visit.offset, Y, weight, fold, visit.held, visit.output, visit.table, 4.0, bins, sums, 1
    )
    np.testing.assert_array_equal(found[0], residual)
    # Whole numbers are as fine as the largest index leaves room for.
    np.testing.assert_allclose(found[1], bins, rtol=1e-12, atol=1e-14 * np.abs(index).max())
    np.testing.assert_allclose(found[2], sums, rtol=1e-12, atol=1e-12)


def test_a_row_left_out_of_the_bins_is_seen():
    visit, (X, Y, weight, fold) = make_visit(), make_rows(157)
    index = visit.W.T @ X.T
    args = visit.held, visit.output, visit.table
    whole = emulate_visit_models(index, visit.offset, Y, weight, fold, *args)
    part = emulate_visit_models(index[:, 1:], visit.offset, Y[:, 1:], weight[1:], fold[1:], *args)
    assert weight[0] > 0
    assert not np.allclose(whole[1], part[1], rtol=1e-12, atol=1e-11)


def sent(X, storage):
    return as_gpu_design(X.astype(storage).view(Array))


@pytest.mark.parametrize("storage", ["float32", "float64", "float16"])
@pytest.mark.parametrize("weighted", [True, False])
def test_a_visit_of_many_models_is_that_of_the_processor(stand_in, monkeypatch, storage, weighted):
    monkeypatch.setattr("singleindex.design.gpu.many._ROWS", 100)
    visit, (X, Y, weight, fold) = make_visit(), make_rows(357)
    X, weight = X.astype(storage), weight if weighted else None
    real = np.float64 if storage == "float64" else np.float32
    truth = DenseDesign(X.astype(real)).sweep_many(visit, Y, weight, fold)
    for design in (sent(X, storage), as_gpu_design(np.hstack([X, X]).view(Array)[:, :D])):
        found = design.sweep_many(visit, Y, weight, fold)
        tol = 1e-11 if real == np.float64 else 2e-5
        for name in ("gradient", "residual", "bins"):
            np.testing.assert_allclose(getattr(found, name), getattr(truth, name), rtol=tol, atol=100 * tol)


def test_moments_of_folds_are_those_of_the_processor_in_parts_too(stand_in, monkeypatch):
    X, Y, weight, fold = make_rows(357)
    fold[fold == 2] = 3  # one is empty
    weight[fold == 1] = 0
    truth = DenseDesign(X).moments_of_folds(Y.T, weight, fold, 4)
    for n_bytes in (1 << 30, 8 * D * 50):
        monkeypatch.setattr("singleindex.design.gpu.base._BLOCK_BYTES", n_bytes)
        found = sent(X, "float64").moments_of_folds(Y.T, weight, fold, 4)
        for one, other in zip(found, truth, strict=True):
            for name in ("total", "mean", "covariance", "y_mean", "cross", "y_variance"):
                np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-10, atol=1e-13)


def problem(n=1200, d=12, dtype=np.float64):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d)).astype(dtype)
    X += rng.standard_normal((n, 1)).astype(dtype)
    index = (X[:, :3] - X[:, 3:6]).astype(np.float64).sum(axis=1)
    return X, (rng.random(n) < 1 / (1 + np.exp(-index))).astype(int), np.tanh(index), rng.random(n)


def assert_same_search(found, truth, tol):
    assert found.n_readings_ == truth.n_readings_
    assert found.best_params_ == truth.best_params_
    np.testing.assert_allclose(found.coef_, truth.coef_, atol=tol * np.abs(truth.coef_).max())
    np.testing.assert_allclose(found.best_score_, truth.best_score_, rtol=10 * tol)


@pytest.mark.parametrize(("dtype", "tol"), [(np.float32, 1e-5), (np.float64, 1e-9)])
@pytest.mark.parametrize("weighted", [True, False])
def test_a_search_in_place_is_that_over_chunks(in_place, dtype, tol, weighted):
    X, labels, y, weight = problem(dtype=dtype)
    weight = weight if weighted else None
    for kind, target in ((SingleIndexClassifierCV, labels), (SingleIndexRegressorCV, y)):
        truth = kind(**SMALL).fit(chunk_arrays(X, target, sample_weight=weight, chunk_rows=500))
        found = kind(**SMALL).fit(as_gpu_design(X.view(Array)), target, sample_weight=weight)
        assert_same_search(found, truth, tol)
    with pytest.raises(ValueError, match=r"many rows on a GPU.*to an array of numpy"):
        found.predict_interval(X)


def test_three_classes_and_groups_of_a_column_are_searched_in_place(in_place):
    X, labels, y, _ = problem()
    X[:, -1] = np.arange(len(X)) // 10
    three = labels + (y > 0.9)
    folds = GroupHashKFold(3, column=X.shape[1] - 1)
    truth = SingleIndexClassifierCV(**SMALL | {"cv": folds}).fit(chunk_arrays(X, three))
    found = SingleIndexClassifierCV(**SMALL | {"cv": folds}).fit(as_gpu_design(X.view(Array)), three)
    assert_same_search(found, truth, 1e-9)
    given = SingleIndexClassifierCV(**SMALL | {"cv": GroupHashKFold(3)})
    found = given.fit(as_gpu_design(X.view(Array)), three, groups=X[:, -1])
    assert_same_search(found, truth, 1e-9)


@pytest.mark.parametrize("settings", [{"n_atoms": [6, 3]}, {"penalty": [0.5, 0.1]}])
def test_a_path_in_place_is_that_over_chunks(in_place, settings):
    X, _, y, weight = problem()
    truth = single_index_path(chunk_arrays(X, y, sample_weight=weight), **settings)
    found = single_index_path(as_gpu_design(X.view(Array)), y, sample_weight=weight, **settings)
    np.testing.assert_allclose(found.coefs, truth.coefs, atol=1e-9 * np.abs(truth.coefs).max())


@pytest.mark.parametrize(
    ("n", "settings"),
    [
        (99, {}),
        (1200, {"cv": KFold(3)}),
        (1200, {"scoring": "f1"}),
        (1200, {"structure": LowRank(shape=(3, 4))}),
    ],
)
def test_what_readings_cannot_do_is_searched_on_the_host(in_place, n, settings):
    X, labels, _, _ = problem(n)
    with pytest.raises(CopiedError):
        SingleIndexClassifierCV(**SMALL | settings).fit(as_gpu_design(X.view(Array)), labels)


def test_numbers_that_are_too_large_are_refused(in_place):
    X, labels, _, _ = problem(dtype=np.float32)
    X[5, 2] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        SingleIndexClassifierCV(cv=3).fit(as_gpu_design(X.view(Array)), labels)
