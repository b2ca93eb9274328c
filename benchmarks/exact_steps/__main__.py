"""Measure the studies named (all where none is), then write the report with `--render`."""

from __future__ import annotations

from . import cells, frontier, real, searches, speed, tables
from .command import run_command
from .report import write_report
from .store import LINES

STUDIES = {study.NAME: study for study in (cells, tables, frontier, searches, speed, real)}

if __name__ == "__main__":
    raise SystemExit(
        run_command(
            "benchmarks.exact_steps",
            STUDIES,
            LINES,
            "0-9",
            lambda store: write_report(STUDIES.values(), store),
        )
    )
