"""How the columns of a table become the numbers a model takes; kept with the model, as text and numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .columns import CATEGORY, DATE, NUMBER, Choices, ColumnPlan, abridged, plan_columns
from .dates import DATE_ORDERS, as_days, find_order
from .errors import TableError
from .recipe import Column, Feature, Recipe, absent

IMPUTATIONS = ("median", "mean", "most-frequent")
# Of the record in a model file. The first had no number, and neither orders of dates, ranges nor gaps.
VERSION = 2


@dataclass(frozen=True)
class Preparation:
    """The columns in use, in order; what stands in for missing values; the categories of text columns.

    A category of two values becomes one column of 0 and 1, one of more a column for each value. A value
    that was not there when the model was fitted makes all of these zero.

    `date_orders` tells whether day or month stand first. `ranges`, the least and largest number, and `gaps`,
    the share of missing values, are those of the training rows, for columns that have any.
    """

    columns: list[str]
    kinds: list[str]
    fills: list[float | str]
    categories: dict[str, list[str]]
    dropped: dict[str, str]
    imputed: str | None = None
    date_orders: dict[str, str] = field(default_factory=dict)
    ranges: dict[str, list[float]] = field(default_factory=dict)
    gaps: dict[str, float] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the features the model takes."""
        return [name for column in self.columns for name in self.names_of(column)]

    def names_of(self, column: str) -> list[str]:
        if column not in self.categories:
            return [column]
        return [f"{column}={value}" for value in self.shown_categories(column)]

    def shown_categories(self, column: str) -> list[str]:
        """The values of a text column that have a feature; of two the second."""
        values = self.categories[column]
        return values[1:] if len(values) == 2 else values

    @property
    def sources(self) -> list[str]:
        """The column that each feature comes from."""
        return [column for column in self.columns for _ in self.names_of(column)]

    def check(self, n_features: int) -> None:
        """Raise where this cannot be the preparation of a model: for what comes from a file."""
        if not len(self.columns) == len(self.kinds) == len(self.fills):
            raise ValueError("each column must have a kind and a value for missing ones")
        texts = {column for column, kind in zip(self.columns, self.kinds, strict=True) if kind == CATEGORY}
        if texts != self.categories.keys() or not all(self.categories.values()):
            raise ValueError("each text column must have its categories")
        if not set(self.date_orders.values()) <= set(DATE_ORDERS):
            raise ValueError(f"the order of dates must be one of {DATE_ORDERS}")
        if any(not low <= high for low, high in self.ranges.values()) or any(
            not 0 <= share <= 1 for share in self.gaps.values()
        ):
            raise ValueError("ranges and gaps of columns must be numbers in order")
        if len(self.names) != n_features:
            raise ValueError(f"the columns make {len(self.names)} features, the model takes {n_features}")

    def as_record(self) -> dict[str, Any]:
        return {
            "columns": self.columns, "kinds": self.kinds, "fills": self.fills, "categories": self.categories,
            "dropped": self.dropped, "imputed": self.imputed, "date_orders": self.date_orders,
            "ranges": self.ranges, "gaps": self.gaps, "version": VERSION,
        }  # fmt: skip

    def recipe(self) -> Recipe:
        """Return what each feature is, as exports describe it."""
        columns, features = [], []
        for name, kind, fill in zip(self.columns, self.kinds, self.fills, strict=True):
            columns.append(Column(name, kind, date_order=self.date_orders.get(name)))
            if kind != CATEGORY:
                features.append(Feature(name, name, missing=float(fill) if self.imputed else None))
                continue
            for value, own in zip(self.shown_categories(name), self.names_of(name), strict=True):
                missing = float(fill == value) if self.imputed else None
                features.append(Feature(own, name, missing, values=[[value, 1.0]], otherwise=0.0))
        return Recipe(columns, features)

    # ------------------------------------------------------------ use

    def apply(
        self,
        frame: Any,
        impute: bool,
        say: Callable[[str], None] = lambda text: None,
        needed: set[str] | None = None,
    ) -> Any:
        """Return the features of each row as a data frame of numbers.

        Parameters
        ----------
        frame : pandas.DataFrame
            Needs the columns in use; others are not looked at.
        impute : bool
            Whether missing values are filled in; otherwise they are an error.
        say : function, default does nothing
            Told of categories that are new.
        needed : set of str, default=None
            The columns whose features have a weight; the others may be absent or incomplete. None needs all.
        """
        typed = self.typed(frame, needed)
        if not impute:
            refuse_missing(typed[[c for c in self.columns if needed is None or c in needed]])
        return self.encoded(typed, say, needed)

    def typed(self, frame: Any, needed: set[str] | None = None) -> Any:
        """Return the columns in use as numbers, days and text, gaps as they are.

        What is no number in a column that is not needed is taken for a gap.
        """
        import pandas

        frame = self.completed(frame, set(self.columns) if needed is None else needed)
        kinds = dict(zip(self.columns, self.kinds, strict=True))
        strict = [c for c in self.columns if kinds[c] == NUMBER and (needed is None or c in needed)]
        loose = [c for c in self.columns if kinds[c] == NUMBER and c not in set(strict)]
        parts = [as_numbers(frame[strict]), loose_numbers(frame[loose])]
        others: dict[str, Any] = {}
        for column in (c for c in self.columns if kinds[c] != NUMBER):
            if kinds[column] == CATEGORY:
                others[column] = as_text(frame[column])
            else:
                order, is_strict = self.date_orders.get(column), needed is None or column in needed
                others[column] = as_days(frame[column], column, order, is_strict)
        parts.append(pandas.DataFrame(others, index=frame.index))
        parts = [part for part in parts if part.shape[1]]
        return parts[0] if len(parts) == 1 else pandas.concat(parts, axis=1)[self.columns]

    def encoded(
        self, typed: Any, say: Callable[[str], None] = lambda text: None, needed: set[str] | None = None
    ) -> Any:
        """Return the features of typed columns, gaps filled in; told of is only what is needed."""
        import pandas

        fills = dict(zip(self.columns, self.fills, strict=True))
        numbers = [c for c in self.columns if c not in self.categories]
        plain = filled(typed[numbers], [fills[c] for c in numbers])
        if len(numbers) == len(self.columns):
            return plain
        values, places = plain.to_numpy(), dict(zip(numbers, range(len(numbers)), strict=True))
        blocks = []
        for column in self.columns:
            if column in self.categories:
                matters = needed is None or column in needed
                tell = say if matters else lambda text: None
                blocks.append(self.encode(typed[column], column, str(fills[column]), tell))
            else:
                blocks.append(values[:, [places[column]]])
        # One array: a service that asks for a row at a time waits for every column made on its own.
        return pandas.DataFrame(np.hstack(blocks), index=typed.index, columns=self.names)

    def completed(self, frame: Any, needed: set[str]) -> Any:
        """Return the columns in use, those that do not matter made up where they are absent."""
        gone = [name for name in self.columns if name not in frame.columns]
        if not gone:
            return frame[self.columns]
        lacking = [name for name in gone if name in needed]
        if lacking:
            raise absent(lacking, len(needed), frame)
        fills = dict(zip(self.columns, self.fills, strict=True))
        import pandas

        made = pandas.DataFrame({name: fills[name] for name in gone}, index=frame.index)
        return pandas.concat([frame, made], axis=1)[self.columns]

    def encode(self, column: Any, name: str, fill: str, say: Callable[[str], None]) -> Any:
        """Return a column of 0 and 1 for each value of a text column."""
        import pandas

        text = column.fillna(fill).to_numpy(object)
        known = pandas.Index(self.categories[name], dtype=object)
        codes = known.get_indexer(text)
        new = sorted(set(text[codes < 0]))
        if new:
            rows = int((codes < 0).sum())
            say(
                f"column {name!r} has values that the model does not know, in {rows} rows: {abridged(new, 3)}"
            )
        shown = np.arange(len(known) - len(self.shown_categories(name)), len(known))
        return (codes[:, None] == shown).astype(np.float64)


