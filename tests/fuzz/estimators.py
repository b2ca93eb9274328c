"""Estimators: data and settings of every kind; what can be fitted predicts, and survives its file."""

import io
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import is_classifier

from singleindex import (
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexCompleter,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    Slisotron,
    load,
)
from singleindex.solvers import OnePass, Stochastic
from singleindex.structures import GraphLowRank, GroupSparse, LowRank, RowSparse, Sparse

from .model_files import to_bytes
from .mutations import spoil_array
from .registry import Case, target

SETTINGS: dict[str, list[Any]] = {
    "n_atoms": [1, 2, 0, -1, 10**6, 2.5, "x", [1, 2], None],
    "alpha": [0.0, 1e-300, 1e300, -1, np.nan, "x", None, [0.1], [], [-1], [1e300]],
    "penalty": [0.0, 0.5, 1e300, -1, np.inf],
    "lipschitz": [0.0, 1e-300, 1e308, np.inf, -1, None],
    "scale_power": [0.0, 1.0, 0.5, -3, 1e6, None, "x"],
    "link": ["learned", "logistic", "tanh", "identity", "no", 3],
    "shared_link": [True, False, "x"],
    "link_cv": [None, 2, 3, 1, 100, "x"],
    "max_iter": [0, 1, 3, -1, 2.5],
    "tol": [0, 1e-2, -1, np.nan],
    "solver": ["auto", "two-pass", "one-pass", "stochastic", "no", 3, OnePass(n_bins=2), OnePass(n_bins=0),
               Stochastic(1), Stochastic(16, step_size=1e300), Stochastic(decay=0, average=0)],
    "structure": [Sparse(), Sparse(positive=True), RowSparse(), GroupSparse([[0, 1], [2, 3]]), 3,
                  GroupSparse([[0]]), GroupSparse([[0, 99], [1, 2, 3]]), LowRank((2, 2)), LowRank((3, 3)),
                  GraphLowRank((2, 2))],
    "class_weight": ["balanced", {0: 1, 1: 1e300}, {0: 0, 1: 1}, {5: 1}, "no", {0: -1}],
    "cv": [2, 3, 100, 1, "x"],
}  # fmt: skip
KINDS = (
    *[SingleIndexRegressor, SingleIndexClassifier] * 2,
    SingleIndexRegressorCV,
    SingleIndexClassifierCV,
    Slisotron,
)
COMPLETER: dict[str, list[Any]] = {
    "n_atoms": [0, 1, 3, -1, 10**6, "x"],
    "penalty": [0.0, 0.5, 1e300, -1, np.nan],
    "damping": [0.0, 3.0, (1.0, 2.0), 1e300, -1, (1,)],
    "graph_strength": [0.0, 3.0, 1e300, -1, np.nan],
    "effects": ["both", "rows", None, "x"],
    "lipschitz": [0.0, 1e-300, 1e300, np.inf],
    "link": ["learned", "identity", "logistic", "no"],
    "link_cv": [None, 2, 1, 1000],
}


def draw_settings(case: Case, model: Any, choices: dict[str, list[Any]]) -> None:
    """Change one or two parameters; some of the values are sound, and some are not."""
    known = [name for name in choices if name in model.get_params(deep=False)]
    for _ in range(int(case.rng.integers(1, 3))):
        name = case.pick(known)
        model.set_params(**{name: case.pick(choices[name])})
    case.spoilt("settings", model)


def draw_layout(case: Case, X: np.ndarray) -> Any:
    layout = case.pick(["array", "F", "float32", "csr", "csc", "coo", "frame", "list", "whole"])
    case.say("layout", layout)
    if layout in ("csr", "csc", "coo"):
        return sparse.coo_array(X).asformat(layout)
    if layout == "frame":
        return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    with np.errstate(all="ignore"):
        if layout == "float32":
            return X.astype("f4")
        if layout == "whole":
            return np.round(3 * X).astype(int)
    return {"array": X, "F": np.asfortranarray(X), "list": X.tolist()}[layout]


