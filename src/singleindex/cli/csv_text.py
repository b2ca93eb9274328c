"""Rows as CSV that spreadsheets take for data, never for formulas."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

# What spreadsheets compute begins so; a sign alone is text to them as well, and numbers may begin so too.
_FORMULA = re.compile(r"[-=+@\t\r\n].", re.DOTALL)
_NUMBER = re.compile(r"[-+]?[\d.,]+(?:[eE][-+]?\d+)?")


def csv_text(rows: Iterable[Iterable[Any]], separator: str = ",") -> str:
    """Return rows of text and numbers, the first one the header, as CSV."""
    lines: list[str] = []
    # The writer quotes a carriage return only where its own line end holds one.
    writer = csv.writer(SimpleNamespace(write=lines.append), delimiter=separator, lineterminator="\r\n")
    writer.writerows([inert(cell) for cell in row] for row in rows)
    return "".join(line.removesuffix("\r\n") + "\n" for line in lines)


def inert(cell: Any) -> Any:
    """Return a cell as it is or, where a spreadsheet would compute it, with an apostrophe in front."""
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell
