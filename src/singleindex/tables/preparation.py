"""How the columns of a table become the numbers a model takes; kept with the model, as text and numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .columns import CATEGORY, DATE, NUMBER, Choices, abridged, plan_summary
from .dates import DATE_ORDERS, as_days
from .errors import TableError
from .recipe import Column, Feature, Recipe, absent
from .summaries import Numbers, Summary, as_text

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

    @property
    def number_columns(self) -> set[str]:
        return {name for name, kind in zip(self.columns, self.kinds, strict=True) if kind == NUMBER}

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
        # In one piece, as models take them: one array for each column would be copied together.
        values, at = np.empty((len(typed), len(self.names))), 0
        for column in self.columns:
            if column not in self.categories:
                values[:, at] = plain[column]
                at += 1
                continue
            matters = needed is None or column in needed
            tell = say if matters else lambda text: None
            end = at + len(self.shown_categories(column))
            self.encode(typed[column], column, str(fills[column]), tell, values[:, at:end])
            at = end
        return pandas.DataFrame(values, index=typed.index, columns=self.names, copy=False)

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

    def encode(self, column: Any, name: str, fill: str, say: Callable[[str], None], into: np.ndarray) -> None:
        """Write a column of 0 and 1 for each value of a text column."""
        import pandas

        codes, values = pandas.factorize(column)
        words = [*values, fill]  # what is missing has the code -1
        known = set(self.categories[name])
        new = sorted(word for word in set(values) if word not in known)
        if new:
            rows = int(np.isin(codes, [k for k, word in enumerate(values) if word not in known]).sum())
            say(
                f"column {name!r} has values that the model does not know, in {rows} rows: {abridged(new, 3)}"
            )
        places = {value: k for k, value in enumerate(self.shown_categories(name))}
        place = np.array([places.get(word, -1) for word in words])[codes]
        into[:] = place[:, None] == np.arange(len(places))


def prepare(frame: Any, choices: Choices, impute: str | None, whole: Any = None) -> Preparation:
    """Learn from the training rows how to prepare a table; from the `whole`, in which order dates are."""
    return learn(Summary.of(frame), choices, impute, None if whole is None else Summary.of(whole))


def learn(
    summary: Summary, choices: Choices, impute: str | None, whole: Summary | None = None
) -> Preparation:
    """Learn how to prepare a table from what is known of its columns."""
    plan = plan_summary(summary, choices)
    columns = {name: summary.columns[name] for name in plan.kinds}
    if impute is None:
        refuse_gaps({name: column.n_missing for name, column in columns.items()}, summary.n_rows)
    orders = {
        name: choices.date_order or (whole or summary).columns[name].order_signs.order(name)
        for name, kind in plan.kinds.items()
        if kind == DATE
    }
    words = {
        name: columns[name].words.by_frequency() for name, kind in plan.kinds.items() if kind == CATEGORY
    }
    numbers = {name: columns[name].numbers for name, kind in plan.kinds.items() if kind == NUMBER}
    refuse_infinite(numbers)
    numbers |= {name: columns[name].days(order) for name, order in orders.items()}
    fill = _FILLS[impute or "median"]
    prepared = Preparation(
        columns=list(plan.kinds),
        kinds=list(plan.kinds.values()),
        fills=[words[name][0] if name in words else fill(numbers[name]) for name in plan.kinds],
        categories={name: sorted(found[: choices.max_categories]) for name, found in words.items()},
        dropped=dict(plan.dropped),
        imputed=impute,
        date_orders=orders,
        ranges={name: list(found.ends) for name, found in numbers.items() if found.n},
        gaps={name: c.n_missing / c.n_rows for name, c in columns.items() if c.n_missing},
    )
    if len(set(prepared.names)) < len(prepared.names):
        twice = next(name for name in prepared.names if prepared.names.count(name) > 1)
        raise TableError(f"two features would be called {twice!r}; rename a column, or --drop one")
    return prepared


_FILLS = {"median": Numbers.median, "mean": Numbers.mean, "most-frequent": Numbers.most_frequent}


def refuse_missing(frame: Any) -> None:
    """Raise where values are missing, with a count for each column."""
    refuse_gaps(frame.isna().sum().to_dict(), len(frame))


def refuse_gaps(missing: dict[str, int], n_rows: int) -> None:
    counts = {name: n for name, n in sorted(missing.items(), key=lambda item: -item[1]) if n}
    if not counts:
        return
    shown = ", ".join(f"{name!r} {count}" for name, count in list(counts.items())[:10])
    more = f" and {len(counts) - 10} more columns" if len(counts) > 10 else ""
    raise TableError(
        f"{sum(counts.values())} values are missing in {len(counts)} columns of {n_rows} rows: "
        f"{shown}{more}; fill them with --impute median (or mean, most-frequent), or leave columns out with "
        "--drop COL"
    )


def refuse_infinite(numbers: dict[str, Numbers]) -> None:
    for name, found in numbers.items():
        if not np.isfinite(found.ends).all():
            raise infinite(name, found.n_infinite())


def infinite(name: str, count: int) -> TableError:
    return TableError(f"column {name!r} holds {count} infinite values; --na inf makes them missing")


def as_numbers(frame: Any) -> Any:
    """Return a data frame of float64; what is no number is told by its column."""
    import pandas

    try:
        numbers = frame.astype(np.float64)
        n_infinite = np.isinf(numbers).sum()
        if n_infinite.any():
            name = n_infinite.idxmax()
            raise infinite(name, n_infinite[name])
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
    return pandas.DataFrame(values, index=numbers.index, columns=numbers.columns, copy=False)


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
