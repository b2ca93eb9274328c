"""Model files as JSON, SQL and ONNX, with what happens to columns before the model sees them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..tables.columns import CATEGORY, DATE
from ..tables.preparation import Preparation
from .messages import CliError
from .model_file import ModelFile


def json_text(file: ModelFile) -> str:
    from ..export import to_json

    preparation = file.preparation.as_record()
    if file.positive is not None:
        preparation["threshold"] = file.threshold.value
    return to_json(file.named, indent=1, preparation=preparation)


# ---------------------------------------------------------------- SQL


def sql_text(file: ModelFile, dialect: str, value: str, of: str | None, table: str | None) -> str:
    from ..export import to_sql
    from ..export.as_sql import quoted

    expression = to_sql(
        file.named, dialect=dialect, value=value, output=which_output(file, of),
        threshold=file.threshold.value, columns=column_expressions(file, dialect),
    )  # fmt: skip
    if table is None:
        return expression
    name = {"expected": "prediction", "class": "class", "index": "index_value"}[value]
    return f"SELECT *, {expression} AS {quoted(name, dialect)} FROM {quoted(table, dialect)}"


def which_output(file: ModelFile, of: str | None) -> Any:
    if of is None:
        return None
    known = file.class_names or list(file.targets)
    if of not in known:
        raise CliError(f"there is no {of!r}; there are {', '.join(known)}")
    facts = file.facts
    return facts.classes[known.index(of)] if facts.kind in ("binary", "multiclass") else known.index(of)


def column_expressions(file: ModelFile, dialect: str) -> dict[str, str]:
    """Return the SQL of each feature, by its name."""
    from ..export.as_sql import literal, number_text, quoted

    preparation = file.preparation
    if not isinstance(preparation, Preparation):
        return {}
    found = {}
    used = used_features(file)
    for column, kind, fill in zip(preparation.columns, preparation.kinds, preparation.fills, strict=True):
        name = quoted(column, dialect)
        if kind == DATE and column in used:
            raise CliError(
                f"{column!r} is a date, which SQL dialects count differently; fit with --drop {column!r}"
            )
        if kind != CATEGORY:
            found[column] = f"COALESCE({name}, {number_text(float(fill))})" if preparation.imputed else name
            continue
        value = f"COALESCE({name}, {literal(str(fill), dialect)})" if preparation.imputed else name
        for category in preparation.shown_categories(column):
            # NULL stays NULL: a row that the model would refuse has no prediction here either.
            missing = f"WHEN {value} IS NULL THEN NULL"
            found[f"{column}={category}"] = (
                f"(CASE WHEN {value} = {literal(category, dialect)} THEN 1e0 {missing} ELSE 0e0 END)"
            )
    return found


def used_features(file: ModelFile) -> set[str]:
    names = file.preparation.names
    return {names[j] for j in file.facts.used.tolist()}


# ---------------------------------------------------------------- ONNX


def onnx_bytes(file: ModelFile) -> bytes:
    from ..export import to_onnx

    preparation = file.preparation
    if not isinstance(preparation, Preparation) or not preparation.categories:
        data: bytes = to_onnx(file.named).SerializeToString()
        return data
    pipeline, types = with_encoders(file, preparation)
    encoded: bytes = to_onnx(pipeline, initial_types=types).SerializeToString()
    return encoded


def with_encoders(file: ModelFile, preparation: Preparation) -> tuple[Any, list[Any]]:
    """Return a pipeline of scikit-learn that starts from the columns, and the types of its inputs.

    Numbers come first in it, then the text columns one by one; the weights are put into that order.
    """
    from skl2onnx.common.data_types import DoubleTensorType, StringTensorType
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    texts = [c for c in preparation.columns if c in preparation.categories]
    numbers = [c for c in preparation.columns if c not in preparation.categories]
    order = [name for column in [*numbers, *texts] for name in preparation.names_of(column)]
    steps: list[Any] = [("numbers", "passthrough", list(range(len(numbers))))] if numbers else []
    for k, column in enumerate(texts):
        steps.append((f"text{k}", encoder(preparation, column), [len(numbers) + k]))
    transformer = ColumnTransformer(steps, sparse_threshold=0)
    transformer.fit(example_rows(preparation, numbers, texts))
    positions = {name: j for j, name in enumerate(preparation.names)}
    model = reordered(file.named, [positions[name] for name in order])
    types: list[Any] = [("numbers", DoubleTensorType([None, len(numbers)]))] if numbers else []
    types += [(column, StringTensorType([None, 1])) for column in texts]
    return Pipeline([("prepare", transformer), ("model", model)]), types


def encoder(preparation: Preparation, column: str) -> Any:
    from sklearn.preprocessing import OneHotEncoder

    values = preparation.categories[column]
    return OneHotEncoder(
        categories=[values], handle_unknown="ignore", sparse_output=False,
        drop=[values[0]] if len(values) == 2 else None,
    )  # fmt: skip


def example_rows(preparation: Preparation, numbers: list[str], texts: list[str]) -> Any:
    """Return rows to fit the encoders to; their categories are given already."""
    n = max(len(preparation.categories[c]) for c in texts)
    rows = np.empty((n, len(numbers) + len(texts)), dtype=object)
    rows[:, : len(numbers)] = 0.0
    for k, column in enumerate(texts):
        values = preparation.categories[column]
        rows[:, len(numbers) + k] = [values[i % len(values)] for i in range(n)]
    return rows


def reordered(model: Any, order: list[int]) -> Any:
    model = copy.copy(model)
    model.coef_ = model.coef_[order]
    del model.feature_names_in_
    return model
