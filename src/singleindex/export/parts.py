"""What every export is made of: weights, intercept and link of each output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..link import FIXED_LINKS

FloatArray = NDArray[np.float64]
# As in the classifier: the least score of a class before the scores of all are made to sum to one.
LEAST_SCORE = 1e-6


@dataclass(frozen=True)
class Output:
    """One output: index = x · weights + intercept, value = link(index).

    The link is piecewise linear through `knots` and constant beyond them, or a known function of
    index + offset.
    """

    name: str
    weights: FloatArray
    intercept: float
    knots: FloatArray | None
    known: str | None = None
    offset: float = 0.0


@dataclass(frozen=True)
class Parts:
    """A fitted model: its kind, its classes, its outputs and the names of its features."""

    kind: str
    outputs: list[Output]
    classes: list[Any]
    names: list[str] | None
    n_features: int


def parts_of(model: Any) -> Parts:
    """Return what a fitted single-index model consists of; raise where it cannot be exported."""
    check_is_fitted(model)
    if not (hasattr(model, "link_") and hasattr(model, "coef_")):
        raise TypeError(
            f"{type(model).__name__} cannot be exported; pass a fitted single-index regressor or classifier."
        )
    coef = np.asarray(model.coef_, dtype=np.float64).reshape(len(model.coef_), -1)
    links = model.link_ if isinstance(model.link_, list) else [model.link_]
    intercepts = np.broadcast_to(np.atleast_1d(getattr(model, "intercept_", 0.0)), len(links))
    classes = [] if not is_classifier(model) else model.classes_.tolist()
    kind = kind_of(model, len(links))
    names = [str(c) for c in (classes[1:] if kind == "binary" else classes)]
    names = names or ([f"y{k}" for k in range(len(links))] if len(links) > 1 else ["y"])
    outputs = [
        make_output(name, coef[:, k], float(intercepts[k]), link)
        for k, (name, link) in enumerate(zip(names, links, strict=True))
    ]
    given = getattr(model, "feature_names_in_", None)
    return Parts(kind, outputs, classes, None if given is None else [str(n) for n in given], len(coef))


def kind_of(model: Any, n_outputs: int) -> str:
    if not is_classifier(model):
        return "regression"
    if model.multilabel_:
        return "multilabel"
    return "binary" if n_outputs == 1 else "multiclass"


def make_output(name: str, weights: FloatArray, intercept: float, link: Any) -> Output:
    if link.knots_ is not None:
        return Output(name, weights, intercept, np.asarray(link.knots_))
    if not (isinstance(link.name, str) and link.name in FIXED_LINKS):
        raise ValueError(
            "a model with a link function of your own cannot be exported; use link='learned' or one of "
            f"{sorted(FIXED_LINKS)}."
        )
    return Output(name, weights, intercept, None, link.name, float(link.offset))


def segments(knots: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return start, value and slope of each piece; the first lies before all knots, the last beyond them."""
    x, y = knots[:, 0], knots[:, 1]
    slopes = np.diff(y) / np.diff(x)
    return np.append(x[0], x), np.append(y[0], y), np.concatenate([[0.0], slopes, [0.0]])
