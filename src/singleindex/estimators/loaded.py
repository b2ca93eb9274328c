"""What must hold of a model that comes from a file before it is used: anybody may have written the file."""

from __future__ import annotations

import numpy as np

from ..fitting.stream import check_stream
from ..link import MonotoneCurve, ShiftedLink

_LINKS = (MonotoneCurve, ShiftedLink)


def check_loaded(value):
    """Raise where the parts of a link or of a fitted estimator do not go together."""
    if isinstance(value, _LINKS):
        value.check()
    for name, check in _CHECKS.items():
        if name in vars(value):
            check(value)


def check_numbers(name, values, *shape):
    """Raise where an array does not hold finite numbers in this shape."""
    if not (isinstance(values, np.ndarray) and values.dtype.kind in "fiu" and values.shape == shape):
        raise ValueError(f"{name} must be an array of numbers of shape {shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must hold finite numbers")


def _check_coefficients(model):
    n_features, coef = model.n_features_in_, model.coef_
    outputs = np.shape(coef)[1:]
    check_numbers("coef_", coef, n_features, *outputs)
    links = model.link_ if outputs else [model.link_]
    if len(outputs) > 1 or len(links) != (outputs or (1,))[0]:
        raise ValueError("there must be one link for each column of coef_")
    if not all(isinstance(link, _LINKS) for link in links):
        raise ValueError("link_ must be a curve or a known link")
    if hasattr(model, "classes_"):
        n_classes = len(links) if outputs or model.multilabel_ else 2
        if np.shape(model.classes_) != (n_classes,):
            raise ValueError(f"there must be {n_classes} classes where coef_ has {len(links)} columns")
    if np.shape(getattr(model, "feature_names_in_", np.empty(n_features))) != (n_features,):
        raise ValueError("there must be one name for each feature")


def _check_stream(model):
    check_stream(model.stream_, model.n_features_in_, len(np.atleast_2d(np.transpose(model.coef_))))


def _check_thresholds(model):
    check_numbers("X_thresholds_", model.X_thresholds_, len(model.X_thresholds_))
    check_numbers("y_thresholds_", model.y_thresholds_, len(model.X_thresholds_))
    sign = 1 if model.increasing_ else -1
    MonotoneCurve(model.X_thresholds_, sign * model.y_thresholds_).check()


def _check_factors(model):
    (rows, cols), rank = model.shape_, model.rank_
    check_numbers("row_effects_", model.row_effects_, rows)
    check_numbers("col_effects_", model.col_effects_, cols)
    check_numbers("row_factors_", model.row_factors_, rows, rank)
    check_numbers("col_factors_", model.col_factors_, cols, rank)
    check_numbers("n_ratings_", model.n_ratings_, rows)
    check_numbers("rated_cols_", model.rated_cols_, int(model.n_ratings_.sum()))
    for name, n in (("row_labels_", rows), ("col_labels_", cols)):
        labels = getattr(model, name)
        if labels is not None and np.shape(labels) != (n,):
            raise ValueError(f"{name} must be {n} labels, or None")
    if not isinstance(model.link_, _LINKS):
        raise ValueError("link_ must be a curve or a known link")


_CHECKS = {
    "coef_": _check_coefficients,
    "stream_": _check_stream,
    "X_thresholds_": _check_thresholds,
    "row_factors_": _check_factors,
}
