"""What is in a row of a result file: whose it is, its times and its answer's worth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

OURS = "singleindex"
HIGHER_IS_BETTER = ("auc", "cosine")
LOWER_IS_BETTER = ("brier", "log_loss", "rmse", "mse", "link_rmse")

Row = dict[str, Any]
Results = dict[str, Any]


def is_ours(row: Row) -> bool:
    return row["solver"].startswith(OURS) or row.get("package") == OURS


def quartiles(row: Row) -> tuple[float, float, float] | None:
    """Return lower quartile, median and upper quartile of the seconds; None for a row without an answer."""
    if row.get("error") or not row["seconds"]:
        return None
    low, median, high = np.quantile(row["seconds"], [0.25, 0.5, 0.75])
    return float(low), float(median), float(high)


def quality(row: Row) -> dict[str, float]:
    return {name: float(value) for name, value in row["quality"].items() if math.isfinite(value)}


def why_not(row: Row) -> str | None:
    """Return why the row has no times, None where it has."""
    if quartiles(row) is not None:
        return None
    return row.get("error") or "no time was taken"


def gain(measure: str, base: float, other: float) -> float:
    """Return by how much `other` is better than `base`: a difference of scores, a share of an error."""
    if measure in HIGHER_IS_BETTER:
        return other - base
    if measure in LOWER_IS_BETTER:
        return (base - other) / max(base, 1e-12)
    return 0.0