def prepare(frame: Any, choices: Choices, impute: str | None, whole: Any = None) -> Preparation:
    """Learn from the training rows how to prepare a table; from the `whole`, in which order dates are."""
    plan = plan_columns(frame, choices)
    if impute is None:
        refuse_missing(frame[list(plan.kinds)])
    categories, orders = {}, {}
    for name, kind in plan.kinds.items():
        if kind == CATEGORY:
            categories[name] = frequent(as_text(frame[name]), choices.max_categories)
        elif kind == DATE:
            orders[name] = find_order((frame if whole is None else whole)[name], name, choices.date_order)
    numeric = numbers_and_days(frame, plan, orders)
    prepared = Preparation(
        columns=list(plan.kinds),
        kinds=list(plan.kinds.values()),
        fills=fills_of(frame, plan, numeric, impute or "median"),
        categories=categories,
        dropped=dict(plan.dropped),
        imputed=impute,
        date_orders=orders,
        ranges=ranges_of(numeric),
        gaps=gaps_of(frame[list(plan.kinds)]),
    )
    if len(set(prepared.names)) < len(prepared.names):
        twice = next(name for name in prepared.names if prepared.names.count(name) > 1)
        raise TableError(f"two features would be called {twice!r}; rename a column, or --drop one")
    return prepared


def refuse_missing(frame: Any) -> None:
    """Raise where values are missing, with a count for each column."""
    counts = frame.isna().sum()
    counts = counts[counts > 0].sort_values(ascending=False, kind="stable")
    if not len(counts):
        return
    shown = ", ".join(f"{name!r} {count}" for name, count in counts.head(10).items())
    more = f" and {len(counts) - 10} more columns" if len(counts) > 10 else ""
    raise TableError(
        f"{counts.sum()} values are missing in {len(counts)} columns of {len(frame)} rows: {shown}{more}; "
        "fill them with --impute median (or mean, most-frequent), or leave columns out with --drop COL"
    )


