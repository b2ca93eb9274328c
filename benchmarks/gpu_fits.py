"""Whole fits and searches with data on a GPU, beside the processor and beside others."""

from __future__ import annotations

import contextlib
from functools import partial

import numpy as np

from singleindex import SingleIndexClassifier, SingleIndexClassifierCV
from singleindex.design import DenseDesign, HashKFold, Visit, chunk_arrays
from singleindex.design.gpu import as_gpu_design
from singleindex.design.gpu.arrays import cupy
from singleindex.design.gpu.stream import GpuStreamedDesign
from singleindex.solvers import OnePass
from singleindex.structures import LowRank, Sparse

from .block_search import make_visit
from .gpu_timing import CURVE, GIB, alternately, clocked, free_all, once, timed

ROWS, COLUMNS = 1 << 20, 4096
MAX_ITER = 30


def problem(n, d, dtype=np.float32):
    """Return X on the device and labels that a few columns tell of."""
    cp = cupy()
    cp.random.seed(0)
    X = cp.random.standard_normal((n, d), dtype=np.float32).astype(dtype, copy=False)
    index = (X[:, :10].sum(axis=1) / 3).get().astype(np.float64)
    chance = 0.05 + 0.9 / (1 + np.exp(-2 * index))
    return X, (np.random.default_rng(1).random(n) < chance).astype(int)


def model(**settings):
    return SingleIndexClassifier(n_atoms=50, max_iter=MAX_ITER, tol=0, solver=OnePass(), **settings)


def fits():
    """Thirty iterations: here, on the processor, and L1-logistic regression by PyTorch."""
    X, y = problem(ROWS, COLUMNS)
    ours = model().fit(X, y)
    found = {"n": ROWS, "d": COLUMNS, "iterations": ours.n_iter_, "gpu_s": clocked(lambda: model().fit(X, y))}
    found["same_bits"] = bool(np.array_equal(ours.coef_, model().fit(X, y).coef_))
    with contextlib.suppress(ImportError):
        found["torch_s"] = clocked(torch_l1(X, y))
    on_host = X.get()
    del X
    free_all()
    theirs, found["cpu_s"] = once(lambda: model().fit(on_host, y))
    found |= {f"{name}_float32": value for name, value in differences(ours, theirs).items()}
    found["stream"] = streamed(on_host, y, ours)
    X, y = problem(1 << 18, 512, np.float64)
    both = model().fit(X, y), model().fit(X.get(), y)
    return found | {f"{name}_float64": value for name, value in differences(*both).items()}


def exact():
    """Exact steps on correlated columns: from products that the device makes, and on the processor."""
    n, d = 1 << 18, 2048
    X, y = problem(n, d)
    X += cupy().random.standard_normal((n, 1), dtype=np.float32)  # a factor that all columns share

    def fit(data):
        return SingleIndexClassifier(n_atoms=50, solver="exact").fit(data, y)

    ours, design, weight = fit(X), as_gpu_design(X), np.full(n, 1 / n)
    row = {"n": n, "d": d, "gpu_s": clocked(lambda: fit(X), repeats=3)}
    row["gram_s"] = clocked(lambda: design.gram(np.arange(d), weight), repeats=3)
    on_host = BlockwiseDesign(X.get())
    theirs, row["cpu_s"] = once(lambda: fit(on_host))
    return row | differences(ours, theirs)


class BlockwiseDesign(DenseDesign):
    """An array whose exact steps go by products of all columns, as those of data on a GPU do."""

    has_columns = False


def searches():
    """Searches with data on the device: few, which are copied to the host, and many, which are read there."""
    return few_rows() | {"many": many_rows(), "reading": one_reading()}


def search(data, *y, folds=5):
    """Return a search with the default settings, and its seconds."""
    return once(lambda: SingleIndexClassifierCV(cv=folds).fit(data, *y))


def many_rows():
    """A search by readings on the device, twice, beside the same search over chunks in the host's memory."""
    n, d = ROWS, 512
    X, y = problem(n, d)
    search(X[:50_000], y[:50_000])  # kernels are compiled
    ours, gpu_s = search(X, y)
    again, again_s = search(X, y)
    on_host = X.get()
    del X
    theirs, cpu_s = search(chunk_arrays(on_host, y))
    return {
        "n": n, "d": d, "folds": 5, "gpu_s": gpu_s, "again_s": again_s,
        "same_bits": bool(np.array_equal(ours.coef_, again.coef_)), "readings": ours.n_readings_,
        "cpu_s": cpu_s, **differences(ours, theirs),
    }  # fmt: skip


