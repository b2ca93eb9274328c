"""Venn–Abers predictors: for a new index two probabilities, one of which is calibrated.

The new row is added to the rows of known outcome once as a 0 and once as a 1; isotonic regression then gives
two probabilities at its index. Whatever its outcome, one of the two is that of a rule that looks at all rows
alike, and is therefore right on average. Both are steps of the index, found for all of it at once.

Vovk, Petej & Fedorova (2015), Large-scale probabilistic predictors with and without guarantees of validity.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .base import FloatArray


def fit_venn_abers(
    index: FloatArray, y: FloatArray, weight: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the steps of both probabilities: `cuts`, `low` and `high`.

    At an index x the probabilities are `low[i]` with i the number of cuts at or below x, and `high[j]` with j
    the number of cuts below x. Costs a sort, and a few steps for every row.

    Parameters
    ----------
    index : array of shape (n_rows,)
    y : array of shape (n_rows,)
        Outcomes from 0 to 1.
    weight : array of shape (n_rows,), default=None
        How many rows each one counts for; the new one is one row.

    Examples
    --------
    >>> import numpy as np
    >>> from singleindex.link.venn_abers import fit_venn_abers
    >>> cuts, low, high = fit_venn_abers(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0]))
    >>> float(high[np.searchsorted(cuts, 1.5)]), float(low[np.searchsorted(cuts, 1.5, side="right")])
    (1.0, 0.0)
    """
    weight = np.ones(len(y)) if weight is None else weight
    cuts, place = np.unique(index, return_inverse=True)
    count: FloatArray = np.bincount(place, weight).astype(np.float64)
    mean = np.bincount(place, weight * y) / count
    high = np.append(_with_one_more(count, count * mean), 1.0)
    # As a 0 among outcomes is as a 1 among their opposites, in the opposite order.
    low = np.append(0.0, 1 - _with_one_more(count[::-1], (count * (1 - mean))[::-1])[::-1])
    return _without_repetition(cuts, low, high)


def venn_abers_at(steps: Mapping[str, FloatArray], index: FloatArray) -> FloatArray:
    """Return the lower and the upper probability at some indices, of shape (n_rows, 2)."""
    low = steps["low"][np.searchsorted(steps["cuts"], index, side="right")]
    high = steps["high"][np.searchsorted(steps["cuts"], index, side="left")]
    return np.column_stack([low, high])


def _with_one_more(count: FloatArray, total: FloatArray) -> FloatArray:
    """Return the isotonic fit at each place when a row of outcome 1 is added there.

    It is the slope, at the new row, of the greatest convex minorant of the cumulative sums. The new row
    begins in front of all others and is moved past one place after another; each time one point of the sums
    is lowered. Algorithms 1 and 2 of Vovk, Petej & Fedorova.
    """
    points = [
        (-1.0, -1.0),
        (0.0, 0.0),
        *zip(np.cumsum(count).tolist(), np.cumsum(total).tolist(), strict=True),
    ]
    corners: list[tuple[float, float]] = []
    for point in points:
        while len(corners) > 1 and not _turns_left(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    corners.reverse()  # the leftmost is on top of the stack
    fitted = np.empty(len(count))
    before = points[0]
    for i in range(len(count)):
        # Corners from the top on are those of the minorant from the last one before the new row.
        left, right = corners[-1], corners[-2]
        fitted[i] = (right[1] - left[1]) / (right[0] - left[0])
        (x0, s0), (x1, s1) = points[i + 1], points[i + 2]
        before = (before[0] + x1 - x0, before[1] + s1 - s0)
        if not _turns_left(left, before, right):
            continue
        corners.pop()
        while len(corners) > 1 and not _turns_left(before, corners[-1], corners[-2]):
            corners.pop()
        corners.append(before)
    return fitted


def _turns_left(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Tell whether the way from a over b to c turns left: whether b lies below the line from a to c."""
    return (b[0] - a[0]) * (c[1] - b[1]) > (b[1] - a[1]) * (c[0] - b[0])


def _without_repetition(
    cuts: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the same steps without the cuts at which neither of them rises."""
    rises = (np.diff(low) != 0) | (np.diff(high) != 0)
    kept = np.append(True, rises)
    return cuts[rises], low[kept], high[kept]
