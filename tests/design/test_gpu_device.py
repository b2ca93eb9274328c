"""On a GPU: the kernels against their emulation in numpy, bit for bit, and fits against the processor's."""

import os

import numpy as np
import pytest
from gpu_device import cp
from gpu_emulation import emulate_sweep
from scipy import sparse
from sklearn import config_context

from singleindex import (
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexRegressor,
    Slisotron,
    single_index_path,
)
from singleindex.design import CsrDesign, DenseDesign, Visit, on_gpu
from singleindex.design.gpu import as_gpu_design
from singleindex.design.gpu.arrays import check_room
from singleindex.design.gpu.kernels import has_bulk_copies, n_blocks
from singleindex.design.gpu.shape import shape_for
from singleindex.design.gpu.stream import GpuStreamedDesign
from singleindex.link import MonotoneCurve, ShiftedLink
from singleindex.solvers import OnePass
from singleindex.structures import GroupSparse, LowRank, RowSparse, Sparse

LINKS = {
    "curve": MonotoneCurve([-1.0, -0.3, 0.1, 0.1001, 2.0], [-1.0, -0.5, -0.5, 0.7, 0.8]),
    "point": MonotoneCurve([0.2], [0.4]),
    "none": None,
}
STORAGES = ("float32", "float64", "float16", "bfloat16")


def rounded(X, storage):
    """Return X as it is stored, in double."""
    if storage == "bfloat16":
        bits = X.astype(np.float32).view(np.uint32) & 0xFFFF0000
        return bits.view(np.float32).astype(np.float64)
    return X.astype(storage).astype(np.float64)


def sent(X, storage):
    if storage != "bfloat16":
        return as_gpu_design(cp.asarray(X.astype(storage)))
    torch = pytest.importorskip("torch", reason="bfloat16 comes by PyTorch, which is not here")
    return as_gpu_design(torch.from_numpy(X.astype(np.float32)).to(torch.bfloat16).cuda())


def make_rows(n, d, storage="float64", seed=0):
    rng = np.random.default_rng(seed)
    X = rounded(rng.standard_normal((n, d)), storage)
    return X, rng.standard_normal(n), rng.random(n) * (rng.random(n) < 0.9)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize(
    ("n", "d"), [(1, 1), (3, 5), (1000, 10), (70_001, 33), (5000, 256), (3001, 999), (2503, 1000),
                 (999, 4096), (333, 8190), (301, 16384), (97, 50000)],
)  # fmt: skip
def test_the_kernel_gives_the_bits_of_the_emulation(storage, n, d):
    X, y, weight = make_rows(n, d, storage)
    w = np.random.default_rng(1).standard_normal(d) / np.sqrt(d)
    design = sent(X, storage)
    shape = shape_for(d, storage)
    if shape is None or not has_bulk_copies():
        pytest.skip("there is no layout for this width: two products")
    blocks = shape.blocks(n_blocks())
    for name, omega in (("curve", weight), ("curve", None), ("none", weight)):
        link = LINKS[name]
        sweep = design.sweep(Visit(w, w, 0.1, link=link), y, omega)
        index, gradient, residual = emulate_sweep(X, w, link, 0.1, y, omega, shape, blocks)
        np.testing.assert_array_equal(sweep.index, index)
        np.testing.assert_array_equal(sweep.gradient, gradient)
        assert sweep.residual == residual


@pytest.mark.parametrize("models", [2, 3, 8])
@pytest.mark.parametrize(("n", "d"), [(500, 33), (1001, 1000), (300, 4096)])
def test_models_that_are_swept_together_have_the_sweeps_of_each(models, n, d):
    X, _, _ = make_rows(n, d)
    rng = np.random.default_rng(1)
    visits = [
        Visit(w, w_old, 0.1, 0.2, 0.3, LINKS["curve"], n_bins=128)
        for w, w_old in rng.standard_normal((models, 2, d)) / np.sqrt(d)
    ]
    ys, weights = [*rng.standard_normal((models, n))], [*rng.random((models - 1, n)), None]
    together = as_gpu_design(cp.asarray(X)).sweep_together(visits, ys, weights)
    for sweep, *each in zip(together, visits, ys, weights, strict=True):
        truth = DenseDesign(X).sweep(*each)
        np.testing.assert_allclose(sweep.gradient, truth.gradient, atol=1e-10)
        np.testing.assert_allclose(sweep.sums, truth.sums, atol=1e-9)
        np.testing.assert_allclose(sweep.bins.sums, truth.bins.sums, atol=1e-9)
        assert sweep.residual == pytest.approx(truth.residual, abs=1e-9)


