"""What a file says of the rows of a fit is checked before predictions go by it."""

import numpy as np
import pytest
from saved_models import as_bytes, from_bytes

from singleindex.estimators import SingleIndexClassifierCV, SingleIndexRegressorCV
from singleindex.persistence import ModelFileError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = X[:, 0] + 0.3 * RNG.normal(size=60)
QUICK = {"cv": 3, "scale_power": [1.0], "penalty": [0.3]}
NUMBERS = SingleIndexRegressorCV(**QUICK).fit(X, Y)
CLASSES = SingleIndexClassifierCV(**QUICK).fit(X, Y > 0)


def changed(model, name, part, value):
    """Return a copy of a model with one value of an attribute replaced."""
    copy = from_bytes(as_bytes(model))
    found = getattr(copy, name)
    (found[0] if isinstance(found, list) else found)[part] = value
    return copy


@pytest.mark.parametrize(
    ("model", "name", "part", "value"),
    [
        (NUMBERS, "background_", "feature", np.array([99])),
        (NUMBERS, "background_", "feature", np.array([0.5])),
        (NUMBERS, "background_", "mean", np.zeros(9)),
        (NUMBERS, "background_", "index", np.zeros((5, 2))),
        (NUMBERS, "calibration_", "spread", np.zeros(77)),
        (NUMBERS, "calibration_", "share", np.array(["a"])),
        (CLASSES, "calibration_", "low", np.zeros(1000)),
        (CLASSES, "calibration_", "cuts", np.array([np.nan])),
        (CLASSES, "held_out_scores_", "AUC", {"score": "high", "error": 0.0}),
    ],
)
def test_parts_that_do_not_go_together_are_refused(model, name, part, value):
    with pytest.raises(ModelFileError):
        from_bytes(as_bytes(changed(model, name, part, value)))


def test_a_model_without_them_is_one_of_an_earlier_version():
    for model in (NUMBERS, CLASSES):
        old = from_bytes(as_bytes(model))
        for name in ("background_", "calibration_", "held_out_scores_", "p_value_"):
            delattr(old, name)
        loaded = from_bytes(as_bytes(old))
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        assert "No evidence" not in loaded.summary()