def draw_data(case: Case, for_classes: bool) -> tuple[Any, np.ndarray, np.ndarray | None]:
    n, d = int(case.rng.integers(12, 40)), 4
    X = case.rng.normal(size=(n, d))
    y = np.tanh(X[:, 0] - X[:, 1]) + 0.1 * case.rng.normal(size=n)
    if for_classes:
        y = case.pick([(y > 0).astype(int), np.digitize(y, [-0.3, 0.3]), np.where(y > 0, "a", "b")])
        y[:3] = np.unique(y)[[0, -1, 0]]
    weight = case.rng.random(n) + 0.1 if case.chance(0.3) else None
    return X, y, weight


def spoil_data(case: Case, X: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
    part = case.pick(["X", "X", "y", "weight", "scale", "column", "row"])
    case.spoilt(f"data, {part}")
    if part == "X":
        X = spoil_array(case, X)
    elif part == "y":
        y = spoil_array(case, y)
    elif part == "weight":
        weight = spoil_array(case, np.ones(len(X)))
    elif part == "scale":
        X = X * case.pick([1e-320, 1e-200, 1e-160, 1e100, 1e160, 1e300])
    elif part == "column":
        X[:, case.rng.integers(X.shape[1])] *= case.pick([0, 1e-310, 1e154, 1e200, 1e307])
    else:
        X[case.rng.integers(len(X))] = case.pick([1e150, 1e300, -1e155])
    case.wild = False  # it is for the library to see
    return X, y, weight


@target("estimator")
def fit_and_predict(case: Case) -> None:
    kind = case.pick(KINDS)
    model = kind(max_iter=4)
    if "CV" in kind.__name__:
        model.set_params(n_atoms=[1, 2], cv=2)
    X, y, weight = draw_data(case, is_classifier(model))
    case.say(kind.__name__, (X.shape, weight is None))
    if case.chance(0.5):
        draw_settings(case, model, SETTINGS)
    if case.chance(0.6):
        X, y, weight = spoil_data(case, X, y, weight)
    X = draw_layout(case, X) if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype == np.float64 else X
    if case.chance(0.15) and hasattr(model, "partial_fit"):
        case.spoilt("a stream")
        model.partial_fit(X, y, *([np.unique(y)] if is_classifier(model) else []))
    else:
        model.fit(X, y, sample_weight=weight)
    check_fitted(case, model, X)


def check_fitted(case: Case, model: Any, X: Any) -> None:
    predicted = model.predict(X)
    case.need_finite(model.coef_, "coefficients")
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    case.need(len(predicted) == n_rows, "there is not one prediction per row")
    if predicted.dtype.kind == "f":
        case.need_finite(predicted, "predictions")
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        case.need_finite(shares, "probabilities")
        case.need(((shares >= 0) & (shares <= 1)).all(), "probabilities beyond 0 and 1")
        if not model.multilabel_:
            case.need(np.allclose(shares.sum(axis=1), 1), "probabilities that do not sum to one")
    again = load(io.BytesIO(to_bytes(model)))
    case.need(np.array_equal(again.predict(X), predicted), "a model predicts otherwise after its file")


@target("completer")
def complete(case: Case) -> None:
    pairs = case.rng.integers(8, size=(50, 2))
    y = np.tanh(pairs @ [0.5, -0.3]) + 0.1 * case.rng.normal(size=50)
    ring = np.roll(np.eye(8), 1, axis=0)
    given: dict[str, Any] = {
        "pairs": pairs,
        "y": y,
        "row_graph": sparse.csr_array(ring + ring.T),
        "shape": (8, 8),
    }
    model = SingleIndexCompleter(2, max_iter=2)
    if case.chance(0.5):
        draw_settings(case, model, COMPLETER)
    if case.chance(0.6):
        name = case.pick(given)
        case.spoilt(name)
        if name == "shape":
            given[name] = case.pick([(8, 3), (10**12, 8), (0, 0), (8.5, 8), (8,), "x", None, (-1, 8)])
        elif name == "row_graph":
            graph = spoil_array(case, given[name].toarray())
            given[name] = sparse.csr_array(graph) if graph.ndim == 2 and graph.dtype.kind in "fiub" else graph
        else:
            given[name] = spoil_array(case, given[name])
        case.wild = False
    model.fit(**given)
    predicted = model.predict(pairs)
    case.need_finite(predicted, "predictions of a completer")
    again = load(io.BytesIO(to_bytes(model)))
    case.need(
        np.array_equal(again.predict(pairs), predicted), "a completer predicts otherwise after its file"
    )