def designs_of(X, y):
    yield "dense", as_gpu_design(cp.asarray(X)), DenseDesign(X)
    yield "F order", as_gpu_design(cp.asarray(X, order="F")), DenseDesign(X)
    wide = cp.asarray(np.column_stack([X, X]))
    yield "part of the columns", as_gpu_design(wide[:, : X.shape[1]]), DenseDesign(X)
    yield "not aligned", as_gpu_design(cp.asarray(np.vstack([X[:1], X]))[1:]), DenseDesign(X)
    yield "streamed", GpuStreamedDesign(X, chunk_bytes=100 * X.strides[0]), DenseDesign(X)
    zeros = np.where(np.abs(X) < 0.8, 0, X)
    csr = sparse.csr_array(zeros)
    cupyx = pytest.importorskip("cupyx.scipy.sparse")
    yield "CSR", as_gpu_design(cupyx.csr_matrix(sparse.csr_matrix(zeros))), CsrDesign(csr)
    yield "CSC", as_gpu_design(cupyx.csc_matrix(sparse.csc_matrix(zeros))), CsrDesign(csr)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("link", [*LINKS, "known"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("d", [33, 1000])
def test_a_sweep_is_that_of_the_processor(dtype, link, weighted, d):
    X, y, weight = make_rows(2011, d)
    X = X.astype(dtype)
    weight = weight if weighted else None
    rng = np.random.default_rng(1)
    w, w_old = rng.standard_normal((2, d)) / np.sqrt(d)
    link = ShiftedLink("logistic", 0.3) if link == "known" else LINKS[link]
    visit = Visit(w, w_old, 0.1, 0.2, 0.3, link, n_bins=128)
    tol = 3e-4 if dtype == np.float32 else 1e-11
    for name, design, reference in designs_of(X, y):
        sweep, truth = design.sweep(visit, y, weight), reference.sweep(visit, y, weight)
        np.testing.assert_allclose(sweep.gradient, truth.gradient, atol=tol * 30, err_msg=name)
        np.testing.assert_allclose(sweep.sums, truth.sums, atol=tol * 2000, err_msg=name)
        assert sweep.residual == pytest.approx(truth.residual, abs=tol * 100), name
        assert (sweep.bins.exponent, sweep.bins.first) == (truth.bins.exponent, truth.bins.first), name
        if dtype == np.float64:
            np.testing.assert_allclose(sweep.bins.sums, truth.bins.sums, atol=1e-8, err_msg=name)
        again = design.sweep(visit, y, weight)
        assert np.array_equal(again.gradient, sweep.gradient), name
        assert np.array_equal(again.sums, sweep.sums), name
        assert np.array_equal(again.bins.sums, sweep.bins.sums), name


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_moments_and_columns_are_those_of_the_processor(dtype):
    X, y, weight = make_rows(1501, 70)
    X[:, 3], X[:, 5], weight = 1.5, 1e4 + X[:, 5] / 8, weight / weight.sum()
    X = X.astype(dtype)
    W, R = np.random.default_rng(2).standard_normal((70, 3)), np.column_stack([y, 2 * y])
    tol = {"rtol": 2e-5, "atol": 2e-3} if dtype == np.float32 else {"rtol": 1e-11, "atol": 1e-11}
    which, rows = np.array([1, 0, 44]), np.array([7, 3, 1500])
    for name, design, reference in designs_of(X, y):
        np.testing.assert_allclose(design.matvec(W), reference.matvec(W), **tol, err_msg=name)
        np.testing.assert_allclose(design.matvec(W[:, 0]), reference.matvec(W[:, 0]), **tol, err_msg=name)
        np.testing.assert_allclose(design.rmatvec(R), reference.rmatvec(R), **tol, err_msg=name)
        mean, variance = design.column_moments(weight)
        true_mean, true_variance = reference.column_moments(weight)
        np.testing.assert_allclose(mean, true_mean, rtol=1e-5, atol=1e-6, err_msg=name)
        np.testing.assert_allclose(variance, true_variance, rtol=1e-3, atol=1e-6, err_msg=name)
        assert variance[3] == 0 or name in ("CSR", "CSC"), name
        np.testing.assert_allclose(design.columns(which), reference.columns(which), err_msg=name)
        np.testing.assert_allclose(
            design.gram(which, weight), reference.gram(which, weight), atol=1e-4, err_msg=name
        )
        np.testing.assert_allclose(
            design.take(rows).matvec(W[:, 0]), reference.matvec(W[:, 0])[rows], **tol, err_msg=name
        )


def problem(n=20_000, d=60, dtype=np.float32):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d)).astype(dtype)
    index = X[:, :5].astype(np.float64).sum(axis=1) / 2
    return X, (rng.random(n) < np.clip(index + 0.5, 0.05, 0.95)).astype(int), np.tanh(index)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("settings", [{"n_atoms": 8}, {"penalty": 0.1}, {"link": "logistic"}, {"link_cv": 3}])
