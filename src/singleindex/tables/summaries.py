"""What is to be known of columns before they are prepared: of a whole table, or merged from blocks of rows.

Of rows that are held together all is exact. Of merged blocks, too, but for quantiles of columns with more
different numbers than are kept, and for text with more different values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from .dates import DATE_ORDERS, DAY_FIRST, OrderSigns, are_dates, as_days

NUMBERS, TEXT, LISTED, DATES, NOTHING = "numbers", "text", "values of a list", "dates", "nothing"
# Different values that are kept of a column of text, of a column of numbers, and of all such columns.
MOST_WORDS = 100_000
_MOST_NUMBERS, _MOST_IN_ALL = 1 << 16, 1 << 22
_FIRST = 200


class MixedColumns(ValueError):
    """Columns that hold numbers in some blocks of rows and text in others: they have to be read as text."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = set(names)
        super().__init__(f"numbers in some rows and text in others: {sorted(self.names)}")


class Numbers:
    """Numbers of a column, none missing: those themselves, or some of them with counts."""

    def __init__(self, values: Any, counts: Any = None, total: float | None = None) -> None:
        self.values, self.counts = values, counts
        self.n = len(values) if counts is None else int(counts.sum())
        self.total = float(values.sum()) if total is None else total
        self.found_twice = False
        self.is_whole: bool | None = None

    @cached_property
    def ends(self) -> tuple[float, float]:
        return float(self.values.min(initial=np.inf)), float(self.values.max(initial=-np.inf))

    def median(self) -> float:
        if self.counts is None:
            return float(np.median(self.values))
        ends = np.cumsum(self.counts)
        middle = np.searchsorted(ends, [(self.n + 1) // 2, self.n // 2 + 1])
        return float(self.values[middle].mean())

    def mean(self) -> float:
        return self.total / self.n

    def most_frequent(self) -> float:
        """Return the value there is most of, the least of equals."""
        counted = self.counted()
        return float(counted.values[counted.counts.argmax()])

    def n_infinite(self) -> int:
        infinite = np.isinf(self.values)
        return int(infinite.sum() if self.counts is None else self.counts[infinite].sum())

    def are_whole(self) -> bool:
        if self.is_whole is None:
            self.is_whole = bool(
                np.isfinite(self.ends).all() and (self.values == np.floor(self.values)).all()
            )
        return self.is_whole

    def are_different(self) -> bool:
        """Tell whether no number was found twice."""
        counted = self.counted()
        return not counted.found_twice

    def counted(self) -> Numbers:
        """Return the different values in order, with counts."""
        if self.counts is not None:
            return self
        values, counts = np.unique(self.values, return_counts=True)
        found = Numbers(values, counts, self.total)
        found.is_whole, found.found_twice = self.are_whole(), len(values) < self.n
        return found

    def merge(self, other: Numbers, most: int) -> Numbers:
        ours, others = self.counted(), other.counted()
        values, codes = np.unique(np.concatenate([ours.values, others.values]), return_inverse=True)
        counts = np.bincount(codes, np.concatenate([ours.counts, others.counts])).astype(np.int64)
        found = Numbers(values, counts, ours.total + others.total)
        found.is_whole = ours.are_whole() and others.are_whole()
        found.found_twice = (
            ours.found_twice or others.found_twice or len(values) < len(ours.values) + len(others.values)
        )
        found.ends = min(ours.ends[0], others.ends[0]), max(ours.ends[1], others.ends[1])
        return found if len(values) <= most else found.thinned(most // 2)

    def thinned(self, n_kept: int) -> Numbers:
        """Return values of evenly spaced ranks, each for those around it."""
        edges = np.linspace(0, self.n, n_kept + 1).round().astype(np.int64)
        at = np.searchsorted(np.cumsum(self.counts), (edges[:-1] + edges[1:]) // 2, side="right")
        kept, codes = np.unique(at, return_inverse=True)
        counts = np.bincount(codes, np.diff(edges)).astype(np.int64)
        found = Numbers(self.values[kept], counts, self.total)
        found.is_whole, found.found_twice, found.ends = self.are_whole(), self.found_twice, self.ends
        return found


@dataclass(frozen=True)
class Words:
    """Different values of a column of text with counts, and the first values as they come."""

    counts: Any
    n: int
    first: Any
    is_complete: bool = True

    @staticmethod
    def of(column: Any) -> Words:
        text = as_text(column).dropna()
        return Words(text.value_counts(sort=False), len(text), text.head(_FIRST))

    def merge(self, other: Words) -> Words:
        import pandas

        counts = self.counts.add(other.counts, fill_value=0).astype(np.int64)
        complete = self.is_complete and other.is_complete and len(counts) <= MOST_WORDS
        if not complete:  # those that were there first are counted on
            kept = self.counts.index if len(self.counts) >= MOST_WORDS else counts.index[:MOST_WORDS]
            counts = counts.loc[kept]
        first = self.first
        if len(first) < _FIRST:
            first = pandas.concat([first, other.first], ignore_index=True).head(_FIRST)
        return Words(counts, self.n + other.n, first, complete)

    def by_frequency(self) -> list[str]:
        """Return the values, most frequent first, of equals in alphabetical order."""
        return [word for word, _ in sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))]


class Column:
    """One column of some rows: what it holds, and what is asked of it, found when it is asked for."""

    def __init__(self, name: str, kind: str, n_rows: int, n_missing: int, series: Any = None) -> None:
        self.name, self.kind, self.n_rows, self.n_missing, self.series = name, kind, n_rows, n_missing, series

    @cached_property
    def numbers(self) -> Numbers:
        values = self.series.to_numpy(dtype=np.float64, na_value=np.nan)
        return Numbers(values[~np.isnan(values)] if self.n_missing else values)

    @cached_property
    def words(self) -> Words:
        return Words.of(self.series)

    @cached_property
    def order_signs(self) -> OrderSigns:
        return OrderSigns.of(self.series)

    @cached_property
    def varies(self) -> bool:
        if self.kind == NOTHING or self.n_missing == self.n_rows:
            return False
        if self.kind == NUMBERS:
            low, high = self.numbers.ends
            return low < high
        if self.kind == DATES and self.series is None:
            low, high = self.merged_days[DAY_FIRST].numbers.ends
            return low < high
        if self.kind == DATES:
            return bool(self.series.nunique(dropna=True) > 1)
        return len(self.words.counts) > 1

    def only_value(self) -> Any:
        """Return the value of a column that does not vary."""
        if self.series is not None:
            return self.series.dropna().iloc[0]
        if self.kind == DATES:
            return f"day {self.merged_days[DAY_FIRST].numbers.ends[0]:g} since 1970"
        return self.numbers.ends[0] if self.kind == NUMBERS else self.words.counts.index[0]

    def days(self, order: str) -> Numbers:
        """Return dates as days since 1970; an error where something is none."""
        if self.series is None:
            return self.merged_days[order].checked(self.name, order)
        return Numbers(as_days(self.series, self.name, order).dropna().to_numpy())

    @cached_property
    def merged_days(self) -> dict[str, BlockDays]:
        return {order: BlockDays.of(self.series, self.name, order) for order in DATE_ORDERS}

    def merge(self, other: Column, most: int, wants: Wants) -> Column:
        """Return what is known of the rows of both; only what is wanted is kept of them."""
        kind = other.kind if self.kind == NOTHING else self.kind
        found = Column(self.name, kind, self.n_rows + other.n_rows, self.n_missing + other.n_missing)
        some = [one for one in (self, other) if one.kind != NOTHING]
        if not some:
            return found
        if kind == NUMBERS:
            found.numbers = reduce(lambda a, b: a.merge(b, most), [one.numbers.counted() for one in some])
        if kind in (TEXT, LISTED) or self.name in wants.words:
            found.words = reduce(Words.merge, [one.words for one in some])
        if kind == DATES or (kind == TEXT and wants.days and are_dates(found.words.first)):
            found.order_signs = reduce(OrderSigns.merge, [one.order_signs for one in some])
            found.merged_days = {
                order: reduce(lambda a, b: a.merge(b, most), [one.merged_days[order] for one in some])
                for order in DATE_ORDERS
            }
        return found


@dataclass(frozen=True)
class BlockDays:
    """Dates read in one order: those that are some, and the first that is none."""

    numbers: Numbers
    bad: Any = None

    @staticmethod
    def of(column: Any, name: str, order: str) -> BlockDays:
        days = as_days(column, name, order, strict=False)
        bad = column[days.isna() & column.notna()]
        return BlockDays(Numbers(days.dropna().to_numpy()), bad.iloc[0] if len(bad) else None)

    def merge(self, other: BlockDays, most: int) -> BlockDays:
        bad = other.bad if self.bad is None else self.bad
        return BlockDays(self.numbers.merge(other.numbers, most), bad)

    def checked(self, name: str, order: str) -> Numbers:
        if self.bad is not None:
            from .dates import no_date

            raise no_date(self.bad, name, order)
        return self.numbers


@dataclass(frozen=True)
class Wants:
    """What is kept of merged columns beside the usual: the words of columns of numbers, days of dates."""

    words: frozenset[str] = frozenset()
    days: bool = False


_USUAL = Wants()


@dataclass(frozen=True)
class Summary:
    """The columns of some rows."""

    columns: dict[str, Column]
    n_rows: int
    wants: Wants = _USUAL

    @staticmethod
    def of(frame: Any, wants: Wants = _USUAL) -> Summary:
        missing = frame.isna().sum().tolist()
        columns = {
            name: Column(name, kind_of(frame[name], n == len(frame)), len(frame), n, frame[name])
            for name, n in zip(frame.columns, missing, strict=True)
        }
        return Summary(columns, len(frame), wants)

    def check_kinds(self, other: Summary) -> None:
        """Raise where columns of other rows hold something else."""
        mixed = [
            name for name, column in self.columns.items()
            if len({column.kind, other.columns[name].kind} - {NOTHING}) > 1
        ]  # fmt: skip
        if mixed:
            raise MixedColumns(mixed)

    def merge(self, other: Summary) -> Summary:
        self.check_kinds(other)
        most = min(_MOST_NUMBERS, _MOST_IN_ALL // max(len(self.columns), 1))
        merged = {n: c.merge(other.columns[n], most, self.wants) for n, c in self.columns.items()}
        return replace(self, columns=merged, n_rows=self.n_rows + other.n_rows)


def column_of(values: Any, name: str) -> Column:
    """Return what is known of one column, a series or an array; numbers in an array need no pandas."""
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "fiu":
            found = Column(name, NUMBERS, len(values), 0)
            found.numbers = Numbers(values.astype(np.float64))
            return found
        import pandas

        values = pandas.Series(values.astype(str))
    return Column(name, kind_of(values, not len(values)), len(values), 0, values)


def kind_of(column: Any, is_empty: bool) -> str:
    import pandas
    from pandas.api import types

    if types.is_bool_dtype(column.dtype) or isinstance(column.dtype, pandas.CategoricalDtype):
        return LISTED
    if types.is_datetime64_any_dtype(column.dtype):
        return DATES
    if is_empty:
        return NOTHING
    return NUMBERS if types.is_numeric_dtype(column.dtype) else TEXT


def as_text(column: Any) -> Any:
    """Return a column as text, missing values as None; whole numbers without a point."""
    import pandas

    codes, values = pandas.factorize(column)
    words = np.array([*map(as_word, values), None], dtype=object)
    return pandas.Series(words[codes], index=column.index, name=column.name, dtype=object)


def as_word(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