def as_numbers(frame: Any) -> Any:
    """Return a data frame of float64; what is no number is told by its column."""
    import pandas

    try:
        numbers = frame.astype(np.float64)
        infinite = np.isinf(numbers).sum()
        if infinite.any():
            name = infinite.idxmax()
            count = infinite[name]
            raise TableError(f"column {name!r} holds {count} infinite values; --na inf makes them missing")
        return numbers
    except OverflowError:
        raise TableError("a column holds whole numbers beyond 1e308; leave it out with --drop COL") from None
    except (ValueError, TypeError):
        for name in frame.columns:
            bad = frame[name][pandas.to_numeric(frame[name], errors="coerce").isna() & frame[name].notna()]
            if len(bad):
                raise TableError(f"column {name!r} must hold numbers, but has {bad.iloc[0]!r}") from None
        raise


def loose_numbers(frame: Any) -> Any:
    """Return a data frame of float64, what is no finite number as NaN."""
    import pandas

    text = [name for name, kind in frame.dtypes.items() if not pandas.api.types.is_numeric_dtype(kind)]
    numbers = frame.assign(**{name: pandas.to_numeric(frame[name], errors="coerce") for name in text})
    return numbers.astype(np.float64).replace([np.inf, -np.inf], np.nan)


def filled(numbers: Any, fills: list[Any]) -> Any:
    """Return a data frame of numbers with the missing ones filled in, all columns at once."""
    import pandas

    values = numbers.to_numpy()
    values = np.where(np.isnan(values), np.array(fills, dtype=np.float64), values)
    return pandas.DataFrame(values, index=numbers.index, columns=numbers.columns)


def as_text(column: Any) -> Any:
    """Return a column as text, missing values as they are; whole numbers without a point."""
    import pandas

    if pandas.api.types.is_float_dtype(column.dtype) and (column.dropna() % 1 == 0).all():
        column = column.astype("Int64")
    values = zip(column.to_numpy(object), column.isna(), strict=True)
    text = [None if gap else str(value).strip() for value, gap in values]
    return pandas.Series(text, index=column.index, name=column.name, dtype=object)


def frequent(text: Any, most: int) -> list[str]:
    """Return the most frequent values, in alphabetical order; the others are as if unknown."""
    counts = text.value_counts()
    return sorted(counts.index[:most])


def numbers_and_days(frame: Any, plan: ColumnPlan, orders: dict[str, str]) -> Any:
    """Return the columns that are no text as numbers, gaps as they are."""
    numbers = as_numbers(frame[[name for name, kind in plan.kinds.items() if kind == NUMBER]])
    days = {name: as_days(frame[name], name, order) for name, order in orders.items()}
    return numbers.assign(**days)


def ranges_of(numeric: Any) -> dict[str, list[float]]:
    low, high = numeric.min(), numeric.max()
    return {
        str(name): [float(a), float(b)]
        for name, a, b in zip(numeric.columns, low, high, strict=True)
        if a <= b
    }


def gaps_of(frame: Any) -> dict[str, float]:
    shares = frame.isna().mean()
    return {str(name): float(share) for name, share in shares[shares > 0].items()}


def fills_of(frame: Any, plan: ColumnPlan, numeric: Any, how: str) -> list[float | str]:
    """Return for each column what stands in for a missing value; text gets its most frequent value."""
    found: dict[str, float | str] = summary_values(numeric, how)
    for name, kind in plan.kinds.items():
        if kind == CATEGORY:
            found[name] = str(as_text(frame[name]).value_counts().index[0])
    return [found[name] for name in plan.kinds]


def summary_values(numeric: Any, how: str) -> dict[str, float | str]:
    if not numeric.shape[1]:
        return {}
    values = {"median": numeric.median, "mean": numeric.mean, "most-frequent": lambda: numeric.mode().iloc[0]}
    return {str(name): float(value) for name, value in values[how]().items()}


@dataclass(frozen=True)
class Matrix:
    """The preparation of a file that is a matrix already: nothing but its width and names."""

    n_features: int
    one_based: bool = False
    given_names: list[str] | None = None
    dropped: ClassVar[dict[str, str]] = {}  # nothing is left out

    @property
    def names(self) -> list[str]:
        """The names in the file, or the numbers of the columns as the file counts them."""
        return self.given_names or [f"x{j + self.one_based}" for j in range(self.n_features)]

    @property
    def sources(self) -> list[str]:
        return self.names

    def check(self, n_features: int) -> None:
        """Raise where this cannot be the preparation of a model: for what comes from a file."""
        # Before the names are made: there may be any number of them.
        if self.n_features != n_features or len(self.given_names or self.names) != n_features:
            raise ValueError(f"there are {self.n_features} columns, the model takes {n_features}")

    def as_record(self) -> dict[str, Any]:
        return {"n_features": self.n_features, "one_based": self.one_based, "given_names": self.given_names}


def from_record(record: dict[str, Any]) -> Preparation | Matrix:
    """Return the preparation that was kept with a model of the command line."""
    if "columns" not in record:
        return Matrix(**record)
    if record.get("version", 1) > VERSION:
        raise ValueError("its preparation is of a newer version; upgrade with pip install -U singleindex")
    return Preparation(**{name: value for name, value in record.items() if name != "version"})
