"""What the features of a model are made of, whoever prepared the columns: one description for all exports."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .columns import CATEGORY, DATE, NUMBER, abridged
from .dates import as_days
from .errors import TableError
from .summaries import as_text

TEXT = "text"  # as it is written; a category of the command line is without blanks at its ends
KINDS = (NUMBER, TEXT, CATEGORY, DATE)


@dataclass(frozen=True)
class Column:
    """A column of the table; `known` are the only values it may have, None for any."""

    name: str
    kind: str = NUMBER
    known: list[Any] | None = None
    date_order: str | None = None


@dataclass(frozen=True)
class Feature:
    """A feature as a function of one column; where it gives None, the model has no answer.

    A number x becomes (x - shift) * scale, brought within `low` and `high`, and a gap `missing`. With
    `values`, pairs of a value and what becomes of it, all other values become `otherwise`.
    """

    name: str
    column: str
    missing: Any = None
    shift: float = 0.0
    scale: float = 1.0
    low: float | None = None
    high: float | None = None
    values: list[Any] | None = None
    otherwise: float | None = None

    def at(self, x: Any) -> Any:
        """Return the feature at numbers that are there."""
        made = (x - self.shift) * self.scale
        if self.low is None and self.high is None:
            return made
        return np.clip(made, self.low, self.high)

    def as_record(self) -> dict[str, Any]:
        """Return what differs from the defaults."""
        fields = dataclasses.fields(self)
        return {f.name: getattr(self, f.name) for f in fields if getattr(self, f.name) != f.default}


@dataclass(frozen=True)
class Recipe:
    """The columns in use, in the order of the table, and the features made of them, in that of the model."""

    columns: list[Column]
    features: list[Feature]
    dropped: ClassVar[dict[str, str]] = {}

    @property
    def names(self) -> list[str]:
        """The names of the features the model takes."""
        return [feature.name for feature in self.features]

    @property
    def sources(self) -> list[str]:
        """The column that each feature comes from."""
        return [feature.column for feature in self.features]

    @property
    def number_columns(self) -> set[str]:
        return {column.name for column in self.columns if column.kind == NUMBER}

    def check(self, n_features: int) -> None:
        """Raise where this cannot be the recipe of a model: for what comes from a file."""
        names = {column.name for column in self.columns}
        if len(names) < len(self.columns) or not names >= set(self.sources):
            raise ValueError("each feature must come from a column, and each column be there once")
        if not all(column.kind in KINDS for column in self.columns):
            raise ValueError(f"the kind of a column must be one of {KINDS}")
        for feature in self.features:
            given = [feature.missing, feature.otherwise, *(value for _, value in feature.values or [])]
            numbers = [feature.shift, feature.scale, *(v for v in given if v is not None)]
            if not all(math.isfinite(value) for value in numbers):
                raise ValueError("features must be finite numbers")
        if len(self.features) != n_features:
            raise ValueError(f"there are {len(self.features)} features, the model takes {n_features}")

    def as_record(self) -> dict[str, Any]:
        """Return it under the names that the record of the command line's preparation has."""
        columns = self.columns
        return {
            "columns": [c.name for c in columns],
            "kinds": [c.kind for c in columns],
            "known": {c.name: c.known for c in columns if c.known is not None},
            "date_orders": {c.name: c.date_order for c in columns if c.date_order is not None},
            "features": [feature.as_record() for feature in self.features],
        }

    def apply(
        self,
        frame: Any,
        impute: bool = True,
        say: Callable[[str], None] = lambda text: None,
        needed: set[str] | None = None,
    ) -> Any:
        """Return the features of each row as a data frame of numbers.

        Parameters
        ----------
        frame : pandas.DataFrame
        impute, say
            As in `Preparation.apply`, but the recipe itself says what becomes of gaps and of new values.
        needed : set of str, default=None
            The columns whose features have a weight; the others may be absent or odd. None needs all.
        """
        import pandas

        needed = set(self.sources) if needed is None else needed
        lacking = [c.name for c in self.columns if c.name in needed and c.name not in frame.columns]
        if lacking:
            raise absent(lacking, len(needed), frame)
        by_column: dict[str, list[Feature]] = {column.name: [] for column in self.columns}
        for feature in self.features:
            by_column[feature.column].append(feature)
        made: dict[str, Any] = {}
        for column in self.columns:
            own = by_column[column.name]
            try:
                # Of a column that is only looked at for gaps, nobody knows what it holds.
                values = frame[column.name]
                values = values if all(f.values == [] for f in own) else typed(column, values)
                made |= {feature.name: filled(feature, values) for feature in own}
            except (TableError, KeyError):
                if column.name in needed:
                    raise
                made |= {feature.name: np.zeros(len(frame)) for feature in own}
        return pandas.DataFrame(made, index=frame.index)[self.names]


def recipe_from(record: dict[str, Any]) -> Recipe:
    """Return what `Recipe.as_record` told of."""
    known, orders = record["known"], record["date_orders"]
    columns = [
        Column(name, kind, known.get(name), orders.get(name))
        for name, kind in zip(record["columns"], record["kinds"], strict=True)
    ]
    return Recipe(columns, [Feature(**part) for part in record["features"]])


def absent(lacking: list[str], n_needed: int, frame: Any) -> TableError:
    return TableError(
        f"{len(lacking)} of the {n_needed} columns that the model needs are not there: "
        f"{abridged(lacking)}; there are {abridged(list(map(str, frame.columns)), 5)}"
    )


# ---------------------------------------------------------------- columns and features of rows


def typed(column: Column, values: Any) -> Any:
    """Return a column as numbers, or text; values that may not be are an error."""
    from .preparation import as_numbers

    if column.kind == DATE:
        return as_days(values, column.name, column.date_order)
    if column.kind == CATEGORY:
        return as_text(values)
    if column.kind == NUMBER:
        values = as_numbers(values.to_frame())[column.name]
    if column.known is not None:
        new = values[values.notna() & ~values.isin(column.known)]
        if len(new):
            raise TableError(
                f"column {column.name!r} has values that the model was not fitted to, in {len(new)} rows: "
                f"{abridged(list(map(str, new.unique())), 3)}; fit with handle_unknown='ignore' to allow them"
            )
    return values


def filled(feature: Feature, values: Any) -> Any:
    """Return a feature of each row; where there is none, an error names the column."""
    gaps = values.isna().to_numpy()
    if feature.values is None:
        made = feature.at(values.to_numpy(np.float64))
    else:
        otherwise = np.nan if feature.otherwise is None else feature.otherwise
        # True and 1.0 are the same key here, but not for pandas.
        table = {v if isinstance(v, str) else float(v): to for v, to in feature.values}
        made = values.map(table).astype(np.float64).fillna(otherwise).to_numpy()
    made = np.where(gaps, np.nan if feature.missing is None else feature.missing, made)
    lost = np.flatnonzero(np.isnan(made))
    if len(lost):
        what = "missing" if gaps[lost[0]] else f"{values.iloc[lost[0]]!r}"
        raise TableError(
            f"column {feature.column!r} is {what} in {len(lost)} rows, and the model was not told what to "
            "make of that; fill it in, or fit with SimpleImputer or handle_unknown"
        )
    return made
