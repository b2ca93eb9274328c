"""From a file to what an estimator takes: rows to learn from, rows held out, and how they were prepared."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..tables.columns import Choices, no_such_column
from ..tables.notes import column_notes
from ..tables.preparation import Matrix, Preparation, prepare
from ..tables.recipe import Recipe
from .messages import CliError
from .tables import Table
from .targets import Target, read_target


@dataclass(frozen=True)
class DataOptions:
    """What the user said about the data."""

    target: tuple[str, ...] = ()
    task: str | None = None
    positive: str | None = None
    weights: str | None = None
    holdout: float = 0.0
    seed: int = 0
    impute: str | None = None
    drop_unlabelled: bool = False
    choices: Choices = field(default_factory=Choices)


@dataclass(frozen=True)
class Rows:
    """Some rows: features, target, weights. Of data in blocks X brings the others itself."""

    X: Any
    y: Any
    weight: Any

    @property
    def n(self) -> int:
        return int(self.X.shape[0])


@dataclass(frozen=True)
class Data:
    """Everything a fit starts from.

    `seen` are the training rows for looks that need them held together: all, or a random sample. Of files
    that were not read whole, no later command has the same rows.
    """

    train: Rows
    seen: Rows
    test: Rows | None
    target: Target
    class_counts: dict[Any, int]
    preparation: Preparation | Matrix
    n_columns: int
    fingerprint: str
    notes: list[str]
    warnings: list[str]
    is_whole: bool = True


def load_data(table: Table, options: DataOptions) -> Data:
    """Split, then prepare: what is learned from columns is learned from the training rows alone."""
    target, known = read_target(
        table, options.target, options.task, options.drop_unlabelled, options.positive
    )
    weight = read_weights(table, options.weights, known)
    notes = [*table.notes, *([target.note] if target.note else [])]
    if not known.all():
        notes.append(f"{int((~known).sum())} rows without a target are left out")
    train, test = split_rows(target, options)
    features = feature_table(table, options, known)
    preparation = learn_preparation(features, table, train, options)
    notes += notes_on(preparation)

    def rows(numbers: Any) -> Rows:
        X = take(features, preparation, numbers, options.impute is not None)
        return Rows(X, target.y[numbers], None if weight is None else weight[numbers])

    learned = rows(train)
    return Data(
        train=learned,
        seen=learned,
        test=rows(test) if len(test) else None,
        target=target,
        class_counts=count_classes(target, learned.y),
        preparation=preparation,
        n_columns=int(features.shape[1]),
        fingerprint=fingerprint(learned, target),
        notes=notes,
        warnings=leak_warnings(
            features if table.frame is None else features.iloc[train], preparation, target, learned.y
        ),
    )


def count_classes(target: Target, y: Any) -> dict[Any, int]:
    """Return how many rows each class has, where the target is one of classes."""
    if not target.classes:
        return {}
    labels, counts = np.unique(y, return_counts=True)
    names = [target.classes[k] for k in labels] if target.is_coded else labels.tolist()
    return dict(zip(names, counts.tolist(), strict=True))


def leak_warnings(features: Any, preparation: Preparation | Matrix, target: Target, y: Any) -> list[str]:
    """Return a sentence for each column that nearly decides the target alone, by some rows and their y."""
    from ..tables.leaks import leak_texts

    if isinstance(preparation, Matrix):
        return []
    is_classes = target.task == "classification"
    return leak_texts(features, preparation, y, is_classes, target.names[0], in_options)


def in_options(column: str) -> str:
    return f"--drop {shlex.quote(column)}"


def read_weights(table: Table, name: str | None, known: Any) -> Any:
    if name is None:
        return None
    if table.frame is None:
        if name not in table.arrays:
            raise CliError(f"{table.source} has no array {name!r} of weights")
        weight = np.asarray(table.arrays[name])
        if weight.shape != known.shape or weight.dtype.kind not in "fiub":
            raise CliError(f"the weights {name!r} must be one number per row of X")
        weight = weight[known].astype(np.float64)
    elif name not in table.frame.columns:
        raise no_such_column(table.frame.columns, name)
    else:
        column = table.frame[name]
        try:
            weight = column.to_numpy(dtype=np.float64, na_value=np.nan)[known]
        except (ValueError, TypeError):
            raise CliError(f"the weights {name!r} must be numbers") from None
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise CliError(f"the weights {name!r} must be numbers of at least 0, none missing")
    return weight


def feature_table(table: Table, options: DataOptions, known: Any) -> Any:
    """Return the columns that may be features, of rows with a target."""
    if table.frame is None:
        matrix = table.matrix[known] if not known.all() else table.matrix
        return matrix
    aside = [*options.target, *([options.weights] if options.weights else [])]
    return table.frame[known].drop(columns=aside)


def split_rows(target: Target, options: DataOptions) -> tuple[Any, Any]:
    """Return the numbers of the rows to learn from and of those held out."""
    every = np.arange(len(target.y))
    if not options.holdout:
        return unsorted(every, target.y, options.seed), every[:0]
    from sklearn.model_selection import train_test_split

    classes = target.y if target.task == "classification" and target.y.ndim == 1 else None
    try:
        train, test = train_test_split(
            every, test_size=options.holdout, random_state=options.seed, stratify=classes
        )
    except ValueError as error:
        raise CliError(f"--holdout {options.holdout:g} is not possible with these rows: {error}") from error
    train = np.sort(train)
    return unsorted(train, target.y[train], options.seed), np.sort(test)


def unsorted(rows: Any, y: Any, seed: int) -> Any:
    """Return the rows in their own order or, where that is the order of y, in a random one.

    Folds are stretches of rows: of a sorted file each would hold another part of the target's range.
    """
    if y.ndim > 1 or y.dtype.kind not in "fiu":
        return rows
    steps = np.diff(y)
    if not ((steps >= 0).all() or (steps <= 0).all()):
        return rows
    return np.random.default_rng(seed).permutation(rows)


def learn_preparation(features: Any, table: Table, train: Any, options: DataOptions) -> Preparation | Matrix:
    if table.frame is None:
        check_finite(features, table.source)
        return Matrix(int(features.shape[1]), table.one_based, table.names)
    return prepare(features.iloc[train], options.choices, options.impute, features)


def check_finite(matrix: Any, source: str) -> None:
    values = matrix.data if is_sparse(matrix) else matrix
    if values.dtype.kind not in "fiub":
        raise CliError(f"X in {source} holds {values.dtype}; it must hold numbers")
    n_bad = int(np.count_nonzero(~np.isfinite(values)))
    if n_bad:
        raise CliError(f"{n_bad} values of X in {source} are missing or infinite; fill them before")


def is_sparse(X: Any) -> bool:
    from scipy.sparse import issparse

    return bool(issparse(X))


def take(features: Any, preparation: Preparation | Recipe | Matrix, numbers: Any, impute: bool) -> Any:
    if isinstance(preparation, Matrix):
        return features if len(numbers) == features.shape[0] else features[numbers]
    return preparation.apply(features.iloc[numbers], impute)


def notes_on(preparation: Preparation | Matrix) -> list[str]:
    """Return what was done to columns, as far as people should know it."""
    if isinstance(preparation, Matrix):
        return []
    return column_notes(preparation)


def fingerprint(rows: Rows, target: Target) -> str:
    """Return a short text that tells these training rows from others."""
    X = rows.X
    parts = [X.data, X.indices, X.indptr] if is_sparse(X) else [X]
    digest = hashlib.sha256()
    for part in [*parts, np.ascontiguousarray(rows.y)]:
        array = np.ascontiguousarray(part)
        digest.update((array.astype("U") if array.dtype.kind in "OU" else array).view(np.uint8).data)
    return digest.hexdigest()[:16]
