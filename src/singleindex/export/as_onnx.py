"""A fitted model as ONNX, through the converters of skl2onnx."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators.outputs import Facts, Output, outputs_of
from .parts import LEAST_SCORE, parts_of, segments

_DOUBLE, _INT64 = 11, 7  # of onnx.TensorProto


def register_onnx_converters() -> None:
    """Make skl2onnx know the single-index estimators, alone or inside of pipelines.

    Examples
    --------
    >>> from singleindex.export import register_onnx_converters
    >>> register_onnx_converters()
    """
    skl2onnx = need_skl2onnx()
    from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes

    from .. import (
        SingleIndexClassifier,
        SingleIndexClassifierCV,
        SingleIndexRegressor,
        SingleIndexRegressorCV,
    )

    for kind in (SingleIndexRegressor, SingleIndexRegressorCV):
        skl2onnx.update_registered_converter(
            kind, f"SingleIndex{kind.__name__}", regressor_shapes, convert_regressor
        )
    options = {
        "zipmap": [True, False, "columns"],
        "nocl": [True, False],
        "output_class_labels": [False, True],
    }
    for kind in (SingleIndexClassifier, SingleIndexClassifierCV):
        skl2onnx.update_registered_converter(
            kind,
            f"SingleIndex{kind.__name__}",
            calculate_linear_classifier_output_shapes,
            convert_classifier,
            options=options,
        )


def to_onnx(model: Any, *, initial_types: Any = None, target_opset: int | None = None) -> Any:
    """Return a fitted model, or a pipeline that ends in one, as an ONNX model.

    Parameters
    ----------
    model : fitted estimator or Pipeline
    initial_types : list of (name, type), default=None
        As in :func:`skl2onnx.convert_sklearn`; None is one input "X" of doubles, a column per feature.
    target_opset : int, default=None
        As in skl2onnx.

    Returns
    -------
    onnx_model : onnx.ModelProto
        Regressors have the output "variable"; classifiers "label" and "probabilities", a column per class.
        Save it with `open(path, "wb").write(onnx_model.SerializeToString())`.

    Notes
    -----
    The link is computed in double precision, whatever the type of the input. Several labels at a time are not
    supported: export a model for each.

    Examples
    --------
    >>> from singleindex import SingleIndexRegressor
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.export import to_onnx
    >>> X, y, w, g = make_single_index(100, 20, n_atoms=2, noise="gaussian", random_state=0)
    >>> onnx_model = to_onnx(SingleIndexRegressor(n_atoms=2).fit(X, y))
    >>> [output.name for output in onnx_model.graph.output]
    ['variable']
    """
    skl2onnx = need_skl2onnx()
    from skl2onnx.common.data_types import DoubleTensorType
    from sklearn.pipeline import Pipeline

    last = model[-1] if isinstance(model, Pipeline) else model
    kind = parts_of(last).kind
    if kind == "multilabel":
        raise ValueError("ONNX has one label per row; export a model for each of several labels.")
    register_onnx_converters()
    if initial_types is None:
        initial_types = [("X", DoubleTensorType([None, model.n_features_in_]))]
    options = {id(last): {"zipmap": False}} if kind != "regression" else None
    return skl2onnx.convert_sklearn(
        model, initial_types=initial_types, options=options, target_opset=target_opset
    )


def need_skl2onnx() -> Any:
    try:
        import skl2onnx
    except ImportError as error:
        raise ImportError('ONNX needs skl2onnx; install it with: pip install "singleindex[onnx]"') from error
    return skl2onnx


# ---------------------------------------------------------------- converters


class Graph:
    """Adds nodes to the graph that skl2onnx builds; every method returns the name of a result."""

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope, self.container = scope, container

    def node(self, kind: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        name = output or self.scope.get_unique_variable_name(kind.lower())
        self.container.add_node(
            kind, inputs, name, name=self.scope.get_unique_operator_name(kind),
            op_version=self.container.target_opset_any_domain(""), **attributes,
        )  # fmt: skip
        return name

    def constant(self, values: Any) -> str:
        from onnx import numpy_helper

        name: str = self.scope.get_unique_variable_name("constant")
        array = np.asarray(values)
        self.container.add_initializer(name, None, None, numpy_helper.from_array(array, name=name))
        return name

    def index(self, X: str, parts: Facts) -> str:
        """Return the index of all outputs, of shape (n, n_outputs)."""
        X = self.node("Cast", [X], to=_DOUBLE)
        product = self.node("MatMul", [X, self.constant(parts.coef)])
        intercepts = np.array([[output.intercept for output in parts.outputs]])
        return self.node("Add", [product, self.constant(intercepts)])

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
        passed = self.node("Cast", [passed], to=_INT64)
        piece = self.node("ReduceSum", [passed, self.constant(np.array([1]))], keepdims=1)
        at = [self.node("Gather", [self.constant(table), piece], axis=0) for table in (start, value, slope)]
        rise = self.node("Mul", [at[2], self.node("Sub", [index, at[0]])])
        return self.node("Add", [at[1], rise])

    def values(self, X: str, parts: Facts) -> str:
        """Return the values of the links, of shape (n, n_outputs)."""
        index = self.index(X, parts)
        if len(parts.outputs) == 1:
            return self.link(index, parts.outputs[0])
        columns = []
        for k, output in enumerate(parts.outputs):
            column = self.node("Gather", [index, self.constant(np.array([k]))], axis=1)
            columns.append(self.link(column, output))
        return self.node("Concat", columns, axis=1)

    def clip(self, values: str, low: float, high: float) -> str:
        return self.node("Min", [self.node("Max", [values, self.constant([[low]])]), self.constant([[high]])])


def regressor_shapes(operator: Any) -> None:
    """Tell skl2onnx the shape of the predictions: one column per output, doubles for doubles."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    given = operator.inputs[0].type
    kind = DoubleTensorType if isinstance(given, DoubleTensorType) else FloatTensorType
    operator.outputs[0].type = kind([given.shape[0], len(outputs_of(operator.raw_operator))])


def convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    graph, parts = Graph(scope, container), parts_of(operator.raw_operator)
    values = graph.values(operator.inputs[0].full_name, parts)
    graph.node("Cast", [values], operator.outputs[0].full_name, to=onnx_type(operator.outputs[0]))


def convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    graph, parts = Graph(scope, container), parts_of(operator.raw_operator)
    values = graph.values(operator.inputs[0].full_name, parts)
    if parts.kind == "binary":
        yes = graph.clip(values, 0.0, 1.0)
        no = graph.node("Sub", [graph.constant([[1.0]]), yes])
        probabilities = graph.node("Concat", [no, yes], axis=1)
    else:
        scores = graph.clip(values, LEAST_SCORE, 1 - LEAST_SCORE if parts.is_coupled else 1.0)
        if parts.is_coupled:
            scores = graph.node("Div", [scores, graph.node("Sub", [graph.constant([[1.0]]), scores])])
        total = graph.node("ReduceSum", [scores, graph.constant(np.array([1]))], keepdims=1)
        probabilities = graph.node("Div", [scores, total])
    label, probability = operator.outputs
    graph.node("Cast", [probabilities], probability.full_name, to=onnx_type(probability))
    best = graph.node("ArgMax", [probabilities], axis=1, keepdims=0)
    graph.node("Gather", [class_table(graph, operator.raw_operator.classes_), best], label.full_name, axis=0)


def class_table(graph: Graph, classes: Any) -> str:
    """Return the classes as a constant: text or whole numbers, which is what ONNX labels can be."""
    if classes.dtype.kind in "iub":
        return graph.constant(classes.astype(np.int64))
    if classes.dtype.kind == "f" and not (classes % 1 == 0).all():
        raise ValueError("ONNX labels are text or whole numbers; the classes of this model are neither.")
    if classes.dtype.kind == "f":
        return graph.constant(classes.astype(np.int64))
    from onnx import TensorProto

    name: str = graph.scope.get_unique_variable_name("classes")
    texts = [str(label).encode() for label in classes]
    graph.container.add_initializer(name, TensorProto.STRING, [len(texts)], texts)
    return name


def onnx_type(variable: Any) -> int:
    from skl2onnx.common.data_types import DoubleTensorType

    return _DOUBLE if isinstance(variable.type, DoubleTensorType) else 1
