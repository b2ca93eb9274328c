"""Rows summed up by bins of the index: all that a learned link needs of many rows, in a fixed size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.arrays import check_finite, check_floats
from ._bins import fill_bins

FloatArray = NDArray[np.float64]

# The finest width there is: what is narrower cannot be told from a point.
_LEAST_EXPONENT = -960
# The largest number of a bin: beyond it whole numbers are not told apart.
_MOST_NUMBER = 2.0**53


@dataclass(frozen=True)
class Points:
    """What a link is fitted to: rows, or bins of rows, with the squared error that no link can remove.

    Attributes
    ----------
    index, y : arrays of shape (n_points,)
    weight : array of shape (n_points,) or None
        None where all points count alike.
    within : float
        The weighted sum of squared distances of the rows' y from that of their point; zero for rows.
    """

    index: FloatArray
    y: FloatArray
    weight: FloatArray | None = None
    within: float = 0.0

    def check(self) -> None:
        """Raise where these are no points: for what comes from a file."""
        for name, values in (("index", self.index), ("y", self.y), ("weight", self.weight)):
            if values is not None or name != "weight":
                check_floats(f"{name} of points", values, len(self.index))
        check_finite(self.within)

    def rescale(self, by: float) -> Points:
        """Return the points of an index that has been multiplied by `by`."""
        return Points(by * self.index, self.y, self.weight, self.within)


@dataclass
class Bins:
    r"""Weighted sums of rows by bins of the index, which can be added to and merged.

    Bin k holds the rows whose index lies between k h and (k + 1) h, where the width h is a power of two. Each
    keeps three sums, of the weight :math:`\omega`, of :math:`\omega` index and of :math:`\omega y`. Where
    the rows spread over more than `n_bins` bins, h doubles and neighbours are added, so that summaries of any
    two sets of rows merge into that of their union, whatever their order.

    A Lipschitz isotonic regression of the bins, each a point at its mean index, differs from that of the rows
    by at most :math:`2 L h`: moving a point by less than h moves it against a curve of slope L by less
    than L h. The width is at most twice the spread of the index over `n_bins` − 1.

    Parameters
    ----------
    n_bins : int, default=4096
        The most bins there may be.
    exponent : int or None, default=None
        The width is two to this power; None for the finest, which the first rows then set.

    Examples
    --------
    >>> import numpy as np
    >>> from singleindex.link import Bins
    >>> bins = Bins(n_bins=4).add(np.array([0.1, 0.2, 0.9]), np.array([0.0, 1.0, 1.0]))
    >>> bins.width
    0.25
    >>> points = bins.points()
    >>> points.index, points.y, points.weight
    (array([0.15, 0.9 ]), array([0.5, 1. ]), array([2., 1.]))
    >>> merged = bins.merge(Bins(n_bins=4).add(np.array([1.9]), np.array([1.0])))
    >>> merged.width, merged.points().weight
    (0.5, array([2., 1., 1.]))
    """

    n_bins: int = 4096
    exponent: int | None = None
    first: float = 0.0
    sums: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))

    def check(self) -> None:
        """Raise where these are no bins: for what comes from a file, since a kernel goes by their numbers."""
        sums = np.asarray(self.sums)
        if sums.dtype != np.float64 or sums.ndim != 2 or sums.shape[1] != 3 or not np.isfinite(sums).all():
            raise ValueError("bins must hold three finite sums each.")
        if not (float(self.first).is_integer() and abs(self.first) <= _MOST_NUMBER):
            raise ValueError(f"the number of the first bin must be a whole one, got {self.first!r}.")
        check_exponent(self.exponent)
        if (sums[:, 0] < 0).any() or (self.exponent is None and len(sums)):
            raise ValueError("bins must have a width, and no negative weight.")

    @property
    def width(self) -> float:
        """The width h of a bin."""
        return 0.0 if self.exponent is None else float(np.ldexp(1.0, self.exponent))

    def add(self, index: FloatArray, y: FloatArray, weight: FloatArray | None = None) -> Bins:
        """Return the bins with these rows added."""
        if len(y) != len(index) or (weight is not None and len(weight) != len(index)):
            raise ValueError("index, y and weight must have the same length.")
        if len(index) == 0:
            return self
        low, high = float(np.min(index)), float(np.max(index))
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError("the index holds NaN or infinity; remove these rows.")
        start = self.exponent
        if start is None:
            start = _exponent_for(low, high, self.n_bins)
        grown = self._at(start)._covering(low, high)
        assert grown.exponent is not None
        fill_bins(index, y, weight, np.ldexp(1.0, -grown.exponent), grown.first, grown.sums)
        return grown

    def merge(self, other: Bins) -> Bins:
        """Return the bins of the rows of both."""
        # Bins without rows lie nowhere: they must not stretch the others to where they might begin.
        if other.exponent is None or len(other.sums) == 0:
            return self
        if self.exponent is None or len(self.sums) == 0:
            return other
        exponent = max(self.exponent, other.exponent)
        mine, theirs = self._at(exponent), other._at(exponent)
        while _span(mine, theirs) > self.n_bins:
            exponent += 1
            mine, theirs = self._at(exponent), other._at(exponent)
        first = min(mine.first, theirs.first)
        sums = np.zeros((int(_span(mine, theirs)), 3))
        for part in (mine, theirs):
            begin = int(part.first - first)
            sums[begin : begin + len(part.sums)] += part.sums
        return Bins(self.n_bins, exponent, first, sums)

    def reweigh(self, by: float) -> Bins:
        """Return bins whose rows all count `by` times as much."""
        return Bins(self.n_bins, self.exponent, self.first, self.sums * by)

    def finer_exponent(self) -> int | None:
        """Return a width, as a power of two, to begin with for rows that spread a little less than these."""
        if self.exponent is None:
            return None
        spare = int(np.floor(np.log2(self.n_bins / max(len(self.sums), 1))))
        return max(self.exponent - spare - 1, _LEAST_EXPONENT)

    def points(self, y_squares: float | None = None, y_centre: float = 0.0) -> Points:
        """Return one point for each bin that is not empty, at its mean index.

        `y_squares` is the weighted sum of (y − y_centre)² over all rows.
        """
        weight, index, y = self.sums[self.sums[:, 0] > 0].T
        means = y / weight
        within = 0.0
        if y_squares is not None:
            within = max(0.0, float(y_squares - weight @ np.square(means - y_centre)))
        # Rounding must not carry a mean out of order.
        return Points(np.maximum.accumulate(index / weight), means, np.ascontiguousarray(weight), within)

    def _at(self, exponent: int) -> Bins:
        """Return the same rows in bins of a width that is as large or larger."""
        if self.exponent is None or exponent <= self.exponent:
            return Bins(self.n_bins, exponent, self.first, self.sums.copy())
        step = exponent - self.exponent
        number = np.floor(np.ldexp(self.first + np.arange(len(self.sums)), -step))
        first = number[0] if len(number) else 0.0
        sums = np.zeros((int(number[-1] - first) + 1 if len(number) else 0, 3))
        np.add.at(sums, (number - first).astype(np.intp), self.sums)
        return Bins(self.n_bins, exponent, first, sums)

    def _covering(self, low: float, high: float) -> Bins:
        """Return bins, coarser if need be, that have room for an index from `low` to `high`."""
        bins = self
        while True:
            assert bins.exponent is not None
            begin, end = (float(np.floor(np.ldexp(v, -bins.exponent))) for v in (low, high))
            if len(bins.sums):
                begin, end = min(begin, bins.first), max(end, bins.first + len(bins.sums) - 1)
            if end - begin < self.n_bins and max(-begin, end) <= _MOST_NUMBER:
                break
            bins = bins._at(bins.exponent + 1)
        sums = np.zeros((int(end - begin) + 1, 3))
        offset = int(bins.first - begin) if len(bins.sums) else 0
        sums[offset : offset + len(bins.sums)] = bins.sums
        return Bins(self.n_bins, bins.exponent, begin, sums)


def _span(a: Bins, b: Bins) -> float:
    """Return how many bins of their common width two summaries cover together."""
    return max(a.first + len(a.sums), b.first + len(b.sums)) - min(a.first, b.first)


def check_exponent(exponent: Any) -> None:
    """Raise where two to this power is not the width of bins."""
    if exponent is not None and not (type(exponent) is int and -1074 <= exponent <= 1024):
        raise ValueError(f"the width of bins must be a power of two, got the exponent {exponent!r}.")


def _exponent_for(low: float, high: float, n_bins: int) -> int:
    """Return the least exponent at which bins from `low` to `high` could be few enough."""
    reach = max(abs(low), abs(high))
    if reach == 0:
        return _LEAST_EXPONENT
    # Numbers of bins beyond 2^52 could not be told apart.
    finest = int(np.frexp(reach)[1]) - 52
    spread = (high - low) / n_bins
    return max(finest, int(np.frexp(spread)[1]) - 1 if spread > 0 else finest, _LEAST_EXPONENT)
