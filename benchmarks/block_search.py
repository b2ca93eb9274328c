"""Searches over files and clusters: what a reading costs for many models, what a search costs beside one fit,
what memory it takes, and beside what dask-ml does on the same cluster.

Timings are ratios within one run, on two cores of a busy machine, with one thread of BLAS; those of one
thread by the processor's time, which other programs do not add to.
"""

from __future__ import annotations

import contextlib
import json
import pickle
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.metrics import log_loss, roc_auc_score

from singleindex import SingleIndexClassifierCV
from singleindex.design import HashKFold, ManyVisit, Visit, as_row_design
from singleindex.design.many import bin_edges
from singleindex.link import MonotoneCurve

from . import block_search_report
from .file_fits import fit_in_a_process, fit_rows, scratch, write_rows
from .pages import replace_measured
from .parts import measure_parts
from .side_by_side.environments import make_environment
from .timing import least_times, timed

STORE = Path(__file__).with_name("results") / "block_search.json"
N_BINS = 1024
# The search that is measured: 5 folds × 10 levels × 2 scales.
LEVELS = np.geomspace(0.5, 0.001, 10).tolist()
GRID = {"penalty": LEVELS, "scale_power": [1.0, 0.0], "cv": 5}


def run(quick=False):
    parts = (many_models, rates, memory, search_beside_fit, cluster, beside_dask_ml)
    known = measure_parts(STORE, {part.__name__: part for part in parts}, quick)
    lines = block_search_report.report(known)
    if not quick:
        replace_measured(block_search_report.PAGE, block_search_report.BEGIN, lines)
    return lines


# ---------------------------------------------------------------- one reading, many models


def make_visit(d, K, spread):
    rng = np.random.default_rng(0)
    table = np.tile(1 / (1 + np.exp(-np.clip(bin_edges(N_BINS), -50, 50))), (K, 1))
    held, output = (np.arange(K) % 5).astype(np.int32), np.zeros(K, dtype=np.int32)
    return ManyVisit(rng.standard_normal((d, K)) / spread, np.zeros(K), table, held, output)


def make_csr(n, d, per_row):
    """Return sparse rows with as many entries each."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, d, (n, per_row)).astype(np.int32), axis=1).ravel()
    starts = np.arange(0, n * per_row + 1, per_row, dtype=np.int32)
    return sparse.csr_array((rng.standard_normal(n * per_row), columns, starts), shape=(n, d))


def times_of(X, K, repeats, spread):
    """Return the processor's seconds of one sweep with K models, and of one with a single model."""
    n, d = X.shape
    design, visit = as_row_design(X), make_visit(d, K, spread)
    rng = np.random.default_rng(1)
    y = (rng.random(n) < 0.5).astype(float)
    fold = HashKFold(5).fold_of(None, 0, n, n)
    u = np.linspace(-4, 4, 300)
    link, w = MonotoneCurve(u, 1 / (1 + np.exp(-u))), np.ascontiguousarray(visit.W[:, 0])
    one = Visit(w, w, link=link, n_bins=4096, n_threads=1)
    calls = {
        "many": lambda: design.sweep_many(visit, y[None], None, fold),
        "one": lambda: design.sweep(one, y),
    }
    return least_times(calls, repeats, time.process_time)


