"""A made-up result file: every kind of row, two problems, three peers. None of its figures was measured."""

import copy
import shutil
import textwrap

import pytest

from benchmarks.side_by_side import session


def row(problem, solver, seconds, quality, package=None, error=None, peak_bytes=6e6):
    # The repeats lie within ±4 % of the middle one.
    repeats = [seconds * share for share in (0.96, 0.98, 1.0, 1.02, 1.04)] if seconds else []
    return {
        "problem": problem,
        "solver": solver,
        "package": package or solver,
        "version": "1.2",
        "formulation": "L1-logistic",
        "settings": {"tol": 1e-4, "max_iter": 50},
        "seconds": repeats,
        "peak_bytes": peak_bytes,
        "quality": quality,
        "error": error,
    }


SPARSE, STEPS = "sparse-300x40", "steps-900"
MADE_UP = {
    "date": "2026-01-02",
    "quick": False,
    "threads": 1,
    "machine": {"processor": "a made-up processor", "cores": 2, "memory_gib": 7.5, "system": "Linux",
                "python": "3.11.7"},
    "environments": [
        {"group": "main", "packages": {"quick-peer": "1.2", "numpy": "2.0"}, "error": None},
        {"group": "old", "packages": {}, "error": "no wheel for this Python | from source:\n`gcc` failed"},
    ],
    "problems": [
        {"name": STEPS, "task": "isotonic", "text": "A step function.", "n": 900, "d": 1, "entries": 900,
         "data_bytes": 14e3},
        {"name": SPARSE, "task": "single fit", "text": "Rows with few entries.", "n": 300, "d": 40,
         "entries": 1200, "data_bytes": 3e6},
    ],
    "rows": [
        row(SPARSE, "singleindex", 0.100, {"auc": 0.90, "brier": 0.100, "suboptimality": 1e-9}),
        row(SPARSE, "singleindex two-pass", 0.160, {"auc": 0.91, "brier": 0.099, "suboptimality": 1e-9},
            package="singleindex"),
        row(SPARSE, "quick-peer", 0.050, {"auc": 0.85, "brier": 0.140, "suboptimality": 1e-2}),
        row(SPARSE, "good-peer", 0.400, {"auc": 0.92, "brier": 0.0995, "suboptimality": 1e-8},
            peak_bytes=None),
        row(SPARSE, "slow-peer", 2.000, {"auc": 0.9005, "brier": 0.0995}),
        row(SPARSE, "late-peer", None, {}, error="timed out after 60 s", peak_bytes=None),
        row(STEPS, "singleindex", 0.001, {"rmse": 0.20, "certificate": 1e-15}),
        row(STEPS, "slow-peer", 0.004, {"rmse": 0.20, "certificate": 1e-9}),
    ],
    "scaling": [
        {"solver": "singleindex", "task": "fit, sparse rows", "against": "n", "sizes": [1000, 10000, 100000],
         "seconds": [0.002, 0.021, 0.22], "exponent": 1.02},
        {"solver": "slow-peer", "task": "fit, sparse rows", "against": "n", "sizes": [1000, 10000],
         "seconds": [0.02, 0.9], "exponent": 1.65},
        {"solver": "singleindex", "task": "fit, sparse rows", "against": "d", "sizes": [100, 1000],
         "seconds": [0.002, 0.005], "exponent": 0.40},
    ],
}  # fmt: skip


@pytest.fixture
def results():
    """Return a copy of the results, to be changed at will."""
    return copy.deepcopy(MADE_UP)


@pytest.fixture
def find():
    """Return the row of a solver on a problem."""

    def found(results, problem, solver):
        return next(r for r in results["rows"] if (r["problem"], r["solver"]) == (problem, solver))

    return found


# ---------------------------------------------------------------- solvers' processes


@pytest.fixture
def peers(tmp_path, monkeypatch):
    """Return a function that writes made-up solvers into `fakes.py`, where processes find them."""
    folder = tmp_path / "peers"
    folder.mkdir()
    for name in ("worker.py", "linear.py"):
        shutil.copy(session._WORKER.with_name(name), folder)
    monkeypatch.setattr(session, "_WORKER", folder / "worker.py")

    def write(text):
        (folder / "fakes.py").write_text(textwrap.dedent(text))
        return folder

    return write
