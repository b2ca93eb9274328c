"""The first stage: run units side by side, store each as it ends, pass over those that are stored.

A table is a module with a NAME, ROWS (data sets and variants), QUICK_ROWS, METHODS, SEEDS, and `measure`,
which returns the figures of a unit and the settings that were chosen. One that is SERIAL runs last and alone.
"""

from __future__ import annotations

import datetime
import platform
import sys
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.lines import results_of
from benchmarks.provenance import DIRTY, source_commit

from . import cost, features, figure, table1, table2, table3
from .units import Record, Store, Unit

TABLES = {part.NAME: part for part in (table1, features, table2, table3, figure, cost)}
PACKAGES = ("singleindex", "numpy", "scipy", "scikit-learn", "lightgbm", "joblib")
# What figures depend on: units of another state of these files are measured anew.
MEASURED = (
    "src", "meson.build", "experiments/baselines",
    *(f"experiments/{name}.py" for name in ("classifiers", "splits", *TABLES)),
)  # fmt: skip


def units_of(part: Any, n_seeds: int, quick: bool = False) -> list[Unit]:
    return [
        Unit(part.NAME, dataset, variant, method, seed)
        for dataset, variant in (part.QUICK_ROWS if quick else part.ROWS)
        for seed in range(n_seeds)
        for method in part.METHODS
    ]


def measure(unit: Unit, run: str) -> tuple[Record, str]:
    """Run one unit; return its record, and what went wrong."""
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            figures, settings = TABLES[unit.table].measure(unit)
    except FileNotFoundError as error:
        return Record(unit, missing=str(error), run=run), ""
    except Exception as error:  # the other units are worth having
        return Record(unit, run=run), f"{type(error).__name__}: {error}"
    seconds = {"seconds": time.process_time() - began}
    return Record(unit, seconds | figures, settings, run=run), ""


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
    run = note_run(store) if todo else ""
    failed: list[str] = []
    for title, group, jobs in (("side by side", parallel, n_jobs), ("one by one", serial, 1)):
        began = time.monotonic()
        found = results_of(measure, [(unit, run) for unit in group], jobs)
        for count, (record, wrong) in enumerate(found, start=1):
            if wrong:
                failed.append(f"{record.unit.name}: {wrong}")
            else:
                store.append(record)
            minutes = (time.monotonic() - began) / 60
            told = f"[{title}] {count}/{len(group)} units in {minutes:.1f} min; {record.unit.name}"
            print(told, file=sys.stderr, flush=True)
    return failed


def stored_units(store: Store, keep: bool) -> set[Unit]:
    """Return the units that need not be run: those of this commit, or with `keep` of any."""
    runs, now = store.runs(), commit()
    of_now = {name for name, run in runs.items() if run["commit"] == now and not now.endswith(DIRTY)}
    return {
        unit
        for unit, record in store.records().items()
        if not record.missing and (keep or record.run in of_now)
    }


# ---------------------------------------------------------------- what was run with what


def note_run(store: Store) -> str:
    """Write down with what this run is made, and return its name."""
    runs, today = store.runs(), str(datetime.date.today())
    name = f"{today}-{len(runs) + 1}"
    made_with = {
        "date": today,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "packages": {name: version_of(name) for name in PACKAGES},
        "commit": commit(),
    }
    store.write_runs(runs | {name: made_with})
    return name


def version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def commit() -> str:
    """Return the last commit that changed what is measured, marked where the files have changes since."""
    return source_commit(*MEASURED)
