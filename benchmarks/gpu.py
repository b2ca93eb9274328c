"""An iteration on a GPU beside one reading of X, whole fits beside others: `python -m benchmarks.gpu`.

Needs CuPy and an NVIDIA GPU with 40 GiB of free memory, 40 GiB of the machine's own, and PyTorch for the
peer. Writes benchmarks/results/gpu.json and the figures of docs/gpu.md. Times are medians,
those of the device by its own events, with all that an iteration does on the host between them.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import platform
import subprocess
from pathlib import Path

import numpy as np
import scipy
import sklearn

import singleindex
from singleindex.design import Visit
from singleindex.design.gpu import as_gpu_design
from singleindex.design.gpu.arrays import cupy
from singleindex.design.gpu.dense import GpuDenseDesign
from singleindex.design.gpu.shape import STORAGES

from . import gpu_report
from .gpu_fits import COLUMNS, ROWS, exact, fits, projections, searches
from .gpu_timing import CURVE, GIB, REPEATS, Reader, alternately, free_all, once, timed
from .pages import replace_measured
from .provenance import source_commit

STORE = Path(__file__).with_name("results") / "gpu.json"
SIZE = 16 * GIB
WIDTHS = {
    "float32": (256, 999, 1000, 1024, 2048, 4096, 8192, 16384, 50000),
    "bfloat16": (256, 1024, 4096, 8192),
    "float16": (4096,),
    "float64": (1024, 4096),
}


def filled(storage):
    """Return 16 GiB of random numbers of a kind, in one row."""
    cp = cupy()
    if storage == "float32":
        return cp.random.standard_normal(SIZE // 4, dtype=np.float32)
    kind = np.uint16 if storage == "bfloat16" else storage
    values = cp.empty(SIZE // STORAGES[storage], dtype=kind)
    part = 1 << 28
    for begin in range(0, len(values), part):
        numbers = cp.random.standard_normal(part, dtype=np.float32)
        if storage == "bfloat16":
            numbers = (numbers.view(np.uint32) >> 16).astype(np.uint16)
        values[begin : begin + part] = numbers
    return values


# ---------------------------------------------------------------- one iteration


def iteration():
    """An iteration, with weights, bins and all: sums, range, bins and gradient back on the host."""
    rows, reader = [], Reader()
    for storage, widths in WIDTHS.items():
        values = filled(storage)
        for d in widths:
            n = min(len(values) // d, 1 << 24)
            X = values[: n * d].reshape(n, d)
            row = {"storage": storage, "d": d, "n": n, "gib": X.nbytes / GIB}
            row["floor_ms"] = reader.floor(values, X.nbytes)
            row |= time_iteration(GpuDenseDesign(X, storage), n, d)
            row["device_ratio"] = row["device_ms"] / row["floor_ms"]
            row["ratio"] = row["iteration_ms"] / row["floor_ms"]
            if storage.startswith("float") and storage != "float16":
                w, r = (cupy().random.standard_normal(k, dtype=np.float32).astype(X.dtype) for k in (d, n))
                row["two_products_ms"] = timed(lambda X=X, w=w: X @ w) + timed(lambda X=X, r=r: X.T @ r)
            rows.append(row)
            print(row, flush=True)
        del values, X
        free_all()
    return rows


def time_iteration(design, n, d):
    rng = np.random.default_rng(0)
    y, weight = rng.standard_normal(n), rng.random(n)
    W = rng.standard_normal((2, d)) / np.sqrt(d)
    visits = [Visit(W[k], W[1 - k], 0.0, 0.0, 0.0, CURVE, 4096, -8) for k in (0, 1)]
    first, again = (design.sweep(visits[0], y, weight) for _ in range(2))
    same = np.array_equal(first.gradient, again.gradient) and np.array_equal(first.bins.sums, again.bins.sums)
    for visit in visits * 2:  # from here on as in a fit, where all is recorded
        design.sweep(visit, y, weight)
    return {
        "device_ms": time_on_device(design, visits[0], y, weight),
        "iteration_ms": timed(alternately(lambda visit: design.sweep(visit, y, weight), visits)),
        "same_bits": bool(same),
    }


def time_on_device(design, visit, y, weight):
    """Return the milliseconds of what the device does in an iteration, from the copy there to the copy back.

    While the device is busy with an iteration before, the host asks for all of this one, and so is not
    waited for.
    """
    times, iteration = [], design.iteration_of([y], [weight], visit.n_bins)

    def ask():
        iteration.outbox.send()
        iteration.compute(design, has_old=True)
        iteration.inbox.ask()

    for _ in range(REPEATS):
        begin, end = cupy().cuda.Event(), cupy().cuda.Event()
        ask()
        begin.record()
        ask()
        end.record()
        end.synchronize()
        times.append(cupy().cuda.get_elapsed_time(begin, end))
    return float(np.median(times))


def models():
    """Several models in one visit, beside two matrix products."""
    X = filled("float32").reshape(ROWS, COLUMNS)
    return [time_models(X, count) for count in (1, 2, 4, 8)]


def time_models(X, count):
    rng, design = np.random.default_rng(0), as_gpu_design(X)
    W = rng.standard_normal((2, count, COLUMNS)) / np.sqrt(COLUMNS)
    turns = [
        [Visit(w, w_old, link=CURVE, n_bins=4096, exponent=-8) for w, w_old in zip(*pair, strict=True)]
        for pair in (W, W[::-1])
    ]
    ys, weights = [*rng.standard_normal((count, ROWS))], [None] * count
    right, residual = (cupy().asarray(np.stack(rows).T, dtype=np.float32) for rows in (W[0], ys))
    sweep = alternately(lambda visits: design.sweep_together(visits, ys, weights), turns)
    return {
        "models": count, "at_once": design.models_at_once(count), "sweep_ms": timed(sweep),
        "two_products_ms": timed(lambda: X @ right) + timed(lambda: X.T @ residual),
    }  # fmt: skip


# ---------------------------------------------------------------- sparse data


def csr():
    """A million rows of a hundred entries in a hundred thousand columns, beside cuSPARSE."""
    import cupyx.scipy.sparse as device_sparse

    cp, (n, d, k) = cupy(), (10**6, 10**5, 100)
    columns = cp.sort(cp.random.randint(0, d, (n, k), dtype=np.int32), axis=1).ravel()
    starts = cp.arange(0, n * k + 1, k, dtype=np.int32)
    values = cp.random.standard_normal(n * k, dtype=np.float32)
    X = device_sparse.csr_matrix((values, columns, starts), (n, d))
    X.sum_duplicates()
    design, sorted_s = once(lambda: as_gpu_design(X))
    w, r = (cp.random.standard_normal(size, dtype=np.float32) for size in (d, n))
    turned, by_rows = X.T, X.T.tocsr()
    row = {
        "n": n, "d": d, "entries": X.nnz, "sorted_s": sorted_s,
        "cusparse_ms": timed(lambda: X @ w) + timed(lambda: turned @ r),
        "cusparse_with_transpose_ms": timed(lambda: X @ w) + timed(lambda: by_rows @ r),
        "index_ms": timed(lambda: design.by_rows.product(w)),
        "gradient_ms": timed(lambda: design.by_columns.product(r)), **time_iteration(design, n, d),
    }  # fmt: skip
    return row | {"ratio": row["iteration_ms"] / row["cusparse_ms"]}


# ---------------------------------------------------------------- what was run, and where


def machine(commit):
    cp = cupy()
    properties = cp.cuda.runtime.getDeviceProperties(0)
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    versions = {"python": platform.python_version(), "cupy": cp.__version__, "numpy": np.__version__}
    versions |= {"scipy": scipy.__version__, "scikit-learn": sklearn.__version__}
    with contextlib.suppress(ImportError):
        import torch

        versions["torch"] = torch.__version__
    with contextlib.suppress(Exception):
        versions["singleindex"] = singleindex.__version__
    return {
        "device": properties["name"].decode(), "multiprocessors": properties["multiProcessorCount"],
        "memory_gib": properties["totalGlobalMem"] / GIB,
        "driver": subprocess.run(query, capture_output=True, text=True).stdout.strip(),
        "cuda": cp.cuda.runtime.runtimeGetVersion(), "versions": versions,
        "processor": platform.machine(), "cores": len(os.sched_getaffinity(0)),
        "date": datetime.date.today().isoformat(), "commit": commit,
    }  # fmt: skip


PARTS = {
    "iteration": iteration, "models": models, "csr": csr, "projections": projections, "exact": exact,
    "searches": searches, "fits": fits,
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all where none is named")
    parser.add_argument("--commit", help="of the source, where it lies there without its history")
    options = parser.parse_args()
    known = json.loads(STORE.read_text()) if STORE.exists() else {}
    here = machine(options.commit or source_commit())
    print(here)
    if not options.parts:
        known |= {"machine": here, "later": {}}
    for name in options.parts or PARTS:
        known[name], seconds = once(PARTS[name])
        if options.parts:
            known.setdefault("later", {})[name] = here
        free_all()
        print(f"{name}: {json.dumps(known[name], indent=1)}\n{seconds:.0f} s", flush=True)
        STORE.write_text(json.dumps(known, indent=1) + "\n")
    if gpu_report.PAGE.exists():
        replace_measured(gpu_report.PAGE, gpu_report.BEGIN, gpu_report.page_block(known))


if __name__ == "__main__":
    main()
