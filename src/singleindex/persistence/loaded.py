"""What must hold of a model that comes from a file before it is used: anybody may have written the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..files.arrays import check_numbers, check_reals
from ..fitting.stream import check_stream
from ..link import MonotoneCurve
from ..link.stored import STORED_LINKS, check_link


def check_loaded(value: Any) -> None:
    """Raise where the parts of a link or of a fitted estimator do not go together."""
    if type(value) in STORED_LINKS.values():
        check_link(value)
    for name, check in _CHECKS.items():
        if name in vars(value):
            check(value)


def _check_coefficients(model: Any) -> None:
    n_features, coef = model.n_features_in_, model.coef_
    outputs = np.shape(coef)[1:]
    check_numbers("coef_", coef, n_features, *outputs)
    links = model.link_ if outputs else [model.link_]
    if len(outputs) > 1 or len(links) != (outputs or (1,))[0]:
        raise ValueError("there must be one link for each column of coef_")
    for link in links:
        check_link(link)
    if "classes_" in vars(model):
        n_classes = len(links) if outputs or model.multilabel_ else 2
        if np.shape(model.classes_) != (n_classes,):
            raise ValueError(f"there must be {n_classes} classes where coef_ has {len(links)} columns")
    if np.shape(vars(model).get("feature_names_in_", np.empty(n_features))) != (n_features,):
        raise ValueError("there must be one name for each feature")


def _check_stream(model: Any) -> None:
    check_stream(model.stream_, model.n_features_in_, len(np.atleast_2d(np.transpose(model.coef_))))


def _n_outputs(model: Any) -> int:
    return len(model.link_) if isinstance(model.link_, list) else 1


def _check_background(model: Any) -> None:
    known = model.background_
    features, n_outputs = known["feature"], _n_outputs(model)
    check_numbers("feature", features, len(features))
    if features.dtype.kind not in "iu" or not ((features >= 0) & (features < model.n_features_in_)).all():
        raise ValueError("background_ must name features of the model")
    for name in ("mean", "spread", "low", "high"):
        check_numbers(name, known[name], len(features))
    check_numbers("index", known["index"], len(known["index"]), n_outputs)


def _check_calibration(model: Any) -> None:
    if len(model.calibration_) != _n_outputs(model):
        raise ValueError("there must be one calibration for each output")
    for part in model.calibration_:
        check_numbers("value", part["value"], len(part["value"]))
        check_numbers("share", part["share"], len(part["value"]))
        n = len(part["cuts" if "classes_" in vars(model) else "index"])
        lengths = {"index": n, "spread": n}
        if "classes_" in vars(model):
            lengths = {"cuts": n, "low": n + 1, "high": n + 1}
        for name, length in lengths.items():
            check_numbers(name, part[name], length)
        if not max(lengths.values()):
            raise ValueError("a calibration must not be empty")


def _check_scores(model: Any) -> None:
    check_reals(model.p_value_)
    for one in model.held_out_scores_.values():
        check_reals(*(one[name] for name in ("score", "error")))
        check_reals(*(one[name] for name in ("other", "gain", "gain_error") if "gain" in one))


def _check_thresholds(model: Any) -> None:
    check_numbers("X_thresholds_", model.X_thresholds_, len(model.X_thresholds_))
    check_numbers("y_thresholds_", model.y_thresholds_, len(model.X_thresholds_))
    sign = 1 if model.increasing_ else -1
    MonotoneCurve(model.X_thresholds_, sign * model.y_thresholds_).check()


def _check_factors(model: Any) -> None:
    (rows, cols), rank = model.shape_, model.rank_
    check_numbers("row_effects_", model.row_effects_, rows)
    check_numbers("col_effects_", model.col_effects_, cols)
    check_numbers("row_factors_", model.row_factors_, rows, rank)
    check_numbers("col_factors_", model.col_factors_, cols, rank)
    check_numbers("n_ratings_", model.n_ratings_, rows)
    check_numbers("rated_cols_", model.rated_cols_, int(model.n_ratings_.sum()))
    sides = {"row_labels_": (model.row_labels_, rows), "col_labels_": (model.col_labels_, cols)}
    for name, (labels, n) in sides.items():
        if labels is not None and np.shape(labels) != (n,):
            raise ValueError(f"{name} must be {n} labels, or None")
    check_link(model.link_)


def _check_preparation(model: Any) -> None:
    model.preparation_.check(model.estimator_.n_features_in_)
    if "labels_" in vars(model) and np.shape(model.labels_) != np.shape(model.estimator_.classes_):
        raise ValueError("there must be a label for each class of the estimator")


_CHECKS: dict[str, Callable[[Any], None]] = {
    "coef_": _check_coefficients,
    "background_": _check_background,
    "calibration_": _check_calibration,
    "held_out_scores_": _check_scores,
    "stream_": _check_stream,
    "X_thresholds_": _check_thresholds,
    "row_factors_": _check_factors,
    "preparation_": _check_preparation,
}
