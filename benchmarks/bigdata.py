"""Data that does not fit: what an iteration costs, how fast files are read, what a stream learns, what memory
it takes.

Timings are ratios within one run, on two cores. An iteration is all of it: the visit of the rows, the bins,
the link, and the projection.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import roc_auc_score

from singleindex import SingleIndexClassifier
from singleindex.datasets import make_single_index
from singleindex.design import CsrDesign, DenseDesign, Scaling, View, read_chunks
from singleindex.design.survey import survey_rows
from singleindex.link import Bins, Lpav
from singleindex.solvers import OnePass, OnePassGradient, Simplicity, TwoPass
from singleindex.structures import Sparse

from .bigdata_report import report, write_page
from .parts import measure_parts
from .timing import median_times

STORE = Path(__file__).with_name("results") / "bigdata.json"


def least_times(calls, repeats, clock=time.perf_counter):
    """Return the least seconds of each call; the calls take turns. On a busy machine that is what repeats."""
    times = dict.fromkeys(calls, float("inf"))
    for turn in range(repeats + 1):
        for name, call in calls.items():
            began = clock()
            call()
            if turn:
                times[name] = min(times[name], clock() - began)
    return times


# ---------------------------------------------------------------- one iteration


def make_csr(n, d, per_row, skewed, seed=0):
    """Return sparse rows with as many entries each; columns equally likely, or as words are."""
    rng = np.random.default_rng(seed)
    columns = (
        (d ** rng.random(n * per_row)).astype(np.int32) - 1 if skewed else rng.integers(0, d, n * per_row)
    )
    columns = np.sort(columns.reshape(n, per_row).astype(np.int32), axis=1).ravel()
    starts = np.arange(0, n * per_row + 1, per_row, dtype=np.int32)
    return sparse.csr_array((rng.standard_normal(n * per_row), columns, starts), shape=(n, d))


class Iteration:
    """One iteration of one-pass CSI at a state in mid-fit, as the solver runs it."""

    def __init__(self, design, y, n_atoms, n_threads):
        survey = survey_rows(design, y[:, None], None)
        self.method = OnePassGradient(
            design, y, Simplicity(Sparse(), 1.0, n_atoms, 0.1), Lpav(1.0), survey=survey, n_threads=n_threads
        )
        self.state = self.method.start()
        for _ in range(2):
            self.state = self.method.move(self.state, self.method.look(self.state, 0)[1])

    def __call__(self):
        self.method.move(self.state, self.method.look(self.state, 0)[1])

    def link_and_projection(self, seen):
        """Return the part of it that is not the visit: bins, link, projection."""
        visited = replace(self.state, first=seen)

        def part():
            Bins(4096, self.state.exponent).add(seen.index, self.method.y)
            self.method.move(visited, self.method.look(visited, 0)[1])

        return part


def iteration_costs(quick):
    """Ratios of one iteration to the two products of scipy, by kind of data, w and number of threads."""
    scale = 20 if quick else 1
    shapes = [
        ("n = 10⁶, d = 10³, 20 per row", 10**6, 1000, 20, False),
        ("n = 2·10⁵, d = 10⁵, 100 per row", 200_000, 100_000, 100, False),
        ("n = 2·10⁵, d = 10⁵, 100 per row, as words", 200_000, 100_000, 100, True),
        ("n = 2·10⁵, d = 2·10⁴, 100 per row, as words", 200_000, 20_000, 100, True),
    ]
    lines = []
    for name, n, d, per_row, skewed in shapes:
        X = make_csr(n // scale, d, per_row, skewed)
        rng = np.random.default_rng(1)
        w, r = rng.standard_normal(d) / np.sqrt(per_row), rng.standard_normal(X.shape[0])
        y = (rng.random(X.shape[0]) < 1 / (1 + np.exp(-X @ w))).astype(float)
        calls = {"scipy": lambda X=X, w=w, r=r: (X @ w, X.T @ r)}
        for kind, n_atoms in (("all", None), ("few", d // 16)):
            design = View(CsrDesign(X, keeps_support=True), Scaling(np.ones(d)))
            for n_threads in (1, 2):
                calls[kind, n_threads] = Iteration(design, y, n_atoms, n_threads)
        # One thread by the processor's time, which other programs do not add to; two can only be timed by
        # the clock, and only where two cores are free.
        turns = 3 if quick else 25
        alone = least_times(
            {k: calls[k] for k in ("scipy", ("all", 1), ("few", 1))}, turns, time.process_time
        )
        both = least_times({k: calls[k] for k in ("scipy", ("all", 2), ("few", 2))}, turns)
        ratios = {f"{k}, 1": alone[k, 1] / alone["scipy"] for k in ("all", "few")}
        ratios |= {f"{k}, 2": both[k, 2] / both["scipy"] for k in ("all", "few")}
        lines.append(
            {
                "data": name,
                "entries": int(X.nnz),
                "scipy_s": alone["scipy"],
                "load": os.getloadavg()[0],
                **ratios,
            }
        )
    return lines


def share_of_link(quick):
    """Share of an iteration that link and projection take, at a million rows."""
    n = 10**5 if quick else 10**6
    lines = []
    for name, make in (
        ("dense, d = 100", lambda rng: DenseDesign(rng.standard_normal((n, 100)))),
        ("CSR, d = 10⁵, 20 per row", lambda rng: CsrDesign(make_csr(n, 100_000, 20, False))),
    ):
        rng = np.random.default_rng(0)
        inner = make(rng)
        design = View(inner, Scaling(np.ones(inner.shape[1])))
        y = (rng.random(n) < 0.5).astype(float)
        run = Iteration(design, y, None, 1)
        seen = run.method.look(run.state, 0)[1]
        times = least_times(
            {"all": run, "part": run.link_and_projection(seen)}, 3 if quick else 8, time.process_time
        )
        lines.append({"data": name, "share": times["part"] / times["all"]})
    return lines


def one_against_two(quick):
    """Whole fits in memory by one pass and by two, by the number of rows: where which is the faster."""
    lines = []
    for n in (2000, 20_000) if quick else (10_000, 50_000, 100_000, 400_000):
        for kind, d in (("dense", 50), ("sparse", 2000)):
            options = {} if kind == "dense" else {"design": "counts", "density": 0.01}
            data = make_single_index(n + n // 4, d, n_atoms=10, link="clipped", random_state=0, **options)
            X = data.X if kind == "dense" else sparse.csr_matrix(data.X)
            train, test = slice(0, n), slice(n, None)
            models = {
                name: SingleIndexClassifier(10, solver=solver)
                for name, solver in (("one", OnePass(n_threads=1)), ("two", TwoPass()))
            }
            calls = {k: lambda m=m, X=X[train], y=data.y[train]: m.fit(X, y) for k, m in models.items()}
            times = least_times(calls, 2, time.process_time)
            auc = {
                k: float(roc_auc_score(data.y[test], m.decision_function(X[test]))) for k, m in models.items()
            }
            loss = {
                k: float(np.mean((data.y[test] - m.predict_proba(X[test])[:, 1]) ** 2))
                for k, m in models.items()
            }
            lines.append(
                {
                    "data": f"{kind}, n = {n:,}, d = {d}", "ratio": times["one"] / times["two"],
                    "auc_one": auc["one"], "auc_two": auc["two"],
                    "brier_one": loss["one"], "brier_two": loss["two"],
                }
            )  # fmt: skip
    return lines


# ---------------------------------------------------------------- files


def parquet_rate(quick):
    """Rows per second of one iteration over a Parquet file, beside pyarrow reading the same columns alone."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n, d = (200_000, 50) if quick else (1_000_000, 50)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rows.parquet"
        names = [f"x{j}" for j in range(d)]
        schema = pa.schema([(name, pa.float64()) for name in [*names, "y"]])
        with pq.ParquetWriter(path, schema) as writer:
            for _ in range(n // 100_000):
                X = rng.standard_normal((100_000, d))
                y = (rng.random(100_000) < 1 / (1 + np.exp(-X[:, 0] + X[:, 1]))).astype(float)
                writer.write_table(pa.table([*X.T, y], schema=schema))
        data = read_chunks(path, "y")

        def read_alone():
            for batch in pq.ParquetFile(path).iter_batches(batch_size=data.reader.rows):
                assert batch.num_rows

        from singleindex.design import BlockDesign
        from singleindex.design.blocks import SurveyTask, Target

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


# ---------------------------------------------------------------- streams


def stream(quick):
    """One epoch of stochastic CSI on generated rows, beside the full solution and SGDClassifier."""
    n = 50_000 if quick else 1_000_000
    lines = []
    for link in ("clipped", "logistic"):
        data = make_single_index(n + 100_000, 100, n_atoms=20, link=link, random_state=0)
        train, test = slice(0, n), slice(n, None)
        X, y = data.X, data.y
        models = {
            "full": SingleIndexClassifier(20),
            "epoch": SingleIndexClassifier(20, solver="stochastic"),
            "sgd": SGDClassifier(loss="log_loss", max_iter=1, tol=None, random_state=0),
        }
        line = {"data": f"{link}, n = {n:,}, d = 100"}
        for name, model in models.items():
            began = time.perf_counter()
            model.fit(X[train], y[train])
            line[f"{name}_rows_per_s"] = n / (time.perf_counter() - began)
            line[f"{name}_auc"] = float(roc_auc_score(y[test], model.decision_function(X[test])))
            line[f"{name}_brier"] = float(np.mean((y[test] - model.predict_proba(X[test])[:, 1]) ** 2))
        lines.append(line)
    return lines


# ---------------------------------------------------------------- memory

FIT_FILE = textwrap.dedent(
    """
    import sys, time
    from singleindex import SingleIndexClassifier
    from singleindex.design import read_chunks

    def peak():
        # Of this program alone: what getrusage says begins with the process that started it.
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

    before = peak()
    data = read_chunks(sys.argv[1], sys.argv[2])
    began = time.perf_counter()
    model = SingleIndexClassifier(10, max_iter=int(sys.argv[3]), tol=0).fit(data)
    seconds = time.perf_counter() - began
    print(before, peak(), model.n_iter_, seconds)
    """
)


def write_rows(folder, n, d, seed=0, rows=100_000):
    """Write X and y to .npy files, piece by piece."""
    rng = np.random.default_rng(seed)
    w = np.zeros(d)
    w[:10] = rng.standard_normal(10)
    y = np.empty(n)
    with open(f"{folder}/X.npy", "wb") as file:
        head = {"descr": "<f8", "fortran_order": False, "shape": (n, d)}
        np.lib.format.write_array_header_2_0(file, head)
        for start in range(0, n, rows):
            part = rng.standard_normal((min(rows, n - start), d))
            part.tofile(file)
            y[start : start + rows] = rng.random(len(part)) < np.clip(0.5 + part @ w / 4, 0, 1)
    np.save(f"{folder}/y.npy", y)
    return os.path.getsize(f"{folder}/X.npy")


def fit_in_a_process(folder, max_iter):
    """Return what a fit of the files took: MiB before and at the peak, iterations, seconds."""
    out = subprocess.run(
        [sys.executable, "-c", FIT_FILE, f"{folder}/X.npy", f"{folder}/y.npy", str(max_iter)],
        check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    return int(out[0]) / 1024, int(out[1]) / 1024, int(out[2]), float(out[3])


def memory(quick):
    """Peak memory of a fit from a file as the rows grow."""
    lines = []
    for n in (10**4, 10**5) if quick else (10**5, 10**6, 10**7):
        with tempfile.TemporaryDirectory() as folder:
            size = write_rows(folder, n, 20)
            before, peak, n_iter, seconds = fit_in_a_process(folder, 4)
        rate = n * (n_iter + 1) / seconds
        lines.append(
            {
                "rows": n,
                "columns": 20,
                "file_mib": size / 2**20,
                "before_mib": before,
                "peak_mib": peak,
                "rows_per_s": rate,
            }
        )
    return lines


def large_file(quick):
    """A dense file of 8 GB, fitted within little memory."""
    n, d = (10**5, 100) if quick else (10**7, 100)
    with tempfile.TemporaryDirectory(dir=os.environ.get("SINGLEINDEX_SCRATCH")) as folder:
        size = write_rows(folder, n, d)
        before, peak, n_iter, seconds = fit_in_a_process(folder, 3)
    return {
        "rows": n, "columns": d, "file_gb": size / 1e9, "before_mib": before, "peak_mib": peak,
        "iterations": n_iter, "seconds": seconds, "rows_per_s": n * (n_iter + 1) / seconds,
    }  # fmt: skip


# ---------------------------------------------------------------- all of them

MEASURES = {
    "iteration": iteration_costs,
    "link": share_of_link,
    "one_two": one_against_two,
    "parquet": parquet_rate,
    "stream": stream,
    "memory": memory,
    "large": large_file,
}


def run(quick=False):
    known = measure_parts(STORE, MEASURES, quick)
    if not quick:
        write_page(known)
    return report(known)


def main():
    """Measure the parts named anew."""
    from .__main__ import as_section, store

    quick = "--quick" in sys.argv
    chosen = {name: MEASURES[name] for name in sys.argv[1:] if name in MEASURES}
    known = measure_parts(STORE, chosen, quick, anew=True)
    print(json.dumps({k: known[k] for k in chosen}, indent=1, ensure_ascii=False))
    if not quick and set(known) >= set(MEASURES):
        store("bigdata", as_section("bigdata", report(known)))
        write_page(known)


if __name__ == "__main__":
    main()
