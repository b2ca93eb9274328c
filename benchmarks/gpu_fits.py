"""Whole fits and searches with data on a GPU, beside the processor and beside others."""

from __future__ import annotations

import contextlib
import time

import numpy as np

from singleindex import SingleIndexClassifier, SingleIndexClassifierCV
from singleindex.design import DenseDesign, HashKFold, ManyVisit, Visit, chunk_arrays
from singleindex.design.gpu import as_gpu_design
from singleindex.design.gpu.arrays import cupy
from singleindex.design.gpu.stream import GpuStreamedDesign
from singleindex.design.many import bin_edges
from singleindex.solvers import OnePass
from singleindex.structures import LowRank, Sparse

from .gpu_timing import CURVE, GIB, clocked, free_all, timed

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
    print(found, flush=True)
    with contextlib.suppress(ImportError):
        found["torch_s"] = clocked(torch_l1(X, y))
    print(found, flush=True)
    on_host = X.get()
    del X
    free_all()
    began = time.perf_counter()
    theirs = model().fit(on_host, y)
    found["cpu_s"] = time.perf_counter() - began
    found |= {f"{name}_float32": value for name, value in differences(ours, theirs).items()}
    print(found, flush=True)
    found["stream"] = streamed(on_host, y, ours)
    X, y = problem(1 << 18, 512, np.float64)
    both = model().fit(X, y), model().fit(X.get(), y)
    found |= {f"{name}_float64": value for name, value in differences(*both).items()}
    return found


def exact():
    """Exact steps on correlated columns: from products that the device makes, and on the processor."""
    cp, (n, d) = cupy(), (1 << 18, 2048)
    X, y = problem(n, d)
    X += cp.random.standard_normal((n, 1), dtype=np.float32)  # a factor that all columns share
    settings = {"n_atoms": 50, "solver": "exact"}
    ours = SingleIndexClassifier(**settings).fit(X, y)
    row = {"n": n, "d": d, "gpu_s": clocked(lambda: SingleIndexClassifier(**settings).fit(X, y), repeats=3)}
    weight = np.full(n, 1 / n)
    design = as_gpu_design(X)
    row["gram_s"] = clocked(lambda: design.gram(np.arange(d), weight), repeats=3)
    on_host = BlockwiseDesign(X.get())
    began = time.perf_counter()
    theirs = SingleIndexClassifier(**settings).fit(on_host, y)
    return row | {"cpu_s": time.perf_counter() - began} | differences(ours, theirs)


class BlockwiseDesign(DenseDesign):
    """An array whose exact steps go by products of all columns, as those of data on a GPU do."""

    has_columns = False


def searches():
    """Searches with data on the device: few, which are copied to the host, and many, which are read there."""
    return few_rows() | {"many": many_rows(), "reading": one_reading()}


def many_rows():
    """A search by readings on the device, twice, beside the same search over chunks in the host's memory."""
    (n, d), found = (ROWS, 512), []
    X, y = problem(n, d)
    row = {"n": n, "d": d, "folds": 5}
    settings = {"cv": 5}
    SingleIndexClassifierCV(**settings).fit(X[:50_000], y[:50_000])  # kernels are compiled
    for name in ("gpu_s", "again_s"):
        began = time.perf_counter()
        found.append(SingleIndexClassifierCV(**settings).fit(X, y))
        row[name] = time.perf_counter() - began
        print(row, flush=True)
    row["same_bits"] = bool(np.array_equal(found[0].coef_, found[1].coef_))
    row["readings"] = found[0].n_readings_
    on_host = X.get()
    del X
    began = time.perf_counter()
    theirs = SingleIndexClassifierCV(**settings).fit(chunk_arrays(on_host, y))
    row["cpu_s"] = time.perf_counter() - began
    return row | differences(found[0], theirs)


