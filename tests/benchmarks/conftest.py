"""A made-up result file, none of its figures measured, and made-up solvers in processes of their own."""

import copy
import shutil
from pathlib import Path

import pytest

from benchmarks.side_by_side import session


def row(problem, solver, seconds, quality, error=None, peak_bytes=6e6, settings=None):
    # The repeats lie within ±4 % of the middle one.
    repeats = [seconds * share for share in (0.96, 0.98, 1.0, 1.02, 1.04)] if seconds else []
    return {
        "problem": problem, "solver": solver, "package": solver.split()[0], "version": "1.2",
        "formulation": "L1-logistic", "settings": settings or {}, "seconds": repeats,
        "peak_bytes": peak_bytes, "quality": quality, "error": error,
    }  # fmt: skip


SPARSE, STEPS = "sparse-300x40", "steps-900"
MADE_UP = {
    "date": "2026-01-02", "quick": False, "threads": 1,
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
        row(SPARSE, "singleindex", 0.100, {"auc": 0.90, "brier": 0.100}, settings={"size": 10.0}),
        row(SPARSE, "singleindex two-pass", 0.160, {"auc": 0.91, "brier": 0.099}),
        row(SPARSE, "quick-peer", 0.050, {"auc": 0.85, "brier": 0.140, "suboptimality": 1e-2},
            settings={"tol": 1e-3, "penalty": 0.0123456}),
        row(SPARSE, "good-peer", 0.400, {"auc": 0.92, "brier": 0.0995}, peak_bytes=None),
        row(SPARSE, "slow-peer", 2.000, {"auc": 0.9005, "brier": 0.0995}),
        row(SPARSE, "late-peer", None, {}, error="timed out after 60 s", peak_bytes=None),
        row(STEPS, "singleindex", 0.001, {"rmse": 0.20}),
        row(STEPS, "slow-peer", 0.004, {"rmse": 0.20}),
    ],
}  # fmt: skip


@pytest.fixture
def results():
    """Return a copy of the results, to be changed at will."""
    return copy.deepcopy(MADE_UP)


@pytest.fixture
def peers(tmp_path, monkeypatch):
    """Return a folder in which processes find the solvers of `fakes.py`, and what these read."""
    folder = tmp_path / "peers"
    folder.mkdir()
    for path in (session.WORKER, session.WORKER.with_name("linear.py"), Path(__file__).with_name("fakes.py")):
        shutil.copy(path, folder)
    monkeypatch.setattr(session, "WORKER", folder / "worker.py")
    return folder
