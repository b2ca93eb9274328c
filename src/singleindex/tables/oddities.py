"""What is odd about new rows: gaps that are filled in, values beyond those learned from, unknown ones."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import numpy as np

from .numbers import as_written
from .preparation import Preparation

_MOST_COLUMNS = 5


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

    def summary(self) -> list[str]:
        """Return one sentence for each way to be odd; text that is not known is told by the preparation."""
        notes = []
        counts = self.filled.sum()
        if counts.any():
            notes.append(
                f"{counts_in_words(counts, self.filled)} are missing and filled in: {by_column(counts)}"
            )
        counts = self.outside.sum()
        if counts.any():
            notes.append(
                f"{counts_in_words(counts, self.outside)} lie beyond those of the training rows: "
                f"{by_column(counts, self.range_text)}"
            )
        return notes

    def row_notes(self) -> list[str]:
        """Return for each row what is odd about it, nothing where nothing is."""
        notes: list[list[str]] = [[] for _ in range(self.n_rows)]
        fills = dict(zip(self.preparation.columns, self.preparation.fills, strict=True))
        for name in self.typed.columns:
            for i in np.flatnonzero(self.filled[name].to_numpy()):
                notes[i].append(f"{name} is missing, taken as {self.value_text(name, fills[name])}")
            values = self.typed[name].to_numpy()
            for i in np.flatnonzero(self.outside[name].to_numpy()):
                said = self.value_text(name, values[i])
                notes[i].append(f"{name} {said} is beyond {self.range_text(name)}")
            for i in np.flatnonzero(self.unknown[name].to_numpy()):
                notes[i].append(f"{name} {values[i]!r} is not known")
        return ["; ".join(said) for said in notes]

    def range_text(self, name: str) -> str:
        low, high = self.preparation.ranges[name]
        return f"{self.value_text(name, low)} to {self.value_text(name, high)}"

    def value_text(self, name: str, value: Any) -> str:
        if name in self.preparation.date_orders:
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


def counts_in_words(counts: Any, mask: Any) -> str:
    n, rows = int(counts.sum()), int(mask.any(axis=1).sum())
    return f"{n:,} value{'' if n == 1 else 's'} in {rows:,} of {len(mask):,} rows"


def by_column(counts: Any, also: Any = None) -> str:
    counts = counts[counts > 0].sort_values(ascending=False, kind="stable")
    shown = [
        f"{name!r} {count:,}" + (f" (not {also(name)})" if also is not None else "")
        for name, count in counts.head(_MOST_COLUMNS).items()
    ]
    more = len(counts) - _MOST_COLUMNS
    return ", ".join(shown) + (f" and {more} more columns" if more > 0 else "")
