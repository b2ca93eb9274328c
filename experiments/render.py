"""The third stage, second half: fill the templates, and write RESULTS.md and its pictures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from . import claims
from .analyse import Part, Results
from .sections import PICTURES, SECTIONS, bullets, opening
from .units import Runs, Store

HERE = Path(__file__).parent
STORED = HERE / "results"


def template(name: str) -> str:
    return (HERE / "templates" / f"{name}.md").read_text(encoding="utf-8").rstrip()


def fill(name: str, fields: dict[str, Any] | None) -> str:
    """Return a template with its fields; without them its heading alone."""
    text = template(name)
    return text.splitlines()[0] + "\n\nNot run." if fields is None else text.format_map(fields).rstrip()


def fill_lines(name: str, results: Results, not_run: str = "") -> str:
    """Return a template whose lines name functions of claims.py, filled with what these return.

    Where one returns nothing, its line ends after the first cell with `not_run`, or is left out.
    """
    lines = []
    for line in template(name).splitlines():
        named = re.search(r"\{(\w+)\[", line)
        told = getattr(claims, named[1])(results) if named else None
        if told:
            lines.append(line.format_map({named[1]: told}))
        elif not named:
            lines.append(line)
        elif not_run:
            lines.append(" | ".join([line.split(" | ")[0], not_run]))
    return "\n".join(lines)


def as_text(results: Results, runs: Runs) -> str:
    """Return the whole report."""
    parts = [fill("opening", opening(results, runs))]
    parts.append(fill_lines("claims", results, f"**{claims.UNKNOWN}** | Not run. |"))
    for name, (table, section) in SECTIONS.items():
        part = Part(results, table)
        parts.append(fill(name, section(part) if part.rows else None))
    parts.append(fill_lines("limits", results))
    missing = [f"{', '.join(names)}: {message}" for message, names in results.missing().items()]
    if missing:
        parts += ["Not run for want of data:", bullets(missing)]
    return "\n\n".join(parts) + "\n"


def read(folder: Path) -> tuple[Results, Runs]:
    store = Store(folder)
    return Results(store.records().values()), store.runs()


def as_files(folder: Path = STORED) -> dict[str, str]:
    """Return RESULTS.md and the pictures of the results in this folder, by their paths."""
    results, runs = read(folder)
    parts = {name: (Part(results, table), draw) for name, (table, draw) in PICTURES.items()}
    pictures = {f"images/{name}.svg": draw(part) for name, (part, draw) in parts.items() if part.rows}
    return {"RESULTS.md": as_text(results, runs)} | pictures


def write(folder: Path, target: Path) -> list[Path]:
    """Write them for the results in `folder`; return where they are."""
    files = {target / name: text for name, text in as_files(folder).items()}
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(files)
