"""Tables in Parquet and CSV files, read column by column through pyarrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import numpy as np

from ..blocks import Block, ChunkError
from .sizes import bytes_per_table_chunk, file_marks

# Bytes of a file that tell how long its lines are, and the most that a line may have.
_SAMPLE, _LONGEST_LINE = 1 << 20, 1 << 28


def load_pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "Parquet and CSV files are read by pyarrow; install it with pip install 'singleindex[files]'."
        ) from error
    return pyarrow


class TableReader:
    """What Parquet and CSV share: columns have names, and some of them are y and the weights."""

    n_rows: int | None = None

    def __init__(
        self,
        paths: list[str],
        target: Any,
        sample_weight: Any,
        chunk_rows: int | None,
        features: Sequence[str] | None = None,
    ) -> None:
        self.arrow = load_pyarrow()
        self.paths, self.weight_name, self.chunk_rows = paths, sample_weight, chunk_rows
        self.target_names = [target] if isinstance(target, str) else list(target or [])
        self.has_target, self.is_matrix = target is not None, not isinstance(target, str)
        fields = {path: self._fields(path) for path in paths}
        schemas = {path: dict(fields[path]) for path in paths}
        first = schemas[paths[0]]
        beside = {*self.target_names, *([] if sample_weight is None else [sample_weight])}
        self.feature_names: list[str] = (
            [name for name in first if name not in beside] if features is None else list(features)
        )
        self.n_features = len(self.feature_names)
        if not self.n_features:
            raise ValueError(
                f"{paths[0]} has no columns beside y and the weights; there is nothing to learn w from."
            )
        for path, schema in schemas.items():
            self._check_schema(path, schema, first, everything=features is None)
            self._check_names(path, [name for name, _ in fields[path]])
        self.dtype = self._common_dtype(schemas.values())
        row_bytes = self.n_features * self.dtype.itemsize
        self.rows = chunk_rows or max(1, bytes_per_table_chunk(row_bytes) // row_bytes)

    # ------------------------------------------------------------ reading

    def chunks(self) -> Generator[Block]:
        for batch, path, name in self._batches(self._columns()):
            y, weight = self._targets(batch, name)
            # Columns are copied one by one, into what will be a row of memory each.
            X = np.empty((self.n_features, batch.num_rows), dtype=self.dtype)
            for j, column in enumerate(self.feature_names):
                X[j] = self._numbers(batch, column, name)
            yield Block(X.T, y, weight, name, (path,))

    def targets(self) -> Generator[Block]:
        for batch, path, name in self._batches(self._columns()[self.n_features :]):
            yield Block(None, *self._targets(batch, name), name, (path,))

    def fingerprint(self) -> tuple[Any, ...]:
        return (type(self).__name__, self.rows, tuple(self.feature_names), *file_marks(self.paths))

    def _batches(self, columns: list[str]) -> Iterator[tuple[Any, str, str]]:
        for path in self.paths:
            start = 0
            batches = self._open(path, columns)
            while True:
                name = f"{path}, rows {start} and on"
                batch = self._next(batches, name)
                if batch is None:
                    break
                if batch.num_rows:
                    yield batch, path, f"{path}, rows {start} to {start + batch.num_rows - 1}"
                start += batch.num_rows

    def _next(self, batches: Iterator[Any], name: str) -> Any:
        try:
            return next(batches, None)
        except (self.arrow.ArrowException, OSError, KeyError) as error:
            raise ChunkError(f"{name}: cannot be read ({_one_line(error)}); {self.DAMAGE}") from error

    DAMAGE = "the file is damaged or cut off. Write it anew."

    def _fields(self, path: str) -> list[tuple[str, Any]]:
        """Return names and types of the columns, in their order."""
        raise NotImplementedError

    def _open(self, path: str, columns: list[str]) -> Iterator[Any]:
        raise NotImplementedError

    # ------------------------------------------------------------ columns

    def _columns(self) -> list[str]:
        weight = [] if self.weight_name is None else [self.weight_name]
        return [*self.feature_names, *self.target_names, *weight]

    def _targets(self, batch: Any, name: str) -> tuple[Any, Any]:
        y = None
        if self.has_target:
            columns = [batch.column(n).to_numpy(zero_copy_only=False) for n in self.target_names]
            y = np.column_stack(columns) if self.is_matrix else columns[0]
        weight = None if self.weight_name is None else self._numbers(batch, self.weight_name, name)
        return y, None if weight is None else weight.astype(np.float64)

    def _numbers(self, batch: Any, column: str, name: str) -> Any:
        values = batch.column(column)
        if values.null_count:
            raise ChunkError(
                f"{name}: column {column!r} has no value in {values.null_count} of its rows; remove these "
                "rows, "
                "or impute them."
            )
        return values.to_numpy(zero_copy_only=False)

    def _check_schema(
        self, path: str, schema: dict[str, Any], first: dict[str, Any], everything: bool
    ) -> None:
        for column in self._columns():
            if column not in schema:
                raise ChunkError(
                    f"{path}: it has no column {column!r}, which is needed and which {self.paths[0]} "
                    "has; all files must have the same columns."
                    if column in first
                    else f"{path}: it has no column {column!r}; it has {', '.join(list(schema)[:20])}."
                )
        added = [column for column in schema if column not in first]
        if everything and added:
            raise ChunkError(
                f"{path}: it has a column {added[0]!r} that {self.paths[0]} has not; all files must have the "
                "same columns, or the ones to use must be named with features=."
            )
        types = self.arrow.types
        for column in self.feature_names:
            kind = schema[column]
            # Of a table without rows nobody knows what its columns hold.
            numeric = (types.is_floating, types.is_integer, types.is_boolean, types.is_null)
            if not any(is_kind(kind) for is_kind in numeric):
                raise ChunkError(
                    f"{path}: column {column!r} holds {kind}, not numbers; encode it first, or name the "
                    "columns to "
                    "use with features=."
                )

    def _check_names(self, path: str, names: list[str]) -> None:
        """Raise where a name that is used does not tell which column is meant."""
        for given, where in ((names, path), (self.feature_names, "features=")):
            counts = Counter(given)
            double = next((name for name in self._columns() if counts[name] > 1), None)
            if double is not None:
                raise ChunkError(
                    f"{where}: the column {double!r} is there {counts[double]} times; give each column a "
                    "name of its own, or name the ones to use, once each, with features=."
                )

    def _common_dtype(self, schemas: Any) -> Any:
        kinds = {str(schema[name]) for schema in schemas for name in self.feature_names}
        return np.dtype(np.float32 if kinds == {"float"} else np.float64)


class ParquetReader(TableReader):
    """Row groups may be of any size: they are read in batches of rows."""

    DAMAGE = (
        "the file is damaged, cut off, or still being written. Write it anew, or wait until it is complete."
    )

    def __init__(self, paths: list[str], *args: Any, **options: Any) -> None:
        super().__init__(paths, *args, **options)
        self.n_rows = sum(self._file(path).metadata.num_rows for path in paths)

    def _file(self, path: str) -> Any:
        try:
            return self.arrow.parquet.ParquetFile(path)
        except (self.arrow.ArrowException, OSError) as error:
            raise ChunkError(f"{path}: cannot be read ({_one_line(error)}); {self.DAMAGE}") from error

    def _fields(self, path: str) -> list[tuple[str, Any]]:
        return [(one.name, one.type) for one in self._file(path).schema_arrow]

    def _open(self, path: str, columns: list[str]) -> Iterator[Any]:
        batches: Iterator[Any] = self._file(path).iter_batches(batch_size=self.rows, columns=columns)
        return batches


class CsvReader(TableReader):
    """Values are separated by commas, in .tsv files by tabs; the first line of a file names the columns."""

    DAMAGE = "correct these lines."

    def _fields(self, path: str) -> list[tuple[str, Any]]:
        try:
            with self._reader(path, None, None) as reader:
                return [(one.name, one.type) for one in reader.schema]
        except (self.arrow.ArrowException, OSError) as error:
            raise ChunkError(f"{path}: cannot be read ({_one_line(error)}); {self.DAMAGE}") from error

    def _open(self, path: str, columns: list[str]) -> Iterator[Any]:
        # Whole numbers in the first lines must not make a column of whole numbers.
        kinds = dict.fromkeys(self.feature_names, self.arrow.float64())
        if self.weight_name is not None:
            kinds[self.weight_name] = self.arrow.float64()
        with self._reader(path, columns, kinds) as reader:
            yield from reader

    def _reader(self, path: str, columns: list[str] | None, kinds: dict[str, Any] | None) -> Any:
        csv = self.arrow.csv
        delimiter = "\t" if path.lower().endswith(".tsv") else ","
        return csv.open_csv(
            path,
            read_options=csv.ReadOptions(block_size=self._block_size(path)),
            parse_options=csv.ParseOptions(delimiter=delimiter),
            convert_options=csv.ConvertOptions(
                include_columns=columns or [], column_types=kinds or {}, strings_can_be_null=True
            ),
        )

    def _block_size(self, path: str) -> int:
        """Return how many bytes to read at a time; a line must fit, the names of all columns above all."""
        with open(path, "rb") as file:
            names = file.readline(_LONGEST_LINE)
            sample = file.read(_SAMPLE) + file.readline(_LONGEST_LINE)
        lines = sample.splitlines()
        longest = max(map(len, lines), default=0)
        per_row = len(sample) // max(len(lines), 1)
        wanted = bytes_per_table_chunk(per_row) if self.chunk_rows is None else self.chunk_rows * per_row
        return max(1024, 2 * max(longest, len(names)), wanted)


def _one_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
