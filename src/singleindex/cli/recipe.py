"""Lines of Python that make the model of a file again, from the table that it was fitted to."""

from __future__ import annotations

from typing import Any

from ..tables.columns import DATE
from ..tables.preparation import Preparation
from ..tables.written import MISSING
from .model_file import ModelFile

# What was found out about a file, and is not told to pandas below.
_FOUND_OUT = ("columns are separated by", "numbers are written with")


def python_lines(file: ModelFile) -> str:
    """Return the lines; for what pandas does not read as it is, those that take the model from its file."""
    from ..inspection._report.recipe import made_by

    model, record = file.model, file.record
    if not can_be_read(file):
        return f"import singleindex\n\nmodel = singleindex.load('model.sim')  # {made_by(model)}"
    front = "TableClassifier" if file.facts.classes else "TableRegressor"
    lines = [
        "import pandas as pd",
        *(["from sklearn.model_selection import train_test_split"] if record["holdout"] else []),
        f"from singleindex import {type(model).__name__}, {front}",
        "",
        f"table = pd.{reader(file)}",
        *([f"table = table.dropna(subset={list(file.targets)!r})"] if record["drop_unlabelled"] else []),
        f"y = {target_text(file)}",
        *row_lines(record),
        f"X = table.drop(columns={[*file.targets, *([record['weights']] if record['weights'] else [])]!r})",
        f"model = {front}({', '.join([made_by(model), *settings_of(file)])})",
        f"model.fit(X, y{', table[' + repr(record['weights']) + ']' if record['weights'] else ''})",
    ]
    return "\n".join(lines)


def can_be_read(file: ModelFile) -> bool:
    """Tell whether pandas reads the table as the command line did, and the model is one of columns alone."""
    record = file.record
    name, told = str(record["data"]), record.get("reading", {})
    found_out = any(note.startswith(_FOUND_OUT) for note in record.get("notes", []))
    plain = name.endswith((".csv", ".csv.gz", ".parquet")) and not found_out and not told.get("sheet")
    return plain and isinstance(file.preparation, Preparation) and file.model.structure is None


def reader(file: ModelFile) -> str:
    record, preparation = file.record, file.preparation
    assert isinstance(preparation, Preparation)
    if record["data"].endswith(".parquet"):
        return f"read_parquet({record['data']!r})"
    told = record.get("reading", {})
    # Codes such as 00731 would lose their zeros.
    codes = {
        name: "str" for name, values in preparation.categories.items() if all(map(str.isdecimal, values))
    }
    settings = {
        "sep": told.get("separator"), "decimal": told.get("decimal"), "encoding": told.get("encoding"),
        "na_values": [*MISSING, *told.get("missing", ())], "dtype": codes,
    }  # fmt: skip
    return f"read_csv({', '.join([repr(record['data']), *named(settings)])})"


def row_lines(record: dict[str, Any]) -> list[str]:
    if not record["holdout"]:
        return []
    classes = record["task"] == "classification" and len(record["target"]) == 1
    stratify = ", stratify=y" if classes else ""
    return [
        f"rows, _ = train_test_split(range(len(table)), test_size={record['holdout']!r}, "
        f"random_state={record['seed']!r}{stratify})",
        "table, y = table.iloc[sorted(rows)], y.iloc[sorted(rows)]",
    ]


def target_text(file: ModelFile) -> str:
    if len(file.targets) > 1:
        return f"table[{list(file.targets)!r}]"
    column = f"table[{file.targets[0]!r}]"
    # Where the class that is modelled is the first in order, it is coded as 1.
    return f"({column} == {file.positive!r}).astype(int)" if file.record.get("classes") else column


def settings_of(file: ModelFile) -> list[str]:
    """Return what the preparation was told, or found out and may as well be told."""
    preparation = file.preparation
    assert isinstance(preparation, Preparation)
    orders = set(preparation.date_orders.values())
    settings: dict[str, Any] = {
        "impute": preparation.imputed, "drop": list(preparation.dropped), "keep": preparation.columns,
        "categorical": list(preparation.categories), "dates": "days" if DATE in preparation.kinds else None,
        "date_order": orders.pop() if len(orders) == 1 else None,
    }  # fmt: skip
    most = max(map(len, preparation.categories.values()), default=0)
    threshold = file.threshold.value if file.positive is not None else 0.5
    extra = {
        "max_categories": most or None,
        "threshold": threshold if threshold != 0.5 else None,
        # Where y is 0 and 1, that it is 1 goes without saying.
        "positive": None if file.record.get("classes") else file.positive,
    }
    return [*(["impute=None"] if preparation.imputed is None else []), *named(settings | extra)]


def named(settings: dict[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in settings.items() if value]
