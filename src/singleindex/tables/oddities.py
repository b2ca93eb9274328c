"""What is odd about new rows: gaps that are filled in, values beyond those learned from, unknown ones."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .numbers import as_written
from .preparation import Preparation

_MOST_COLUMNS = 5
# The ways to be odd.
_WAYS = ("filled", "outside", "unknown")


@dataclass(frozen=True)
class Oddities:
    """Masks with a column for each that the model needs; each value is odd in one way at most."""

    preparation: Preparation
    typed: Any
    filled: Any
    outside: Any
    unknown: Any

    @property
    def n_rows(self) -> int:
        return len(self.typed)

    def counts(self) -> OddCounts:
        masks = (self.filled, self.outside, self.unknown)
        by_column = {name: mask.sum() for name, mask in zip(_WAYS, masks, strict=True)}
        rows = {name: int(mask.any(axis=1).sum()) for name, mask in zip(_WAYS, masks, strict=True)}
        return OddCounts(self.preparation, self.n_rows, by_column, rows)

    def summary(self) -> list[str]:
        """Return one sentence for each way to be odd; text that is not known is told by the preparation."""
        return self.counts().summary()

    def row_notes(self) -> list[str]:
        """Return for each row what is odd about it, nothing where nothing is."""
        notes: list[list[str]] = [[] for _ in range(self.n_rows)]
        fills = dict(zip(self.preparation.columns, self.preparation.fills, strict=True))
        for name in self.typed.columns:
            for i in np.flatnonzero(self.filled[name].to_numpy()):
                notes[i].append(
                    f"{name} is missing, taken as {value_text(self.preparation, name, fills[name])}"
                )
            values = self.typed[name].to_numpy()
            for i in np.flatnonzero(self.outside[name].to_numpy()):
                said = value_text(self.preparation, name, values[i])
                notes[i].append(f"{name} {said} is beyond {range_text(self.preparation, name)}")
            for i in np.flatnonzero(self.unknown[name].to_numpy()):
                notes[i].append(f"{name} {values[i]!r} is not known")
        return ["; ".join(said) for said in notes]


@dataclass(frozen=True)
class OddCounts:
    """How many values are odd, by the way they are and by column, and in how many rows; merges."""

    preparation: Preparation
    n_rows: int
    by_column: dict[str, Any]
    rows: dict[str, int]

    def merge(self, other: OddCounts) -> OddCounts:
        return replace(
            self,
            n_rows=self.n_rows + other.n_rows,
            by_column={way: self.by_column[way] + other.by_column[way] for way in _WAYS},
            rows={way: self.rows[way] + other.rows[way] for way in _WAYS},
        )

    def shares(self, way: str) -> dict[str, float]:
        """Return the shares of rows that are odd in one way, by column."""
        return {str(name): float(n / self.n_rows) for name, n in self.by_column[way].items()}

    def summary(self) -> list[str]:
        """Return one sentence for each way to be odd but for text that is not known."""
        notes = []
        filled, outside = self.by_column["filled"], self.by_column["outside"]
        if filled.any():
            notes.append(f"{self.in_words('filled')} are missing and filled in: {by_column(filled)}")
        if outside.any():
            shown = by_column(outside, lambda name: range_text(self.preparation, name))
            notes.append(f"{self.in_words('outside')} lie beyond those of the training rows: {shown}")
        return notes

    def unknown_notes(self) -> list[str]:
        """Return one sentence for each column of text with values that are not known."""
        return [
            f"column {name!r} has values that the model does not know, in {count} rows"
            for name, count in self.by_column["unknown"].items()
            if count
        ]

    def in_words(self, way: str) -> str:
        n = int(self.by_column[way].sum())
        return f"{n:,} value{'' if n == 1 else 's'} in {self.rows[way]:,} of {self.n_rows:,} rows"


def range_text(preparation: Preparation, name: str) -> str:
    low, high = preparation.ranges[name]
    return f"{value_text(preparation, name, low)} to {value_text(preparation, name, high)}"


def value_text(preparation: Preparation, name: str, value: Any) -> str:
    if name in preparation.date_orders:
        return str(datetime.date(1970, 1, 1) + datetime.timedelta(days=float(value)))
    return as_written(value, 6) if isinstance(value, float) else str(value)


def find_oddities(preparation: Preparation, typed: Any, needed: set[str]) -> Oddities:
    """Look at the typed columns that the model needs."""
    typed = typed[[name for name in preparation.columns if name in needed]]
    outside, unknown = (typed.isna() & False for _ in range(2))
    numbers = [name for name in typed.columns if name in preparation.ranges]
    if numbers:
        low, high = np.array([preparation.ranges[name] for name in numbers]).T
        values = typed[numbers].to_numpy(dtype=np.float64)
        outside = outside.assign(**dict(zip(numbers, ((values < low) | (values > high)).T, strict=True)))
    for name in (name for name in typed.columns if name in preparation.categories):
        known = typed[name].isin(preparation.categories[name]) | typed[name].isna()
        unknown[name] = ~known
    return Oddities(preparation, typed, typed.isna(), outside, unknown)


def by_column(counts: Any, also: Any = None) -> str:
    counts = counts[counts > 0].sort_values(ascending=False, kind="stable")
    shown = [
        f"{name!r} {count:,}" + (f" (not {also(name)})" if also is not None else "")
        for name, count in counts.head(_MOST_COLUMNS).items()
    ]
    more = len(counts) - _MOST_COLUMNS
    return ", ".join(shown) + (f" and {more} more columns" if more > 0 else "")
