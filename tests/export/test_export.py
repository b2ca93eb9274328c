"""Exports predict what the model predicts, in engines that are not ours."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from singleindex import (
    LipschitzIsotonicRegression,
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
)
from singleindex.cli.app import run
from singleindex.export import DIALECTS, from_json, to_json, to_onnx, to_sql
from singleindex.export.as_sql import search
from singleindex.export.parts import segments
from singleindex.link import Link, MonotoneCurve

# Versions of the engines differ in what they can do.
pytestmark = pytest.mark.every_case
RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 12))
INDEX = X[:, 0] - 2 * X[:, 1] + 0.5 * X[:, 2]
Y = np.clip(INDEX, -1, 1.5) + 0.1 * RNG.standard_normal(200)
TWO = (INDEX > 0.3).astype(int)
THREE = np.array(["a", "it's", "c"])[np.digitize(INDEX, [-1, 1])]
NAMES = ['quo"te', "bra]cket", "back`tick", "ünïcode", *(f"x {j}" for j in range(8))]
FRAME = pd.DataFrame(X, columns=NAMES)
# Rows beyond all knots, and on them.
NEW = np.vstack([X[:20], 100 * X[:5], np.zeros((1, 12))])

MODELS = {
    "regressor": (SingleIndexRegressor(4), Y),
    "two classes": (SingleIndexClassifier(4), TWO),
    "three classes": (SingleIndexClassifier(4), THREE),
    "coupled classes": (SingleIndexClassifierCV(cv=3), THREE),
    "regressor with search": (SingleIndexRegressorCV(n_atoms=[3], penalty=[], alpha=[0.1], cv=3), Y),
    "classes with search": (SingleIndexClassifierCV(n_atoms=[3], penalty=[], alpha=[0.1], cv=3), TWO > 0),
    "two outputs": (SingleIndexRegressor(4), np.column_stack([Y, Y**3])),
    "labels": (SingleIndexClassifier(4), np.column_stack([TWO, INDEX < -1]).astype(int)),
    "identity": (SingleIndexClassifier(link="identity"), TWO),
    "logistic": (SingleIndexClassifier(link="logistic"), THREE),
    "tanh": (SingleIndexRegressor(link="tanh"), Y / 2),
    "no bound": (SingleIndexRegressor(lipschitz=np.inf), Y),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    estimator, y = MODELS[request.param]
    return estimator.fit(FRAME, y)


def expected(model):
    frame = pd.DataFrame(NEW, columns=NAMES)
    return model.predict_proba(frame) if hasattr(model, "classes_") else model.predict(frame)


def values_of(engine, expression):
    """Run an expression over the new rows in a real engine."""
    columns = ", ".join('"' + name.replace('"', '""') + '"' for name in NAMES)
    if engine == "sqlite":
        connection = sqlite3.connect(":memory:")
    else:
        connection = pytest.importorskip("duckdb").connect()
    with closing(connection):
        typed = ", ".join(f"{name} DOUBLE" for name in columns.split(", "))
        connection.execute(f"CREATE TABLE t ({typed})")
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * 12)})", NEW.tolist())
        return [row[0] for row in connection.execute(f"SELECT {expression} FROM t").fetchall()]


# ---------------------------------------------------------------- JSON


def test_json_comes_back(model):
    again = from_json(to_json(model))
    np.testing.assert_allclose(expected(again), expected(model), atol=1e-12)
    frame = pd.DataFrame(NEW, columns=NAMES)
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    assert again.summary()


def predict_by_the_book(document, row):
    """Predict from the JSON alone, as the documentation says it; no code of the library."""
    scores = []
    for output in document["outputs"]:
        index = output["intercept"] + sum(
            w * row[j] for j, w in zip(output["features"], output["weights"], strict=True)
        )
        link = output["link"]
        if link["type"] == "piecewise-linear":
            value = np.interp(index, link["x"], link["y"])
        else:
            functions = {"identity": float, "logistic": lambda i: 1 / (1 + np.exp(-i)), "tanh": np.tanh}
            value = functions[link["type"]](index + link["offset"])
        scores.append(value)
    kind = document["kind"]
    if kind == "regression":
        return scores
    if kind == "multiclass":
        scores = np.clip(scores, 1e-6, 1 - 1e-6 if document["coupled"] else 1)
        if document["coupled"]:
            scores = scores / (1 - scores)
        return scores / scores.sum()
    scores = np.clip(scores, 0, 1)
    return [1 - scores[0], scores[0]] if kind == "binary" else scores


def test_json_is_enough_to_predict(model):
    document = json.loads(to_json(model))
    with np.errstate(over="ignore"):
        found = np.array([predict_by_the_book(document, row) for row in NEW])
    np.testing.assert_allclose(found.reshape(expected(model).shape), expected(model), atol=1e-6)


@pytest.mark.parametrize(
    ("change", "says"),
    [({"format": "x"}, "no model"), ({"version": 2}, "upgrade"), ({"kind": "x"}, "kind of model")],
)
def test_other_documents_are_refused(change, says):
    document = json.loads(to_json(SingleIndexRegressor(2).fit(X, Y)))
    with pytest.raises(ValueError, match=says):
        from_json(json.dumps(document | change))


# ---------------------------------------------------------------- SQL


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_sql_predicts_the_same(model, engine):
    values = expected(model)
    outputs = [None]
    if values.ndim == 2:
        binary = hasattr(model, "classes_") and not model.multilabel_ and len(model.classes_) == 2
        values = values[:, 1:] if binary else values
        outputs = [None] if binary else list(getattr(model, "classes_", range(values.shape[1])))
    values = values.reshape(len(NEW), -1)
    for k, output in enumerate(outputs):
        found = values_of(engine, to_sql(model, dialect=engine, output=output))
        np.testing.assert_allclose(found, values[:, k], atol=1e-6)


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
@pytest.mark.parametrize("name", ["two classes", "three classes"])
def test_sql_of_the_class_and_of_the_index(name, engine):
    estimator, y = MODELS[name]
    model = estimator.fit(FRAME, y)
    frame = pd.DataFrame(NEW, columns=NAMES)
    assert values_of(engine, to_sql(model, value="class")) == model.predict(frame).tolist()
    index = (model.index(frame) + model.intercept_).reshape(len(NEW), -1)
    output = None if index.shape[1] == 1 else model.classes_[0]
    np.testing.assert_allclose(
        values_of(engine, to_sql(model, value="index", output=output)), index[:, 0], atol=1e-9
    )


def test_missing_features_give_no_prediction():
    model = SingleIndexRegressor(2).fit(X, Y)
    expression = to_sql(model, columns=["NULL" if c else "x" for c in model.coef_])
    connection = sqlite3.connect(":memory:")
    rows = f'(SELECT NULL AS "NULL", 1.0 AS x)'  # noqa: F541
    assert connection.execute(f"SELECT {expression} FROM {rows}").fetchone() == (None,)
    connection.close()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_are_quoted(dialect):
    text = to_sql(SingleIndexRegressor().fit(FRAME, Y), dialect=dialect)
    inner = {'"': '"quo""te"', "`": "`back``tick`", "[": "[bra]]cket]"}
    assert (r"`back\`tick`" if dialect == "bigquery" else inner[DIALECTS[dialect][0]]) in text


def test_sql_of_many_features_and_knots_is_not_too_deep():
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((1500, 1800))
    model = SingleIndexRegressor().fit(wide, wide[:, :50].sum(axis=1) + rng.standard_normal(1500))
    names = [f"c{j}" for j in range(1800)]
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE t ({', '.join(names)})")
    connection.execute(f"INSERT INTO t VALUES ({', '.join('?' * 1800)})", wide[0].tolist())
    found = connection.execute(f"SELECT {to_sql(model, columns=names)} FROM t").fetchone()[0]
    connection.close()
    assert found == pytest.approx(model.predict(wide[:1])[0], abs=1e-9)


@given(
    st.lists(st.tuples(st.floats(1e-3, 10), st.floats(0, 5)), min_size=1, max_size=12),
    st.lists(st.floats(-50, 150), min_size=1, max_size=20),
)
def test_the_nested_search_is_interpolation(steps, places):
    gaps, rises = np.array(steps).T
    x, y = np.cumsum(gaps), np.cumsum(rises)
    curve = MonotoneCurve(x, y)
    expression = search(*segments(curve.knots_), "i")
    connection = sqlite3.connect(":memory:")
    for place in [*places, *x]:
        found = connection.execute(f"SELECT {expression} FROM (SELECT ? AS i)", (float(place),)).fetchone()[0]
        assert found == pytest.approx(float(curve(place)), abs=1e-9)
    connection.close()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"dialect": "cobol"}, "dialect must be one of"),
        ({"value": "median"}, "value must be one of"),
        ({"value": "class"}, "needs a classifier"),
        ({"columns": ["a"]}, "must have 12 names"),
        ({}, "no feature names"),
        ({"columns": {"a": "b"}}, "as a list"),
        ({"columns": NAMES, "output": 3}, "output must be one of"),
    ],
)
def test_wrong_wishes_for_sql(settings, says):
    with pytest.raises(ValueError, match=says):
        to_sql(SingleIndexRegressor(2).fit(X, Y), **settings)


# ---------------------------------------------------------------- ONNX


def session(onnx_model):
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    return runtime.InferenceSession(onnx_model.SerializeToString(), options)


def test_onnx_predicts_the_same(model):
    pytest.importorskip("skl2onnx")
    found = session(to_onnx(model)).run(None, {"X": NEW})
    np.testing.assert_allclose(found[-1].reshape(expected(model).shape), expected(model), atol=1e-6)
    if hasattr(model, "classes_"):
        assert found[0].tolist() == model.predict(pd.DataFrame(NEW, columns=NAMES)).tolist()


def test_onnx_inside_of_a_pipeline_and_in_single_precision():
    pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import FloatTensorType

    pipeline = make_pipeline(StandardScaler(), SingleIndexRegressor(4)).fit(X, Y)
    onnx_model = to_onnx(pipeline, initial_types=[("X", FloatTensorType([None, 12]))])
    found = session(onnx_model).run(None, {"X": X.astype(np.float32)})[0].ravel()
    np.testing.assert_allclose(found, pipeline.predict(X), atol=1e-5)


# ---------------------------------------------------------------- what cannot be exported


@pytest.mark.parametrize("export", [to_json, to_sql, to_onnx])
def test_what_cannot_be_exported_is_told(export):
    with pytest.raises(TypeError, match="cannot be exported"):
        export(LipschitzIsotonicRegression().fit([0, 1, 2], [0, 1, 1]))
    with pytest.raises(ValueError, match="link function of your own"):
        export(SingleIndexRegressor(link=np.arctan).fit(X, Y))
    named_as_ours = SingleIndexRegressor().fit(X, Y)
    named_as_ours.link_ = type("Tanh", (Link,), {"name": "tanh"})()
    with pytest.raises(ValueError, match="link function of your own"):
        export(named_as_ours)


# ---------------------------------------------------------------- with the columns of a table


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model with text, gaps and codes, from the command line."""
    folder = tmp_path_factory.mktemp("saved")
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame({
        "dose": rng.gamma(2, 2, n), "city": rng.choice(["O'Hare", "Zürich", "B"], n),
        "sex": rng.choice(["f", "m"], n), "zip": [f"{v:03d}" for v in rng.integers(1, 4, n)],
    })  # fmt: skip
    index = frame["dose"] / 2 + (frame["city"] == "Zürich") - 2 * (frame["sex"] == "m")
    frame["y"] = np.tanh(index - 1) + 0.1 * rng.standard_normal(n)
    frame.loc[[3, 7], "dose"] = np.nan
    frame.loc[4, "city"] = None
    frame.to_csv(folder / "t.csv", index=False)
    options = ["--impute", "mean", "--n-atoms", "4", "--folds", "3", "-q"]
    assert run(["fit", str(folder / "t.csv"), "-t", "y", "-o", str(folder / "m.sim"), *options]) == 0
    assert run(["predict", str(folder / "m.sim"), str(folder / "t.csv"), "-o", str(folder / "p.csv")]) == 0
    return folder, frame, pd.read_csv(folder / "p.csv")["prediction"].to_numpy()