def test_a_fit_is_that_of_the_processor(dtype, settings):
    X, labels, y = problem(dtype=dtype)
    on_device = cp.asarray(X)
    tol = 1e-5 if dtype == np.float32 else 1e-10
    for kind, target in ((SingleIndexClassifier, labels), (SingleIndexRegressor, y)):
        if kind is SingleIndexRegressor and "link" in settings:
            continue
        model = kind(solver=OnePass(), max_iter=30, **settings)
        # By float64: the processor's own float32 moves with its threads where y has no noise.
        truth = model.fit(X.astype(np.float64), target).coef_
        found = kind(solver=OnePass(), max_iter=30, **settings).fit(on_device, target)
        assert isinstance(found.coef_, np.ndarray)
        assert found.coef_.dtype == dtype
        np.testing.assert_allclose(found.coef_, truth, atol=tol * np.abs(truth).max())
        expected = found.predict(X)
        np.testing.assert_allclose(found.predict(on_device), expected, atol=1e-5)
        assert isinstance(found.predict(on_device), np.ndarray)
        again = kind(solver=OnePass(), max_iter=30, **settings).fit(on_device, target)
        assert np.array_equal(again.coef_, found.coef_)


def unit(w):
    return w / np.linalg.norm(w)


def test_y_and_weights_may_lie_on_the_device_too():
    X, labels, _ = problem()
    weight = np.random.default_rng(0).random(len(X))
    one = SingleIndexClassifier(n_atoms=5).fit(cp.asarray(X), labels, sample_weight=weight)
    two = SingleIndexClassifier(n_atoms=5).fit(
        cp.asarray(X), cp.asarray(labels), sample_weight=cp.asarray(weight)
    )
    assert np.array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize(
    "structure",
    [Sparse(), GroupSparse([range(0, 10), range(10, 20), range(20, 30)]), RowSparse(), LowRank(shape=(5, 6))],
    ids=lambda structure: type(structure).__name__,
)
@pytest.mark.parametrize("several", [True, False])
def test_structures_and_several_classes_are_learned_as_on_the_processor(structure, several):
    X, labels, _ = problem(n=3000, d=30, dtype=np.float64)
    y = labels + (X[:, 7] > 0.5) if several else labels
    settings = {"n_atoms": 2, "structure": structure, "max_iter": 10, "solver": "auto"}
    truth = SingleIndexClassifier(**settings).fit(X, y)
    found = SingleIndexClassifier(**settings).fit(cp.asarray(X), y)
    np.testing.assert_allclose(found.coef_, truth.coef_, atol=1e-9 * np.abs(truth.coef_).max())
    np.testing.assert_array_equal(found.predict(cp.asarray(X)), truth.predict(X))


def test_too_little_memory_is_said_with_what_to_do():
    with pytest.raises(MemoryError, match="on_gpu"):
        check_room(1 << 50, "the data")


