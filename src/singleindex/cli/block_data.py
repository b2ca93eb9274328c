"""From files to what an estimator takes, where the rows are never held together.

The first reading learns what columns and target are, and takes samples; every later one prepares blocks anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..design import ChunkedData, HashKFold
from ..design.blocks import Block
from ..design.chunks.marks import FileMarks
from ..design.chunks.sizes import file_marks, rows_per_chunk
from ..tables.columns import wants_of
from ..tables.preparation import Matrix, Preparation, learn
from ..tables.summaries import TEXT, MixedColumns, Summary
from .block_tables import BlockTables
from .data import Data, DataOptions, Rows, check_finite, feature_table, leak_warnings, notes_on, read_weights
from .messages import CliError, counting_rows, say_note
from .tables import Table
from .targets import Target, is_missing, plan_target, target_columns, target_values

Result = TypeVar("Result")
# Rows that are kept together for looks, as few as hold so many values.
_SAMPLE_ROWS, _SAMPLE_VALUES = 50_000, 4_000_000
# Places of a row among all, by a hash of its number; folds go by another.
_PLACES, _SEED = 2**31 - 1, 7919


def places_of(start: int, n_rows: int, seed: int) -> Any:
    """Return for each row a number from 0 to 1 that is as good as random, and always the same."""
    return HashKFold(_PLACES, random_state=_SEED + seed).fold_of(None, start, n_rows, n_rows) / _PLACES


class RowSample:
    """The rows with the lowest places of all: a random sample, whatever the blocks."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows, self.limit = n_rows, np.inf
        self.parts: list[tuple[Any, Table]] = []
        self.n_offered = 0

    def add(self, places: Any, table: Table) -> None:
        self.n_offered += len(places)
        low = np.flatnonzero(places < self.limit)
        if len(low):
            self.parts.append((places[low], table.take(low)))
        if sum(len(part) for part, _ in self.parts) > 2 * self.n_rows:
            self.cut()

    def cut(self) -> None:
        every = np.concatenate([places for places, _ in self.parts])
        if len(every) <= self.n_rows:
            return
        self.limit = float(np.partition(every, self.n_rows)[self.n_rows])
        kept = [(places, table, np.flatnonzero(places < self.limit)) for places, table in self.parts]
        self.parts = [(places[rows], table.take(rows)) for places, table, rows in kept if len(rows)]

    def table(self, source: str) -> Table | None:
        """Return the rows in their order, None where there are none."""
        if not self.parts:
            return None
        self.cut()
        tables = [table for _, table in self.parts]
        if tables[0].frame is not None:
            import pandas

            return Table(source, frame=pandas.concat([t.frame for t in tables], ignore_index=True))
        from scipy import sparse

        is_sparse = sparse.issparse(tables[0].matrix)
        matrices = [t.matrix for t in tables]
        matrix = sparse.vstack(matrices, format="csr") if is_sparse else np.concatenate(matrices)
        arrays = {name: np.concatenate([t.arrays[name] for t in tables]) for name in tables[0].arrays}
        return Table(source, matrix=matrix, arrays=arrays, one_based=tables[0].one_based)


def sample_rows(tables: BlockTables, n_rows: int, seed: int) -> Table:
    """Return a random sample of the rows as one table."""

    def read() -> RowSample:
        sample = RowSample(n_rows)
        with counting_rows("sampling", tables):
            for start, table in tables.tables():
                sample.add(places_of(start, table.n_rows, seed), table)
        if tables.kind != "svmlight":
            kinds = [Summary.of(table.frame) for _, table in sample.parts]
            for other in kinds[1:]:
                kinds[0].check_kinds(other)
        return sample

    sample = without_mixtures(tables, read)
    found = sample.table(tables.paths[0])
    assert found is not None
    said = f"a random sample of {found.n_rows:,} of {sample.n_offered:,} rows, the same every time"
    found.notes += [*tables.notes, said if found.n_rows < sample.n_offered else f"all {found.n_rows:,} rows"]
    return found


