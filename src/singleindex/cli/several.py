"""Several files that are one table."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..tables.columns import abridged
from ..tables.summaries import as_text
from .messages import CliError, counted
from .read_options import ReadOptions
from .tables import Table, read_table


def read_tables(
    names: Sequence[str], options: ReadOptions, n_features: int | None = None, one_based: bool | None = None
) -> Table:
    """Read one file, or several of the same columns one below the other; names may be patterns."""
    paths = [path for name in names for path in matching(name)]
    tables = [read_table(path, options, n_features, one_based) for path in paths]
    return tables[0] if len(tables) == 1 else stacked(tables)


def matching(name: str) -> list[str]:
    """Return the files of a pattern in alphabetical order; a name that is there is no pattern."""
    if name == "-" or Path(name).exists() or not glob.has_magic(name):
        return [name]
    found = sorted(glob.glob(name, recursive=True))
    if not found:
        raise CliError(f"no file matches {name}; check the pattern and the folder")
    return found


def source_of(names: Sequence[str]) -> str:
    """Return what to call the files, without their folders."""
    if len(names) > 1:
        return f"{Path(names[0]).name} and {counted(len(names) - 1, 'other file')}"
    return "standard input" if names[0] == "-" else Path(names[0]).name


def stacked(tables: list[Table]) -> Table:
    import pandas

    first = tables[0]
    for table in tables:
        if table.frame is None:
            raise CliError(f"{table.source} is a matrix; several files must be tables with names of columns")
        differ = [str(name) for name in set(first.frame.columns) ^ set(table.frame.columns)]
        if differ:
            raise CliError(
                f"{first.source} and {table.source} have different columns: {abridged(sorted(differ))} are "
                "in one of them only"
            )
    names = list(first.frame.columns)
    frame = pandas.DataFrame({name: one_column([t.frame[name] for t in tables]) for name in names})
    notes = list(dict.fromkeys(note for table in tables for note in table.notes))
    size = f"{counted(len(tables), 'file')}, {len(frame)} rows"
    return Table(f"{first.source} and others", frame=frame, notes=[f"read {size}", *notes])


def one_column(parts: list[Any]) -> Any:
    """Return the parts of a column below each other; text in one file makes text of the others."""
    import pandas

    if not {part.dtype.kind for part in parts} <= set("iuf") and len({part.dtype for part in parts}) > 1:
        parts = [as_text(part) for part in parts]
    return pandas.concat(parts, ignore_index=True)
