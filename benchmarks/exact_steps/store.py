"""Measurements as JSON lines, one for each study, cell, seed and method."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.lines import append_line, read_lines, replace_lines
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
        lines = (Line(**content) for content in read_lines(self.path))
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
        append_line(self.path, asdict(line))

    def tidy(self) -> None:
        """Leave out what a later line replaces, and sort: two runs then differ in figures only."""
        lines = self.read()
        if lines:
            replace_lines(self.path, (asdict(lines[key]) for key in sorted(lines)))


def figures_of(lines: Iterable[Line], study: str) -> dict[str, dict[str, dict[int, dict[str, Any]]]]:
    """Return the figures of a study: by cell, method and seed."""
    found: dict[str, dict[str, dict[int, dict[str, Any]]]] = {}
    for line in lines:
        if line.study == study and not line.error:
            found.setdefault(line.cell, {}).setdefault(line.method, {})[line.seed] = line.figures
    return found
