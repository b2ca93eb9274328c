"""What is to be predicted: the column or columns of the target, as classes or as numbers."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..tables.classes import class_named, modelled_class
from ..tables.columns import no_such_column
from ..tables.summaries import NUMBERS, Column, as_text, as_word, column_of
from .messages import CliError
from .tables import Table

TASKS = ("classification", "regression")
# Whole numbers with at most so many different values may be classes as well.
_FEW_VALUES = 10


@dataclass(frozen=True)
class Target:
    """y as the estimators take it, its name or names, and what kind of problem it makes.

    `classes` are those of a single target with `counts` of their rows, of two the modelled one last.
    Estimators take the second in order for it: where it is the first, y is 0 and 1, and `is_coded`.
    `switches` are the values of several labels that count as 1.
    """

    y: Any
    names: list[str]
    task: str
    note: str = ""
    classes: tuple[Any, ...] = ()
    is_coded: bool = False
    counts: tuple[int, ...] = ()
    switches: tuple[Any, ...] = ()


def read_target(
    table: Table,
    wanted: tuple[str, ...],
    task: str | None,
    drop_unlabelled: bool,
    positive: str | None = None,
) -> Any:
    """Return the target, and which rows have one."""
    columns = target_columns(table, wanted)
    known = np.logical_and.reduce([~is_missing(column) for column in columns.values()])
    if not known.all():
        n_missing = int((~known).sum())
        if not drop_unlabelled:
            raise CliError(
                f"the target {', '.join(map(repr, columns))} is missing in {n_missing} of {len(known)} rows; "
                "add --drop-unlabelled to learn from the others"
            )
        if not known.any():
            raise CliError("the target is missing in every row; name another column with --target")
    values = [column[known] for column in columns.values()]
    return make_target(values, list(columns), task, positive), known


def target_columns(table: Table, wanted: tuple[str, ...]) -> dict[str, Any]:
    if table.frame is None:
        names = wanted or ("y",)
        for name in names:
            if name not in table.arrays:
                raise CliError(
                    f"{table.source} has no target {name!r}; it has {', '.join(table.arrays) or 'none'}"
                )
        found = {name: np.asarray(table.arrays[name]) for name in names}
        for name, values in found.items():
            if values.shape != (table.n_rows,):
                raise CliError(f"{name!r} has shape {values.shape}; one value per row of X is needed")
        return found
    if not wanted:
        columns = ", ".join(map(repr, list(table.frame.columns)[-3:]))
        raise CliError(f"say what to predict with --target COL (the last columns are {columns})")
    for name in wanted:
        if name not in table.frame.columns:
            raise no_such_column(table.frame.columns, name)
    return {name: table.frame[name] for name in wanted}


def is_missing(column: Any) -> Any:
    if isinstance(column, np.ndarray):
        return np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)
    return column.isna().to_numpy()


def make_target(
    columns: list[Any], names: list[str], task: str | None, positive: str | None = None
) -> Target:
    """Return the target as classes or numbers; what is not said is guessed."""
    known = [column_of(column, name) for column, name in zip(columns, names, strict=True)]
    target = plan_target(known, task, positive)
    return replace(target, y=target_values(target, columns))


def plan_target(columns: list[Column], task: str | None, positive: str | None = None) -> Target:
    """Return what kind of problem the target makes, by what is known of its columns; y is left open."""
    for column in columns:
        if not column.varies:
            value = column.only_value()
            raise CliError(
                f"the target {column.name!r} is {as_word(value)} in every row; there is nothing to learn"
            )
    names = [column.name for column in columns]
    guess, note = guess_task(columns)
    task = task or guess
    note = note if task == guess else ""
    if task == "regression":
        return Target(None, names, task, note if len(columns) == 1 else "")
    if len(columns) == 1:
        return class_target(columns[0], note, positive)
    return Target(None, names, task, switches=tuple(switch_of(column) for column in columns))


def class_target(column: Column, note: str, positive: str | None) -> Target:
    """Return a target of classes; of two, the one that is modelled becomes the second."""
    classes, counts = classes_of(column)
    name, asked = column.name, None if positive is None else class_named(classes, positive)
    if len(classes) > 2:
        return Target(None, [name], "classification", note, tuple(classes), counts=tuple(counts))
    chosen, why = modelled_class(classes, counts)
    if asked is not None:
        chosen, why = asked, "as asked"
    other = classes[1 - classes.index(chosen)]
    n = counts[classes.index(chosen)]
    said = (
        f"modelled is the probability of {name} = {chosen}, {why} ({n:,} of {sum(counts):,} rows); "
        f"--positive {shlex.quote(str(other))} models the other class"
    )
    note = f"{note}; {said}" if note else said
    pair = (sum(counts) - n, n)
    return Target(None, [name], "classification", note, (other, chosen), chosen == classes[0], counts=pair)


def classes_of(column: Column) -> tuple[list[Any], list[int]]:
    """Return the classes in order, whole numbers as such, and how many rows each has."""
    if column.kind != NUMBERS:
        counts = column.words.counts.sort_index()
        return [str(label) for label in counts.index], counts.tolist()
    numbers = column.numbers.counted()
    values = numbers.values.astype(np.int64) if numbers.are_whole() else numbers.values
    return values.tolist(), numbers.counts.tolist()


def guess_task(columns: list[Column]) -> tuple[str, str]:
    """Return the likelier task, and what to tell where it could be the other one."""
    if any(column.kind != NUMBERS for column in columns):
        return "classification", ""
    counts = [len(column.numbers.counted().values) for column in columns]
    if all(count == 2 for count in counts):
        return "classification", ""
    if len(columns) == 1 and counts[0] <= _FEW_VALUES and columns[0].numbers.are_whole():
        return "regression", (
            f"the target {columns[0].name!r} has {counts[0]} different whole numbers, taken as amounts; "
            "if they are classes, add --task classification"
        )
    return "regression", ""


def target_values(target: Target, columns: list[Any]) -> Any:
    """Return y of some rows, as the estimators take it."""
    if target.task == "regression":
        found = [as_floats(column, name) for column, name in zip(columns, target.names, strict=True)]
        return found[0] if len(found) == 1 else np.column_stack(found)
    if target.switches:
        pairs = zip(columns, target.switches, strict=True)
        return np.column_stack([(as_labels(c, type(value)) == value).astype(np.int64) for c, value in pairs])
    labels = as_labels(columns[0], type(target.classes[0]))
    return (labels == target.classes[1]).astype(np.int64) if target.is_coded else labels


def as_labels(column: Any, kind: type) -> Any:
    """Return classes as text or, where they are numbers, as such."""
    if kind is not str:
        return np.asarray(column).astype(np.int64 if kind is int else np.float64)
    if isinstance(column, np.ndarray):
        return column.astype(str)
    return as_text(column).to_numpy().astype(str)


def as_floats(column: Any, name: str) -> Any:
    try:
        values = np.asarray(column, dtype=np.float64)
    except (ValueError, TypeError):
        raise CliError(
            f"the target {name!r} holds text, which regression cannot take; use --task classification"
        ) from None
    if not np.isfinite(values).all():
        raise CliError(f"the target {name!r} holds infinite values; remove these rows")
    return values


def switch_of(column: Column) -> Any:
    """Return which value of one of several labels counts as 1."""
    classes, _ = classes_of(column)
    if len(classes) != 2:
        raise CliError(
            f"of several targets each must have two values for classification; {column.name!r} has "
            f"{len(classes)}"
        )
    return classes[1]
