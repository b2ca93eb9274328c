"""Paired comparisons over seeds, and the tables made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Figures = dict[int, dict[str, Any]]
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


def pair(ours: Figures, rival: Figures, figure: str) -> Paired | None:
    """Compare a figure on the seeds that both have it for; None where there is none."""
    seeds = sorted(seed for seed in set(ours) & set(rival) if figure in ours[seed] and figure in rival[seed])
    if not seeds:
        return None
    a = np.array([ours[seed][figure] for seed in seeds], dtype=float)
    b = np.array([rival[seed][figure] for seed in seeds], dtype=float)
    error = float(np.std(a - b, ddof=1) / np.sqrt(len(seeds))) if len(seeds) > 1 else float("nan")
    return Paired(float(a.mean()), float(b.mean()), error, len(seeds))


def mean_of(figures: Figures | None, figure: str) -> float:
    """Return the mean over the seeds that have the figure; NaN where there is none."""
    found = [row[figure] for row in (figures or {}).values() if figure in row]
    return float(np.mean(found)) if found else float("nan")


def as_text(value: float, digits: int = 3) -> str:
    return "–" if np.isnan(value) else f"{value:.{digits}f}"


def passed(holds: bool) -> str:
    return "held" if holds else "**missed**"


def with_features(figures: Figures | None, figure: str) -> str:
    """Tell a mean, and the features in use in brackets."""
    return f"{as_text(mean_of(figures, figure), 4)} ({mean_of(figures, 'features'):.0f})" if figures else "–"


def difference_text(found: Paired | None, digits: int = 4) -> str:
    return f"{found.difference:+.{digits}f} ± {found.error:.{digits}f}" if found else "–"
