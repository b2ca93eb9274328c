"""Pipelines of scikit-learn are followed step by step, and what cannot be followed is named."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from singleindex import SingleIndexClassifier, SingleIndexRegressor, TableClassifier, save
from singleindex.cli.app import run
from singleindex.export import to_json, to_sql
from singleindex.inspection import explain, make_report
from singleindex.tables.fronts import front_of_pipeline
from singleindex.tables.pipelines import follow_pipeline

RNG = np.random.default_rng(0)
N = 80
FRAME = pd.DataFrame({
    "a": 1e6 + RNG.standard_normal(N), "b": RNG.gamma(2, 2, N), "same": 1.0,
    "c": RNG.choice(["x", "y", "z"], N), "flag": RNG.random(N) < 0.5,
})  # fmt: skip
Y = np.tanh(FRAME["a"] - 1e6 + (FRAME["c"] == "x") - FRAME["flag"])
HOLES = FRAME.copy()
HOLES.loc[::7, "a"] = np.nan
HOLES.loc[::9, "c"] = np.nan

STEPS = {
    "scalers": (
        make_column_transformer(
            (make_pipeline(MinMaxScaler((-3, 2)), StandardScaler(with_mean=False)), ["a"]),
            (make_pipeline(RobustScaler(with_centering=False), MaxAbsScaler()), ["b"]),
            (make_pipeline(StandardScaler(with_std=False), MinMaxScaler(clip=True), StandardScaler()), ["b"]),
        ),
        FRAME,
    ),
    "remainder and selector": (
        make_column_transformer(
            (OneHotEncoder(drop="if_binary"), make_column_selector(dtype_exclude=np.number)),
            ("drop", ["same"]),
            remainder="passthrough",
        ),
        FRAME,
    ),
    "gaps as categories": (
        make_column_transformer(
            (make_pipeline(OneHotEncoder(drop="first"), StandardScaler(with_mean=False)), ["c"]),
            (OrdinalEncoder(encoded_missing_value=-1), ["c"]),
            (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), ["a"]),
        ),
        HOLES,
    ),
    "indicators": (
        make_column_transformer(
            (make_union(MissingIndicator(), SimpleImputer(strategy="most_frequent")), ["a", "b"]),
            (MissingIndicator(features="all"), ["c"]),
        ),
        HOLES,
    ),
    "rare categories": (
        make_column_transformer(
            (OneHotEncoder(max_categories=2, drop="first", handle_unknown="ignore"), ["c", "flag"]),
        ),
        HOLES,
    ),
    "what varies": (make_pipeline(SimpleImputer(), VarianceThreshold(1e-9)), HOLES[["a", "same", "b"]]),
}


@pytest.mark.parametrize("name", STEPS)
def test_the_recipe_makes_what_the_steps_make(name):
    steps, frame = STEPS[name]
    model = make_pipeline(steps, SingleIndexRegressor())
    model.fit(frame, Y)
    wanted = model[:-1].transform(frame)
    wanted = wanted.toarray() if hasattr(wanted, "toarray") else wanted
    found = follow_pipeline(model).apply(frame)
    # Numbers around a million keep their digits.
    np.testing.assert_allclose(found.to_numpy(), np.asarray(wanted, dtype=float), atol=1e-8)
    np.testing.assert_allclose(front_of_pipeline(model).predict(frame), model.predict(frame), atol=1e-8)


def test_features_are_named_after_columns_and_categories():
    steps = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["c"]),
        (SimpleImputer(add_indicator=True), ["a"]),
        (make_pipeline(SimpleImputer(), StandardScaler()), ["a"]),
    )
    model = make_pipeline(steps, SingleIndexRegressor()).fit(HOLES, Y)
    names = ["c=x", "c=y", "c=z", "c=nan", "a", "a is missing", "a (2)"]
    assert follow_pipeline(model).names == names


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (PCA(2), r"'pca'.*a PCA, cannot go along: it is none of ColumnTransformer"),
        (KNNImputer(), "'knnimputer'.*keep the pipeline with skops or joblib"),
        (FunctionTransformer(np.log1p), "function of one's own"),
        (SimpleImputer(missing_values=-1), "fills in for -1"),
        (make_pipeline(StandardScaler(), PCA(2)), "'pipeline → pca'"),
        (make_pipeline(StandardScaler(), OrdinalEncoder()), "'b' was changed by a step before it"),
    ],
)
def test_steps_that_cannot_go_along_are_named(step, says, tmp_path):
    model = make_pipeline(step, SingleIndexRegressor()).fit(FRAME[["b", "a"]], Y)
    for export in (to_sql, to_json, lambda model: save(model, tmp_path / "m.sim")):
        with pytest.raises(ValueError, match=says):
            export(model)
    with pytest.raises(ValueError, match=says):
        make_report(model, FRAME[["b", "a"]], Y)


def test_other_models_at_the_end_are_refused(tmp_path):
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(FRAME[["a", "b"]], Y)
    for export in (to_sql, to_json, lambda model: save(model, tmp_path / "m.sim")):
        with pytest.raises(TypeError, match="LinearRegression cannot be exported, saved or reported"):
            export(model)


def test_reports_and_explanations_of_pipelines():
    steps, _ = STEPS["gaps as categories"]
    model = make_pipeline(steps, SingleIndexClassifier()).fit(HOLES, Y > 0)
    page = make_report(model, HOLES, np.asarray(Y > 0), n_folds=2)
    assert "c=y" in page
    told = explain(model, HOLES.head(3))
    np.testing.assert_allclose(told.base + told.contributions.sum(axis=1), told.index, atol=1e-9)


def test_reports_of_tables_go_by_their_threshold():
    front = TableClassifier(SingleIndexClassifier(), threshold=0.2, positive="well")
    y = np.where(Y > 0, "well", "ill")
    page = make_report(front.fit(HOLES, y), HOLES, y, n_folds=2)
    inner = make_report(
        front.estimator_, front.prepare(HOLES), y, n_folds=2, threshold=0.2, preparation=front.preparation_
    )
    assert page.split("In Python")[0] == inner.split("In Python")[0]


def test_a_table_model_may_end_a_pipeline():
    model = make_pipeline(FunctionTransformer(), TableClassifier(SingleIndexClassifier()))
    model.fit(HOLES, Y > 0)
    assert to_sql(model) == to_sql(model[-1])
    scaled = make_pipeline(StandardScaler(), TableClassifier(SingleIndexClassifier()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scaled.fit(FRAME[["a", "b"]], Y > 0)
    with pytest.raises(TypeError, match="TableClassifier cannot be exported"):
        to_sql(scaled)


def test_the_command_line_takes_saved_pipelines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    steps, _ = STEPS["gaps as categories"]
    model = make_pipeline(steps, SingleIndexRegressor()).fit(HOLES, Y)
    save(model, "m.sim")
    HOLES.to_csv("t.csv", index=False)
    assert run(["predict", "m.sim", "t.csv", "-o", "p.csv", "-q"]) == 0
    np.testing.assert_allclose(pd.read_csv("p.csv")["prediction"], model.predict(HOLES), atol=1e-8)
    assert run(["export", "m.sim", "-o", "q.sql", "-q"]) == 0
    assert (tmp_path / "q.sql").read_text(encoding="utf-8") == to_sql(model) + "\n"
