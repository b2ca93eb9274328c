"""How results are told in Markdown, in one way: tables, templates, and the measured part of a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

END = "<!-- end of what was measured -->"
TEMPLATES = Path(__file__).with_name("templates")


def as_table(head: Sequence[str], rows: Iterable[Sequence[object]], n_left: int = 1) -> list[str]:
    """Return a table whose first columns are aligned to the left, the others to the right."""
    aligned = ["---"] * n_left + ["--:"] * (len(head) - n_left)
    body = ([str(cell).replace("|", "\\|") for cell in row] for row in rows)
    return [f"| {' | '.join(cells)} |" for cells in (head, aligned, *body)]


def paragraphs(*parts: str | Iterable[str]) -> list[str]:
    """Return the lines of texts and tables, one after the other with an empty line between."""
    lines = [[part] if isinstance(part, str) else list(part) for part in parts]
    return [line for part in lines if part for line in ("", *part)][1:]


def fill(name: str, known: Mapping[str, Any], **fields: object) -> list[str]:
    """Return the lines of a template with its {fields}: what is known, and what was made of it."""
    text = (TEMPLATES / f"{name}.md").read_text(encoding="utf-8")
    return text.format(**{**known, **fields}).splitlines()


def rows(form: str, records: Iterable[Mapping[str, Any]]) -> str:
    """Return the rows of a table, whose head is in the template: one for each record."""
    return "\n".join(form.format(**record) for record in records)


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
