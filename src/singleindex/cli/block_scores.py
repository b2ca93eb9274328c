"""Scores of files that are never held whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..tables.columns import CATEGORY
from ..tables.oddities import OddCounts
from ..tables.preparation import Matrix, Preparation
from ..tables.recipe import Recipe
from ..tables.summaries import TEXT, Summary
from .block_data import RowSample, as_frame, places_of, without_mixtures
from .block_tables import BlockTables
from .drift import means_of
from .messages import CliError, counting_rows, say_note
from .model_file import ModelFile, prepared_rows
from .read_options import ReadOptions
from .score_command import Asked, Scored, check_classes
from .tables import Table
from .targets import Target, is_missing, plan_target, target_columns, target_values

# Rows whose predictions are kept, to be ranked and scored together.
_MOST_SCORED = 1_000_000


def tables_for(file: ModelFile, names: Sequence[str], options: ReadOptions) -> BlockTables:
    """Return the blocks of files that go with a model, read as those of the fit were."""
    options, preparation = options.after(file.record.get("reading", {})), file.preparation
    if isinstance(preparation, Matrix):
        return BlockTables(names, options, preparation.n_features, preparation.one_based)
    tables = BlockTables(names, options)
    # Categories that are no plain numbers are read as they are written, whatever a block holds of them.
    texts = [name for name, words in categories_of(preparation).items() if has_words(words)]
    tables.types |= {name: str for name in texts if name in tables.files[0].names}
    return tables


def categories_of(preparation: Preparation | Recipe) -> dict[str, list[str]]:
    """Return the values that each text column is known to have."""
    if isinstance(preparation, Preparation):
        return preparation.categories
    found: dict[str, list[str]] = {c.name: [] for c in preparation.columns if c.kind == CATEGORY}
    for feature in preparation.features:
        if feature.column in found:
            found[feature.column] += [str(value) for value, _ in feature.values or []]
    return found


def has_words(categories: list[str]) -> bool:
    def is_plain(word: str) -> bool:
        try:
            return str(float(word)).removesuffix(".0") == word
        except ValueError:
            return False

    return not all(map(is_plain, categories))


def prepared_blocks(
    file: ModelFile, tables: BlockTables, impute: bool, columns: Sequence[str] | None = None
) -> Iterator[tuple[int, Table, Any, Any]]:
    """Yield the number of the first row, the table, its features and what is odd about it; tell of all."""
    counts: OddCounts | None = None
    for start, table in tables.tables(columns):
        X, odd = prepared_rows(file, table, impute, lambda text: None)
        if odd is not None:
            counts = odd.counts() if counts is None else counts.merge(odd.counts())
        yield start, table, X, odd
    for note in [*counts.summary(), *counts.unknown_notes()] if counts is not None else []:
        say_note(note)


def scored_blocks(file: ModelFile, names: Sequence[str], options: ReadOptions, asked: Asked) -> Scored:
    """Read the target, then predict: the rows that are scored are all, or a random sample."""
    from ..inspection.scores import Predictions, predictions_of

    tables = tables_for(file, names, options)
    target = read_targets(file, tables, asked)
    sample, counts = RowSample(_MOST_SCORED // len(file.facts.outputs)), None
    means, n_rows = None, 0
    with counting_rows("scoring", tables):
        for start, table, X, odd in prepared_blocks(file, tables, asked.impute):
            columns = target_columns(table, asked.target)
            known = np.flatnonzero(known_rows(columns))
            places = places_of(start, table.n_rows, 0)[known]
            y = target_values(target, [column[known_rows(columns)] for column in columns.values()])
            predicted, index = predictions_of(file.model, X), file.model.index(X)
            values = np.column_stack([predicted.value, predicted.rank, index])[known]
            sample.add(places, Table(table.source, matrix=values, arrays={"y": y}))
            if odd is not None:
                counts = odd.counts() if counts is None else counts.merge(odd.counts())
            own, n_rows = means_of(file, X), n_rows + table.n_rows
            means = own if means is None else means + (own - means) * table.n_rows / n_rows
    found = sample.table("predictions")
    if found is None:
        raise CliError("the target is missing in every row; name another column with --target")
    if found.n_rows < sample.n_offered:
        say_note(f"scored are a random {found.n_rows:,} of {sample.n_offered:,} rows, the same every time")
    k = predicted.value.shape[1]
    value, rank, index = np.split(found.matrix, [k, k + predicted.rank.shape[1]], axis=1)
    return Scored(Predictions(value, rank), index, found.arrays["y"], counts, means)


def read_targets(file: ModelFile, tables: BlockTables, asked: Asked) -> Target:
    """Read the target alone, and return what it is."""

    def first_reading() -> tuple[Summary, int]:
        summary, n_unknown = None, 0
        for _, table in tables.tables(list(asked.target) if tables.kind != "svmlight" else None):
            columns = target_columns(table, asked.target)
            known = known_rows(columns)
            n_unknown += int((~known).sum())
            part = Summary.of(as_frame({name: column[known] for name, column in columns.items()}))
            summary = part if summary is None else summary.merge(part)
        assert summary is not None
        return summary, n_unknown

    with counting_rows("reading the target", tables):
        summary, n_unknown = without_mixtures(tables, first_reading)
    if n_unknown and not asked.drop_unlabelled:
        raise CliError(
            f"the target {', '.join(map(repr, asked.target))} is missing in {n_unknown} of "
            f"{n_unknown + summary.n_rows} rows; add --drop-unlabelled to score the others"
        )
    tables.types |= {name: str for name, column in summary.columns.items() if column.kind == TEXT}
    task = "classification" if file.class_names else "regression"
    target = plan_target(list(summary.columns.values()), task, file.positive)
    check_classes(file, target)
    return target


def known_rows(columns: dict[str, Any]) -> Any:
    return np.logical_and.reduce([~is_missing(column) for column in columns.values()])
