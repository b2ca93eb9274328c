"""Formats that are not ours keep models whole: skops, with our types to be trusted, and joblib."""

import io

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from singleindex import (
    LipschitzIsotonicRegression,
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    TableClassifier,
    TableRegressor,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 5))
Y = np.tanh(X[:, 0] - X[:, 1]) + 0.1 * RNG.standard_normal(90)
FRAME = pd.DataFrame(X, columns=list("abcde")).assign(city=RNG.choice(["u", "v", "w"], 90))
FRAME.loc[::8, "a"] = np.nan
COLUMNS = make_column_transformer(
    (make_pipeline(SimpleImputer(), StandardScaler()), list("abcde")), (OneHotEncoder(), ["city"])
)
MODELS = {
    "regressor": (SingleIndexRegressor(), X, Y),
    "known link": (SingleIndexRegressor(link="tanh"), X, Y / 2),
    "classifier": (SingleIndexClassifier(), X, Y > 0),
    "search": (SingleIndexRegressorCV(cv=3), X, Y),
    "classes with search": (SingleIndexClassifierCV(cv=3), X, np.digitize(Y, [-0.5, 0.5])),
    "isotonic": (LipschitzIsotonicRegression(), X[:, 0], Y),
    "table": (TableClassifier(SingleIndexClassifier()), FRAME, np.where(Y > 0, "ja", "nein")),
    "table of numbers": (TableRegressor(SingleIndexRegressor()), FRAME, Y),
    "pipeline": (make_pipeline(COLUMNS, SingleIndexClassifier()), FRAME, Y > 0),
}


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    model, rows, y = MODELS[request.param]
    return model.fit(rows, y), rows


def test_skops_asks_to_trust_our_types_alone(fitted):
    skops = pytest.importorskip("skops.io")
    model, rows = fitted
    data = skops.dumps(model)
    untrusted = skops.get_untrusted_types(data=data)
    assert untrusted
    # A dtype is what OneHotEncoder keeps as a parameter.
    assert all(name.startswith("singleindex.") or name == "numpy.dtype" for name in untrusted)
    again = skops.loads(data, trusted=untrusted)
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    with pytest.raises(Exception, match="Untrusted types"):
        skops.loads(data)


def test_joblib(fitted):
    model, rows = fitted
    file = io.BytesIO()
    joblib.dump(model, file, compress=3)
    again = joblib.load(io.BytesIO(file.getvalue()))
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
