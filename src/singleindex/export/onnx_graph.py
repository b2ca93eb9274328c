"""The nodes of an ONNX graph that computes what a model predicts from its features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators.outputs import Facts, Output
from .parts import LEAST_SCORE, FloatArray, segments

DOUBLE, FLOAT, INT64, STRING = 11, 1, 7, 8  # of onnx.TensorProto


class Graph:
    """Adds nodes to a graph; every method returns the name of a result."""

    def node(self, kind: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        raise NotImplementedError

    def constant(self, values: Any) -> str:
        raise NotImplementedError

    def texts(self, values: list[str]) -> str:
        raise NotImplementedError

    def index(self, X: str, coef: FloatArray, parts: Facts) -> str:
        """Return the index of all outputs, of shape (n, n_outputs)."""
        product = self.node("MatMul", [X, self.constant(coef)])
        intercepts = np.array([[output.intercept for output in parts.outputs]])
        return self.node("Add", [product, self.constant(intercepts)])

    def index_of_features(self, X: str, parts: Facts) -> str:
        """Return the index of all outputs from all features; those without a weight may be NaN."""
        used = used_features(parts)
        X = self.node("Gather", [self.node("Cast", [X], to=DOUBLE), self.constant(used)], axis=1)
        return self.index(X, parts.coef[used], parts)

    def link(self, index: str, output: Output) -> str:
        """Return the link at an index of shape (n, 1)."""
        link = output.link
        if link.knots_ is None:
            shifted = self.node("Add", [index, self.constant([[link.offset]])])
            kinds = {"identity": "Identity", "logistic": "Sigmoid", "tanh": "Tanh"}
            return self.node(kinds[link.name], [shifted])
        start, value, slope = segments(link.knots_)
        # How many knots lie at or before the index is the number of its piece.
        passed = self.node("GreaterOrEqual", [index, self.constant(start[None, 1:])])
        passed = self.node("Cast", [passed], to=INT64)
        piece = self.node("ReduceSum", [passed, self.constant(np.array([1]))], keepdims=1)
        at = [self.node("Gather", [self.constant(table), piece], axis=0) for table in (start, value, slope)]
        rise = self.node("Mul", [at[2], self.node("Sub", [index, at[0]])])
        return self.node("Add", [at[1], rise])

    def values(self, index: str, parts: Facts) -> str:
        """Return the values of the links, of shape (n, n_outputs)."""
        if len(parts.outputs) == 1:
            return self.link(index, parts.outputs[0])
        columns = []
        for k, output in enumerate(parts.outputs):
            column = self.node("Gather", [index, self.constant(np.array([k]))], axis=1)
            columns.append(self.link(column, output))
        return self.node("Concat", columns, axis=1)

    def clip(self, values: str, low: Any, high: Any) -> str:
        bounds = [self.constant(np.reshape(np.asarray(b, dtype=np.float64), (1, -1))) for b in (low, high)]
        return self.node("Min", [self.node("Max", [values, bounds[0]]), bounds[1]])

    def probabilities(self, values: str, parts: Facts) -> str:
        """Return a column per class, or per label."""
        if parts.kind == "multilabel":
            return self.clip(values, 0.0, 1.0)
        one = self.constant([[1.0]])
        if parts.kind == "binary":
            yes = self.clip(values, 0.0, 1.0)
            return self.node("Concat", [self.node("Sub", [one, yes]), yes], axis=1)
        scores = self.clip(values, LEAST_SCORE, 1 - LEAST_SCORE if parts.is_coupled else 1.0)
        if parts.is_coupled:
            scores = self.node("Div", [scores, self.node("Sub", [one, scores])])
        total = self.node("ReduceSum", [scores, self.constant(np.array([1]))], keepdims=1)
        return self.node("Div", [scores, total])

    def labels(self, probabilities: str, parts: Facts, threshold: float, output: str) -> str:
        """Return the class of each row, or 0 and 1 for each label."""
        if parts.kind == "multilabel":
            called = self.node("Greater", [probabilities, self.constant([[0.5]])])
            return self.node("Cast", [called], output, to=INT64)
        if parts.kind == "binary":
            yes = self.node("Gather", [probabilities, self.constant(np.array(1))], axis=1)
            called = self.node("Greater", [yes, self.constant([threshold])])
            best = self.node("Cast", [called], to=INT64)
        else:
            best = self.node("ArgMax", [probabilities], axis=1, keepdims=0)
        return self.node("Gather", [self.classes(np.array(parts.classes)), best], output, axis=0)

    def classes(self, classes: Any) -> str:
        """Return the classes as a constant: text or whole numbers, which is what ONNX labels can be."""
        if classes.dtype.kind in "iub" or (classes.dtype.kind == "f" and (classes % 1 == 0).all()):
            return self.constant(classes.astype(np.int64))
        if classes.dtype.kind == "f":
            raise ValueError("ONNX labels are text or whole numbers; the classes of this model are neither.")
        return self.texts([str(label) for label in classes])


def used_features(parts: Facts) -> Any:
    """Return the numbers of the features with a weight; the first where none has any."""
    return parts.used if len(parts.used) else np.array([0])


class OwnGraph(Graph):
    """A graph of its own, made by onnx alone."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.prefix = ""

    def avoid(self, names: set[str]) -> None:
        """Give results other names than these, which are those of inputs."""
        while any(name.startswith(self.prefix) for name in names):
            self.prefix += "_"

    def name(self, kind: str) -> str:
        return f"{self.prefix}{kind.lower()}_{len(self.nodes) + len(self.constants)}"

    def node(self, kind: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        name = output or self.name(kind)
        self.nodes.append(
            helper.make_node(kind, inputs, [name], name=f"{kind}_{len(self.nodes)}", **attributes)
        )
        return name

    def constant(self, values: Any) -> str:
        from onnx import numpy_helper

        name = self.name("constant")
        self.constants.append(numpy_helper.from_array(np.asarray(values), name=name))
        return name

    def texts(self, values: list[str]) -> str:
        from onnx import helper

        name = self.name("texts")
        self.constants.append(helper.make_tensor(name, STRING, [len(values)], [v.encode() for v in values]))
        return name
