"""A unit of work, and the file of finished ones that a rerun continues."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


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

    def as_line(self) -> str:
        content = asdict(self.unit) | {"figures": self.figures, "settings": self.settings, "run": self.run}
        if self.missing:
            content["missing"] = self.missing
        return json.dumps(content, ensure_ascii=False, default=plain_number)

    @classmethod
    def from_line(cls, line: str) -> Record:
        content = json.loads(line)
        unit = Unit(*(content[name] for name in ("table", "dataset", "variant", "method", "seed")))
        return cls(
            unit, content["figures"], content["settings"], content.get("missing", ""), content.get("run", "")
        )


def plain_number(value: Any) -> Any:
    """Turn numbers and arrays of numpy into those of Python, for JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a results file: {value!r}")


class Store:
    """A folder with one file of JSON lines per table; each finished unit is one line.

    A line is written by one call and brought to the disk before the next unit is counted as done. A line
    that was cut short by a crash is passed over when reading, and its unit is run again.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    def append(self, record: Record) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{record.unit.table}.jsonl"
        line = record.as_line() + "\n"
        if ends_within_a_line(path):
            line = "\n" + line
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, line.encode())
            os.fsync(handle)
        finally:
            os.close(handle)

    def records(self) -> dict[Unit, Record]:
        """Return the last record of every unit."""
        found: dict[Unit, Record] = {}
        for path in sorted(self.folder.glob("*.jsonl")):
            for record in read_lines(path):
                found[record.unit] = record
        return found

    def replace(self, records: Iterable[Record]) -> None:
        """Make these the only records, sorted: the same results give the same files."""
        self.folder.mkdir(parents=True, exist_ok=True)
        by_table: dict[str, list[Record]] = {}
        for record in sorted(records, key=lambda record: record.unit):
            by_table.setdefault(record.unit.table, []).append(record)
        for path in self.folder.glob("*.jsonl"):
            if path.stem not in by_table:
                path.unlink()
        for table, found in by_table.items():
            path = self.folder / f"{table}.jsonl"
            temporary = path.with_suffix(".new")
            temporary.write_text("".join(record.as_line() + "\n" for record in found))
            temporary.replace(path)


def ends_within_a_line(path: Path) -> bool:
    if not path.exists() or path.stat().st_size == 0:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


def read_lines(path: Path) -> Iterator[Record]:
    for line in path.read_text().splitlines():
        try:
            yield Record.from_line(line)
        except (json.JSONDecodeError, KeyError):
            continue
