"""Fits to files in a process of their own: what they read, take and hold at the most."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

from singleindex import SingleIndexClassifier, SingleIndexClassifierCV
from singleindex.design import read_chunks

from .timing import peak_kib

MODELS = {"fit": SingleIndexClassifier, "search": SingleIndexClassifierCV}


def scratch():
    return tempfile.TemporaryDirectory(dir=os.environ.get("SINGLEINDEX_SCRATCH"))


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


def fit_in_a_process(kind, settings, folder, limit=0):
    """Return what a "fit" or a "search" with these settings took; the limit is in bytes of address space."""
    command = [sys.executable, "-m", "benchmarks.file_fits", kind, json.dumps(settings), folder, str(limit)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def fit_rows(kind, settings, n, d):
    """Return the same of so many rows in a file of their own."""
    with scratch() as folder:
        size = write_rows(folder, n, d)
        found = fit_in_a_process(kind, settings, folder)
    return {"rows": n, "columns": d, "file_bytes": size, "file_mib": size / 2**20, **found}


def main():
    kind, settings, folder, limit = sys.argv[1:]
    before = peak_kib()
    data = read_chunks(f"{folder}/X.npy", f"{folder}/y.npy")  # maps the files for a moment, to see them whole
    if int(limit):
        resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    model = MODELS[kind](**json.loads(settings))
    iterate, readings = type(data).__iter__, []
    type(data).__iter__ = lambda self: readings.append(1) or iterate(self)
    began, used = time.perf_counter(), time.process_time()
    model.fit(data)
    print(json.dumps({
        "seconds": time.perf_counter() - began, "cpu": time.process_time() - used, "readings": len(readings),
        "before_mib": before / 1024, "peak_mib": peak_kib() / 1024, "n_features": int(model.n_features_),
        "iterations": int(np.max(model.n_iter_)) if hasattr(model, "n_iter_") else None,
        "candidates": len(getattr(model, "cv_results_", {"weight": [0]})["weight"]),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
