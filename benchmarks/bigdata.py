"""Data that does not fit: one pass beside two, how fast files are read, what a stream learns, what memory
it takes.

Timings are ratios within one run, on two cores, with one thread of BLAS. An iteration is all of it: the
visit of the rows, the bins, the link, and the projection.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import roc_auc_score

from singleindex import SingleIndexClassifier
from singleindex.datasets import make_single_index
from singleindex.design import BlockDesign, Scaling, View, read_chunks
from singleindex.design.blocks import SurveyTask, Target
from singleindex.link import Lpav
from singleindex.solvers import OnePass, OnePassGradient, Simplicity, TwoPass
from singleindex.structures import Sparse

from . import bigdata_report
from .file_fits import fit_rows
from .pages import replace_measured
from .parts import measure_parts
from .timing import least_times, median_times, timed

STORE = Path(__file__).with_name("results") / "bigdata.json"


def run(quick=False):
    measures = {"one_two": one_against_two, "parquet": parquet_rate, "stream": stream, "memory": memory,
                "large": large_file}  # fmt: skip
    known = measure_parts(STORE, measures, quick)
    if not quick:
        replace_measured(bigdata_report.PAGE, bigdata_report.BEGIN, bigdata_report.page_block(known))
    return bigdata_report.report(known)


def scores(model, X, y):
    """Return the AUC and the Brier score of a model."""
    auc = float(roc_auc_score(y, model.decision_function(X)))
    return auc, float(np.mean((y - model.predict_proba(X)[:, 1]) ** 2))


def one_against_two(quick):
    """Whole fits in memory by one pass and by two, by the number of rows: where which is the faster."""
    lines = []
    for n in (2000, 20_000) if quick else (10_000, 50_000, 100_000, 400_000):
        for kind, d in (("dense", 50), ("sparse", 2000)):
            options = {} if kind == "dense" else {"design": "counts", "density": 0.01}
            data = make_single_index(n + n // 4, d, n_atoms=10, link="clipped", random_state=0, **options)
            X = data.X if kind == "dense" else sparse.csr_matrix(data.X)
            models = {
                name: SingleIndexClassifier(10, solver=solver)
                for name, solver in (("one", OnePass(n_threads=1)), ("two", TwoPass()))
            }
            calls = {k: lambda m=m, X=X[:n], y=data.y[:n]: m.fit(X, y) for k, m in models.items()}
            times = least_times(calls, 2, time.process_time)
            line = {"data": f"{kind}, n = {n:,}, d = {d}", "ratio": times["one"] / times["two"]}
            for name, model in models.items():
                line[f"auc_{name}"], line[f"brier_{name}"] = scores(model, X[n:], data.y[n:])
            lines.append(line)
    return lines


def write_parquet(path, n, d, rows=100_000):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    schema = pa.schema([(name, pa.float64()) for name in [*(f"x{j}" for j in range(d)), "y"]])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(n // rows):
            X = rng.standard_normal((rows, d))
            y = (rng.random(rows) < 1 / (1 + np.exp(-X[:, 0] + X[:, 1]))).astype(float)
            writer.write_table(pa.table([*X.T, y], schema=schema))


def parquet_rate(quick):
    """Rows per second of one iteration over a Parquet file, beside pyarrow reading the same columns alone."""
    import pyarrow.parquet as pq

    n, d = (200_000, 50) if quick else (1_000_000, 50)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rows.parquet"
        write_parquet(path, n, d)
        data = read_chunks(path, "y")

        def read_alone():
            for batch in pq.ParquetFile(path).iter_batches(batch_size=data.reader.rows):
                assert batch.num_rows

        survey = data.reduce(SurveyTask((Target(),)))
        design = View(BlockDesign(data, survey.lengths), Scaling(np.ones(d)))
        simplicity = Simplicity(Sparse(), 1.0, alpha=0.1)
        method = OnePassGradient(design, Target(), simplicity, Lpav(1.0), survey=survey)
        state = method.start()
        state = method.move(state, method.look(state, 0)[1])
        both = {"ours": lambda: method.look(state, 1), "pyarrow": read_alone}
        times = median_times(both, 3 if quick else 5)
        size = os.path.getsize(path)
    return {
        "rows": n, "columns": d, "file_bytes": size, "rows_per_s": n / times["ours"],
        "pyarrow_rows_per_s": n / times["pyarrow"], "share": times["pyarrow"] / times["ours"],
    }  # fmt: skip


def stream(quick):
    """One epoch of stochastic CSI on generated rows, beside the full solution and SGDClassifier."""
    n = 50_000 if quick else 1_000_000
    lines = []
    for link in ("clipped", "logistic"):
        data = make_single_index(n + 100_000, 100, n_atoms=20, link=link, random_state=0)
        models = {
            "full": SingleIndexClassifier(20),
            "epoch": SingleIndexClassifier(20, solver="stochastic"),
            "sgd": SGDClassifier(loss="log_loss", max_iter=1, tol=None, random_state=0),
        }
        line = {"data": f"{link}, n = {n:,}, d = 100"}
        for name, model in models.items():
            _, seconds = timed(lambda m=model, X=data.X[:n], y=data.y[:n]: m.fit(X, y), time.perf_counter)
            line[f"{name}_rows_per_s"] = n / seconds
            line[f"{name}_auc"], line[f"{name}_brier"] = scores(model, data.X[n:], data.y[n:])
        lines.append(line)
    return lines


def fit_file(n, d, max_iter):
    """Return what a fit of so many rows in a file took, and how many rows a second an iteration reads."""
    found = fit_rows("fit", {"n_atoms": 10, "max_iter": max_iter, "tol": 0}, n, d)
    return found | {"rows_per_s": n * (found["iterations"] + 1) / found["seconds"]}


def memory(quick):
    """Peak memory of a fit from a file as the rows grow."""
    return [fit_file(n, 20, 4) for n in ((10**4, 10**5) if quick else (10**5, 10**6, 10**7))]


def large_file(quick):
    """A dense file of 8 GB, fitted within little memory."""
    found = fit_file(10**5 if quick else 10**7, 100, 3)
    return found | {"file_gb": found["file_bytes"] / 1e9}
