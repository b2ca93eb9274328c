"""One solver in its own environment; it is told what to do line by line, and answers likewise.

Nothing of this project is imported here, so that this file runs wherever a peer does. It fits and times; what
a fit is worth is scored elsewhere.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import sys
import time
import warnings

import numpy as np
from scipy import sparse


class Worker:
    def load(self, module, solver, folder, levels=None):
        """Import the solver, then read the data."""
        make = getattr(importlib.import_module(module), solver)
        self.solver = make({"levels": levels, **read_arrays(folder)})
        self.at_load = set(vars(self.solver))
        return {"formulation": getattr(self.solver, "formulation", ""), "tolerances": self.solver.tolerances}

    def use(self, levels):
        """Go on with other levels."""
        self.solver.task["levels"] = levels
        return {}

    def fit(self, tolerance=None):
        """Return the seconds of one fit."""
        began = time.perf_counter()
        self.solver.fit(tolerance)
        return {"seconds": time.perf_counter() - began}

    def memory(self, tolerance=None):
        """Return by how many bytes the resident size rises at most during a fit."""
        for kept in vars(self.solver).keys() - self.at_load:
            delattr(self.solver, kept)
        gc.collect()
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        before = resident("VmRSS")
        with open("/proc/self/clear_refs", "w") as reset:
            reset.write("5")
        self.solver.fit(tolerance)
        return {"rise": resident("VmHWM") - before}

    def answer(self, path):
        """Write what the last fit says: coefficients, scores and probabilities of the held-out rows."""
        np.savez(path, **{k: v for k, v in self.solver.answer().items() if v is not None})
        return {}


def read_arrays(folder):
    """Return the arrays of a problem; those in parts are sparse matrices."""
    arrays = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(".npz"):
            arrays[name[:-4]] = sparse.csr_matrix(sparse.load_npz(path))
        elif name.endswith(".npy"):
            arrays[name[:-4]] = np.load(path)
    return arrays


def resident(which):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(which))


def main():
    # What a peer prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    worker = Worker()
    for line in sys.stdin:
        order = json.loads(line)
        try:
            answer = getattr(worker, order.pop("do"))(**order)
        except Exception as failed:
            answer = {"error": f"{type(failed).__name__}: {failed}".splitlines()[0][:200]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