def many_models(quick):
    """K = 50 models by one sweep beside 50 sweeps, one thread each."""
    scale, lines = 20 if quick else 1, []
    rng = np.random.default_rng(0)
    for name, make in (
        ("dense, 10⁶ × 100", lambda: rng.standard_normal((10**6 // scale, 100))),
        ("sparse, 2·10⁵ × 10⁵, 100 entries a row", lambda: make_csr(200_000 // scale, 100_000, 100)),
        ("sparse, 2·10⁵ × 2000, 100 entries a row", lambda: make_csr(200_000 // scale, 2000, 100)),
    ):
        times = times_of(make(), 50, 3, 10.0)
        ratio = 50 * times["one"] / times["many"]
        lines.append({"data": name, "one_s": times["one"], "many_s": times["many"], "ratio": ratio})
    return lines


def rates(quick):
    """Seconds per row of a sweep by columns (or entries) and models: what the cost is fitted to."""
    lines, rng = [], np.random.default_rng(0)
    for kind, widths in (("dense", (25, 100, 400)), ("sparse", (10, 30, 100))):
        for width in widths:
            n = (2000 if quick else 40_000) if kind == "dense" else (1000 if quick else 20_000)
            X = rng.standard_normal((n, width)) if kind == "dense" else make_csr(n, 1800, width)
            for K in (5, 50, 200):
                times = times_of(X, K, 2, np.sqrt(width))
                lines.append({"kind": kind, "width": width, "models": K, "s_per_row": times["many"] / n})
    return lines


# ---------------------------------------------------------------- a search beside a fit


def search_beside_fit(quick):
    """The search on 4·10⁶ × 100, a file of 3.2 GB, within 1 GB of address space."""
    n, limit = (40_000, 0) if quick else (4_000_000, 10**9)
    with scratch() as folder:
        size = write_rows(folder, n, 100)
        fit = fit_in_a_process("fit", {"n_atoms": 10}, folder, limit)
        search = fit_in_a_process("search", GRID, folder, limit)
    return {"rows": n, "columns": 100, "file_gb": size / 1e9, "limit": limit, "fit": fit, "search": search}


def memory(quick):
    """Peak memory of a search over a file as the rows grow."""
    return [fit_rows("search", GRID, n, 20) for n in ((10**4, 3 * 10**4) if quick else (10**5, 10**6, 10**7))]


# ---------------------------------------------------------------- a cluster


@contextlib.contextmanager
def cluster_of(n_workers):
    import dask
    import distributed

    with (
        dask.config.set({"distributed.worker.memory.spill": False}),
        distributed.LocalCluster(n_workers, threads_per_worker=1, dashboard_address=":0") as local,
        distributed.Client(local) as client,
    ):
        yield client


def search_on(client, X, y, **settings):
    """Return a search over arrays that the workers hold, and its seconds."""
    import distributed

    X, y = client.persist([X, y])
    distributed.wait([X, y])
    return timed(lambda: SingleIndexClassifierCV(**settings).fit(X, y), time.perf_counter)


def cluster(quick):
    """The same search on one worker and on two: seconds, and what travels in a reading."""
    import dask.array as da

    n, d, rows = (20_000, 50, 5000) if quick else (400_000, 100, 25_000)
    lines, n_models = [], 250
    for n_workers in (1, 2):
        with cluster_of(n_workers) as client:
            rng = da.random.default_rng(0)
            X = rng.standard_normal((n, d), chunks=(rows, d))
            y = (X[:, :10].sum(axis=1) + 3 * rng.standard_normal(n, chunks=rows) > 0).astype(int)
            model, seconds = search_on(client, X, y, **GRID)
        lines.append(
            {"workers": n_workers, "rows": n, "columns": d, "blocks": n // rows, "seconds": seconds,
             "readings": int(model.n_readings_)}
        )  # fmt: skip
    visit, fold = make_visit(d, n_models, 1.0), np.zeros(10, dtype=np.int32)
    sweep = as_row_design(np.zeros((10, d))).sweep_many(visit, np.zeros((1, 10)), None, fold)
    return {"lines": lines, "models": n_models, "columns": d, "bytes_per_block": len(pickle.dumps(sweep))}


def beside_dask_ml(quick):
    """The same cluster, data and number of candidates: dask-ml's logistic regression in its grid search."""
    import dask.array as da

    n, d = (2000, 10) if quick else (10_000, 20)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n + 50_000, d)) * 0.8 + 0.6 * rng.standard_normal((n + 50_000, 1))
    index = X[:, :8] @ np.linspace(1, 0.3, 8)
    chance = np.clip(0.5 + 0.3 * (index - index.mean()) / index.std(), 0.03, 0.97)
    y = (rng.random(len(X)) < chance).astype(int)
    found, rows = {"rows": n, "columns": d}, n // 8
    with cluster_of(2) as client:
        arrays = da.from_array(X[:n], chunks=(rows, d)), da.from_array(y[:n], chunks=rows)
        model, found["ours_s"] = search_on(client, *arrays, penalty=LEVELS, scale_power=[1.0], cv=5)
    found["ours_auc"] = float(roc_auc_score(y[n:], X[n:] @ model.coef_))
    found["ours_loss"] = clipped_loss(y[n:], model.predict_proba(X[n:])[:, 1])
    environment = make_environment("cluster")
    if environment.python is None:
        return found | {"why_not": environment.error}
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/data.npz", X=X[:n], y=y[:n], X_test=X[n:], levels=LEVELS)
        script = Path(__file__).with_name("dask_ml_search.py")
        command = [environment.python, "-P", str(script), folder, str(rows)]
        out = subprocess.run(command, capture_output=True, text=True)
        if out.returncode:
            return found | {"why_not": out.stderr.strip().splitlines()[-1][:200]}
        theirs, p = json.loads(out.stdout.splitlines()[-1]), np.load(f"{folder}/p.npy")
    found |= {"theirs_s": theirs["seconds"], "version": theirs["version"]}
    return found | {
        "theirs_auc": float(roc_auc_score(y[n:], p)), "theirs_loss": clipped_loss(y[n:], p)
    }  # fmt: skip


def clipped_loss(y, p):
    return float(log_loss(y, np.clip(p, 1e-6, 1 - 1e-6)))
