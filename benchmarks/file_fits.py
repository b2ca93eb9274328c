"""Fits to files in a process of their own: what they read, take and hold at the most."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import numpy as np

IN_A_PROCESS = textwrap.dedent(
    """
    import json, resource, sys, time
    import numpy as np
    from singleindex import SingleIndexClassifier, SingleIndexClassifierCV
    from singleindex.design import read_chunks

    def peak():
        # Of this program alone: what getrusage says begins with the process that started it.
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024

    made, X, y, limit = sys.argv[1:]
    before = peak()
    data = read_chunks(X, y)  # which maps the files for a moment, to see whether they are whole
    if int(limit):
        resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    model = eval(made)
    began, used = time.perf_counter(), time.process_time()
    iterate = type(data).__iter__
    count = []
    type(data).__iter__ = lambda self: (count.append(1), iterate(self))[1]
    model.fit(data)
    print(json.dumps({
        "seconds": time.perf_counter() - began, "cpu": time.process_time() - used, "readings": len(count),
        "before_mib": before, "peak_mib": peak(), "n_features": int(model.n_features_),
        "iterations": int(np.max(model.n_iter_)) if hasattr(model, "n_iter_") else None,
        "candidates": len(getattr(model, "cv_results_", {"weight": [0]})["weight"]),
    }))
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


def fit_in_a_process(model, folder, limit=0):
    """Return what a fit of the files took; the model is told as Python writes it, the limit in bytes."""
    out = subprocess.run(
        [sys.executable, "-c", IN_A_PROCESS, model, f"{folder}/X.npy", f"{folder}/y.npy", str(limit)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return json.loads(out.stdout)
