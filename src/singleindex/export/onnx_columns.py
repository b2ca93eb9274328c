"""The nodes of an ONNX graph that make features of the columns of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tables.columns import CATEGORY
from ..tables.recipe import TEXT, Column, Feature, Recipe
from .onnx_graph import DOUBLE, STRING, Graph

# What stands for a gap in a column of text: tensors have no missing text.
NO_TEXT = ""


def is_text(column: Column) -> bool:
    return column.kind in (TEXT, CATEGORY)


def input_type(column: Column) -> int:
    return STRING if is_text(column) else DOUBLE


class ColumnFeatures:
    """Makes the features with a weight; `order` is how they come out."""

    def __init__(self, graph: Graph, recipe: Recipe, used: Any) -> None:
        self.graph = graph
        by_column: dict[str, list[int]] = {}
        for j in used.tolist():
            by_column.setdefault(recipe.features[j].column, []).append(j)
        self.features = recipe.features
        self.by_column = by_column
        self.columns = [column for column in recipe.columns if column.name in by_column]
        self.order: list[int] = []

    def make(self, inputs: dict[str, str]) -> str:
        """Return all features side by side; inputs are of shape (n, 1), by the names of the columns."""
        blocks = []
        for column in self.columns:
            numbers = [j for j in self.by_column[column.name] if self.features[j].values is None]
            coded = [j for j in self.by_column[column.name] if self.features[j].values is not None]
            x = inputs[column.name]
            if numbers:
                blocks.append(self.numbers(x, [self.features[j] for j in numbers]))
            if coded:
                blocks.append(self.coded(x, column, [self.features[j] for j in coded]))
            self.order += [*numbers, *coded]
        return self.graph.node("Concat", blocks, axis=1)

    def numbers(self, x: str, features: list[Feature]) -> str:
        graph = self.graph
        shifts, scales = ([getattr(f, name) for f in features] for name in ("shift", "scale"))
        made = graph.node("Sub", [x, graph.constant(np.array([shifts]))])
        made = graph.node("Mul", [made, graph.constant(np.array([scales]))])
        if any(f.low is not None or f.high is not None for f in features):
            low = [-np.inf if f.low is None else f.low for f in features]
            made = graph.clip(made, low, [np.inf if f.high is None else f.high for f in features])
        missing = graph.constant(np.array([[nan_for_none(f.missing) for f in features]]))
        return graph.node("Where", [graph.node("IsNaN", [x]), missing, made])

    def coded(self, x: str, column: Column, features: list[Feature]) -> str:
        """Return features from a table with a row for each value, then one for others and one for gaps."""
        found = [value for f in features for value, _ in f.values or []]
        values = list(dict.fromkeys([*found, *(column.known or [])]))
        tables = [dict(f.values or []) for f in features]
        rows = [
            [table.get(v, f.otherwise) for f, table in zip(features, tables, strict=True)] for v in values
        ]
        refused = column.known is not None
        rows.append([None if refused else f.otherwise for f in features])
        rows.append([f.missing for f in features])
        table = np.array([[nan_for_none(value) for value in row] for row in rows])
        codes = (self.codes_of_text if is_text(column) else self.codes_of_numbers)(x, values)
        flat = self.graph.node("Reshape", [codes, self.graph.constant(np.array([-1]))])
        return self.graph.node("Gather", [self.graph.constant(table), flat], axis=0)

    def codes_of_text(self, x: str, values: list[str]) -> str:
        keys = dict(zip(values, range(len(values)), strict=True))
        keys.setdefault(NO_TEXT, len(values) + 1)
        return self.graph.node(
            "LabelEncoder", [x], domain="ai.onnx.ml", keys_strings=list(keys),
            values_int64s=list(keys.values()), default_int64=len(values),
        )  # fmt: skip

    def codes_of_numbers(self, x: str, values: list[float]) -> str:
        graph, n = self.graph, len(values)
        other, gap = graph.constant(np.array([[n]])), graph.constant(np.array([[n + 1]]))
        codes = other
        if values:
            equal = graph.node("Equal", [x, graph.constant(np.array([values], dtype=np.float64))])
            equal = graph.node("Cast", [equal], to=DOUBLE)  # older runtimes have no ArgMax of whole numbers
            best = graph.node("ArgMax", [equal], axis=1, keepdims=1)
            count = graph.node("ReduceSum", [equal, graph.constant(np.array([1]))], keepdims=1)
            there = graph.node("Greater", [count, graph.constant(np.array([[0.0]]))])
            codes = graph.node("Where", [there, best, other])
        return graph.node("Where", [graph.node("IsNaN", [x]), gap, codes])


def nan_for_none(value: float | None) -> float:
    return np.nan if value is None else float(value)