def one_reading():
    """One visit of all rows for 500 models: on the device, by two products of cuBLAS alone, on the host."""
    (n, d, K), cp = (ROWS, 512, 500), cupy()
    X, y = problem(n, d)
    rng = np.random.default_rng(0)
    table = np.tile(1 / (1 + np.exp(-np.clip(bin_edges(1024), -50, 50))), (K, 1))
    held, output = (np.arange(K) % 5).astype(np.int32), np.zeros(K, dtype=np.int32)
    visit = ManyVisit(rng.standard_normal((d, K)) / np.sqrt(d), np.zeros(K), table, held, output)
    rows = y[None].astype(np.float64), None, HashKFold(5).fold_of(None, 0, n, n)
    design, W = as_gpu_design(X), cp.asarray(visit.W, dtype=np.float32)
    row = {"n": n, "d": d, "models": K, "gpu_s": clocked(lambda: design.sweep_many(visit, *rows))}

    def products():
        for begin in range(0, n, 1 << 16):
            some = X[begin : begin + (1 << 16)]
            index = some @ W
            index.T @ some
        cp.cuda.Device().synchronize()

    row["products_s"] = clocked(products)
    on_host = DenseDesign(X.get())
    row["cpu_s"] = clocked(lambda: on_host.sweep_many(visit, *rows), repeats=3)
    return row


def few_rows():
    (n, d), cp = (5_000, 200), cupy()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    y = (rng.random(n) < 1 / (1 + np.exp(-X[:, :8].sum(axis=1)))).astype(int)
    row, found = {"n": n, "d": d}, []
    for name, data in (("gpu_s", cp.asarray(X)), ("cpu_s", X)):
        began = time.perf_counter()
        found.append(SingleIndexClassifierCV(cv=3).fit(data, y))
        row[name] = time.perf_counter() - began
    return row | differences(*found)


def projections():
    """How long a structure's projection takes on the host and on the device, w on its way included."""
    cp, rows = cupy(), []
    for d, count in ((4096, 50), (10**5, 50), (10**6, 1000)):
        w = np.random.default_rng(0).standard_normal(d)

        def there(w=w, count=count):
            values = cp.asarray(w)
            least = cp.partition(cp.abs(values), d - count)[d - count]  # noqa: B023
            return cp.where(cp.abs(values) >= least, values, 0.0).get()

        row = {
            "structure": "Sparse",
            "d": d,
            "host_ms": 1e3 * clocked(lambda w=w, k=count: Sparse().project(w, k)),
        }
        rows.append(row | {"device_ms": 1e3 * clocked(there)})
    for p in (64, 512):
        w, structure = np.random.default_rng(0).standard_normal(p * p), LowRank(shape=(p, p))

        def there(w=w, p=p):
            left, size, right = cp.linalg.svd(cp.asarray(w).reshape(p, p), full_matrices=False)
            return ((left[:, :5] * size[:5]) @ right[:5]).get()

        row = {
            "structure": "LowRank",
            "d": p * p,
            "host_ms": 1e3 * clocked(lambda w=w, s=structure: s.project(w, 5)),
        }
        rows.append(row | {"device_ms": 1e3 * clocked(there)})
    return rows


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
    cp = cupy()
    began = time.perf_counter()
    design = GpuStreamedDesign(X)
    ready = time.perf_counter() - began
    target, rng = y.astype(np.float64), np.random.default_rng(0)
    W = rng.standard_normal((2, X.shape[1])) / np.sqrt(X.shape[1])
    visits = [Visit(W[k], W[1 - k], link=CURVE, n_bins=4096, exponent=-8) for k in (0, 1)]
    turn, place = iter(range(1 << 30)), design.places[0]
    part = X[: len(place)]

    def copy():
        place.data.copy_from_host_async(part.ctypes.data, part.nbytes, cp.cuda.get_current_stream())

    bus = timed(copy) / 1e3
    row = {
        "gib": X.nbytes / GIB, "pinned": not design.pinned, "ready_s": ready,
        "iteration_s": timed(lambda: design.sweep(visits[next(turn) % 2], target), repeats=10) / 1e3,
        "bus_gb_per_s": part.nbytes / bus / 1e9,
    }  # fmt: skip
    row["ratio"] = row["iteration_s"] / (bus * X.nbytes / part.nbytes)
    row |= differences(model().fit(design, y), whole)
    print(row, flush=True)
    return row
