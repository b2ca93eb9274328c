"""Measurements as JSON lines, one for each study, cell, seed and method."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.provenance import DIRTY

LINES = Path(__file__).parent.parent / "results" / "exact_steps.jsonl"


@dataclass(frozen=True)
class Line:
    """What one method did in one cell with one seed.

    The methods of a family are measured together. `commit` is that of the library's source for what is
    measured anew with every version of it, "" for rivals. What failed has an `error` and no figures.
    """

    study: str
    cell: str
    seed: int
    method: str
    family: str
    figures: dict[str, Any] = field(default_factory=dict)
    commit: str = ""
    error: str = ""

    @property
    def key(self) -> tuple[str, str, int, str]:
        return self.study, self.cell, self.seed, self.method


class Store:
    """A file of lines. Of two with the same key the later one counts."""

    def __init__(self, path: Path = LINES) -> None:
        self.path = path

    def read(self) -> dict[tuple[str, str, int, str], Line]:
        if not self.path.exists():
            return {}
        lines = (Line(**json.loads(text)) for text in self.path.read_text().splitlines() if text)
        return {line.key: line for line in lines}

    def measured(self, commit: str) -> set[tuple[str, str, int, str]]:
        """Return the study, cell, seed and family of all that need not be measured again.

        Lines that failed do not stand, nor ours of another commit or of a source tree with changes.
        """
        stands = {""} if commit.endswith(DIRTY) else {"", commit}
        return {
            (line.study, line.cell, line.seed, line.family)
            for line in self.read().values()
            if not line.error and line.commit in stands
        }

    def append(self, line: Line) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(_as_text(line))

    def tidy(self) -> None:
        """Leave out what a later line replaces, and sort: two runs then differ in figures only."""
        lines = self.read()
        if lines:
            whole = self.path.with_suffix(".new")
            whole.write_text("".join(_as_text(lines[key]) for key in sorted(lines)))
            whole.replace(self.path)


def _as_text(line: Line) -> str:
    return json.dumps(asdict(line), ensure_ascii=False) + "\n"


def figures_of(lines: Iterable[Line], study: str) -> dict[str, dict[str, dict[int, dict[str, Any]]]]:
    """Return the figures of a study: by cell, method and seed."""
    found: dict[str, dict[str, dict[int, dict[str, Any]]]] = {}
    for line in lines:
        if line.study == study and not line.error:
            found.setdefault(line.cell, {}).setdefault(line.method, {})[line.seed] = line.figures
    return found
