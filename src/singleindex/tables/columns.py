"""What each column of a table is: a number, a category, a date, an identifier, a constant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .dates import are_dates
from .errors import TableError
from .summaries import DATES, LISTED, NUMBERS, Column, Numbers, Summary, Wants, Words

NUMBER, CATEGORY, DATE = "number", "category", "date"
# A text column with more different values than this share of its rows is no category.
_UNIQUE_SHARE = 0.5
_FEW = 20
# From this share of numbers on, a text column is one of numbers with slips in it.
_MOSTLY_NUMBERS = 0.8
_ID_NAME = re.compile(
    r"(^|[_\s.\-])(id|ids|uid|uuid|guid|key|nr|no|num|number|index|idx|row|rownum|record|barcode|ssn)$"
    r"|^(unnamed: ?\d+)$|[a-z](ID|Id|UID|Nr|No)$",
)


@dataclass(frozen=True)
class Choices:
    """What the user said about columns."""

    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    dates: str = "drop"
    date_order: str | None = None
    max_categories: int = 50


@dataclass(frozen=True)
class ColumnPlan:
    """Which columns go in and as what, and why the others do not."""

    kinds: dict[str, str]
    dropped: dict[str, str]


def plan_columns(frame: Any, choices: Choices) -> ColumnPlan:
    """Decide for each column of a data frame; missing values are the caller's business."""
    return plan_summary(Summary.of(frame), choices)


def plan_summary(summary: Summary, choices: Choices) -> ColumnPlan:
    """Decide for each column by what is known of it."""
    columns = summary.columns
    for name in (*choices.drop, *choices.keep, *choices.categorical):
        if name not in columns:
            raise no_such_column(columns, name)
    kinds: dict[str, str] = {}
    dropped = {name: "as asked" for name in choices.drop}
    for name, column in columns.items():
        if name in dropped:
            continue
        kind, reason = judge(column, choices) if column.varies else ("", reason_constant(column))
        if reason:
            dropped[name] = reason
        else:
            kinds[name] = kind
    if not columns:
        raise TableError("there are no columns beside the target; a table with features is needed")
    if not kinds:
        reasons = "; ".join(f"{name}: {why}" for name, why in list(dropped.items())[:5])
        raise TableError(f"no column is left to learn from ({reasons}); --keep COL takes one in")
    return ColumnPlan(kinds, dropped)


def wants_of(choices: Choices) -> Wants:
    """Return what has to be known of columns where rows are not held together."""
    return Wants(frozenset(choices.categorical), choices.dates == "days")


def no_such_column(names: Iterable[Any], name: str) -> TableError:
    """Return an error that names the nearest columns there are."""
    import difflib

    columns = list(map(str, names))
    near = difflib.get_close_matches(name, columns, n=3, cutoff=0.5)
    shown = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {abridged(columns)}"
    return TableError(f"there is no column {name!r}; {shown}")


def abridged(names: list[str], most: int = 8) -> str:
    text = ", ".join(map(repr, names[:most]))
    return text if len(names) <= most else f"{text} and {len(names) - most} more"


def reason_constant(column: Column) -> str:
    if column.n_missing == column.n_rows:
        return "no value at all"
    return f"constant ({column.only_value()})"


def judge(column: Column, choices: Choices) -> tuple[str, str]:
    """Return the kind of a column that varies, and a reason to leave it out, or none."""
    if column.name in choices.categorical or column.kind == LISTED:
        return CATEGORY, ""
    if column.kind == DATES:
        return judge_date(choices)
    if column.kind == NUMBERS:
        reason = "" if column.name in choices.keep else reason_identifier(column.numbers, column.name)
        return NUMBER, reason
    return judge_text(column.words, column.name, choices)


def reason_identifier(numbers: Numbers, name: str) -> str:
    """Say why numbers look like an identifier: whole ones, each there once, and more."""
    if not numbers.are_whole() or not numbers.are_different():
        return ""
    if _ID_NAME.search(name) or _ID_NAME.search(name.lower()):
        return "looks like an identifier: a different whole number in every row, and so named"
    low, high = numbers.ends
    if numbers.n > 3 and high - low == numbers.n - 1:
        return "looks like a row number: the whole numbers of a stretch, each once"
    return ""


def judge_date(choices: Choices) -> tuple[str, str]:
    if choices.dates == "days":
        return DATE, ""
    return DATE, "a date; --dates days takes such columns in, as days since 1970"


def judge_text(words: Words, name: str, choices: Choices) -> tuple[str, str]:
    if are_dates(words.first):
        return judge_date(choices)
    share = share_of_numbers(words)
    if share >= _MOSTLY_NUMBERS and not has_codes(words):
        raise slips_in_numbers(words, name)
    n_different = len(words.counts)
    if name in choices.keep:
        return CATEGORY, ""
    if n_different > max(_FEW, _UNIQUE_SHARE * words.n) or not words.is_complete:
        more = "" if words.is_complete else "more than "
        return (
            CATEGORY,
            f"text with {more}{n_different} different values in {words.n} rows, an identifier or prose",
        )
    if n_different == words.n > 3:
        return CATEGORY, "text that is different in every row"
    return CATEGORY, ""


def share_of_numbers(words: Words) -> float:
    import pandas

    values = words.counts.index.to_series().str.replace(",", ".", n=1)
    is_number = pandas.to_numeric(values, errors="coerce").notna().to_numpy()
    return float(words.counts[is_number].sum() / words.counts.sum())


def has_codes(words: Words) -> bool:
    """Tell whether these are codes with leading zeros, read as text on purpose."""
    return bool(words.counts.index.str.fullmatch(r"0\d+").any())


def slips_in_numbers(words: Words, name: str) -> TableError:
    import pandas

    values = words.counts.index.to_series()
    bad = values[pandas.to_numeric(values, errors="coerce").isna()]
    shown = ", ".join(map(repr, bad[:3]))
    option = "--decimal ," if bad.str.fullmatch(r"-?\d+,\d+").all() else f"--na {bad.iloc[0]!r} for missing"
    n_bad = words.counts[bad.index].sum()
    return TableError(
        f"column {name!r} holds numbers, but for {n_bad} of {words.n} values: {shown}; "
        f"use {option}, --categorical {name!r}, or --drop {name!r}"
    )
