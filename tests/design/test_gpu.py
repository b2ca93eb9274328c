"""The order of sums on a GPU, followed in numpy: these tests run everywhere."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from gpu_emulation import emulate_bins, emulate_sweep

from singleindex.design import DenseDesign, Visit
from singleindex.design.gpu import is_on_gpu
from singleindex.design.gpu.arrays import NEEDS_CUPY, cupy, to_numpy
from singleindex.design.gpu.exchange import Facts, as_bins, scale_for
from singleindex.design.gpu.shape import PATCH, STORAGES, shape_for
from singleindex.link import Bins, MonotoneCurve

CURVE = MonotoneCurve([-1.0, -0.3, 0.1, 0.1001, 2.0], [-1.0, -0.5, -0.5, 0.7, 0.8])
WIDTHS = (1, 2, 7, 10, 33, 256, 999, 1000, 1024, 4096, 8190, 16384, 50000, 131072)


def make_rows(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal(n), rng.random(n)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("models", [1, 3, 8])
def test_a_layout_reaches_every_column_within_its_room(d, storage, models):
    shape = shape_for(d, storage, models)
    if shape is None:
        assert models > 1 or d > 8192
        return
    size, width = STORAGES[storage], shape.width(d)
    assert shape.vec * 32 * shape.team * shape.cpt >= width
    assert shape.cluster * width >= d
    assert shape.shared_bytes(d) <= 227 << 10
    assert shape.rows * d * size % 16 == 0 or shape.rows % 16 == 0
    assert width % shape.vec == 0
    assert d % shape.vec == 0
    assert shape.rows * shape.models <= 32
    assert PATCH % shape.rows == 0
    assert shape.threads <= 1024
    if shape.cluster > 1:
        assert width * size % 16 == 0
        assert shape.teams == 1


def test_no_layout_for_rows_that_no_cluster_holds():
    assert shape_for(10**6, "float32") is None
    assert shape_for(100, "float32", models=9) is None


@pytest.mark.parametrize("storage", ["float32", "float64"])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (37, 7), (700, 33), (130, 999), (3000, 130), (20, 17000)])
@pytest.mark.parametrize("weighted", [True, False])
def test_sums_in_the_order_of_the_kernel_are_those_of_the_processor(storage, n, d, weighted):
    X, y, weight = make_rows(n, d)
    X, weight = X.astype(storage), weight if weighted else None
    w = np.random.default_rng(1).standard_normal(d) / np.sqrt(d)
    shape = shape_for(d, storage)
    index, gradient, residual = emulate_sweep(X, w, CURVE, 0.0, y, weight, shape, shape.blocks(2))
    truth = DenseDesign(X).sweep(Visit(w, w, link=CURVE), y, weight)
    tol = 1e-5 if storage == "float32" else 1e-12
    np.testing.assert_allclose(index, truth.index, atol=tol)
    np.testing.assert_allclose(gradient, truth.gradient, atol=tol * np.sqrt(n))
    assert residual == pytest.approx(truth.residual, abs=tol * n)


def test_a_row_left_out_of_the_emulation_is_seen():
    X, y, _ = make_rows(300, 40)
    w = np.ones(40) / 7
    shape = shape_for(40, "float64")
    _, gradient, _ = emulate_sweep(X, w, CURVE, 0.0, y, None, shape, n_blocks=2)
    _, fewer, _ = emulate_sweep(X[:-1], w, CURVE, 0.0, y[:-1], None, shape, n_blocks=2)
    assert np.abs(gradient - fewer).max() > 1e-3


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e5])
def test_bins_of_whole_numbers_are_the_bins_of_the_processor(weighted, spread):
    rng = np.random.default_rng(0)
    index, y = spread * rng.standard_normal(5000) + 3, rng.standard_normal(5000)
    weight = rng.random(5000) if weighted else None
    truth = Bins(256).add(index, y, weight)
    heaviest = 1.0 if weight is None else weight.max()
    scales = scale_for(5000 * heaviest), scale_for(5000 * heaviest * np.abs(y).max())
    whole = emulate_bins(index, y, weight, truth.exponent, truth.first, 256, *scales)
    facts = Facts(0.0, index.min(), index.max(), truth.exponent, truth.first)
    bins = as_bins(facts, whole, *scales)
    assert (bins.exponent, bins.first, bins.n_bins) == (truth.exponent, truth.first, 256)
    np.testing.assert_allclose(bins.sums, truth.sums, atol=1e-11 * max(1, spread))


@pytest.mark.parametrize("largest", [1e-300, 0.7, 1.0, 1e5, 1e200])
def test_whole_numbers_have_room_for_the_largest_sum(largest):
    assert largest * scale_for(largest) < 2.0**62


def test_arrays_of_numpy_are_not_on_a_gpu_and_are_left_alone():
    X = np.ones((2, 2))
    assert not is_on_gpu(X)
    assert to_numpy(X) is X


class Tensor:
    def __init__(self, is_cuda):
        self.is_cuda = is_cuda


Tensor.__module__ = "torch"


@pytest.mark.parametrize("is_cuda", [True, False])
def test_a_tensor_is_where_it_says(is_cuda):
    assert is_on_gpu(Tensor(is_cuda)) is is_cuda


def test_without_cupy_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    cupy.cache_clear()
    with pytest.raises(ImportError, match="singleindex\\[gpu\\]") as caught:
        cupy()
    assert str(caught.value) == NEEDS_CUPY


class NoDriver(Exception):
    pass


@pytest.mark.parametrize("n_devices", [0, NoDriver("no driver")])
def test_without_a_driver_the_message_says_what_to_do(monkeypatch, n_devices):
    def count():
        if isinstance(n_devices, Exception):
            raise n_devices
        return n_devices

    runtime = SimpleNamespace(getDeviceCount=count, CUDARuntimeError=NoDriver)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))
    cupy.cache_clear()
    with pytest.raises(RuntimeError, match="driver, or pass X as a numpy array"):
        cupy()


def test_a_fit_on_the_processor_imports_nothing_for_gpus():
    code = (
        "import numpy as np, sys\n"
        "from singleindex import SingleIndexRegressor\n"
        "X = np.random.default_rng(0).standard_normal((50, 3))\n"
        "SingleIndexRegressor().fit(X, X[:, 0]).predict(X)\n"
        "assert not {'cupy', 'cupyx', 'torch'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
