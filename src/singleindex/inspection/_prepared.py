"""Rows of a table as the features of the model within: for pipelines and models that take tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from ..tables.fronts import TABLES, front_of_pipeline


class Inside(NamedTuple):
    """The single-index model within another, and its features and targets.

    `labels` are the names of its classes, None where they are its own; `threshold` is that of two classes.
    """

    model: Any
    X: Any
    y: Any = None
    X_test: Any = None
    y_test: Any = None
    labels: Any = None
    threshold: float = 0.5


def inside(model: Any, X: Any, y: Any = None, X_test: Any = None, y_test: Any = None) -> Inside:
    """Return what is within a pipeline or a model for tables; other models are as they are."""
    if not isinstance(model, (Pipeline, *TABLES)):
        return Inside(model, X, y, X_test, y_test)
    front = front_of_pipeline(model) if isinstance(model, Pipeline) else model
    features = [None if rows is None else front.prepare(rows) for rows in (X, X_test)]
    targets = [own_classes(front, labels) for labels in (y, y_test)]
    return Inside(
        front.estimator_, features[0], targets[0], features[1], targets[1], other_labels(front),
        getattr(front, "threshold", 0.5),
    )  # fmt: skip


def other_labels(front: Any) -> list[Any] | None:
    """Return the names of classes where the model within was fitted to others."""
    if "labels_" not in vars(front) or np.array_equal(front.labels_, front.estimator_.classes_):
        return None
    labels: list[Any] = front.labels_.tolist()
    return labels


def own_classes(front: Any, y: Any) -> Any:
    """Return targets in the classes that the model within was fitted to."""
    labels = other_labels(front)
    if y is None or labels is None:
        return y
    places = dict(zip(labels, front.estimator_.classes_, strict=True))
    return np.array([places[label] for label in np.asarray(y).tolist()])
