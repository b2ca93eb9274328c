"""How results are told in Markdown, in one way: tables, and the measured part of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

END = "<!-- end of what was measured -->"


def as_table(head: Sequence[str], rows: Iterable[Sequence[object]], n_left: int = 1) -> list[str]:
    """Return a table whose first columns are aligned to the left, the others to the right."""
    aligned = ["---"] * n_left + ["--:"] * (len(head) - n_left)
    body = ([str(cell).replace("|", "\\|") for cell in row] for row in rows)
    return [f"| {' | '.join(cells)} |" for cells in (head, aligned, *body)]


def three_digits(value: float) -> str:
    """Return the value to three digits, never as a power of ten."""
    rounded = f"{value:.2e}"
    after_point = max(0, 2 - int(rounded.partition("e")[2]))
    return f"{float(rounded):.{after_point}f}"


def replace_measured(page: Path, begin: str, lines: Iterable[str]) -> None:
    """Put lines between the marks of a page."""
    head, there, rest = page.read_text(encoding="utf-8").partition(begin)
    _, end, tail = rest.partition(END)
    if not there or not end:
        raise ValueError(f"{page} needs the lines {begin} and {END}, between which the results go")
    page.write_text("\n".join([head + begin, "", *lines, "", END]) + tail, encoding="utf-8")
