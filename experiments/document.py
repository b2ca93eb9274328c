"""A document as a list of blocks: Markdown, and pictures that lie beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Picture:
    name: str
    caption: str
    svg: str

    def __str__(self) -> str:
        return f"![{self.caption}]({IMAGES}/{self.name}.svg)\n\n*{self.caption}*"


Block = str | Picture
IMAGES = "images"


def heading(text: str) -> str:
    return f"## {text}"


def bullets(items: Sequence[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def captioned_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table under its caption, which says what the figures are."""
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join([f"*{caption}*", "", lines[0], "|---" * len(head) + "|", *lines[1:]])


def as_markdown(title: str, blocks: Sequence[Block]) -> str:
    parts = [f"# {title}", *map(str, blocks)]
    return "\n\n".join(part for part in parts if part) + "\n"
