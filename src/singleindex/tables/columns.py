"""What each column of a table is: a number, a category, a date, an identifier, a constant."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from .dates import are_dates
from .errors import TableError

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
    check_named(frame, (*choices.drop, *choices.keep, *choices.categorical))
    kinds: dict[str, str] = {}
    dropped = {name: "as asked" for name in choices.drop}
    varies = which_vary(frame)
    for name, column in frame.items():
        if name in dropped:
            continue
        kind, reason = judge(column, name, choices) if varies[name] else ("", reason_constant(column))
        if reason:
            dropped[name] = reason
        else:
            kinds[name] = kind
    if not len(frame.columns):
        raise TableError("there are no columns beside the target; a table with features is needed")
    if not kinds:
        reasons = "; ".join(f"{name}: {why}" for name, why in list(dropped.items())[:5])
        raise TableError(f"no column is left to learn from ({reasons}); --keep COL takes one in")
    return ColumnPlan(kinds, dropped)


def check_named(frame: Any, names: tuple[str, ...]) -> None:
    for name in names:
        if name not in frame.columns:
            raise no_such_column(frame, name)


def no_such_column(frame: Any, name: str) -> TableError:
    """Return an error that names the nearest columns there are."""
    import difflib

    columns = list(map(str, frame.columns))
    near = difflib.get_close_matches(name, columns, n=3, cutoff=0.5)
    shown = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {abridged(columns)}"
    return TableError(f"there is no column {name!r}; {shown}")


def abridged(names: list[str], most: int = 8) -> str:
    text = ", ".join(map(repr, names[:most]))
    return text if len(names) <= most else f"{text} and {len(names) - most} more"


def which_vary(frame: Any) -> dict[str, bool]:
    """Tell which columns have two different values, numbers all at once for the sake of wide tables."""
    numeric = frame.select_dtypes(include=[np.number])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of columns without a single value
        low, high = numeric.min(axis=0, skipna=True), numeric.max(axis=0, skipna=True)
    varies: dict[str, bool] = (low < high).to_dict()  # not where there is no value: NaN is not below NaN
    others = [name for name in frame.columns if name not in varies]
    return varies | {name: frame[name].nunique(dropna=True) > 1 for name in others}


def reason_constant(column: Any) -> str:
    values = column.dropna().unique()
    return f"constant ({values[0]})" if len(values) else "no value at all"


def judge(column: Any, name: str, choices: Choices) -> tuple[str, str]:
    """Return the kind of a column that varies, and a reason to leave it out, or none."""
    from pandas.api import types

    if name in choices.categorical:
        return CATEGORY, ""
    if types.is_bool_dtype(column.dtype) or isinstance(column.dtype, type_of_category()):
        return CATEGORY, ""
    if types.is_datetime64_any_dtype(column.dtype):
        return judge_date(choices)
    if types.is_numeric_dtype(column.dtype):
        reason = "" if name in choices.keep else reason_identifier(column.to_numpy(), name)
        return NUMBER, reason
    return judge_text(column.dropna().astype(str).str.strip(), name, choices)


def type_of_category() -> type:
    import pandas

    kind: type = pandas.CategoricalDtype
    return kind


def reason_identifier(column: Any, name: str) -> str:
    """Say why numbers look like an identifier: whole ones, each there once, and more."""
    values = column[~np.isnan(column)]
    if not len(values) or (values != np.floor(values)).any() or len(np.unique(values)) < len(values):
        return ""
    if _ID_NAME.search(name) or _ID_NAME.search(name.lower()):
        return "looks like an identifier: a different whole number in every row, and so named"
    if len(values) > 3 and values.max() - values.min() == len(values) - 1:
        return "looks like a row number: the whole numbers of a stretch, each once"
    return ""


def judge_date(choices: Choices) -> tuple[str, str]:
    if choices.dates == "days":
        return DATE, ""
    return DATE, "a date; --dates days takes such columns in, as days since 1970"


def judge_text(values: Any, name: str, choices: Choices) -> tuple[str, str]:
    if are_dates(values):
        return judge_date(choices)
    share = share_of_numbers(values.str.replace(",", ".", n=1))
    if share >= _MOSTLY_NUMBERS and not has_codes(values):
        raise slips_in_numbers(values, name)
    n_different = values.nunique()
    if name not in choices.keep and n_different > max(_FEW, _UNIQUE_SHARE * len(values)):
        return (
            CATEGORY,
            f"text with {n_different} different values in {len(values)} rows, an identifier or prose",
        )
    if n_different == len(values) > 3 and name not in choices.keep:
        return CATEGORY, "text that is different in every row"
    return CATEGORY, ""


def share_of_numbers(values: Any) -> float:
    import pandas

    return float(pandas.to_numeric(values, errors="coerce").notna().mean())


def has_codes(values: Any) -> bool:
    """Tell whether these are codes with leading zeros, read as text on purpose."""
    return bool(values.str.fullmatch(r"0\d+").any())


def slips_in_numbers(values: Any, name: str) -> TableError:
    import pandas

    bad = values[pandas.to_numeric(values, errors="coerce").isna()]
    shown = ", ".join(map(repr, bad.unique()[:3]))
    option = "--decimal ," if bad.str.fullmatch(r"-?\d+,\d+").all() else f"--na {bad.iloc[0]!r} for missing"
    return TableError(
        f"column {name!r} holds numbers, but for {len(bad)} of {len(values)} values: {shown}; "
        f"use {option}, --categorical {name!r}, or --drop {name!r}"
    )
