"""A fitted model as ONNX: a graph of our own, or part of one that skl2onnx makes of a pipeline."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..estimators.outputs import Facts, outputs_of
from ..tables.fronts import Prepared, taken_apart
from ..tables.recipe import Recipe
from .onnx_columns import ColumnFeatures, input_type, is_text
from .onnx_graph import DOUBLE, FLOAT, INT64, STRING, Graph, OwnGraph, used_features
from .parts import parts_of

# What runtimes since 2022 have.
OPSET, IR_VERSION = 17, 8


def register_onnx_converters() -> None:
    """Make skl2onnx know the single-index estimators, alone or inside of pipelines.

    Examples
    --------
    >>> from singleindex.export import register_onnx_converters
    >>> register_onnx_converters()
    """
    skl2onnx = need_skl2onnx()
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
            classifier_shapes,
            convert_classifier,
            options=options,
        )


def to_onnx(model: Any, *, initial_types: Any = None, target_opset: int | None = None) -> Any:
    """Return a fitted model, with what prepares its columns, as an ONNX model.

    Parameters
    ----------
    model : fitted estimator or Pipeline
        A single-index regressor or classifier, a `TableClassifier` or `TableRegressor`, or a pipeline.
    initial_types : list of (name, type), default=None
        As in :func:`skl2onnx.convert_sklearn`, which then converts the model, and which needs to know all
        steps of a pipeline. None is one input "X" of doubles, a column per feature; where columns are
        prepared, one input for each column that matters, of shape (n, 1).
    target_opset : int, default=None
        The version of the operators; None is one that runtimes of the last years have.

    Returns
    -------
    onnx_model : onnx.ModelProto
        Regressors have the output "variable"; classifiers "label" and "probabilities", a column per class
        or label; "predicted label" and so on where a column has that name. Save it with
        `open(path, "wb").write(onnx_model.SerializeToString())`.

    Notes
    -----
    Columns are inputs under their own names, in the order of the table: doubles, with NaN for a gap, and
    text, with "" for a gap. Columns without weight are none. Under "columns" and "classes" the metadata
    has their names, as JSON. Rows that the model would refuse get NaN. Everything is computed in
    double precision.

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
    if initial_types is None:
        return own_model(taken_apart(model), target_opset or OPSET)
    last = model[-1] if isinstance(model, Pipeline) else model
    kind = parts_of(last).kind
    register_onnx_converters()
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


# ---------------------------------------------------------------- a graph of our own


def own_model(apart: Prepared, opset: int) -> Any:
    from onnx import helper

    parts, graph = parts_of(apart.model), OwnGraph()
    if apart.recipe is None:
        width = len(parts.coef)
        inputs = [helper.make_tensor_value_info("X", DOUBLE, [None, width])]
        index, names = graph.index_of_features("X", parts), parts.feature_names
    else:
        index, inputs, names = index_of_columns(graph, apart.recipe, parts, apart.width)
    outputs = add_outputs(graph, graph.values(index, parts), parts, apart.threshold, {i.name for i in inputs})
    made = helper.make_graph(graph.nodes, "singleindex", inputs, outputs, graph.constants)
    onnx_model = helper.make_model(
        made,
        opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)],
        ir_version=IR_VERSION,
        producer_name="singleindex",
    )
    told = {"columns": names, "classes": parts.classes or None}
    helper.set_model_props(onnx_model, {k: json.dumps(v) for k, v in told.items() if v is not None})
    return onnx_model


def index_of_columns(
    graph: OwnGraph, recipe: Recipe, parts: Facts, width: int | None
) -> tuple[str, list[Any], list[str]]:
    """Return the index from the columns with a weight, the inputs they are, and their names."""
    from onnx import helper

    columns = ColumnFeatures(graph, recipe, used_features(parts))
    names = [column.name for column in columns.columns]
    if width is not None and not any(is_text(column) for column in columns.columns):
        inputs = [helper.make_tensor_value_info("X", DOUBLE, [None, width])]
        every = [f"x{j}" for j in range(width)]
        places = {name: graph.constant(np.array([every.index(name)])) for name in names}
        given = {name: graph.node("Gather", ["X", places[name]], axis=1) for name in names}
    else:
        graph.avoid(set(names))
        inputs = [helper.make_tensor_value_info(c.name, input_type(c), [None, 1]) for c in columns.columns]
        given = {name: name for name in names}
    made = columns.make(given)
    return graph.index(made, parts.coef[columns.order], parts), inputs, names


def add_outputs(graph: OwnGraph, values: str, parts: Facts, threshold: float, taken: set[str]) -> list[Any]:
    from onnx import helper

    variable, label, probabilities = (
        f"predicted {name}" if name in taken else name for name in ("variable", "label", "probabilities")
    )
    if parts.kind == "regression":
        graph.node("Identity", [values], variable)
        return [helper.make_tensor_value_info(variable, DOUBLE, [None, len(parts.outputs)])]
    made = graph.probabilities(values, parts)
    graph.node("Identity", [made], probabilities)
    graph.labels(made, parts, threshold, label)
    several = parts.kind == "multilabel"
    kind = STRING if not several and isinstance(parts.classes[0], str) else INT64
    width = len(parts.outputs) if several else len(parts.classes)
    return [
        helper.make_tensor_value_info(label, kind, [None, width] if several else [None]),
        helper.make_tensor_value_info(probabilities, DOUBLE, [None, width]),
    ]


# ---------------------------------------------------------------- converters


class ConverterGraph(Graph):
    """Adds nodes to the graph that skl2onnx builds."""

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

    def texts(self, values: list[str]) -> str:
        name: str = self.scope.get_unique_variable_name("texts")
        self.container.add_initializer(name, STRING, [len(values)], [text.encode() for text in values])
        return name


def regressor_shapes(operator: Any) -> None:
    """Tell skl2onnx the shape of the predictions: one column per output, doubles for doubles."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    given = operator.inputs[0].type
    kind = DoubleTensorType if isinstance(given, DoubleTensorType) else FloatTensorType
    operator.outputs[0].type = kind([given.shape[0], len(outputs_of(operator.raw_operator))])


def classifier_shapes(operator: Any) -> None:
    """Tell skl2onnx the shapes of labels and probabilities."""
    from skl2onnx.common.data_types import Int64TensorType
    from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes

    if not operator.raw_operator.multilabel_:
        calculate_linear_classifier_output_shapes(operator)
        return
    regressor_shapes(operator)
    label, probability = operator.outputs
    label.type, probability.type = Int64TensorType(label.type.shape), label.type


def convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    graph, parts = ConverterGraph(scope, container), parts_of(operator.raw_operator)
    values = graph.values(graph.index_of_features(operator.inputs[0].full_name, parts), parts)
    graph.node("Cast", [values], operator.outputs[0].full_name, to=onnx_type(operator.outputs[0]))


def convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    graph, parts = ConverterGraph(scope, container), parts_of(operator.raw_operator)
    values = graph.values(graph.index_of_features(operator.inputs[0].full_name, parts), parts)
    probabilities = graph.probabilities(values, parts)
    label, probability = operator.outputs
    graph.node("Cast", [probabilities], probability.full_name, to=onnx_type(probability))
    graph.labels(probabilities, parts, 0.5, label.full_name)


def onnx_type(variable: Any) -> int:
    from skl2onnx.common.data_types import DoubleTensorType

    return DOUBLE if isinstance(variable.type, DoubleTensorType) else FLOAT