@dataclass(frozen=True)
class RowRule:
    """Which rows of a table are learned from, and which are held out."""

    options: DataOptions

    def __call__(self, start: int, table: Table) -> tuple[Any, Any, Any]:
        """Return the places of the rows, whether they have a target, and whether they are held out."""
        columns = target_columns(table, self.options.target)
        known = np.logical_and.reduce([~is_missing(column) for column in columns.values()])
        places = places_of(start, table.n_rows, self.options.seed)
        return places, known, places < self.options.holdout


@dataclass
class FirstReading:
    """What one reading tells: summaries of features and target, samples of rows learned from and held out."""

    features: Summary | None
    targets: Summary
    seen: RowSample
    test: RowSample
    n_unknown: int
    n_columns: int
    one_based: bool


def load_blocks(tables: BlockTables, options: DataOptions) -> Data:
    """Read once, and decide by it what the columns and the target are."""
    first = without_mixtures(tables, lambda: read_first(tables, options))
    if first.n_unknown and not options.drop_unlabelled:
        raise CliError(
            f"the target is missing in {first.n_unknown} of {first.n_unknown + first.targets.n_rows} rows; "
            "add --drop-unlabelled to learn from the others"
        )
    target = plan_target(list(first.targets.columns.values()), options.task, options.positive)
    if first.features is None:
        preparation: Preparation | Matrix = Matrix(first.n_columns, first.one_based)
    else:
        preparation = learn(first.features, options.choices, options.impute)
        texts = [name for name, column in first.features.columns.items() if column.kind == TEXT]
        texts += [name for name, column in first.targets.columns.items() if column.kind == TEXT]
        tables.types |= dict.fromkeys(texts, str)
    reader = PreparedReader(tables, options, target, preparation, first.targets.n_rows)
    train = Rows(ChunkedData(reader, FileMarks(tables.paths)), None, None)
    return as_data(tables, options, first, reader, train)


def without_mixtures(tables: BlockTables, read: Callable[[], Result]) -> Result:
    """Read and, where a column turns out to be text after all, read again."""
    while True:
        try:
            return read()
        except MixedColumns as mixed:
            say_note(f"read again, as text: {', '.join(map(repr, sorted(mixed.names)))}")
            tables.types |= dict.fromkeys(mixed.names, str)


def as_data(
    tables: BlockTables, options: DataOptions, first: FirstReading, reader: PreparedReader, train: Rows
) -> Data:
    seen, test = first.seen.table("a sample"), first.test.table("a sample of the rows held out")
    assert seen is not None
    seen_rows, target = reader.rows(seen), reader.target
    notes = [
        f"read in blocks of rows; {seen_rows.n:,} of {train.n:,} are looked at together, a random sample",
        *tables.notes,
        *([target.note] if target.note else []),
        *notes_on(reader.preparation),
    ]
    if first.n_unknown:
        notes.append(f"{first.n_unknown} rows without a target are left out")
    if test is not None and test.n_rows < first.test.n_offered:
        notes.append(
            f"scored on a random {test.n_rows:,} of {first.test.n_offered:,} rows that were held out"
        )
    features = feature_table(seen, options, np.ones(seen.n_rows, dtype=bool))
    return Data(
        train=train,
        seen=seen_rows,
        test=None if test is None else reader.rows(test),
        target=target,
        class_counts=dict(zip(target.classes, target.counts, strict=True)),
        preparation=reader.preparation,
        n_columns=first.n_columns,
        fingerprint=hashlib.sha256(repr(reader.fingerprint()).encode()).hexdigest()[:16],
        notes=notes,
        warnings=leak_warnings(features, reader.preparation, target, seen_rows.y),
        is_whole=False,
    )


