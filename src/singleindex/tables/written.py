"""Values as they are written in files: words for gaps, and the decimal mark."""

from __future__ import annotations

import contextlib
import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# Beside what pandas takes for missing already, which is below.
MISSING = ("?", "-", "--", ".", "missing", "#REF!", "#DIV/0!", "#VALUE!")
OF_PANDAS = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
_COMMA_NUMBER = re.compile(r"\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*")


@dataclass(frozen=True)
class Written:
    """How the table of a fit was written: the words for gaps that were told, and the decimal mark."""

    missing: list[str]
    decimal: str | None = None

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset((*OF_PANDAS, *MISSING, *self.missing))

    @cached_property
    def numbers(self) -> list[float]:
        """The numbers that stand for gaps, such as -99."""
        found = []
        for word in self.missing:
            with contextlib.suppress(ValueError):
                found.append(float(word))
        return [number for number in found if not math.isnan(number)]

    def read(self, frame: Any, numbers: set[str]) -> Any:
        """Return rows as the file's reader would give them.

        Parameters
        ----------
        frame : pandas.DataFrame
        numbers : set of str
            The columns of numbers: only there text may be a number with another decimal mark.
        """
        return frame.assign(**{name: self.read_column(frame[name], name in numbers) for name in frame})

    def read_column(self, column: Any, is_number: bool) -> Any:
        from pandas.api import types

        if types.is_bool_dtype(column.dtype) or types.is_datetime64_any_dtype(column.dtype):
            return column
        if types.is_numeric_dtype(column.dtype):
            return column.mask(column.isin(self.numbers)) if self.numbers else column
        return column.astype(object).map(lambda value: self.read_value(value, is_number))

    def read_value(self, value: Any, is_number: bool) -> Any:
        if not isinstance(value, str):
            is_gap = isinstance(value, (int, float)) and value in self.numbers
            return None if is_gap and not isinstance(value, bool) else value
        if value.lstrip(" ") in self.words:
            return None
        is_other = is_number and self.decimal == "," and _COMMA_NUMBER.fullmatch(value)
        return value.replace(",", ".") if is_other else value
