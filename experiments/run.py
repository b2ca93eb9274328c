"""The first stage: run units side by side, store each as it ends, pass over those that are stored."""

from __future__ import annotations

import datetime
import json
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config

from . import cost, features, figure, table1, table2, table3
from .progress import Progress
from .units import Record, Store, Unit

TABLES = {part.NAME: part for part in (table1, features, table2, table3, figure, cost)}
PACKAGES = ("singleindex", "numpy", "scipy", "scikit-learn", "lightgbm", "joblib")
HERE = Path(__file__).parent
# What figures depend on: units of another state of these files are measured anew.
MEASURED = (
    "../src", "../meson.build", "baselines", "classifiers.py", "completion.py", "multi_output.py",
    "splits.py", *(f"{name}.py" for name in TABLES),
)  # fmt: skip
DIRTY = "+changes"


def measure(unit: Unit, run: str) -> tuple[Record, float, str]:
    """Run one unit; return its record, its seconds and what went wrong."""
    began, began_computing = time.perf_counter(), time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            figures, settings = TABLES[unit.table].measure(unit)
        seconds = {"seconds": time.process_time() - began_computing}
        record, wrong = Record(unit, seconds | figures, settings, run=run), ""
    except FileNotFoundError as error:
        record, wrong = Record(unit, missing=str(error), run=run), ""
    except Exception as error:  # the other units are worth having
        record, wrong = Record(unit, run=run), f"{type(error).__name__}: {error}"
    return record, time.perf_counter() - began, wrong


def run_units(units: list[Unit], store: Store, n_jobs: int, keep: bool = False) -> list[str]:
    """Run what is not stored yet, the serial tables last and alone; return what failed.

    What was stored at another commit counts only with `keep`.
    """
    stands = stored_units(store, keep)
    todo = [unit for unit in units if unit not in stands]
    serial = [unit for unit in todo if getattr(TABLES[unit.table], "SERIAL", False)]
    parallel = [unit for unit in todo if unit not in serial]
    if len(todo) < len(units):
        print(f"{len(units) - len(todo)} of {len(units)} units are stored already", file=sys.stderr)
    run = note_run(store.folder) if todo else ""
    failed: list[str] = []
    for title, group, jobs in (("side by side", parallel, n_jobs), ("one by one", serial, 1)):
        progress = Progress(title, group, jobs)
        for record, seconds, wrong in results_of(group, run, jobs):
            if wrong:
                failed.append(f"{record.unit.name}: {wrong}")
            else:
                store.append(record)
            progress.done(record.unit, seconds)
    return failed


def stored_units(store: Store, keep: bool) -> set[Unit]:
    """Return the units that need not be run: those of this commit, or with `keep` of any."""
    runs, now = read_runs(store.folder), commit()
    of_now = {name for name, run in runs.items() if run["commit"] == now and not now.endswith(DIRTY)}
    return {
        unit
        for unit, record in store.records().items()
        if not record.missing and (keep or record.run in of_now)
    }


def results_of(units: list[Unit], run: str, n_jobs: int) -> Iterator[tuple[Record, float, str]]:
    if n_jobs == 1:
        yield from (measure(unit, run) for unit in units)
        return
    # One thread for each process: more would only get into each other's way, and timings would not compare.
    with parallel_config("loky", n_jobs=n_jobs, inner_max_num_threads=1):
        yield from Parallel(return_as="generator_unordered", pre_dispatch="n_jobs + 2")(
            delayed(measure)(unit, run) for unit in units
        )


# ---------------------------------------------------------------- what was run with what


def note_run(folder: Path) -> str:
    """Write down with what this run is made, and return its name."""
    told, runs = describe(), read_runs(folder)
    name = f"{told['date']}-{len(runs) + 1}"
    folder.mkdir(parents=True, exist_ok=True)
    write_runs(folder, runs | {name: told})
    return name


def read_runs(folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / "runs.json"
    return json.loads(path.read_text()) if path.exists() else {}


def write_runs(folder: Path, runs: dict[str, dict[str, Any]]) -> None:
    (folder / "runs.json").write_text(json.dumps(runs, indent=1, sort_keys=True) + "\n")


def describe() -> dict[str, Any]:
    return {
        "date": str(datetime.date.today()),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "packages": {name: version_of(name) for name in PACKAGES},
        "commit": commit(),
    }


def version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def commit() -> str:
    """Return the last commit that changed what is measured, marked where the files have changes since."""
    last = git("log", "-1", "--format=%h", "--", *MEASURED)
    return last + DIRTY if git("status", "--porcelain", "--", *MEASURED) else last


def git(*arguments: str) -> str:
    """Return what git says, and nothing where there is none."""
    try:
        return subprocess.run(["git", *arguments], cwd=HERE, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""
