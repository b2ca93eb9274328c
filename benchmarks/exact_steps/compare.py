"""Paired comparisons over seeds, and how they are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Figures = Mapping[int, Mapping[str, Any]]
"""What a method did, by seed."""


@dataclass(frozen=True)
class Paired:
    """Two methods on the same seeds: their means, and the error of the mean difference."""

    ours: float
    rival: float
    error: float
    n_seeds: int

    @property
    def difference(self) -> float:
        return self.ours - self.rival

    def is_beyond(self, n_errors: float) -> bool:
        """Tell whether ours is higher by more than so many errors; unknown errors tell nothing."""
        return bool(self.difference > n_errors * self.error)

    def is_below(self, n_errors: float) -> bool:
        return bool(self.difference < -n_errors * self.error)


def pair(ours: Figures | None, rival: Figures | None, figure: str) -> Paired | None:
    """Compare a figure on the seeds that both have it for; None where there is none."""
    a, b = (values_of(figures, figure) for figures in (ours, rival))
    seeds = sorted(set(a) & set(b))
    if not seeds:
        return None
    gaps = np.array([a[seed] - b[seed] for seed in seeds])
    error = float(np.std(gaps, ddof=1) / np.sqrt(len(seeds))) if len(seeds) > 1 else float("nan")
    means = (float(np.mean([values[seed] for seed in seeds])) for values in (a, b))
    return Paired(*means, error, len(seeds))


def pairs_of(figures, ours: str, rival: str, figure: str) -> dict[str, Paired]:
    """Compare two methods in every cell that has both."""
    found = {cell: pair(methods.get(ours), methods.get(rival), figure) for cell, methods in figures.items()}
    return {cell: paired for cell, paired in found.items() if paired is not None}


def values_of(figures: Figures | None, figure: str) -> dict[int, float]:
    return {seed: float(row[figure]) for seed, row in (figures or {}).items() if figure in row}


def mean_of(figures: Figures | None, figure: str) -> float:
    """Return the mean over the seeds that have the figure; NaN where there is none."""
    found = list(values_of(figures, figure).values())
    return float(np.mean(found)) if found else float("nan")


# ---------------------------------------------------------------- in words


def as_text(value: float, digits: int = 3) -> str:
    return "–" if np.isnan(value) else f"{value:.{digits}f}"


def means_text(figures: Figures | None, *names: str, digits: int = 3) -> str:
    """Tell the means of several figures, side by side."""
    return " / ".join(as_text(mean_of(figures, name), digits) for name in names)


def passed(holds: bool) -> str:
    return "held" if holds else "**missed**"


def with_features(figures: Figures | None, figure: str, features: str = "features") -> str:
    """Tell a mean, and the features in use in brackets."""
    mean = mean_of(figures, figure)
    return "–" if np.isnan(mean) else f"{mean:.4f} ({mean_of(figures, features):.0f})"


def difference_text(found: Paired | None, digits: int = 4) -> str:
    return f"{found.difference:+.{digits}f} ± {found.error:.{digits}f}" if found else "–"
