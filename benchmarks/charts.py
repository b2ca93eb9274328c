"""Charts as SVG files that need nothing beside them: the same input gives the same bytes.

They lie on a white card, so that they can be read on a light and on a dark page, and are drawn for a width of
700 pixels. Colour is never all that tells two things apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np

WIDTH = 700
COLOURS = (
    "#0067a5", "#b34700", "#2c7a4b", "#7b4fa3", "#8a6d14", "#b23a6d", "#333333", "#0d7c7c", "#d19a00",
    "#7a6a5c", "#9aa0ad",
)  # fmt: skip
STYLE = (
    "text{font:12px system-ui,-apple-system,'Segoe UI',Arial,sans-serif;fill:#1c1d22}"
    ".soft{fill:#5b6270}.strong{font-weight:700}.rule{stroke:#d9dce1}.axis{stroke:#5b6270}"
)
CHARACTER = 6.6  # pixels of an average character, with some room


@dataclass(frozen=True)
class Band:
    """A mean over t = 0, 1, …, between limits, in the colour of its place in the legend."""

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    colour: int


# ---------------------------------------------------------------- axes


def round_numbers(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten, from one at most `low` to one at least `high`."""
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    found = [lead * 10.0**power for power in powers for lead in (1, 2, 5)]
    first = max(k for k, value in enumerate(found) if value <= low * (1 + 1e-9))
    last = min(k for k, value in enumerate(found) if value >= high * (1 - 1e-9))
    return found[first : max(last, first + 1) + 1]


class LogAxis:
    """Maps positive values to places by their logarithms; it begins and ends at round numbers.

    Ticks are as many of the round numbers as can have `room` pixels each.
    """

    def __init__(self, values: Sequence[float], start: float, end: float, room: float) -> None:
        rounds = round_numbers(min(values), max(values))
        self.low, self.high = rounds[0], rounds[-1]
        self.start, self.end = start, end
        decades = [value for value in rounds if abs(math.log10(value) - round(math.log10(value))) < 1e-9]
        coarser = [rounds, *(decades[::step] for step in range(1, len(decades) + 1))]
        self.ticks = next((ticks for ticks in coarser if self.are_apart(ticks, room)), rounds[:1])

    def __call__(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def are_apart(self, values: Sequence[float], room: float) -> bool:
        return all(abs(self(b) - self(a)) >= room for a, b in pairwise(values))


class Axis:
    """Maps values to places evenly; ticks are at most seven multiples of 1, 2 or 5 times a power of ten."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        span = (self.high - self.low) or 1.0
        step = 10.0 ** math.floor(math.log10(span / 4))
        step *= next(m for m in (1, 2, 5, 10) if span / (m * step) <= 6)
        first = math.ceil(self.low / step - 1e-9) * step
        return [round(first + k * step, 10) for k in range(int((self.high - first) / step + 1e-9) + 1)]


# ---------------------------------------------------------------- strokes


def text(x: float, y: float, content: str, anchor: str = "start", kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{escape(content)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, look: str = 'class="rule"') -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {look}/>'


def dot(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>'


def card(height: float, parts: Sequence[str], label: str) -> str:
    """Return the file: a white card with the parts on it, and what they show in words."""
    size = f'width="{WIDTH}" height="{height:.0f}" viewBox="0 0 {WIDTH} {height:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(label)}">',
            f"<style>{STYLE}</style>",
            f'<rect width="{WIDTH}" height="{height:.0f}" rx="8" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


# ---------------------------------------------------------------- many methods in few rows


def legend(names: Sequence[str], x: float, y: float) -> tuple[list[str], float]:
    """Return coloured names, in as many lines as they need, and where these end."""
    parts, left = [], x
    for k, name in enumerate(names):
        wide = 30 + CHARACTER * len(name)
        if left + wide > WIDTH:
            left, y = x, y + 18
        parts += [dot(left + 5, y - 4, COLOURS[k % len(COLOURS)]), text(left + 14, y, name)]
        left += wide
    return parts, y + 18


def dot_rows(rows: dict[str, dict[str, tuple[float, float]]], names: Sequence[str], label: str) -> str:
    """Draw one line per row, with a dot for each name: positive values, with their standard errors."""
    found = [dot for dots in rows.values() for dot in dots.values()]
    values = [value for value, _ in found] + [value + error for value, error in found]
    left, gap = 150, 30
    parts, top = legend(names, left, 22)
    bottom = top + gap * len(rows)
    axis = LogAxis(values, left, WIDTH - 24, room=56)
    for tick in axis.ticks:
        parts.append(line(axis(tick), top, axis(tick), bottom))
        parts.append(text(axis(tick), bottom + 16, f"{tick:g}", "middle", "soft"))
    for r, (row, dots) in enumerate(rows.items()):
        y = top + gap * (r + 0.5)
        parts += [text(left - 10, y + 4, row, "end"), line(left, y, WIDTH - 24, y)]
        for k, name in enumerate(names):
            if name in dots:
                parts += dot_with_error(axis, y + 2.2 * (k % 5 - 2), *dots[name], COLOURS[k % len(COLOURS)])
    return card(bottom + 30, parts, label)


def dot_with_error(axis: LogAxis, y: float, value: float, error: float, colour: str) -> list[str]:
    ends = axis(max(value - error, axis.low)), axis(value + error)
    bar = line(ends[0], y, ends[1], y, f'stroke="{colour}"')
    return [bar, dot(axis(value), y, colour)]


def band_panels(panels: Sequence[tuple[str, Sequence[Band]]], names: Sequence[str], label: str) -> str:
    """Draw panels of curves over t, two by two, under one legend."""
    parts, top = legend(names, 48, 22)
    width, height = WIDTH / 2, 270
    for k, (title, bands) in enumerate(panels):
        parts += band_panel(title, bands, width * (k % 2), top + height * (k // 2), width, height - 10)
    return card(top + height * math.ceil(len(panels) / 2), parts, label)


def band_panel(
    title: str, bands: Sequence[Band], x: float, y: float, width: float, height: float
) -> list[str]:
    low, high = min(band.low.min() for band in bands), max(band.high.max() for band in bands)
    pad = 0.05 * (high - low or 1.0)
    across = Axis(0, max(len(band.mean) for band in bands) - 1, x + 48, x + width - 16)
    up = Axis(low - pad, high + pad, y + height - 26, y + 30)
    parts = [text(across.start, y + 18, title)]
    for tick in up.ticks:
        parts.append(line(across.start, up(tick), across.end, up(tick)))
        parts.append(text(across.start - 6, up(tick) + 4, f"{tick:g}", "end", "soft"))
    for tick in across.ticks:
        parts.append(text(across(tick), y + height - 8, f"{tick:g}", "middle", "soft"))
    for band in bands:
        colour = COLOURS[band.colour % len(COLOURS)]
        around = [*enumerate(band.high), *reversed(list(enumerate(band.low)))]
        places = [
            " ".join(f"{across(t):.1f},{up(v):.1f}" for t, v in some)
            for some in (around, enumerate(band.mean))
        ]
        parts.append(f'<polygon points="{places[0]}" fill="{colour}" fill-opacity="0.18"/>')
        parts.append(f'<polyline points="{places[1]}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
    return parts
