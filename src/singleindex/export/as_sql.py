"""A fitted model as an SQL expression: predictions where the data are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..estimators.outputs import Facts, Output
from ..tables.columns import DATE
from ..tables.fronts import taken_apart
from ..tables.recipe import Column, Feature, Recipe
from .parts import LEAST_SCORE, FloatArray, parts_of, segments

# The quotes around a name in each dialect.
DIALECTS = {
    "ansi": '""', "duckdb": '""', "sqlite": '""', "postgres": '""', "snowflake": '""', "mysql": "``",
    "bigquery": "``", "mssql": "[]",
}  # fmt: skip
# What stands for a character within quotes, where it is not the character itself. A backslash is one only
# where it begins no escape; BigQuery knows no doubled quotes, and reads names as it reads text.
_DOUBLED = {"'": "''"}
_BACKSLASH = {"\\": "\\\\"}
_BIGQUERY = _BACKSLASH | {"\n": "\\n", "\r": "\\r"}
_IN_TEXT = {
    "snowflake": _DOUBLED | _BACKSLASH, "mysql": _DOUBLED | _BACKSLASH, "bigquery": _BIGQUERY | {"'": "\\'"},
}  # fmt: skip
_IN_NAMES = {"bigquery": _BIGQUERY | {"`": "\\`"}}
# NUL ends a query in some engines and text in others; halves of characters are not UTF-8.
_NOWHERE = re.compile("[\0\ud800-\udfff]")
VALUES = ("expected", "class", "index")


def to_sql(
    model: Any,
    *,
    dialect: str = "ansi",
    value: str = "expected",
    output: Any = None,
    threshold: float | None = None,
    columns: Sequence[str] | Mapping[str, str] | None = None,
) -> str:
    """Return an SQL expression for what a fitted model says of a row.

    Parameters
    ----------
    model : fitted estimator
        A single-index regressor or classifier, plain or with a search, a `TableClassifier` or
        `TableRegressor`, or a pipeline: the expression then starts from the columns of the table.
    dialect : str, default="ansi"
        One of `DIALECTS`; they differ in how names and text are quoted.
    value : {"expected", "class", "index"}, default="expected"
        The mean of y or the probability of a class; the likeliest class; or the index, which ranks without
        ties.
    output : int or class label, default=None
        Which of several outputs or classes. None of two classes is the one that is modelled: the second, of
        a `TableClassifier` its positive one.
    threshold : float, default=None
        For the class of two: beyond which probability it is the modelled one. None is the model's own, or
        0.5.
    columns : sequence or dict of str, default=None
        Column names for the features, in order; or expressions by the name of the feature. None takes
        `feature_names_in_`. Where the model prepares columns, names or expressions for these.

    Returns
    -------
    expression : str
        To be put behind SELECT. It names each column once for every feature of it that has a weight.

    Notes
    -----
    A row with NULL in a column that is used and not filled in, or with a value that the model refuses, gives
    NULL, or the first class. Numbers are written with an
    exponent, so that all engines compute in double precision; the result agrees with the model to about
    1e-12, and to 1e-8 for three classes or more, whose ties it does not break.

    Examples
    --------
    >>> import sqlite3
    >>> import numpy as np
    >>> from singleindex import SingleIndexRegressor
    >>> from singleindex.export import to_sql
    >>> X = np.arange(6.0).reshape(-1, 1)
    >>> model = SingleIndexRegressor().fit(X, [0, 0, 1, 2, 3, 3])
    >>> query = f"SELECT {to_sql(model, columns=['dose'])} FROM (SELECT 2.5 AS dose)"
    >>> round(sqlite3.connect(":memory:").execute(query).fetchone()[0], 6)
    1.5
    """
    apart = taken_apart(model)
    parts = parts_of(apart.model)
    check_dialect(dialect)
    if value not in VALUES:
        raise ValueError(f"value must be one of {VALUES}, got {value!r}.")
    if value == "class" and parts.kind not in ("binary", "multiclass"):
        raise ValueError("value='class' needs a classifier of two or more classes.")
    if apart.recipe is None:
        names = column_expressions(parts.feature_names, len(parts.coef), columns, dialect)
    else:
        names = feature_expressions(apart.recipe, set(parts.used.tolist()), columns, dialect)
    number = choose_output(parts, output)
    is_other = parts.kind == "binary" and output is not None and output == parts.classes[0]
    if value == "index":
        single = index_sum(parts.outputs[number], names)
        return f"(-1 * ({single}))" if is_other else single
    if parts.kind == "multiclass":
        return several_classes(parts, names, number, value, dialect)
    single = link_over(parts.outputs[number], names, bounded=parts.kind != "regression")
    if value == "class":
        no, yes = (literal(label, dialect) for label in parts.classes)
        limit = number_text(apart.threshold if threshold is None else threshold)
        return f"CASE WHEN {single} > {limit} THEN {yes} ELSE {no} END"
    return f"({number_text(1.0)} - {single})" if is_other else single


# ---------------------------------------------------------------- names and numbers


def column_expressions(names: list[str] | None, n_columns: int, columns: Any, dialect: str) -> list[str]:
    """Return each column as the user wants it written: under its own name, another, or as an expression."""
    if isinstance(columns, Mapping):
        if names is None:
            raise ValueError("the model has no feature names; pass columns as a list, one per feature.")
        return [columns[name] if name in columns else quoted(name, dialect) for name in names]
    names = names if columns is None else list(columns)
    if names is None:
        raise ValueError("the model has no feature names; name the columns with columns=[...].")
    if len(names) != n_columns:
        raise ValueError(f"columns must have {n_columns} names, got {len(names)}.")
    return [quoted(name, dialect) for name in names]


def check_dialect(dialect: str) -> None:
    if dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {sorted(DIALECTS)}, got {dialect!r}.")


def quoted(name: str, dialect: str) -> str:
    """Return a column name as the dialect writes it."""
    check_dialect(dialect)
    first, last = DIALECTS[dialect][0], DIALECTS[dialect][1]
    return first + escaped(name, _IN_NAMES.get(dialect, {last: last + last})) + last


def number_text(value: float) -> str:
    # With an exponent it is a double everywhere; without one some engines would compute in decimals.
    return f"{value:.17e}"


def literal(label: Any, dialect: str) -> str:
    """Return a class or category as the dialect writes it."""
    if isinstance(label, str):
        text = "'" + escaped(label, _IN_TEXT.get(dialect, _DOUBLED)) + "'"
        return of_sql_server(text) if dialect == "mssql" else text
    if not isinstance(label, (int, float)):
        raise ValueError(f"class labels must be text or numbers to be written in SQL, got {label!r}.")
    return str(int(label)) if isinstance(label, bool) else repr(label)


def escaped(text: str, replacements: Mapping[str, str]) -> str:
    if _NOWHERE.search(text):
        raise ValueError(
            f"{text!r} holds a character that cannot be written in SQL; rename it before the fit."
        )
    return "".join(replacements.get(character, character) for character in text)


def of_sql_server(text: str) -> str:
    """Mark text beyond ASCII as such; part a backslash from a line end, both of which would vanish."""
    mark = "" if text.isascii() else "N"
    parted, n_places = re.subn(r"\\(?=\r?\n)", rf"\\' + {mark}'", mark + text)
    return f"({parted})" if n_places else parted


def choose_output(parts: Facts, output: Any) -> int:
    if output is None:
        if len(parts.outputs) > 1 and parts.kind != "multiclass":
            raise ValueError(f"the model has {len(parts.outputs)} outputs; choose one with output=0, 1, ….")
        return 0
    if parts.kind == "binary":
        if output not in parts.classes:
            raise ValueError(f"output must be one of {list(parts.classes)}, got {output!r}.")
        return 0
    known = parts.classes if parts.kind == "multiclass" else list(range(len(parts.outputs)))
    if output not in known:
        raise ValueError(f"output must be one of {known}, got {output!r}.")
    return known.index(output)


# ---------------------------------------------------------------- features


def feature_expressions(recipe: Recipe, used: set[int], columns: Any, dialect: str) -> list[str]:
    """Return the SQL of each feature that has a weight, and nothing for the others."""
    names = [column.name for column in recipe.columns]
    written = dict(zip(names, column_expressions(names, len(names), columns, dialect), strict=True))
    kinds = {column.name: column for column in recipe.columns}
    return [
        feature_of(feature, kinds[feature.column], written[feature.column], dialect) if j in used else ""
        for j, feature in enumerate(recipe.features)
    ]


def feature_of(feature: Feature, column: Column, name: str, dialect: str) -> str:
    if column.kind == DATE:
        raise ValueError(
            f"{column.name!r} is a date, which SQL dialects count differently; fit without it, by "
            f"--drop {column.name!r} or drop=[{column.name!r}]."
        )
    if feature.values is None:
        return number_of(feature, name)
    cases = [f"WHEN {name} IS NULL THEN {value_text(feature.missing)}"]
    cases += [
        f"WHEN {name} = {literal(value, dialect)} THEN {value_text(to)}" for value, to in feature.values
    ]
    if column.known is None:
        cases.append(f"ELSE {value_text(feature.otherwise)}")
    elif column.known:
        # What the model refuses has no prediction here either.
        known = ", ".join(literal(value, dialect) for value in column.known)
        cases.append(f"WHEN {name} IN ({known}) THEN {value_text(feature.otherwise)}")
    return f"(CASE {' '.join(cases)} END)"


def number_of(feature: Feature, name: str) -> str:
    made = name
    if feature.shift:
        made = f"({made} - {number_text(feature.shift)})"
    if feature.scale != 1:
        made = f"({made} * {number_text(feature.scale)})"
    if feature.low is not None and feature.high is not None:
        made = f"({clipped(made, feature.low, feature.high)})"
    return made if feature.missing is None else f"COALESCE({made}, {number_text(feature.missing)})"


def value_text(value: float | None) -> str:
    return "NULL" if value is None else number_text(value)


# ---------------------------------------------------------------- expressions


def index_sum(output: Output, names: list[str]) -> str:
    terms = [number_text(output.intercept)]
    terms += [f"{number_text(w)} * {name}" for w, name in zip(output.weights, names, strict=True) if w != 0]
    return balanced(terms)


def balanced(terms: list[str]) -> str:
    """Return a sum as a balanced tree: engines limit how deep an expression may be."""
    if len(terms) == 1:
        return f"({terms[0]})"
    middle = len(terms) // 2
    return f"({balanced(terms[:middle])} + {balanced(terms[middle:])})"


def link_over(output: Output, names: list[str], bounded: bool) -> str:
    """Return the link's value; the index is computed once, in a row of its own."""
    row = f"(SELECT {index_sum(output, names)} AS i) AS s"
    if bounded and output.link.knots_ is None:
        return f"(SELECT {clipped('r', 0.0, 1.0)} FROM (SELECT {link_of(output, 'i')} AS r FROM {row}) AS l)"
    return f"(SELECT {link_of(output, 'i')} FROM {row})"


