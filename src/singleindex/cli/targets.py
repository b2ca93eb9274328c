"""What is to be predicted: the column or columns of the target, as classes or as numbers."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..tables.classes import modelled_class
from ..tables.columns import no_such_column
from ..tables.summaries import as_text
from .messages import CliError
from .tables import Table

TASKS = ("classification", "regression")
# Whole numbers with at most so many different values may be classes as well.
_FEW_VALUES = 10


@dataclass(frozen=True)
class Target:
    """y as the estimators take it, its name or names, and what kind of problem it makes.

    `classes` are those of a single target, of two the modelled one last. Estimators take the second in
    order for it: where it is the first, y is 0 and 1, and `is_coded`.
    """

    y: Any
    names: list[str]
    task: str
    note: str = ""
    classes: tuple[Any, ...] = ()
    is_coded: bool = False


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
    for column, name in zip(columns, names, strict=True):
        check_varies(column, name)
    guess, note = guess_task(columns, names)
    task = task or guess
    note = note if task == guess else ""
    if len(columns) == 1 and task == "classification":
        return class_target(as_labels(columns[0]), names, note, positive)
    if len(columns) == 1:
        return Target(as_floats(columns[0], names[0]), names, task, note)
    if task == "classification":
        Y = np.column_stack([as_switch(column, name) for column, name in zip(columns, names, strict=True)])
        return Target(Y, names, task)
    return Target(
        np.column_stack([as_floats(c, n) for c, n in zip(columns, names, strict=True)]), names, task
    )


def class_target(labels: Any, names: list[str], note: str, positive: str | None) -> Target:
    """Return a target of classes; of two, the one that is modelled becomes the second."""
    found, counts = np.unique(labels, return_counts=True)
    classes = found.tolist()
    known = [str(label) for label in classes]
    if positive is not None and positive not in known:
        raise CliError(f"there is no class {positive!r}; there are {', '.join(known[:8])}")
    if len(classes) > 2:
        return Target(labels, names, "classification", note, tuple(classes))
    chosen, why = modelled_class(classes, counts.tolist())
    if positive is not None:
        chosen, why = classes[known.index(positive)], "as asked"
    other = classes[1 - classes.index(chosen)]
    n = int(counts[classes.index(chosen)])
    said = (
        f"modelled is the probability of {names[0]} = {chosen}, {why} ({n:,} of {len(labels):,} rows); "
        f"--positive {shlex.quote(str(other))} models the other class"
    )
    note = f"{note}; {said}" if note else said
    is_coded = chosen == classes[0]
    y = (labels == chosen).astype(np.int64) if is_coded else labels
    return Target(y, names, "classification", note, (other, chosen), is_coded)


def check_varies(column: Any, name: str) -> None:
    values = np.unique(np.asarray(column, dtype=object).astype(str))
    if len(values) < 2:
        raise CliError(f"the target {name!r} is {values[0]} in every row; there is nothing to learn")


def guess_task(columns: list[Any], names: list[str]) -> tuple[str, str]:
    """Return the likelier task, and what to tell where it could be the other one."""
    if any(is_text(column) for column in columns):
        return "classification", ""
    counts = [len(np.unique(np.asarray(column))) for column in columns]
    if all(count == 2 for count in counts):
        return "classification", ""
    with np.errstate(invalid="ignore"):  # infinity is not whole
        whole = all((np.asarray(column) % 1 == 0).all() for column in columns)
    if whole and len(columns) == 1 and counts[0] <= _FEW_VALUES:
        return "regression", (
            f"the target {names[0]!r} has {counts[0]} different whole numbers, taken as amounts; "
            "if they are classes, add --task classification"
        )
    return "regression", ""


def is_text(column: Any) -> bool:
    if isinstance(column, np.ndarray):
        return column.dtype.kind not in "fiu"
    from pandas.api import types

    return types.is_bool_dtype(column.dtype) or not types.is_numeric_dtype(column.dtype)


def as_labels(column: Any) -> Any:
    """Return classes as text or, where they are whole numbers, as such."""
    if not is_text(column):
        values = np.asarray(column)
        return values.astype(np.int64) if (values % 1 == 0).all() else values.astype(np.float64)
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


def as_switch(column: Any, name: str) -> Any:
    """Return one of several labels as 0 and 1."""
    labels = as_labels(column)
    classes = np.unique(labels)
    if len(classes) != 2:
        raise CliError(
            f"of several targets each must have two values for classification; {name!r} has {len(classes)}"
        )
    return (labels == classes[1]).astype(np.int64)
