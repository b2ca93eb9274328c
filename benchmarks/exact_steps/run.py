"""Run what is not measured yet, one JSON line as each method ends."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from benchmarks.lines import results_of
from benchmarks.provenance import source_commit

from .elsewhere import end_sessions
from .store import Line, Store


def wanted_families(study: Any, names: list[str]) -> list[str]:
    """Return the families of a study that are meant by "ours", "rivals", their own names, or by nothing."""
    unknown = set(names) - {"ours", "rivals", *study.FAMILIES}
    if unknown:
        known = ", ".join(dict.fromkeys(["ours", "rivals", *study.FAMILIES]))
        raise ValueError(f"the study {study.NAME} has no method {unknown.pop()!r}; it has {known}")
    chosen = []
    for family in study.FAMILIES:
        group = "ours" if family in study.MINE else "rivals"
        if not names or group in names or family in names:
            chosen.append(family)
    return chosen


def run_study(
    study: Any, families: list[str], seeds: list[int], cells: list[str], store: Store, n_jobs: int = 1
) -> int:
    """Measure, cell by cell, what the store has not; return how many failed."""
    commit = source_commit()
    done = store.measured(commit)
    jobs = []
    for seed in seeds:
        for cell in cells:
            missing = [family for family in families if (study.NAME, cell, seed, family) not in done]
            if missing:
                jobs.append((study, cell, seed, missing, commit))
    print(f"{study.NAME}: {len(jobs)} of {len(seeds) * len(cells)} cells to do", file=sys.stderr)
    failed = 0
    for count, lines in enumerate(results_of(measure_cell, jobs, n_jobs), start=1):
        for line in lines:
            store.append(line)
            failed += bool(line.error)
        told = ", ".join(line.method + (f" FAILED: {line.error}" if line.error else "") for line in lines)
        print(
            f"{study.NAME} {count}/{len(jobs)} {lines[0].cell} seed {lines[0].seed}: {told}", file=sys.stderr
        )
    end_sessions()
    return failed


def measure_cell(study: Any, cell: str, seed: int, families: list[str], commit: str) -> list[Line]:
    """Make the task of a cell once, and let each family have it."""
    warnings.simplefilter("ignore")
    task, lines = study.make(cell, seed), []
    for family in families:
        stamp = commit if family in study.MINE else ""
        try:
            measured, error = study.measure(family, task), ""
        except Exception as failure:  # the other methods are worth having
            measured, error = {family: {}}, f"{type(failure).__name__}: {failure}".splitlines()[0][:200]
        for method, figures in measured.items():
            lines.append(Line(study.NAME, cell, seed, method, family, figures, stamp, error))
    return lines
