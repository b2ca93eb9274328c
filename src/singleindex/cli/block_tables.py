"""Tables that are never held whole: files as a row of small tables, read anew for every visit."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..design.chunks.svmlight import SvmlightReader
from ..tables.columns import abridged
from .messages import CliError
from .read_options import ReadOptions
from .several import matching
from .tables import (
    IN_BLOCKS,
    PACKED,
    Table,
    are_codes,
    csv_settings,
    decode,
    guess_format,
    need,
    numbered,
    plain_table,
    text_columns,
)

# What is looked at to tell how a file is written, and what makes a block: bytes of text, values of others.
_HEAD_BYTES, _BLOCK_BYTES, _BLOCK_VALUES, _MOST_ROWS = 1 << 20, 8 << 20, 1 << 20, 50_000


class BlockTables:
    """The rows of some files as small tables, in the order of the rows, as often as asked.

    Attributes
    ----------
    n_rows : int or None
        About how many there are, by the size of the files.
    on_rows : callable or None
        Told of rows that were worked on, and of 0 at the end.
    """

    def __init__(
        self,
        names: Sequence[str],
        options: ReadOptions,
        n_features: int | None = None,
        one_based: bool | None = None,
    ) -> None:
        self.paths = [path for name in names for path in matching(name)]
        kinds = {options.format or guess_format(path) for path in self.paths}
        if len(kinds) > 1 or not kinds <= set(IN_BLOCKS):
            raise CliError(
                f"only files of one kind, {', '.join(IN_BLOCKS)}, are read in blocks, not "
                f"{' and '.join(sorted(kinds))}; write them as one of these, or add --in-memory"
            )
        self.kind = kinds.pop()
        if self.kind == "svmlight":
            self.files: list[Any] = [SvmlightBlocks(self.paths, n_features, one_based)]
        else:
            make: Any = ParquetBlocks if self.kind == "parquet" else CsvBlocks
            self.files = [make(path, self.kind, options) for path in self.paths]
            self.check_columns()
        self.notes = list(dict.fromkeys(note for file in self.files for note in file.notes))
        self.n_rows: int | None = sum(file.n_rows for file in self.files)
        self.on_rows: Callable[[int], None] | None = None
        self.types: dict[str, Any] = {name: str for file in self.files for name in file.codes}

    def check_columns(self) -> None:
        first = self.files[0]
        for file in self.files:
            differ = sorted(set(first.names) ^ set(file.names))
            if differ:
                raise CliError(
                    f"{first.path} and {file.path} have different columns: {abridged(differ)} are in one of "
                    "them only"
                )

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[tuple[int, Table]]:
        """Yield tables of some rows, of some columns or of all, with the number of the first row."""
        start = 0
        for file in self.files:
            for table in file.tables(self.types, columns):
                if table.frame is not None:
                    table.frame = table.frame[list(self.files[0].names if columns is None else columns)]
                yield start, table
                start += table.n_rows
                if self.on_rows is not None:
                    self.on_rows(table.n_rows)
        if self.on_rows is not None:
            self.on_rows(0)
        if not start:
            raise CliError(f"{self.paths[0]} has no rows")


class CsvBlocks:
    """A file of text; how it is written, and which columns are codes like 00731, is told by its first MiB."""

    def __init__(self, path: str, kind: str, options: ReadOptions) -> None:
        self.path, self.options = path, options
        pandas = need("pandas", "reading tables")
        with self.opened() as file:
            head = file.read(_HEAD_BYTES)
            head += file.readline() if len(head) == _HEAD_BYTES else b""
        self.encoding, text = decode(head, path, options.encoding or "utf-8", options.usual_encoding)
        try:
            self.settings, self.notes = csv_settings(text, kind, options)
            peek = pandas.read_csv(io.StringIO(text), **self.settings, dtype=str)
        except (pandas.errors.ParserError, ValueError) as error:
            raise CliError(f"{path} is not a table that can be read: {error}") from error
        self.names = numbered([str(name).strip() for name in peek.columns])
        peek.columns = self.names
        self.codes = [name for name, values in text_columns(peek) if are_codes(values)]
        per_row = max(len(head) // max(len(peek), 1), 1)
        self.rows = min(max(_BLOCK_BYTES // per_row, 100), _MOST_ROWS)
        # Text is packed to about a quarter.
        packed = 4 if Path(path).suffix.lower() in PACKED else 1
        self.n_rows = max(os.path.getsize(path) * packed // per_row, len(peek))

    @contextlib.contextmanager
    def opened(self) -> Iterator[Any]:
        unpack = PACKED.get(Path(self.path).suffix.lower())
        try:
            with open(self.path, "rb") as file:
                yield file if unpack is None else unpack(file)
        except FileNotFoundError:
            raise CliError(f"there is no file {self.path}; check the name and the folder") from None

    def tables(self, types: dict[str, Any], columns: Sequence[str] | None) -> Iterator[Table]:
        import pandas

        start = 0
        dtype = {name: kind for name, kind in types.items() if columns is None or name in columns}
        try:
            with self.opened() as file, io.TextIOWrapper(file, encoding=self.encoding, newline="") as text:
                frames = pandas.read_csv(
                    text, **self.settings, header=0, names=self.names, usecols=columns, dtype=dtype,
                    chunksize=self.rows,
                )  # fmt: skip
                for frame in frames:
                    source = f"{self.path}, rows {start} to {start + len(frame) - 1}"
                    start += len(frame)
                    yield Table(source, frame=frame.reset_index(drop=True))
        except (pandas.errors.ParserError, UnicodeDecodeError, EOFError) as error:
            hint = "; try --encoding latin-1" if isinstance(error, UnicodeDecodeError) else ""
            raise CliError(f"{self.path} cannot be read after row {start}: {error}{hint}") from error


class ParquetBlocks:
    """Columns of lists, records or bytes are left out, as in memory."""

    codes: Sequence[str] = ()

    def __init__(self, path: str, kind: str, options: ReadOptions) -> None:
        self.path = path
        need("pandas", "reading tables")
        need("pyarrow", "reading Parquet")
        from pyarrow import types

        self.file = self.opened()
        fields = list(self.file.schema_arrow)
        odd = [f.name for f in fields if types.is_nested(f.type) or types.is_binary(f.type)]
        self.notes = [f"left out {name!r}: lists, records or bytes in place of single values" for name in odd]
        self.names = [f.name for f in fields if f.name not in odd and not f.name.startswith("__index_level_")]
        self.n_rows = self.file.metadata.num_rows
        self.rows = min(max(_BLOCK_VALUES // max(len(self.names), 1), 100), _MOST_ROWS)

    def opened(self) -> Any:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile

        try:
            return ParquetFile(self.path)
        except FileNotFoundError:
            raise CliError(f"there is no file {self.path}; check the name and the folder") from None
        except (ArrowException, OSError) as error:
            raise CliError(f"{self.path} is not a Parquet file that can be read: {error}") from error

    def tables(self, types: dict[str, Any], columns: Sequence[str] | None) -> Iterator[Table]:
        from pyarrow import ArrowException

        start = 0
        wanted = self.names if columns is None else list(columns)
        try:
            for batch in self.file.iter_batches(batch_size=self.rows, columns=wanted):
                frame = batch.to_pandas()
                table = plain_table(f"{self.path}, rows {start} and on", frame, [])
                start += len(frame)
                yield table
        except ArrowException as error:
            raise CliError(f"{self.path} cannot be read after row {start}: {error}") from error


class SvmlightBlocks:
    """Rows with their y; where the number of columns is not known, one more reading counts them."""

    codes: Sequence[str] = ()
    names: Sequence[str] = ()
    notes: Sequence[str] = ()

    def __init__(self, paths: list[str], n_features: int | None, one_based: bool | None) -> None:
        for path in paths:
            if not os.path.exists(path):
                raise CliError(f"there is no file {path}; check the name and the folder")
            if Path(path).suffix.lower() in PACKED:
                raise CliError(f"{path} is packed, and svmlight files are not unpacked in blocks; unpack it")
        self.path = paths[0]
        self.reader = SvmlightReader(paths, None, None, None, n_features)
        if one_based is not None:
            self.reader.zero_based = not one_based
        with open(self.path, "rb") as file:
            head = file.read(_HEAD_BYTES)
        self.n_rows = sum(map(os.path.getsize, paths)) * head.count(b"\n") // max(len(head), 1)

    def tables(self, types: dict[str, Any], columns: Sequence[str] | None) -> Iterator[Table]:
        for block in self.reader.chunks():
            one_based = not self.reader.zero_based
            yield Table(block.name, matrix=block.X, arrays={"y": block.y}, one_based=one_based)