def read_first(tables: BlockTables, options: DataOptions) -> FirstReading:
    rule, wants = RowRule(options), wants_of(options.choices)
    found: FirstReading | None = None
    with counting_rows("learning what columns hold", tables):
        for start, table in tables.tables():
            places, known, held_out = rule(start, table)
            part = table.take(known & ~held_out)
            every = np.ones(part.n_rows, dtype=bool)
            features = feature_table(part, options, every)
            read_weights(part, options.weights, every)  # raises where they are none
            targets = Summary.of(as_frame(target_columns(part, options.target)))
            if table.frame is None:
                check_finite(features, table.source)
            if found is None:
                n_kept = min(_SAMPLE_ROWS, _SAMPLE_VALUES // max(features.shape[1], 1))
                samples = RowSample(n_kept), RowSample(n_kept)
                summary = None if table.frame is None else Summary.of(features, wants)
                found = FirstReading(summary, targets, *samples, 0, int(features.shape[1]), table.one_based)
            else:
                found.targets = found.targets.merge(targets)
                if found.features is not None:
                    found.features = found.features.merge(Summary.of(features, wants))
            found.seen.add(places[known & ~held_out], part)
            found.test.add(places[known & held_out], table.take(known & held_out))
            found.n_unknown += int((~known).sum())
    assert found is not None
    return found


def as_frame(columns: dict[str, Any]) -> Any:
    import pandas

    return pandas.DataFrame(columns)


class PreparedReader:
    """Reads files again and again, each block prepared as the first reading has taught."""

    dtype = np.dtype(np.float64)
    has_target = True

    def __init__(
        self,
        tables: BlockTables,
        options: DataOptions,
        target: Target,
        preparation: Preparation | Matrix,
        n_rows: int,
    ) -> None:
        self.tables, self.options, self.target, self.preparation = tables, options, target, preparation
        self.n_rows: int | None = n_rows
        self.n_features = len(preparation.names)
        self.feature_names: Sequence[str] | None = None
        if isinstance(preparation, Preparation):
            self.feature_names = preparation.names
        self.rule = RowRule(options)

    def chunks(self) -> Generator[Block]:
        beside = [*self.target.names, *([self.options.weights] if self.options.weights else [])]
        used = self.preparation.columns if isinstance(self.preparation, Preparation) else []
        rows = rows_per_chunk(self.n_features, self.dtype.itemsize, None)
        for table in self.learned([*used, *beside]):
            found = self.rows(table)
            X = found.X if isinstance(self.preparation, Matrix) else found.X.to_numpy()
            for start in range(0, found.n, rows):
                part = slice(start, start + rows)
                weight = None if found.weight is None else found.weight[part]
                yield Block(X[part], found.y[part], weight, table.source)

    def targets(self) -> Generator[Block]:
        beside = [*self.target.names, *([self.options.weights] if self.options.weights else [])]
        for table in self.learned(beside):
            y, weight = self.targets_of(table)
            yield Block(None, y, weight, table.source)

    def learned(self, columns: list[str]) -> Generator[Table]:
        for start, table in self.tables.tables(columns):
            _, known, held_out = self.rule(start, table)
            found = table.take(known & ~held_out)
            if found.n_rows:
                yield found

    def rows(self, table: Table) -> Rows:
        """Return the rows of a table, all with a target, as the estimator takes them."""
        y, weight = self.targets_of(table)
        if isinstance(self.preparation, Matrix):
            return Rows(table.matrix, y, weight)
        return Rows(self.preparation.apply(table.frame, self.options.impute is not None), y, weight)

    def targets_of(self, table: Table) -> tuple[Any, Any]:
        columns = target_columns(table, self.options.target)
        every = np.ones(table.n_rows, dtype=bool)
        return target_values(self.target, list(columns.values())), read_weights(
            table, self.options.weights, every
        )

    def fingerprint(self) -> tuple[Any, ...]:
        return ("prepared", repr(self.options), repr(self.preparation), *file_marks(self.tables.paths))
