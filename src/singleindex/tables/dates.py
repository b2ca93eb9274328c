"""Dates in text: in which order day and month stand, told by the whole column, and days since 1970."""

from __future__ import annotations

import warnings
from dataclasses import astuple, dataclass
from typing import Any

from .errors import TableError

DAY_FIRST, MONTH_FIRST = "day-first", "month-first"
DATE_ORDERS = (DAY_FIRST, MONTH_FIRST)
_YEAR_FIRST_FORM = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?"
_YEAR_LAST_FORM = r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})(?:[T ,]+(.*))?"
# Years of two digits from here on are those of the last century.
_CENTURY = 70


def are_dates(values: Any) -> bool:
    """Tell whether text is dates, by the first values: year first, or day and month in either order."""
    pattern = f"{_YEAR_FIRST_FORM}|{_YEAR_LAST_FORM}"
    return len(values) > 0 and float(values.head(200).str.fullmatch(pattern).mean()) > 0.9


@dataclass(frozen=True)
class OrderSigns:
    """The first dates of a column that have the day first, the month first, or could have either."""

    day_first: str | None = None
    month_first: str | None = None
    unclear: str | None = None

    @staticmethod
    def of(column: Any) -> OrderSigns:
        """Look at a column; where it is no text, or has the year first, there are no signs."""
        if not has_text(column):
            return OrderSigns()
        text = column.dropna().astype(str).str.strip()
        parts = text.str.extract(rf"^{_YEAR_LAST_FORM}$").dropna(subset=[0])
        first, second = parts[0].astype(int), parts[1].astype(int)
        text = text.loc[parts.index]
        told = (text[first > 12], text[second > 12], text[first != second])
        return OrderSigns(*(str(found.iloc[0]) if len(found) else None for found in told))

    def merge(self, other: OrderSigns) -> OrderSigns:
        pairs = zip(astuple(self), astuple(other), strict=True)
        return OrderSigns(*(ours if ours is not None else others for ours, others in pairs))

    def order(self, name: str) -> str:
        """Return whether the day or the month stands first; where nothing tells, an error asks."""
        if self.day_first is not None and self.month_first is not None:
            raise TableError(
                f"column {name!r} has the day first in {self.day_first!r} and the month first in "
                f"{self.month_first!r}; write them alike, or leave the column out with --drop {name!r}"
            )
        if self.day_first is None and self.month_first is None and self.unclear is not None:
            raise TableError(
                f"column {name!r} holds dates such as {self.unclear!r}, and no row tells whether the day or "
                f"the month stands first; add --date-order day-first or --date-order month-first"
            )
        return DAY_FIRST if self.month_first is None else MONTH_FIRST


def find_order(column: Any, name: str, told: str | None) -> str:
    """Return whether the day or the month stands first in a column."""
    return told or OrderSigns.of(column).order(name)


def has_text(column: Any) -> bool:
    from pandas.api import types

    return not types.is_datetime64_any_dtype(column.dtype)


def as_days(column: Any, name: str, order: str | None, strict: bool = True) -> Any:
    """Return dates as days since 1970, missing ones as NaN.

    `order` is that of the training rows, None for models of versions that did not keep it. Where something is
    no date, an error says so if `strict`; otherwise it is missing.
    """
    import pandas

    text = column if order is None or not has_text(column) else with_year_first(column, order)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas tells of formats it had to guess
        how = {} if order is None else {"format": "mixed"}
        dates = pandas.to_datetime(text, errors="coerce", utc=True, **how)
    bad = column[dates.isna() & column.notna()]
    if strict and len(bad):
        raise no_date(bad.iloc[0], name, order)
    return (dates - pandas.Timestamp(0, tz="UTC")) / pandas.Timedelta(days=1)


def no_date(value: Any, name: str, order: str | None) -> TableError:
    like = "" if order is None else f", {order.replace('-', ' ')},"
    return TableError(
        f"column {name!r} holds {value!r}, which is not a date like the others{like}; --drop {name!r}"
    )


def with_year_first(column: Any, order: str) -> Any:
    """Return dates with the year last as text that has it first, and others as they are."""
    text = column.astype(object).where(column.notna(), None).map(lambda v: str(v).strip(), na_action="ignore")
    parts = text.astype(object).str.extract(rf"^{_YEAR_LAST_FORM}$")
    there = parts[0].notna()
    if not there.any():
        return text
    parts = parts[there]
    year = parts[2].astype(int)
    year = year.where(parts[2].str.len() == 4, year + 1900 + 100 * (year < _CENTURY))
    day, month = (parts[0], parts[1]) if order == DAY_FIRST else (parts[1], parts[0])
    found = year.map("{:04d}".format) + "-" + month.str.zfill(2) + "-" + day.str.zfill(2)
    text.loc[there] = found + (" " + parts[3].fillna("00:00"))
    return text
