"""Tables as they lie in files: CSV, TSV, Parquet, svmlight, npz, or on standard input."""

from __future__ import annotations

import bz2
import codecs
import csv
import decimal
import gzip
import io
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..files.limits import unpack
from ..tables.written import MISSING
from .messages import CliError
from .read_options import ReadOptions

FORMATS = ("csv", "tsv", "excel", "parquet", "svmlight", "npz")
# Those that need not be read whole.
IN_BLOCKS = ("csv", "tsv", "parquet", "svmlight")
_SUFFIXES = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet",
    ".xlsx": "excel", ".xlsm": "excel", ".npz": "npz", ".svm": "svmlight",
    ".svmlight": "svmlight", ".libsvm": "svmlight",
}  # fmt: skip
PACKED: dict[str, Callable[[IO[bytes]], Any]] = {".gz": gzip.open, ".bz2": bz2.open}
DECIMAL_COMMAS = "numbers are written with a decimal comma"
# How a file of text begins that tells its own encoding; UTF-32 first, which begins like UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
_PEEK_ROWS = 200


@dataclass
class Table:
    """What a file holds: a data frame; or a matrix, with further arrays beside it by name."""

    source: str
    frame: Any = None
    matrix: Any = None
    arrays: dict[str, Any] = field(default_factory=dict)
    names: list[str] | None = None
    one_based: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        return len(self.frame) if self.frame is not None else int(self.matrix.shape[0])

    def take(self, rows: Any) -> Table:
        """Return some rows, by a mask or by their numbers."""
        if self.frame is not None:
            return replace(self, frame=self.frame[rows] if rows.dtype == bool else self.frame.iloc[rows])
        arrays = {name: values[rows] for name, values in self.arrays.items()}
        return replace(self, matrix=self.matrix[rows], arrays=arrays)


def read_table(
    path: str, options: ReadOptions, n_features: int | None = None, one_based: bool | None = None
) -> Table:
    """Read a table; `n_features` and `one_based` are those of the model an svmlight file is read for."""
    kind = options.format or guess_format(path)
    data, source = read_bytes(path)
    if not data.strip():
        raise CliError(f"{source} is empty")
    from . import matrices

    if kind == "svmlight":
        table = matrices.read_svmlight(data, source, n_features, one_based)
    elif kind == "npz":
        table = matrices.read_npz(data, source)
    elif kind == "excel":
        table = read_excel(data, source, options)
    else:
        table = read_parquet(data, source) if kind == "parquet" else read_csv(data, source, kind, options)
    if not table.n_rows:
        raise CliError(f"{source} has {'no rows' if table.frame is None else 'a header but no rows'}")
    return table


def guess_format(path: str) -> str:
    suffixes = [s.lower() for s in Path(path).suffixes if s.lower() not in PACKED]
    if path == "-":
        return "csv"
    if suffixes and suffixes[-1] in _SUFFIXES:
        return _SUFFIXES[suffixes[-1]]
    if suffixes and suffixes[-1] in (".xls", ".ods"):
        raise CliError(f"{path} is a spreadsheet of another kind; save it as .xlsx or CSV, and use that")
    raise CliError(f"cannot tell what kind of file {path} is by its name; add --format {'|'.join(FORMATS)}")


def read_bytes(path: str) -> tuple[bytes, str]:
    """Return the bytes of a file or of standard input, unpacked, and what to call them."""
    if path == "-":
        if sys.stdin.isatty():
            raise CliError("waiting for a table on standard input; pipe one in, or name a file")
        return sys.stdin.buffer.read(), "standard input"
    file = Path(path)
    if not file.exists():
        raise CliError(f"there is no file {path}; check the name and the folder")
    if file.is_dir():
        raise CliError(f"{path} is a folder; name a file in it")
    data, opened = file.read_bytes(), PACKED.get(file.suffix.lower())
    if opened is None:
        return data, path
    try:
        with opened(io.BytesIO(data)) as inner:
            return unpack(inner, len(data)), path
    except (OSError, EOFError, ValueError) as error:
        raise CliError(f"{path} cannot be unpacked: {error}") from error


