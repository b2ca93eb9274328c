"""A unit of work, and the files of finished ones that a rerun continues."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.lines import append_line, read_lines, replace_lines

Runs = dict[str, dict[str, Any]]
"""What each run was made with, by its name."""


@dataclass(frozen=True, order=True)
class Unit:
    """One method on one split of one data set: what is run, stored and continued as a whole."""

    table: str
    dataset: str
    variant: str
    method: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.table}/{self.dataset}/{self.variant}/{self.method}/{self.seed}"


@dataclass(frozen=True)
class Record:
    """What came out of a unit: figures and the settings chosen, or what was missing."""

    unit: Unit
    figures: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    missing: str = ""
    run: str = ""

    def as_content(self) -> dict[str, Any]:
        content = asdict(self.unit) | {"figures": self.figures, "settings": self.settings, "run": self.run}
        return content | ({"missing": self.missing} if self.missing else {})

    @classmethod
    def from_content(cls, content: dict[str, Any]) -> Record:
        unit = Unit(*(content[name] for name in ("table", "dataset", "variant", "method", "seed")))
        missing, run = content.get("missing", ""), content.get("run", "")
        return cls(unit, content["figures"], content["settings"], missing, run)


class Store:
    """A folder with a file of JSON lines for each table, a line for each finished unit, and `runs.json`."""

    def __init__(self, folder: Path):
        self.folder = folder

    def append(self, record: Record) -> None:
        append_line(self.folder / f"{record.unit.table}.jsonl", record.as_content())

    def records(self) -> dict[Unit, Record]:
        """Return the last record of every unit."""
        paths = sorted(self.folder.glob("*.jsonl"))
        records = (Record.from_content(content) for path in paths for content in read_lines(path))
        return {record.unit: record for record in records}

    def runs(self) -> Runs:
        path = self.folder / "runs.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def write_runs(self, runs: Runs) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "runs.json").write_text(json.dumps(runs, indent=1, sort_keys=True) + "\n")

    def replace(self, records: Iterable[Record], runs: Runs) -> None:
        """Make these the only records, sorted, with their runs: the same results give the same files."""
        by_table: dict[str, list[Record]] = {}
        for record in sorted(records, key=lambda record: record.unit):
            by_table.setdefault(record.unit.table, []).append(record)
        for path in self.folder.glob("*.jsonl"):
            if path.stem not in by_table:
                path.unlink()
        for table, found in by_table.items():
            replace_lines(self.folder / f"{table}.jsonl", (record.as_content() for record in found))
        used = {record.run for found in by_table.values() for record in found}
        self.write_runs({name: run for name, run in runs.items() if name in used})


def timed(work: Callable, *arguments: Any) -> tuple[Any, float]:
    """Return what comes out of `work`, and its seconds of processor time."""
    began = time.process_time()
    found = work(*arguments)
    return found, time.process_time() - began
