"""Drawings as SVG text, coloured by the page's style so that they follow light and dark."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.charts import line, text

WIDTH = 760
N_COLOURS = 11


@dataclass(frozen=True)
class Axis:
    """Maps values to positions, evenly or by powers of ten."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        return self.start + (value - low) / ((high - low) or 1.0) * (self.end - self.start)

    def ticks(self) -> list[float]:
        if self.log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            found = [m * 10.0**p for p in powers for m in (1, 2, 5)]
            found = [v for v in found if self.low <= v <= self.high]
            return found if len(found) < 9 else [v for v in found if math.log10(v) % 1 == 0]
        span = (self.high - self.low) or 1.0
        step = 10.0 ** math.floor(math.log10(span / 4))
        step *= next(m for m in (1, 2, 5, 10) if span / (m * step) <= 6)
        first = math.ceil(self.low / step - 1e-9) * step
        return [round(first + k * step, 10) for k in range(int((self.high - first) / step + 1e-9) + 1)]


def svg(width: float, height: float, parts: Sequence[str], title: str) -> str:
    return (
        f'<svg class="plot" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="{html.escape(title)}">{"".join(parts)}</svg>'
    )


def number(value: float) -> str:
    return f"{value:g}"


def legend(names: Sequence[str], x: float, y: float, width: float) -> tuple[list[str], float]:
    """Return coloured names, in as many lines as they need, and the height of these."""
    parts, left, top = [], x, y
    for k, name in enumerate(names):
        wide = 30 + 7.0 * len(name)
        if left + wide > x + width:
            left, top = x, top + 18
        parts.append(
            f'<circle cx="{left + 5:.1f}" cy="{top - 4:.1f}" r="4.5" fill="var(--c{k % N_COLOURS})"/>'
        )
        parts.append(text(left + 14, top, name))
        left += wide
    return parts, top - y + 18


# ---------------------------------------------------------------- dots with standard errors


@dataclass(frozen=True)
class Dot:
    value: float
    error: float = 0.0
    hollow: bool = False


def dot_rows(title: str, rows: dict[str, dict[str, Dot]], names: Sequence[str], log: bool = False) -> str:
    """Draw one line per row, a dot for each name with its standard error; hollow ones for printed figures."""
    values = [
        v for dots in rows.values() for d in dots.values() for v in (d.value - d.error, d.value + d.error)
    ]
    values = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
    low, high = min(values), max(values)
    pad = 0 if log else 0.03 * (high - low or 1.0)
    left, right = 130, WIDTH - 15
    keys, used = legend(names, left, 18, right - left)
    axis = Axis(low * 0.8 if log else low - pad, high * 1.25 if log else high + pad, left, right, log)
    top, gap = used + 18, 30
    bottom = top + gap * len(rows)
    parts = [*keys]
    for tick in axis.ticks():
        parts += [
            line(axis(tick), top, axis(tick), bottom),
            text(axis(tick), bottom + 16, number(tick), "middle", "soft"),
        ]
    for r, (row, dots) in enumerate(rows.items()):
        y = top + gap * (r + 0.5)
        parts += [text(left - 10, y + 4, row, "end"), line(left, y, right, y)]
        parts += [
            drawn_dot(axis, y + 2.2 * (k % 5 - 2), dots[name], k)
            for k, name in enumerate(names)
            if name in dots
        ]
    return svg(WIDTH, bottom + 26, parts, title)


def drawn_dot(axis: Axis, y: float, dot: Dot, k: int) -> str:
    colour = f"var(--c{k % N_COLOURS})"
    x = axis(dot.value)
    fill = "none" if dot.hollow else colour
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.2" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'
    if not dot.error > 0:
        return circle
    ends = axis(max(dot.value - dot.error, axis.low)), axis(dot.value + dot.error)
    bar = f'<line x1="{ends[0]:.1f}" y1="{y:.1f}" x2="{ends[1]:.1f}" y2="{y:.1f}" stroke="{colour}"/>'
    return bar + circle


# ---------------------------------------------------------------- curves with bands


@dataclass(frozen=True)
class Curve:
    """A mean over t = 0, 1, …, with a band, or a dashed line without one."""

    name: str
    mean: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    colour: int = 0
    first: int = 0

    def values(self) -> np.ndarray:
        return np.concatenate([v for v in (self.mean, self.low, self.high) if v is not None])


def curve_panel(
    title: str, curves: Sequence[Curve], x0: float, width: float, height: float = 260
) -> list[str]:
    """Return one panel of curves over t, its value axis fitted to them."""
    values = np.concatenate([curve.values() for curve in curves])
    pad = 0.05 * (values.max() - values.min() or 1.0)
    last = max(len(curve.mean) + curve.first for curve in curves) - 1
    horizontal = Axis(0, last, x0 + 48, x0 + width - 16)
    vertical = Axis(values.min() - pad, values.max() + pad, height - 26, 30)
    parts = [text(x0 + 48, 18, title)]
    for tick in vertical.ticks():
        y = vertical(tick)
        parts += [
            line(horizontal.start, y, horizontal.end, y),
            text(x0 + 42, y + 4, number(tick), "end", "soft"),
        ]
    parts += [
        text(horizontal(tick), height - 8, number(tick), "middle", "soft") for tick in horizontal.ticks()
    ]
    for curve in curves:
        parts += drawn_curve(curve, horizontal, vertical)
    return parts


def drawn_curve(curve: Curve, horizontal: Axis, vertical: Axis) -> list[str]:
    t = np.arange(len(curve.mean)) + curve.first
    colour = f"var(--c{curve.colour % N_COLOURS})"
    parts = []
    if curve.low is not None and curve.high is not None:
        around = [*zip(t, curve.high, strict=True), *reversed(list(zip(t, curve.low, strict=True)))]
        points = points_of(around, horizontal, vertical)
        parts.append(f'<polygon points="{points}" fill="{colour}" fill-opacity="0.18"/>')
    dashes = "" if curve.low is not None else ' stroke-dasharray="4 4"'
    points = points_of(zip(t, curve.mean, strict=True), horizontal, vertical)
    parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.8"{dashes}/>')
    return parts


def points_of(pairs, horizontal: Axis, vertical: Axis) -> str:
    return " ".join(f"{horizontal(x):.1f},{vertical(y):.1f}" for x, y in pairs)


def curve_panels(title: str, panels: Sequence[tuple[str, Sequence[Curve]]], names: Sequence[str]) -> str:
    """Draw panels two by two, under one legend."""
    keys, used = legend(names, 48, 18, WIDTH - 60)
    width, height = WIDTH / 2, 270
    parts = [*keys]
    for k, (heading, curves) in enumerate(panels):
        moved = f'<g transform="translate(0 {used + 6 + height * (k // 2):.0f})">'
        parts.append(moved + "".join(curve_panel(heading, curves, width * (k % 2), width)) + "</g>")
    return svg(WIDTH, used + 10 + height * math.ceil(len(panels) / 2), parts, title)
