"""Predictions of files that are never held whole, written as they come."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from ..files.replace import replacing
from .block_scores import prepared_blocks, tables_for
from .csv_text import csv_text
from .decisions import Threshold
from .messages import CliError, counting_rows, for_stdout
from .model_file import ModelFile
from .predict_command import as_list, copied_columns, predicted_columns
from .read_options import ReadOptions
from .tables import need

Columns = dict[str, Any]


def predict_blocks(
    file: ModelFile, names: Sequence[str], options: ReadOptions, copied: tuple[str, ...],
    threshold: Threshold, impute: bool, notes: bool, output: str,
) -> None:  # fmt: skip
    """Write the predictions of each block to standard output, or a file that appears when all are there."""
    tables = tables_for(file, names, options)
    # Rows and a line that changes would be in each other's way.
    is_shown = output == "-" and sys.stdout.isatty()
    telling = contextlib.nullcontext() if is_shown else counting_rows("predicting", tables)
    with telling, writer_to(output) as write:
        for _, table, X, odd in prepared_blocks(file, tables, impute):
            found = copied_columns(table, copied) | predicted_columns(file, X, threshold)
            if notes:
                found["notes"] = odd.row_notes() if odd else [""] * table.n_rows
            write(found)


@contextlib.contextmanager
def writer_to(output: str) -> Iterator[Callable[[Columns], None]]:
    """Return what takes columns of some rows after others."""
    if output == "-":
        text = CsvText(",")
        yield lambda columns: click.echo(for_stdout(text(columns)), nl=False)
        return
    suffix = Path(output).suffix.lower()
    with replacing(output) as temporary:
        if suffix in (".parquet", ".pq"):
            with contextlib.closing(ParquetFile(temporary)) as parquet:
                yield parquet.write
            return
        text = CsvText("\t" if suffix in (".tsv", ".tab") else ",")
        with open(temporary, "w", encoding="utf-8", newline="") as csv:
            yield lambda columns: print(text(columns), end="", file=csv)


class CsvText:
    """Gives rows as text, the header before the first."""

    def __init__(self, separator: str) -> None:
        self.separator, self.began = separator, False

    def __call__(self, columns: Columns) -> str:
        rows = list(zip(*map(as_list, columns.values()), strict=True))
        header = [] if self.began else [list(columns)]
        self.began = True
        return csv_text([*header, *rows], self.separator)


class ParquetFile:
    """Takes rows of the same types as the first."""

    def __init__(self, path: str) -> None:
        need("pyarrow", "writing Parquet")
        self.path = path
        self.writer: Any = None

    def write(self, columns: Columns) -> None:
        import pyarrow
        from pyarrow.parquet import ParquetWriter

        table = pyarrow.table({name: pyarrow.array(as_list(values)) for name, values in columns.items()})
        if self.writer is None:
            self.writer = ParquetWriter(self.path, table.schema)
        try:
            self.writer.write_table(table.cast(self.writer.schema))
        except (pyarrow.ArrowException, ValueError) as error:
            raise CliError(
                f"a column holds other values than in the first rows ({error}); write a .csv file"
            ) from error

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
