"""Fitted models whose parts do not go together are refused."""

import copy
import math

import numpy as np
import pytest
from saved_models import MODELS, as_bytes, from_bytes

from singleindex.link import ShiftedLink
from singleindex.persistence import ModelFileError


def forged_attribute(model, name, value):
    """Return a file of the model with another value of an attribute, as `save` would write it."""
    changed = copy.deepcopy(model)
    setattr(changed, name, value)
    return as_bytes(changed)


def bent(curve, **parts):
    """Return a curve whose parts do not go together."""
    changed = copy.deepcopy(curve)
    vars(changed).update(parts)
    return changed


CURVE = MODELS["regressor"][0].link_
TWO = MODELS["two outputs"][0]
COMPLETER, ISOTONIC = MODELS["completer"][0], MODELS["isotonic"][0]
FORGED_MODELS = {
    "y shorter than x": ("regressor", "link_", bent(CURVE, y=CURVE.y[:-1]), "equal length"),
    "an empty curve": ("regressor", "link_", bent(CURVE, x=np.empty(0), y=np.empty(0)), "equal length"),
    "a square curve": ("regressor", "link_", bent(CURVE, x=np.eye(2), y=np.eye(2)), "equal length"),
    "NaN in a curve": ("regressor", "link_", bent(CURVE, x=CURVE.x * np.nan), "finite"),
    "a curve that falls": ("regressor", "link_", bent(CURVE, y=-CURVE.y), "must not fall"),
    "a curve in disorder": ("regressor", "link_", bent(CURVE, x=CURVE.x[::-1]), "in order"),
    "an infinite offset": ("identity", "link_", ShiftedLink("identity", math.inf), "offset"),
    "no link": ("regressor", "link_", 3, "a curve or a known link"),
    "too few links": ("two outputs", "link_", TWO.link_[:1], "one link for each"),
    "short coefficients": ("regressor", "coef_", np.zeros(7), "coef_ must be"),
    "coefficients in words": ("regressor", "coef_", np.array(["a"] * 8), "coef_ must be"),
    "coefficients of too many sides": ("regressor", "coef_", np.zeros((8, 1, 1)), "one link for each"),
    "infinite coefficients": ("regressor", "coef_", np.full(8, np.inf), "finite"),
    "features that are none": ("regressor", "n_features_in_", 10**12, "coef_ must be"),
    "names": ("pandas", "feature_names_in_", np.array(["a"], dtype=object), "one name for each"),
    "classes": ("binary", "classes_", np.arange(3), "2 classes"),
    "too few classes": ("three classes", "classes_", np.arange(2), "3 classes"),
    "thresholds": ("isotonic", "y_thresholds_", ISOTONIC.y_thresholds_[:-1], "y_thresholds_ must be"),
    "falling thresholds": ("isotonic", "y_thresholds_", -ISOTONIC.y_thresholds_, "must not fall"),
    "effects": ("completer", "row_effects_", COMPLETER.row_effects_[:-1], "row_effects_ must be"),
    "factors": ("completer", "col_factors_", np.ones((8, 3)), "col_factors_ must be"),
    "a shape of 10^12": ("completer", "shape_", (10**12, 8), "must be an array"),
    "rated columns": ("completer", "rated_cols_", np.zeros(1, np.int32), "rated_cols_ must be"),
    "labels": ("completer", "row_labels_", np.arange(3), "8 labels"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "value", "message"), FORGED_MODELS.values(), ids=FORGED_MODELS)
def test_a_model_whose_parts_do_not_go_together_is_refused(kind, name, value, message):
    data = forged_attribute(MODELS[kind][0], name, value)
    with pytest.raises(ModelFileError, match=message):
        from_bytes(data)
