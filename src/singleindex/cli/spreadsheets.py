"""Tables in Excel files."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files.limits import LimitError, check_archive
from .messages import CliError

if TYPE_CHECKING:
    from .read_options import ReadOptions


def read_sheet(data: bytes, source: str, options: ReadOptions, missing: list[str]) -> tuple[Any, list[str]]:
    """Return a sheet as a data frame whose cells have the types that Excel gave them, and notes on it."""
    import pandas

    try:
        import openpyxl  # noqa: F401
    except ImportError as error:
        raise CliError(
            f'reading {source} needs openpyxl; install it with: pip install "singleindex[excel]"'
        ) from error
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_archive(archive, len(data))
        with pandas.ExcelFile(io.BytesIO(data), engine="openpyxl") as book:
            name, notes = choose_sheet(book.sheet_names, source, options.sheet)
            # As objects: text such as 00731 would become a number otherwise.
            frame = pandas.read_excel(book, sheet_name=name, dtype=object, na_values=missing)
    except CliError:
        raise
    except LimitError as error:
        raise CliError(f"{source} cannot be read: {error}") from error
    except Exception as error:  # zip, XML and openpyxl have many
        raise CliError(f"{source} is not an Excel file that can be read: {error}") from error
    frame.columns = [str(column).strip() for column in frame.columns]
    frame = frame.dropna(how="all").reset_index(drop=True)
    return frame.apply(lambda column: cells_as_column(column, options.decimal)), notes


def choose_sheet(names: list[str], source: str, wanted: str | None) -> tuple[str, list[str]]:
    if wanted is None:
        others = ", ".join(map(repr, names[1:]))
        return names[0], [f"read sheet {names[0]!r} of {source}; --sheet for {others}"] if others else []
    if wanted in names:
        return wanted, []
    raise CliError(f"{source} has no sheet {wanted!r}; there are {', '.join(map(repr, names))}")


def cells_as_column(column: Any, decimal: str | None) -> Any:
    """Return cells by their own types; text that is all numbers, but for codes like 00731, as numbers."""
    import pandas

    column = column.infer_objects()
    values = column.dropna()
    is_text = column.dtype == object or pandas.api.types.is_string_dtype(column.dtype)
    if not (is_text and len(values) and all(isinstance(value, (str, int, float)) for value in values)):
        return column
    text = values.astype(str).str.strip()
    if text.str.fullmatch(r"0\d+").any():
        return text.reindex(column.index)
    if decimal == ",":
        text = text.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
    numbers = pandas.to_numeric(text, errors="coerce")
    is_number = numbers.notna().all() and not values.map(lambda v: isinstance(v, bool)).any()
    return numbers.reindex(column.index).astype(np.float64) if is_number else column
