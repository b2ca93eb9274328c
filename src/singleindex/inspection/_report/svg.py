"""Charts as SVG inside of the page: their colours and sizes are those of its style sheet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from ...tables.numbers import as_written

WIDTH, HEIGHT = 600.0, 380.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 74.0, 14.0, 16.0, 62.0


def nice_ticks(low: float, high: float, most: int = 6) -> np.ndarray:
    """Return round numbers within the bounds, at most so many."""
    if not high > low:
        return np.array([low])
    for exponent in range(int(np.floor(np.log10((high - low) / most))), 400):
        for lead in (1, 2, 2.5, 5):
            step = lead * 10.0**exponent
            ticks = step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
            if len(ticks) <= most:
                return ticks + 0.0  # no minus zero
    return np.array([low, high])


def log_ticks(low: float, high: float) -> np.ndarray:
    decades = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    leads = (1,) if high > 5000 * low else (1, 3) if high > 50 * low else (1, 2, 5)
    ticks = np.multiply.outer(decades, leads).ravel()
    return ticks[(ticks >= low * 0.999) & (ticks <= high * 1.001)]


def short(value: float, figures: int = 4) -> str:
    return as_written(value, figures).replace("-", "−")


# What ticks are counted in, so that they are short enough to stand beside the axis.
_UNITS = (
    (1e9, "billions"), (1e6, "millions"), (1e3, "thousands"), (1.0, ""), (1e-3, "thousandths"),
    (1e-6, "millionths"), (1e-9, "billionths"),
)  # fmt: skip


def unit_of(ticks: np.ndarray) -> tuple[float, str]:
    """Return what to count ticks in, and what that is called; nothing for numbers up to 10,000."""
    size = float(np.abs(ticks).max(initial=0))
    if 1e-2 <= size < 1e4 or not 1e-9 <= size < 1e13:
        return 1.0, ""
    return next((unit, f" ({name})") for unit, name in _UNITS if unit <= size)


class Chart:
    """One pair of axes; layers are added in the order they are to lie on each other."""

    def __init__(
        self, x_range: tuple[float, float], y_range: tuple[float, float], x_label: str, y_label: str,
        log_x: bool = False, height: float = HEIGHT,
    ) -> None:  # fmt: skip
        self.x_range, self.y_range, self.log_x = widened(x_range), widened(y_range), log_x
        self.x_label, self.y_label, self.height = x_label, y_label, height
        self.lowest_tick = -np.inf
        self.layers: list[str] = []
        self.cursor: list[list[Any]] = []

    # ------------------------------------------------------------ places

    def x(self, values: Any) -> np.ndarray:
        low, high = self.x_range
        at = np.asarray(values, dtype=np.float64)
        if self.log_x:
            at, low, high = np.log(np.maximum(at, low * 1e-3)), np.log(low), np.log(high)
        return _LEFT + (at - low) / (high - low) * (WIDTH - _LEFT - _RIGHT)

    def y(self, values: Any) -> np.ndarray:
        low, high = self.y_range
        inner = self.height - _TOP - _BOTTOM
        return _TOP + (high - np.asarray(values, dtype=np.float64)) / (high - low) * inner

    # ------------------------------------------------------------ layers

    def line(self, x: Any, y: Any, kind: str) -> None:
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(self.x(x), self.y(y), strict=True))
        self.layers.append(f'<polyline class="line {kind}" points="{points}"/>')

    def area(self, x: Any, low: Any, high: Any, kind: str) -> None:
        x, low, high = self.x(x), self.y(low), self.y(high)
        there = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, high, strict=True))
        back = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x[::-1], low[::-1], strict=True))
        self.layers.append(f'<polygon class="area {kind}" points="{there} {back}"/>')

    def dots(
        self, x: Any, y: Any, kind: str, radius: float = 2.4, titles: Sequence[str] | None = None
    ) -> None:
        places = zip(self.x(x), self.y(y), strict=True)
        parts = []
        for i, (a, b) in enumerate(places):
            title = f"<title>{escape(titles[i])}</title>" if titles is not None else ""
            parts.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{radius:g}">{title}</circle>')
        self.layers.append(f'<g class="dots {kind}">{"".join(parts)}</g>')

    def whiskers(self, x: Any, low: Any, high: Any, kind: str) -> None:
        places = zip(self.x(x), self.y(low), self.y(high), strict=True)
        lines = "".join(f"M{a:.1f} {b:.1f}V{c:.1f}" for a, b, c in places)
        self.layers.append(f'<path class="whiskers {kind}" d="{lines}"/>')

    def strip(self, values: Any, kind: str = "strip") -> None:
        """Draw the distribution of values as low bars along the bottom, a room of its own below the ticks."""
        counts, edges = np.histogram(
            values, bins=min(40, max(5, int(np.sqrt(len(values))))), range=self.x_range
        )
        base, tall = self.height - _BOTTOM, 0.12 * (self.height - _TOP - _BOTTOM)
        left, right = self.x(edges[:-1]), self.x(edges[1:])
        heights = tall * counts / max(counts.max(), 1)
        bars = "".join(
            f'<rect x="{a:.1f}" y="{base - h:.1f}" width="{max(b - a - 1, 0.5):.1f}" height="{h:.1f}"/>'
            for a, b, h in zip(left, right, heights, strict=True)
            if h > 0
        )
        self.layers.append(f'<g class="{kind}">{bars}</g>')

    def ring(self, x: float, y: float, title: str) -> None:
        place = f'cx="{self.x(x):.1f}" cy="{self.y(y):.1f}"'
        self.layers.append(f'<circle class="ring" {place} r="8"><title>{escape(title)}</title></circle>')

    def follow(self, x: Any, y: Any, labels: Sequence[str]) -> None:
        """Let the pointer, or the arrow keys, walk along these points and read the labels."""
        self.cursor = [
            [round(float(a), 1), round(float(b), 1), label]
            for a, b, label in zip(self.x(x), self.y(y), labels, strict=True)
        ]

    def marker(self, kind: str) -> None:
        """Put a mark that a script moves, with what it must know to find its place: px = a + b · value."""
        left, right = self.x(self.x_range)
        bottom, top = self.y(self.y_range)
        places = [
            " ".join(f"{v!r}" for v in (float(start - slope * low), float(slope), low, high))
            for start, slope, (low, high) in (
                (left, (right - left) / (self.x_range[1] - self.x_range[0]), self.x_range),
                (bottom, (top - bottom) / (self.y_range[1] - self.y_range[0]), self.y_range),
            )
        ]
        self.layers.append(
            f'<g class="marker {kind}" data-x="{places[0]}" data-y="{places[1]}">'
            f'<line y1="{_TOP}" y2="{self.height - _BOTTOM}"/><circle r="7"/></g>'
        )

    # ------------------------------------------------------------ the whole

    def render(self, label: str) -> str:
        """Return the SVG; `label` says in words what is to be seen."""
        steps = f" data-cursor='{escape(json.dumps(self.cursor, ensure_ascii=False))}'" if self.cursor else ""
        focus = ' tabindex="0"' if self.cursor else ""
        cursor = (
            f'<g class="cursor" hidden><line y1="{_TOP}" y2="{self.height - _BOTTOM}"/><circle r="5"/></g>'
            if self.cursor
            else ""
        )
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH:g} {self.height:g}" role="img" '
            f'aria-label="{escape(label)}"{focus}{steps}>{self._frame()}{"".join(self.layers)}{cursor}</svg>'
        )

    def _frame(self) -> str:
        x_ticks = log_ticks(*self.x_range) if self.log_x else nice_ticks(*self.x_range)
        y_ticks = nice_ticks(max(self.lowest_tick, self.y_range[0]), self.y_range[1])
        x_unit, x_words = (1.0, "") if self.log_x else unit_of(x_ticks)
        y_unit, y_words = unit_of(y_ticks)
        bottom, right = self.height - _BOTTOM, WIDTH - _RIGHT
        parts = []
        for i, (value, place) in enumerate(zip(y_ticks, self.y(y_ticks), strict=True)):
            parts.append(stroke("gridline", _LEFT, place, right, place))
            at = f'x="{_LEFT - 8:g}" y="{place:.1f}" dy="0.35em"'
            parts.append(f'<text class="tick y{spare(i)}" {at}>{short(value / y_unit)}</text>')
        for i, (value, place) in enumerate(zip(x_ticks, self.x(x_ticks), strict=True)):
            parts.append(stroke("axis", place, bottom, place, bottom + 5))
            at = f'x="{place:.1f}" y="{bottom + 22:g}"'
            parts.append(f'<text class="tick x{spare(i)}" {at}>{short(value / x_unit)}</text>')
        parts.append(stroke("axis", _LEFT, bottom, right, bottom))
        at = f'x="{(_LEFT + right) / 2:g}" y="{self.height - 10:g}"'
        parts.append(f'<text class="label" {at}>{escape(self.x_label + x_words)}</text>')
        at = f'transform="translate(16 {(_TOP + bottom) / 2:g}) rotate(-90)"'
        parts.append(f'<text class="label y" {at}>{escape(self.y_label + y_words)}</text>')
        return "".join(parts)


def stroke(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def spare(i: int) -> str:
    """Mark every second tick as one that narrow screens leave out."""
    return " spare" if i % 2 else ""


def widened(bounds: tuple[float, float]) -> tuple[float, float]:
    low, high = float(bounds[0]), float(bounds[1])
    if high > low:
        return low, high
    gap = abs(low) * 0.1 or 1.0
    return low - gap, high + gap


def padded(values: Any, share: float = 0.04) -> tuple[float, float]:
    """Return bounds that leave some room around the values."""
    values = np.asarray(values, dtype=np.float64)
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    return low - share * (high - low), high + share * (high - low)