def test_sql_prepares_the_columns(saved):
    duckdb = pytest.importorskip("duckdb")
    folder, frame, predicted = saved
    arguments = [
        "--to",
        "sql",
        "--dialect",
        "duckdb",
        "--table",
        "patients",
        "-o",
        str(folder / "q.sql"),
        "-q",
    ]
    assert run(["export", str(folder / "m.sim"), *arguments]) == 0
    with duckdb.connect() as connection:
        connection.register("patients", frame)
        found = connection.execute((folder / "q.sql").read_text()).df()
    np.testing.assert_allclose(found["prediction"], predicted, atol=1e-6)


def test_onnx_takes_the_columns(saved):
    pytest.importorskip("skl2onnx")
    folder, frame, predicted = saved
    assert run(["export", str(folder / "m.sim"), "-o", str(folder / "m.onnx"), "-q"]) == 0
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(folder / "m.onnx")
    names = [one.name for one in session.get_inputs()]
    assert [name for name in frame.columns if name in names] == names
    inputs = {name: frame[[name]].fillna("").to_numpy(object) for name in names if name != "dose"}
    inputs["dose"] = frame[["dose"]].to_numpy(np.float64)
    np.testing.assert_allclose(session.run(None, inputs)[0].ravel(), predicted, atol=1e-6)


def test_json_keeps_the_preparation(saved):
    folder, _, _ = saved
    assert run(["export", str(folder / "m.sim"), "-o", str(folder / "m.json"), "-q"]) == 0
    document = json.loads((folder / "m.json").read_text(encoding="utf-8"))
    assert document["preparation"]["categories"]["city"] == ["B", "O'Hare", "Zürich"]
    assert from_json(json.dumps(document)).estimator_.n_features_in_ == len(document["feature_names"])


def test_a_dialect_that_is_not_there_is_answered_with_those_that_are():
    from singleindex.export.as_sql import quoted

    with pytest.raises(ValueError, match=r"dialect must be one of.*'duckdb'.*got 'oracle'"):
        quoted("age", "oracle")
