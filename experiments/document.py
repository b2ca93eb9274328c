"""A document as a list of blocks, written as Markdown or as HTML from the same source."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2

    def markdown(self) -> str:
        return f"{'#' * self.level} {self.text}"

    def html(self) -> str:
        return f'<h{self.level} id="{self.anchor}">{inline(self.text)}</h{self.level}>'

    @property
    def anchor(self) -> str:
        return re.sub(r"\W+", "-", self.text.lower()).strip("-")


@dataclass(frozen=True)
class Text:
    text: str

    def markdown(self) -> str:
        return self.text

    def html(self) -> str:
        return f"<p>{inline(self.text)}</p>"


@dataclass(frozen=True)
class Bullets:
    items: Sequence[str]

    def markdown(self) -> str:
        return "\n".join(f"- {item}" for item in self.items)

    def html(self) -> str:
        return "<ul>" + "".join(f"<li>{inline(item)}</li>" for item in self.items) + "</ul>"


@dataclass(frozen=True)
class Table:
    """The first column names the rows; `caption` says what the figures are."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        lines = [f"*{self.caption}*", "", line_of(self.head), "|---" * len(self.head) + "|"]
        return "\n".join(lines + [line_of(row) for row in self.rows])

    def html(self) -> str:
        head = "".join(f"<th>{inline(cell)}</th>" for cell in self.head)
        body = "".join(
            "<tr><th>"
            + inline(row[0])
            + "</th>"
            + "".join(f"<td>{inline(cell)}</td>" for cell in row[1:])
            + "</tr>"
            for row in self.rows
        )
        wordy = " class=wordy" if any(len(cell) > 60 for row in self.rows for cell in row) else ""
        table = f"<table{wordy}><caption>{inline(self.caption)}</caption>"
        return f"<div class=wide>{table}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


@dataclass(frozen=True)
class Picture:
    """A drawing, for the page; the Markdown text leaves it out and names it."""

    caption: str
    svg: str

    def markdown(self) -> str:
        return ""

    def html(self) -> str:
        caption = f"<figcaption>{inline(self.caption)}</figcaption>"
        return f"<figure><div class=scroll>{self.svg}</div>{caption}</figure>"


Block = Heading | Text | Bullets | Table | Picture


def line_of(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def inline(text: str) -> str:
    """Return HTML of a line with `code` and **bold** in it."""
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>', text)


def as_markdown(title: str, blocks: Sequence[Block]) -> str:
    parts = [f"# {title}", *(block.markdown() for block in blocks)]
    return "\n\n".join(part for part in parts if part) + "\n"


STYLE = """
:root { color-scheme: light dark; --ink: #1c1d22; --paper: #fdfdfb; --soft: #6a6c76; --rule: #d9d9d4;
  --band: #f2f2ee; --c0: #1f6fb4; --c1: #c8501e; --c2: #2c8a57; --c3: #8a5fb0; --c4: #a3852a; --c5: #b23a6d;
  --c6: #111111; --c7: #7a6a5c; --c8: #1fa3a3; --c9: #d19a00; --c10: #9aa0ad; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e2; --paper: #16171b; --soft: #9a9ca6;
  --rule: #34363e; --band: #1f2127; --c0: #6db3ef; --c1: #f08a5c; --c2: #67c896;
  --c3: #bd9be0; --c4: #d6ba62; --c5: #ea82ab;
  --c6: #ffffff; --c7: #b8a797; --c8: #4fd6d6; --c9: #ffcf4d; --c10: #7d8494; } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 66rem; padding: 1rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; }
h1 { line-height: 1.2 } h2 { margin-top: 3rem; border-bottom: 1px solid var(--rule); padding-bottom: .3rem }
p, li { max-width: 46rem } nav { display: flex; flex-wrap: wrap; gap: .3rem 1rem; margin: 1rem 0 }
a { color: var(--c0) } code { font-size: .92em; background: var(--band); padding: 0 .2em; border-radius: 3px }
.wide { overflow-x: auto; margin: 1.5rem 0 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; min-width: 60% }
caption { text-align: left; color: var(--soft); padding-bottom: .5rem; position: sticky; left: 0 }
th, td { padding: .35rem .6rem; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap }
.wordy td, .wordy th { white-space: normal; text-align: left; vertical-align: top; min-width: 9rem }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--paper) }
tbody tr:nth-child(even) td, tbody tr:nth-child(even) th { background: var(--band) }
figure { margin: 2rem 0 } figcaption { color: var(--soft); font-size: .9rem; max-width: 46rem }
svg { width: 100%; height: auto; display: block }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif }
svg .soft { fill: var(--soft) } svg .rule { stroke: var(--rule); stroke-width: 1 }
@media (max-width: 34rem) { body { font-size: 15px } th, td { padding: .3rem .4rem }
  svg.plot { min-width: 34rem } .wordy thead { display: none }
  .wordy tr, .wordy th, .wordy td { display: block; border: 0 }
  .wordy tr { border-bottom: 1px solid var(--rule) }
  .scroll { overflow-x: auto } }
"""


def as_page(title: str, blocks: Sequence[Block]) -> str:
    """Return one HTML file that needs nothing beside it."""
    parts = [block for block in blocks if isinstance(block, Heading) and block.level == 2]
    links = "".join(f'<a href="#{part.anchor}">{inline(part.text)}</a>' for part in parts)
    body = "\n".join(block.html() for block in blocks)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{inline(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{inline(title)}</h1><nav>{links}</nav>\n{body}\n</body></html>\n"
    )