def test_older_devices_get_two_products(monkeypatch):
    X, y, weight = make_rows(501, 64)
    w = np.random.default_rng(1).standard_normal(64) / 8
    truth = DenseDesign(X).sweep(Visit(w, w, link=LINKS["curve"], n_bins=64), y, weight)
    monkeypatch.setattr("singleindex.design.gpu.dense.has_bulk_copies", lambda: False)
    design = as_gpu_design(cp.asarray(X))
    assert not design.is_packed
    sweep = design.sweep(Visit(w, w, link=LINKS["curve"], n_bins=64), y, weight)
    np.testing.assert_allclose(sweep.gradient, truth.gradient, atol=1e-11)


def test_sweeps_that_were_recorded_give_the_bits_of_those_that_were_not():
    X, y, weight = make_rows(5001, 60)
    rng = np.random.default_rng(1)
    W, knots = rng.standard_normal((7, 60)) / 8, np.linspace(-3, 3, 2000)
    links = [
        None,
        *[MonotoneCurve(knots[:k], np.tanh(knots[:k] + k / 1000)) for k in (5, 3, 900, 2, 2000, 40)],
    ]
    visits = [
        Visit(W[k], W[max(k - 1, 0)], 0.1 * k, 0.2, 0.3, links[k], n_bins=64, exponent=k % 3 - 5)
        for k in range(7)
    ]
    recorded = as_gpu_design(cp.asarray(X))
    sweeps = [recorded.sweep(visit, y, weight) for visit in visits]
    assert recorded.iteration_of([y], [weight], 64).graphs
    for visit, sweep in zip(visits, sweeps, strict=True):
        truth = as_gpu_design(cp.asarray(X)).sweep(visit, y, weight)
        assert np.array_equal(sweep.gradient, truth.gradient)
        np.testing.assert_allclose(
            sweep.sums, truth.sums, rtol=1e-11
        )  # that of w_old comes by another kernel
        assert np.array_equal(sweep.bins.sums, truth.bins.sums)


def test_widths_that_share_a_kernel_do_not_disturb_each_other():
    assert shape_for(64, "float64") == shape_for(60, "float64")
    for d in (64, 60, 64):
        X, y, _ = make_rows(1001, d)
        w = np.ones(d) / d
        truth = DenseDesign(X).sweep(Visit(w, w, link=LINKS["curve"]), y)
        sweep = as_gpu_design(cp.asarray(X)).sweep(Visit(w, w, link=LINKS["curve"]), y)
        np.testing.assert_allclose(sweep.gradient, truth.gradient, atol=1e-10)


def test_a_sweep_of_several_models_leaves_that_of_one_alone():
    X, y, weight = make_rows(3001, 60)
    design = as_gpu_design(cp.asarray(X))
    w = np.random.default_rng(1).standard_normal((4, 60)) / 8
    one = Visit(w[0], w[0], link=LINKS["curve"], n_bins=64)
    first = design.sweep(one, y, weight)
    others = [Visit(v, v, link=LINKS["curve"], n_bins=64) for v in w]
    for _ in range(4):
        together = design.sweep_together(others, [y] * 4, [weight] * 4)
        again = design.sweep(one, y, weight)
        assert np.array_equal(again.gradient, first.gradient)
        np.testing.assert_allclose(together[0].gradient, first.gradient, atol=1e-10)


@pytest.mark.parametrize("settings", [{"n_atoms": 6}, {"penalty": 0.1}, {"alpha": 0.1}])
def test_exact_steps_from_products_of_the_device_are_those_of_the_processor(settings):
    X, labels, _ = problem(n=4000, d=40, dtype=np.float64)
    X += np.random.default_rng(1).standard_normal((4000, 1))
    truth = SingleIndexClassifier(solver="exact", **settings).fit(ByProducts(X), labels)
    found = SingleIndexClassifier(solver="exact", **settings).fit(cp.asarray(X), labels)
    np.testing.assert_allclose(found.coef_, truth.coef_, atol=1e-8 * np.abs(truth.coef_).max())


class ByProducts(DenseDesign):
    has_columns = False


def test_a_path_on_the_device_is_that_of_the_processor():
    X, _, y = problem(n=2000, d=30, dtype=np.float64)
    for solver in ("auto", "two-pass", "exact"):
        truth = single_index_path(X, y, n_atoms=[10, 5, 2], solver=solver)
        found = single_index_path(cp.asarray(X), cp.asarray(y), n_atoms=[10, 5, 2], solver=solver)
        np.testing.assert_allclose(found.coefs, truth.coefs, atol=1e-9)