def clipped(name: str, low: float, high: float) -> str:
    least, most = number_text(low), number_text(high)
    return f"CASE WHEN {name} < {least} THEN {least} WHEN {name} > {most} THEN {most} ELSE {name} END"


def link_of(output: Output, index: str) -> str:
    link = output.link
    if link.knots_ is not None:
        return search(*segments(link.knots_), index)
    shifted = f"({index} + {number_text(link.offset)})"
    return {
        "identity": shifted,
        "logistic": f"(1e0 / (1e0 + EXP(-{shifted})))",
        "tanh": f"(2e0 / (1e0 + EXP(-2e0 * {shifted})) - 1e0)",
    }[link.name]


def search(x: FloatArray, y: FloatArray, slope: FloatArray, index: str) -> str:
    """Return a piecewise linear function as nested comparisons, as deep as the logarithm of its pieces."""
    if len(x) == 1:
        if slope[0] == 0:
            # An index of NULL must not become a number.
            return f"({number_text(y[0])} + 0e0 * {index})"
        return f"({number_text(y[0])} + {number_text(slope[0])} * ({index} - {number_text(x[0])}))"
    middle = len(x) // 2
    left = search(x[:middle], y[:middle], slope[:middle], index)
    right = search(x[middle:], y[middle:], slope[middle:], index)
    return f"CASE WHEN {index} < {number_text(x[middle])} THEN {left} ELSE {right} END"


