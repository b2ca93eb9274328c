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

from . import cost, figure, table1, table2, table3
from .progress import progress_over
from .units import Record, Store, Unit

TABLES = {part.NAME: part for part in (table1, table2, table3, figure, cost)}
PACKAGES = ("singleindex", "numpy", "scipy", "scikit-learn", "lightgbm", "joblib")


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


def run_units(units: list[Unit], store: Store, n_jobs: int) -> list[str]:
    """Run what is not stored yet, the serial tables last and alone; return what failed."""
    done = store.records()
    todo = [unit for unit in units if unit not in done or done[unit].missing]
    serial = [unit for unit in todo if getattr(TABLES[unit.table], "SERIAL", False)]
    parallel = [unit for unit in todo if unit not in serial]
    if len(todo) < len(units):
        print(f"{len(units) - len(todo)} of {len(units)} units are stored already", file=sys.stderr)
    run = note_run(store.folder) if todo else ""
    failed: list[str] = []
    for title, group, jobs in (("side by side", parallel, n_jobs), ("one by one", serial, 1)):
        with progress_over(title, group, jobs) as progress:
            for record, seconds, wrong in results_of(group, run, jobs):
                if wrong:
                    failed.append(f"{record.unit.name}: {wrong}")
                else:
                    store.append(record)
                progress.done(record.unit, seconds)
    return failed


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
    told = describe()
    path = folder / "runs.json"
    runs = json.loads(path.read_text()) if path.exists() else {}
    name = f"{told['date']}-{len(runs) + 1}"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(runs | {name: told}, indent=1, sort_keys=True) + "\n")
    return name


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
    try:
        shown = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True
        )
    except OSError:
        return ""
    return shown.stdout.strip()