@pytest.mark.parametrize("storage", STORAGES)
def test_data_at_hand_are_those_on_the_device(storage):
    X, _, _ = make_rows(5003, 7, storage)
    assert np.array_equal(sent(X, storage).at_hand(), X)


def test_a_large_copy_to_the_host_is_told_of(monkeypatch):
    monkeypatch.setattr("singleindex.design.gpu.base._LARGE", 100)
    with pytest.warns(UserWarning, match="GiB.*solver='one-pass' stays on the GPU"):
        as_gpu_design(cp.ones((100, 5))).at_hand()


def test_slisotron_takes_arrays_of_the_device():
    X, _, y = problem(n=500, d=5, dtype=np.float64)
    truth = Slisotron().fit(X, y)
    found = Slisotron().fit(cp.asarray(X), cp.asarray(y))
    np.testing.assert_array_equal(found.coef_, truth.coef_)
    np.testing.assert_allclose(found.predict(cp.asarray(X)), truth.predict(X), atol=1e-12)


def test_a_search_on_the_device_chooses_as_on_the_processor():
    X, labels, _ = problem(n=600, d=30, dtype=np.float64)
    settings = {"n_atoms": [2, 5, 10], "penalty": [], "cv": 3}
    truth = SingleIndexClassifierCV(**settings).fit(X, labels)
    found = SingleIndexClassifierCV(**settings).fit(cp.asarray(X), labels)
    assert found.best_params_ == truth.best_params_
    np.testing.assert_allclose(found.coef_, truth.coef_, atol=1e-8)


@pytest.mark.skipif(os.environ.get("SCIPY_ARRAY_API") != "1", reason="needs SCIPY_ARRAY_API=1")
def test_predictions_follow_the_namespace_where_scikit_learn_is_told_to():
    X, labels, _ = problem(n=500)
    with config_context(array_api_dispatch=True):
        model = SingleIndexClassifier(n_atoms=5).fit(cp.asarray(X), cp.asarray(labels))
        assert isinstance(model.coef_, cp.ndarray)
        for name in ("predict", "predict_proba", "decision_function"):
            assert isinstance(getattr(model, name)(cp.asarray(X)), cp.ndarray)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_tensors_of_torch_come_by_dlpack(dtype):
    torch = pytest.importorskip("torch")
    X, labels, _ = problem()
    tensor = torch.from_numpy(X).cuda().to(getattr(torch, dtype))
    model = SingleIndexClassifier(n_atoms=5).fit(tensor, labels)
    stored = tensor.to(torch.float64).cpu().numpy()
    truth = SingleIndexClassifier(n_atoms=5).fit(stored, labels)
    np.testing.assert_allclose(unit(model.coef_), unit(truth.coef_), atol=1e-5)
    assert model.predict(tensor).shape == (len(X),)


def test_what_is_not_finite_is_refused():
    X, labels, _ = problem(n=500)
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        SingleIndexClassifier().fit(cp.asarray(X), labels)
    X[7, 3] = 0
    model = SingleIndexClassifier().fit(cp.asarray(X), labels)
    X[2, 2] = np.inf
    with pytest.raises(ValueError, match="NaN or infinity"):
        model.predict(cp.asarray(X))


def test_numbers_of_another_kind_are_refused_with_what_to_do():
    with pytest.raises(ValueError, match="astype"):
        SingleIndexRegressor().fit(cp.ones((5, 2), dtype=cp.int32), np.arange(5))
    with pytest.raises(ValueError, match="two dimensions"):
        SingleIndexRegressor().fit(cp.ones(5), np.arange(5))


@pytest.mark.parametrize("streams", [True, False])
def test_data_of_the_host_are_fitted_through_the_device(streams):
    X, labels, _ = problem()
    design = GpuStreamedDesign(X, chunk_bytes=1 << 20) if streams else on_gpu(X)
    found = SingleIndexClassifier(n_atoms=5).fit(design, labels)
    truth = SingleIndexClassifier(n_atoms=5, solver="one-pass").fit(X, labels)
    np.testing.assert_allclose(unit(found.coef_), unit(truth.coef_), atol=1e-5)