def one_reading():
    """One visit of all rows for 500 models: on the device, by two products of cuBLAS alone, on the host."""
    n, d, K = ROWS, 512, 500
    X, y = problem(n, d)
    visit = make_visit(d, K, np.sqrt(d))
    rows = y[None].astype(np.float64), None, HashKFold(5).fold_of(None, 0, n, n)
    design, W = as_gpu_design(X), cupy().asarray(visit.W, dtype=np.float32)
    row = {"n": n, "d": d, "models": K, "gpu_s": clocked(lambda: design.sweep_many(visit, *rows))}

    def products():
        for begin in range(0, n, 1 << 16):
            some = X[begin : begin + (1 << 16)]
            index = some @ W
            index.T @ some

    row["products_s"] = clocked(products)
    on_host = DenseDesign(X.get())
    row["cpu_s"] = clocked(lambda: on_host.sweep_many(visit, *rows), repeats=3)
    return row


def few_rows():
    n, d = 5_000, 200
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    y = (rng.random(n) < 1 / (1 + np.exp(-X[:, :8].sum(axis=1)))).astype(int)
    ours, gpu_s = search(cupy().asarray(X), y, folds=3)
    theirs, cpu_s = search(X, y, folds=3)
    return {"n": n, "d": d, "gpu_s": gpu_s, "cpu_s": cpu_s, **differences(ours, theirs)}


def projections():
    """How long a structure's projection takes on the host and on the device, w on its way included."""
    rng, lines = np.random.default_rng(0), []
    for d, count in ((4096, 50), (10**5, 50), (10**6, 1000)):
        w = rng.standard_normal(d)
        host, device = partial(Sparse().project, w, count), partial(largest_on_device, w, count)
        lines.append({"structure": "Sparse", "d": d, **times_of_projection(host, device)})
    for p in (64, 512):
        w = rng.standard_normal(p * p)
        host, device = partial(LowRank(shape=(p, p)).project, w, 5), partial(low_rank_on_device, w, p)
        lines.append({"structure": "LowRank", "d": p * p, **times_of_projection(host, device)})
    return lines


def times_of_projection(host, device):
    return {"host_ms": 1e3 * clocked(host), "device_ms": 1e3 * clocked(device)}


def largest_on_device(w, count):
    cp, values = cupy(), cupy().asarray(w)
    least = cp.partition(cp.abs(values), len(w) - count)[len(w) - count]
    return cp.where(cp.abs(values) >= least, values, 0.0).get()


def low_rank_on_device(w, p, rank=5):
    left, size, right = cupy().linalg.svd(cupy().asarray(w).reshape(p, p), full_matrices=False)
    return ((left[:, :rank] * size[:rank]) @ right[:rank]).get()


def differences(a, b):
    """Return by how much two models differ: in the direction of w, in w, and in the link's values."""
    at = np.linspace(*np.sort(a.link_.knots_[[0, -1], 0]), 1001)
    one, two = (m.coef_.astype(np.float64) for m in (a, b))
    apart = one / np.linalg.norm(one) - two / np.linalg.norm(two)
    return {
        "direction": float(np.abs(apart).max()),
        "coef": float(np.abs(one - two).max() / np.abs(two).max()),
        "link": float(np.abs(a.link_(at) - b.link_(at)).max()),
    }


def torch_l1(X, y):
    """Return what takes as many proximal gradient steps of L1-logistic regression."""
    import torch

    data, labels = torch.from_dlpack(X), torch.as_tensor(y, dtype=torch.float32, device="cuda")

    @torch.compile
    def step(w):
        moved = w - 1e-1 * (data.T @ (torch.sigmoid(data @ w) - labels)) / len(labels)
        return torch.sign(moved) * torch.clamp(moved.abs() - 1e-4, min=0)

    def fit():
        w = torch.zeros(data.shape[1], device="cuda")
        for _ in range(MAX_ITER):
            w = step(w)
        return w.cpu()

    return fit


def streamed(X, y, whole):
    """Data that stay on the host, beside the time that copies alone take."""
    design, ready = once(lambda: GpuStreamedDesign(X))
    target, rng = y.astype(np.float64), np.random.default_rng(0)
    W = rng.standard_normal((2, X.shape[1])) / np.sqrt(X.shape[1])
    visits = [Visit(W[k], W[1 - k], link=CURVE, n_bins=4096, exponent=-8) for k in (0, 1)]
    place = design.places[0]
    part = X[: len(place)]

    def copy():
        place.data.copy_from_host_async(part.ctypes.data, part.nbytes, cupy().cuda.get_current_stream())

    bus = timed(copy) / 1e3
    sweep = alternately(lambda visit: design.sweep(visit, target), visits)
    iteration = timed(sweep, repeats=10) / 1e3
    return {
        "gib": X.nbytes / GIB, "pinned": not design.pinned, "ready_s": ready, "iteration_s": iteration,
        "bus_gb_per_s": part.nbytes / bus / 1e9, "ratio": iteration / (bus * X.nbytes / part.nbytes),
        **differences(model().fit(design, y), whole),
    }  # fmt: skip