def several_classes(parts: Facts, names: list[str], number: int, value: str, dialect: str) -> str:
    """Return a probability, or the likeliest class, from the links of all classes."""
    every = range(len(parts.outputs))
    indices = ", ".join(f"{index_sum(parts.outputs[k], names)} AS i{k}" for k in every)
    links = ", ".join(f"{link_of(parts.outputs[k], f'i{k}')} AS r{k}" for k in every)
    most = 1 - LEAST_SCORE if parts.is_coupled else 1.0
    scores = ", ".join(f"{clipped(f'r{k}', LEAST_SCORE, most)} AS p{k}" for k in every)
    rows = f"(SELECT {scores} FROM (SELECT {links} FROM (SELECT {indices}) AS s) AS l) AS q"
    if parts.is_coupled:
        odds = ", ".join(f"p{k} / (1 - p{k}) AS p{k}" for k in every)
        rows = f"(SELECT {odds} FROM {rows}) AS o"
    if value == "expected":
        return f"(SELECT p{number} / ({' + '.join(f'p{k}' for k in every)}) FROM {rows})"
    cases = []
    for k in every:
        test = " AND ".join(f"p{k} >= p{j}" for j in every if j > k) or "1 = 1"
        cases.append(f"WHEN {test} THEN {literal(parts.classes[k], dialect)}")
    # Earlier classes that were not taken are below one that comes later, so those need no comparison.
    return f"(SELECT CASE {' '.join(cases)} END FROM {rows})"