# ---------------------------------------------------------------- tables with names


def need(module: str, what: str) -> Any:
    """Import a library of the `cli` extra, or say how to get it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise CliError(f'{what} needs {module}; install it with: pip install "singleindex[cli]"') from error


def read_parquet(data: bytes, source: str) -> Table:
    pandas = need("pandas", "reading tables")
    need("pyarrow", "reading Parquet")
    try:
        frame = pandas.read_parquet(io.BytesIO(data))
    except Exception as error:  # pyarrow has many
        raise CliError(f"{source} is not a Parquet file that can be read: {error}") from error
    frame.columns = [str(name) for name in frame.columns]
    return plain_table(source, frame, [])


def read_excel(data: bytes, source: str, options: ReadOptions) -> Table:
    from .spreadsheets import read_sheet

    need("pandas", "reading tables")
    frame, notes = read_sheet(data, source, options, [*MISSING, *options.missing])
    frame.columns = numbered(list(frame.columns))
    return plain_table(source, frame, notes)


def plain_table(source: str, frame: Any, notes: list[str]) -> Table:
    """Return a table of the columns that hold single values."""
    import pandas

    found: dict[str, Any] = {}
    for name in frame.columns:
        column = as_plain_column(frame[name])
        if column is None:
            notes.append(f"left out {name!r}: lists, records or bytes in place of single values")
        else:
            found[name] = column
    return Table(source, frame=pandas.DataFrame(found).reset_index(drop=True), notes=notes)


def as_plain_column(column: Any) -> Any:
    """Return a typed column as floats, text, switches or dates; None for values that are none of these."""
    from pandas.api import types

    if types.is_timedelta64_dtype(column.dtype):
        return column.dt.total_seconds() / 86400
    if types.is_bool_dtype(column.dtype):
        return column
    if types.is_numeric_dtype(column.dtype):
        return column if isinstance(column.dtype, np.dtype) else column.astype(np.float64)
    if column.dtype == object:
        first = next(iter(column.dropna()), "")
        if isinstance(first, decimal.Decimal):
            return column.astype(np.float64)
        return column if np.isscalar(first) and not isinstance(first, bytes) else None
    return column


def read_csv(data: bytes, source: str, kind: str, options: ReadOptions) -> Table:
    pandas = need("pandas", "reading tables")
    _, text = decode(data, source, options.encoding or "utf-8", options.usual_encoding)
    try:
        settings, notes = csv_settings(text, kind, options)
        # A copy has its numbers in one piece; as read, each column is an array of its own, which is slow.
        frame = keep_codes(pandas.read_csv(io.StringIO(text), **settings).copy(), text, settings)
    except (pandas.errors.ParserError, ValueError) as error:
        raise CliError(f"{source} is not a table that can be read: {error}") from error
    frame.columns = numbered([str(name).strip() for name in frame.columns])
    return Table(source, frame=frame, notes=notes)


def csv_settings(text: str, kind: str, options: ReadOptions) -> tuple[dict[str, Any], list[str]]:
    """Return how a table is written, by its first rows at the least, and what to tell of it."""
    separator = options.separator or (
        "\t" if kind == "tsv" else guess_separator(text, options.usual_separator)
    )
    settings = {
        "sep": separator, "decimal": options.decimal or ".", "skipinitialspace": True, "low_memory": False,
        "na_values": [*MISSING, *options.missing],
    }  # fmt: skip
    notes = []
    if separator != "," and options.decimal is None and has_decimal_commas(text, settings):
        settings["decimal"] = ","
        notes.append(DECIMAL_COMMAS)
    if separator not in (",", "\t"):
        notes.append(f"columns are separated by {separator!r}")
    names = Counter(name.strip() for name in header(text, separator))
    twice = sorted(name for name, count in names.items() if count > 1 and name)
    if twice:
        notes.append(f"the column name {twice[0]!r} is there more than once; the others got a number")
    return settings, notes


def decode(data: bytes, source: str, encoding: str, other: str | None = None) -> tuple[str, str]:
    """Return the encoding and the text; a mark at the beginning tells better than the usual encoding does.

    What is not in this encoding is tried in the other one.
    """
    if encoding.lower() in ("utf-8", "utf8"):
        encoding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), encoding)
    try:
        text = data.decode(encoding)
    except LookupError as error:
        raise CliError(f"there is no encoding {encoding!r}; try utf-8, latin-1 or cp1252") from error
    except UnicodeDecodeError as error:
        if other is not None:
            return decode(data, source, other)
        line = data[: error.start].count(b"\n") + 1
        hint = "try --encoding latin-1" if encoding.startswith("utf-8") else "name another with --encoding"
        raise CliError(f"{source} is not {encoding} (line {line}); {hint}") from error
    if "\0" in text:
        raise CliError(
            f"{source} is not {encoding} text: it holds NUL characters; try --encoding utf-16-le, or --format"
        )
    if text.startswith("\ufeff"):
        encoding, text = "utf-8-sig" if encoding.startswith("utf-8") else encoding, text[1:]
    if not text.strip():
        raise CliError(f"{source} is empty")
    return encoding, text


def header(text: str, separator: str) -> list[str]:
    # To a wrong separator a header of many names is one, longer than the module allows by itself.
    usual = csv.field_size_limit(len(text))
    try:
        return next(csv.reader(lines_of(text), delimiter=separator, skipinitialspace=True), [])
    finally:
        csv.field_size_limit(usual)


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines of a text one by one: of a large one no copy is made for the first."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def guess_separator(text: str, usual: str | None = None) -> str:
    """Return what splits the header into most columns, quotes heeded; of equals the comma."""
    if usual is not None and len(header(text, usual)) > 1:
        return usual
    return max(",;\t|", key=lambda separator: len(header(text, separator)))


def numbered(names: list[str]) -> list[str]:
    """Return the names, with a number behind those that were there before."""
    found: list[str] = []
    taken, counts = set(), Counter[str]()
    for name in names:
        new = name
        while new in taken:
            counts[name] += 1
            new = f"{name}.{counts[name]}"
        taken.add(new)
        found.append(new)
    return found


def text_columns(frame: Any) -> Iterator[tuple[str, list[str]]]:
    """Return the columns of a frame of text, each with the values that are there."""
    for name, values in zip(frame.columns, frame.to_numpy(dtype=object).T, strict=True):
        yield name, [value.strip() for value in values if isinstance(value, str)]


def has_decimal_commas(text: str, settings: dict[str, Any]) -> bool:
    """Tell whether some column is all numbers like 1,5 in the first rows, whole ones among them."""
    if not re.search(r"\d,\d", text):
        return False
    import pandas

    peek = pandas.read_csv(io.StringIO(text), **settings, dtype=str, nrows=_PEEK_ROWS)
    number = re.compile(r"[-+]?\d+(,\d+)?([eE][-+]?\d+)?")
    return any(
        any("," in value for value in values) and all(map(number.fullmatch, values))
        for _, values in text_columns(peek)
    )


def keep_codes(frame: Any, text: str, settings: dict[str, Any]) -> Any:
    """Return the frame with codes like 00731 as text: as numbers they would lose their zeros."""
    import pandas

    edge = rf"[{re.escape(settings['sep'])}\r\n]"
    if not re.search(rf'{edge}[ "]*0[0-9]+[ "]*(?:{edge}|\Z)', text):
        return frame
    whole = whole_columns(frame)
    as_text = pandas.read_csv(io.StringIO(text), **settings, dtype=str)[whole]
    codes = [name for name, values in text_columns(as_text) if are_codes(values)]
    return frame.assign(**{name: as_text[name] for name in codes})


def whole_columns(frame: Any) -> list[str]:
    numeric = frame.select_dtypes(include=[np.number])
    is_whole = ((numeric % 1 == 0) | numeric.isna()).all()
    return list(numeric.columns[is_whole])


def are_codes(values: list[str]) -> bool:
    """Tell whether these are digits alone, some with a zero in front."""
    return any(value.startswith("0") and len(value) > 1 for value in values) and all(
        map(str.isdecimal, values)
    )
