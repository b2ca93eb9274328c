"""On a GPU: visits for many models against their emulation, and searches beside those over chunks."""

import numpy as np
import pytest
from gpu_device import cp
from gpu_emulation import emulate_visit_models
from scipy import sparse

from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV, single_index_path
from singleindex.design import CsrDesign, DenseDesign, HashKFold, ManyVisit, chunk_arrays
from singleindex.design.gpu import as_gpu_design
from singleindex.design.gpu.base import GpuDesign
from singleindex.design.gpu.many import DeviceModels, DeviceRows
from singleindex.design.gpu.stream import GpuStreamedDesign
from singleindex.design.many import NO_FOLD

K, D = 7, 33
NAMES = ("gradient", "residual", "bins")


def make_visit(n_bins=64, d=D):
    rng = np.random.default_rng(0)
    table = np.sort(rng.standard_normal((K, n_bins + 1)), axis=1)
    held = np.array([0, 1, 2, NO_FOLD, 0, 1, NO_FOLD], dtype=np.int32)
    output = (np.arange(K) % 2).astype(np.int32)
    return ManyVisit(rng.standard_normal((d, K)) / 6, rng.standard_normal(K), table, held, output)


def make_rows(n, d=D):
    rng = np.random.default_rng(1)
    fold = HashKFold(3).fold_of(None, 0, n, n)
    return rng.standard_normal((n, d)), rng.standard_normal((2, n)), rng.integers(0, 4, n) / 3, fold


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("n", "n_bins"), [(1, 32), (157, 32), (511, 1), (3001, 1024), (16_384, 4096)])
def test_the_kernel_gives_the_bits_of_the_emulation(n, n_bins, weighted, dtype):
    visit, (X, Y, weight, fold) = make_visit(n_bins), make_rows(n + 5)
    some, weight = slice(5, n + 5), weight if weighted else None
    index = np.ascontiguousarray((visit.W.T @ X[some].T).astype(dtype))
    index[0, 0] = 1e5  # far beyond the last bin
    models, rows, on_device = DeviceModels(visit), DeviceRows(Y, weight, fold), cp.asarray(index)
    models.visit(on_device, rows, some)
    residual, bins, sums = emulate_visit_models(
        index, visit.offset, Y[:, some], None if weight is None else weight[some], fold[some], visit.held,
        visit.output, visit.table,
    )  # fmt: skip
    np.testing.assert_array_equal(on_device.get(), residual.astype(dtype))
    np.testing.assert_array_equal(models.bins.get(), bins)
    np.testing.assert_array_equal(models.residual.get(), sums)


def designs_of(X):
    yield as_gpu_design(cp.asarray(X)), DenseDesign(X)
    yield as_gpu_design(cp.asarray(np.hstack([X, X]))[:, : X.shape[1]]), DenseDesign(X)
    yield as_gpu_design(cp.asarray(X, order="F")), DenseDesign(X)
    yield GpuStreamedDesign(X, chunk_bytes=1000 * X.strides[0]), DenseDesign(X)
    cupyx = pytest.importorskip("cupyx.scipy.sparse")
    zeros = np.where(np.abs(X) < 0.8, 0, X)
    yield as_gpu_design(cupyx.csr_matrix(sparse.csr_matrix(zeros))), CsrDesign(sparse.csr_array(zeros))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [True, False])
def test_a_visit_of_many_models_is_that_of_the_processor(monkeypatch, dtype, weighted):
    visit, (X, Y, weight, fold) = make_visit(), make_rows(40_001)
    weight = weight if weighted else None
    # An index that is rounded otherwise may lie in the next bin.
    tol, tol_moments = (1e-9, 1e-12) if dtype == np.float64 else (2e-3, 1e-6)
    for device, host in designs_of(X.astype(dtype)):
        monkeypatch.setattr("singleindex.design.gpu.many._NUMBERS", 3 * 40_001)
        truth = host.sweep_many(visit, Y, weight, fold)
        first, again = (device.sweep_many(visit, Y, weight, fold) for _ in range(2))
        np.testing.assert_allclose(first.bins.sum(axis=(1, 2)), truth.bins.sum(axis=(1, 2)), atol=0.1)
        for name in NAMES:
            if dtype == np.float64 or name != "bins":
                np.testing.assert_allclose(getattr(first, name), getattr(truth, name), rtol=1e-9, atol=tol)
            assert np.array_equal(getattr(first, name), getattr(again, name))
        for one, other in zip(
            device.moments_of_folds(Y.T, weight, fold, 3),
            host.moments_of_folds(Y.T, weight, fold, 3),
            strict=True,
        ):
            np.testing.assert_allclose(one.covariance, other.covariance, atol=tol_moments)
            np.testing.assert_allclose(one.cross, other.cross, atol=tol_moments)


