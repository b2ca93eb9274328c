"""A unit of work, and the file of finished ones that a rerun continues."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.lines import append_line, read_lines, replace_lines


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
        if self.missing:
            content["missing"] = self.missing
        return content

    @classmethod
    def from_content(cls, content: dict[str, Any]) -> Record:
        unit = Unit(*(content[name] for name in ("table", "dataset", "variant", "method", "seed")))
        return cls(
            unit, content["figures"], content["settings"], content.get("missing", ""), content.get("run", "")
        )


class Store:
    """A folder with one file of JSON lines per table; each finished unit is one line."""

    def __init__(self, folder: Path):
        self.folder = folder

    def append(self, record: Record) -> None:
        append_line(self.folder / f"{record.unit.table}.jsonl", record.as_content())

    def records(self) -> dict[Unit, Record]:
        """Return the last record of every unit."""
        paths = sorted(self.folder.glob("*.jsonl"))
        records = (Record.from_content(content) for path in paths for content in read_lines(path))
        return {record.unit: record for record in records}

    def replace(self, records: Iterable[Record]) -> None:
        """Make these the only records, sorted: the same results give the same files."""
        by_table: dict[str, list[Record]] = {}
        for record in sorted(records, key=lambda record: record.unit):
            by_table.setdefault(record.unit.table, []).append(record)
        for path in self.folder.glob("*.jsonl"):
            if path.stem not in by_table:
                path.unlink()
        for table, found in by_table.items():
            replace_lines(self.folder / f"{table}.jsonl", (record.as_content() for record in found))
