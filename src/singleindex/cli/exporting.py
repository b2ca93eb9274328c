"""Model files as JSON, SQL and ONNX, with what happens to columns before the model sees them."""

from __future__ import annotations

from typing import Any

from ..tables.preparation import Preparation
from ..tables.recipe import Recipe
from .messages import CliError
from .model_file import ModelFile


def json_text(file: ModelFile) -> str:
    from ..export import to_json

    return to_json(front(file), indent=1, preparation=file.preparation.as_record())


def sql_text(file: ModelFile, dialect: str, value: str, of: str | None, table: str | None) -> str:
    from ..export import to_sql
    from ..export.as_sql import quoted

    expression = to_sql(front(file), dialect=dialect, value=value, output=which_output(file, of))
    if table is None:
        return expression
    name = {"expected": "prediction", "class": "class", "index": "index_value"}[value]
    return f"SELECT *, {expression} AS {quoted(name, dialect)} FROM {quoted(table, dialect)}"


def onnx_bytes(file: ModelFile) -> bytes:
    from ..export import to_onnx

    data: bytes = to_onnx(front(file)).SerializeToString()
    return data


def front(file: ModelFile) -> Any:
    """Return the model with what prepares its columns; a matrix needs no preparation."""
    from ..tables.fronts import front_of

    if not isinstance(file.preparation, (Preparation, Recipe)):
        return file.named
    return front_of(file.model, file.preparation, file.record.get("classes"), file.threshold.value)


def which_output(file: ModelFile, of: str | None) -> Any:
    if of is None:
        return None
    known = file.class_names or list(file.targets)
    if of not in known:
        raise CliError(f"there is no {of!r}; there are {', '.join(known)}")
    facts = file.facts
    return facts.classes[known.index(of)] if facts.kind in ("binary", "multiclass") else known.index(of)