def problem(n=60_000, d=20, dtype=np.float64):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d)).astype(dtype)
    X += rng.standard_normal((n, 1)).astype(dtype)
    index = (X[:, :3] - X[:, 3:6]).astype(np.float64).sum(axis=1)
    y = np.tanh(index) + 0.3 * rng.standard_normal(n)
    return X, (rng.random(n) < 1 / (1 + np.exp(-index))).astype(int), y, rng.random(n)


def unit(w):
    return w.astype(np.float64) / np.linalg.norm(w.astype(np.float64))


def copied(design):
    raise AssertionError("the data were copied to the host")


@pytest.mark.parametrize(("dtype", "tol"), [(np.float32, 1e-6), (np.float64, 1e-9)])
@pytest.mark.parametrize("weighted", [True, False])
def test_a_search_on_the_device_is_that_over_chunks(monkeypatch, dtype, tol, weighted):
    monkeypatch.setattr(GpuDesign, "at_hand", copied)
    X, labels, y, weight = problem(dtype=dtype)
    weight = weight if weighted else None
    for kind, target in ((SingleIndexClassifierCV, labels), (SingleIndexRegressorCV, y)):
        truth = kind(cv=3).fit(chunk_arrays(X, target, sample_weight=weight))
        found, again = (kind(cv=3).fit(cp.asarray(X), target, sample_weight=weight) for _ in range(2))
        np.testing.assert_allclose(unit(found.coef_), unit(truth.coef_), atol=tol)
        if dtype == np.float64:
            # Else rounding may put one of two equal candidates first, and hardly determines the length of w.
            np.testing.assert_allclose(found.coef_, truth.coef_, atol=tol * np.abs(truth.coef_).max())
            assert found.best_params_ == truth.best_params_
            assert found.n_readings_ == truth.n_readings_
        assert np.array_equal(found.coef_, again.coef_)
        assert np.array_equal(found.predict(X[:1000]), again.predict(X[:1000]))


@pytest.mark.parametrize("storage", ["float16", "bfloat16", "CSR", "streamed"])
def test_other_kinds_of_data_are_searched_on_the_device(monkeypatch, storage):
    monkeypatch.setattr(GpuDesign, "at_hand", copied)
    # Sparse rows of floats are summed in double on the host alone.
    X, labels, _, _ = problem(dtype=np.float64 if storage == "CSR" else np.float32)
    if storage == "CSR":
        X[np.abs(X) < 1] = 0
        X = sparse.csr_matrix(X)
        data = pytest.importorskip("cupyx.scipy.sparse").csr_matrix(X)
    elif storage == "streamed":
        data = GpuStreamedDesign(X, chunk_bytes=10_000 * X.strides[0])
        monkeypatch.setattr(GpuStreamedDesign, "at_hand", copied)
    elif storage == "bfloat16":
        torch = pytest.importorskip("torch", reason="bfloat16 comes by PyTorch, which is not here")
        data = torch.from_numpy(X).to(torch.bfloat16).cuda()
        X = data.to(torch.float32).cpu().numpy()
    else:
        data = cp.asarray(X.astype(storage))
        X = X.astype(storage).astype(np.float32)
    truth = SingleIndexClassifierCV(cv=3).fit(chunk_arrays(X, labels))
    found = SingleIndexClassifierCV(cv=3).fit(data, labels)
    np.testing.assert_allclose(unit(found.coef_), unit(truth.coef_), atol=1e-6)


@pytest.mark.parametrize("settings", [{"n_atoms": [6, 3]}, {"penalty": [0.5, 0.1]}])
def test_a_long_path_on_the_device_is_that_over_chunks(monkeypatch, settings):
    monkeypatch.setattr(GpuDesign, "at_hand", copied)
    X, _, y, weight = problem()
    truth = single_index_path(chunk_arrays(X, y, sample_weight=weight), **settings)
    found = single_index_path(cp.asarray(X), y, sample_weight=weight, **settings)
    np.testing.assert_allclose(found.coefs, truth.coefs, atol=1e-9 * np.abs(truth.coefs).max())


def test_what_is_not_finite_is_refused_by_a_search():
    X, labels, _, _ = problem(dtype=np.float32)
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        SingleIndexClassifierCV(cv=3).fit(cp.asarray(X), labels)
