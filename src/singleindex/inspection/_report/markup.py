"""The pieces that all sections of the page are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

from .charts import Drawn
from .svg import short


def score_text(value: float) -> str:
    """Return a score in three figures; what is nothing but rounding is zero."""
    return "0" if abs(value) < 5e-4 else short(value, 3)


def with_error(value: float, error: float | None) -> str:
    """Return a score and its standard error, both to the digits that the error leaves."""
    if not error:
        return score_text(value)
    digits = int(min(max(1 - math.floor(math.log10(error)), 0), 4))
    return f"{value:,.{digits}f} ± {error:,.{digits}f}".replace("-", "−")


def tile_text(value: float, error: float | None) -> str:
    score, _, error_text = with_error(value, error).partition(" ")
    return f'{score} <span class="small">{error_text}</span>' if error_text else score


def section(name: str, title: str, body: str) -> str:
    label = f"{name}-title"
    return f'<section id="{name}" aria-labelledby="{label}"><h2 id="{label}">{title}</h2>\n{body}</section>'


def figure(drawn: Drawn) -> str:
    keys = "".join(f'<li><span class="key {kind}"></span>{escape(text)}</li>' for kind, text in drawn.legend)
    note = f"<p>{escape(drawn.note)}</p>" if drawn.note else ""
    return (
        f"<figure><h3>{escape(drawn.title)}</h3>{drawn.svg}"
        '<output class="reading" aria-live="polite"></output>'
        f'<figcaption><ul class="legend">{keys}</ul>{note}</figcaption></figure>'
    )


def scrolling(label: str, table: str) -> str:
    """Return a table in a region that scrolls by itself where it is too wide for a screen."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">{table}</div>'


def heads(names: Iterable[str]) -> str:
    return "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
