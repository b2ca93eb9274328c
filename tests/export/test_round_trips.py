"""Models with their preparation predict the same everywhere, on rows with gaps and values never seen."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from singleindex import (
    SingleIndexClassifier,
    SingleIndexRegressor,
    TableClassifier,
    TableRegressor,
    load,
    save,
)
from singleindex.cli.app import run
from singleindex.export import from_json, to_json, to_onnx, to_sql
from singleindex.persistence import load_table

# scikit-learn tells of values it has not seen; that is what these rows are for.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Found unknown categories:UserWarning"),
    # Versions of the engines differ in what they can do.
    pytest.mark.every_case,
]


def patients(n=150, seed=0):
    """Rows with numbers, text, codes and gaps in each."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "age": rng.integers(20, 90, n).astype(float), "dose": rng.gamma(2, 2, n),
        "city": rng.choice(["O'Hare", "Zürich", "B", "Rare"], n, p=[0.4, 0.3, 0.28, 0.02]),
        "stage": rng.choice(["low", "mid", "high"], n), "code": rng.integers(1, 4, n).astype(float),
    })  # fmt: skip
    stage = frame["stage"].map({"low": 0, "mid": 1, "high": 2})
    index = (
        frame["dose"] / 2 + (frame["city"] == "Zürich") - 0.02 * frame["age"] + stage - (frame["code"] == 2)
    )
    for j, column in enumerate(frame.columns):
        frame.loc[j :: 13 + j, column] = np.nan
    return frame, index.to_numpy() + 0.1 * rng.standard_normal(n)


def new_rows():
    frame, _ = patients(40, 1)
    frame.loc[3:6, "city"] = "Ürümqi"
    frame.loc[7, "stage"] = "never seen"
    frame.loc[8, ["age", "dose", "city", "stage", "code"]] = np.nan
    frame.loc[9:10, "age"] = [-50.0, 500.0]
    frame.loc[11, "code"] = 7.0
    return frame


FRAME, INDEX = patients()
NEW = new_rows()
TARGETS = {
    "regressor": (SingleIndexRegressor(), INDEX),
    "two classes": (SingleIndexClassifier(), np.where(INDEX > 2, "yes", "no")),
    "three classes": (SingleIndexClassifier(), np.digitize(INDEX, [1, 3])),
}


def columns_of_a_pipeline():
    """Every step that can go along, nested."""
    text = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="none"),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5),
    )
    ranks = make_pipeline(
        OrdinalEncoder(
            categories=[["low", "mid", "high"]], handle_unknown="use_encoded_value", unknown_value=np.nan,
            encoded_missing_value=np.nan,
        ),
        SimpleImputer(add_indicator=True),
        MinMaxScaler((-1, 1), clip=True),
    )  # fmt: skip
    return make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), RobustScaler()), ["age", "dose"]),
        (make_pipeline(SimpleImputer(), MinMaxScaler(clip=True), FunctionTransformer()), [0]),
        (text, slice("city", "city")),
        (ranks, ["stage"]),
        (OneHotEncoder(handle_unknown="ignore", drop="first"), [False, False, False, False, True]),
    )


def as_table(estimator, y):
    front = TableRegressor if isinstance(estimator, SingleIndexRegressor) else TableClassifier
    return front(estimator, categorical=["code"]).fit(FRAME, y)


def as_pipeline(estimator, y):
    return make_pipeline(FunctionTransformer(), columns_of_a_pipeline(), estimator).fit(FRAME, y)


def as_frames(estimator, y):
    """The same with frames from step to step, whose names the model keeps."""
    columns = columns_of_a_pipeline().set_output(transform="pandas")
    for _, step, _ in columns.transformers:
        encoders = step.steps if hasattr(step, "steps") else [("", step)]
        for encoder in (part for _, part in encoders if isinstance(part, OneHotEncoder)):
            encoder.set_params(sparse_output=False)
    return make_pipeline(columns, estimator).fit(FRAME, y)


@pytest.fixture(
    scope="module",
    params=[(how, name) for how in (as_table, as_pipeline, as_frames) for name in TARGETS],
    ids=lambda p: f"{p[0].__name__}-{p[1]}",
)
def model(request):
    how, name = request.param
    estimator, y = TARGETS[name]
    return how(estimator.set_params(), y)


def expected(model):
    """What the model itself says of the new rows, one column per class or output."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(NEW)
    return model.predict(NEW).reshape(-1, 1)


def in_sql(engine, expression):
    if engine == "sqlite":
        connection = sqlite3.connect(":memory:")
        NEW.to_sql("t", connection, index=False)
    else:
        connection = pytest.importorskip("duckdb").connect()
        connection.register("t", NEW)
    rows = connection.execute(f"SELECT {expression} FROM t").fetchall()
    connection.close()
    return [row[0] for row in rows]


def in_onnx(onnx_model, rows=NEW):
    """Run on the inputs that the graph has, by their names: NaN and "" for gaps."""
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(onnx_model.SerializeToString())
    texts = {i.name for i in session.get_inputs() if "string" in i.type}
    feed = {}
    for one in session.get_inputs():
        column = rows[[one.name]]
        text = column.map(lambda v: f"{v:.0f}" if isinstance(v, float) else v, na_action="ignore")
        feed[one.name] = (
            text.astype(object).fillna("").to_numpy(object) if one.name in texts else column.to_numpy(float)
        )
    return session.run(None, feed)


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_sql(model, engine):
    values = expected(model)
    classes = getattr(model, "classes_", [None])
    outputs = [None] if len(classes) < 3 else classes.tolist()
    for k, output in enumerate(outputs):
        found = in_sql(engine, to_sql(model, dialect=engine, output=output))
        np.testing.assert_allclose(found, values[:, -1 if output is None else k], atol=1e-6)
    if len(classes) > 1:
        assert in_sql(engine, to_sql(model, dialect=engine, value="class")) == model.predict(NEW).tolist()


def test_onnx(model):
    pytest.importorskip("skl2onnx")
    found = in_onnx(to_onnx(model))
    np.testing.assert_allclose(found[-1], expected(model), atol=1e-6)
    if hasattr(model, "classes_"):
        assert found[0].tolist() == model.predict(NEW).tolist()


def test_json(model):
    again = from_json(to_json(model))
    np.testing.assert_allclose(expected(again), expected(model), atol=1e-6)
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))


def feature_by_the_book(feature, kinds, known, row):
    """Make a feature as the documentation says it; no code of the library."""
    value = row[feature["column"]]
    if pd.isna(value):
        return feature["missing"]
    if "values" not in feature:
        made = (value - feature.get("shift", 0)) * feature.get("scale", 1)
        return min(max(made, feature.get("low", -np.inf)), feature.get("high", np.inf))
    assert feature["column"] not in known or value in known[feature["column"]]
    if kinds[feature["column"]] == "category":
        value = str(int(value)) if isinstance(value, float) else str(value).strip()
    return dict(feature["values"]).get(value, feature.get("otherwise"))


def test_json_is_enough_to_prepare(model):
    document = json.loads(to_json(model))
    told = document["preparation"]
    kinds = dict(zip(told["columns"], told["kinds"], strict=True))
    rows = NEW.to_dict("records")
    made = [[feature_by_the_book(f, kinds, told["known"], row) for f in told["features"]] for row in rows]
    inner = model.estimator_.index if hasattr(model, "estimator_") else model[-1].index
    own = model.index(NEW) if hasattr(model, "index") else inner(model[:-1].transform(NEW))
    coef = np.zeros((document["n_features"], len(document["outputs"])))
    for k, output in enumerate(document["outputs"]):
        coef[output["features"], k] = output["weights"]
    np.testing.assert_allclose(np.array(made) @ coef, np.reshape(own, (len(NEW), -1)), atol=1e-9)


def test_save_and_load(model, tmp_path):
    save(model, tmp_path / "m.sim")
    again = load(tmp_path / "m.sim")
    np.testing.assert_allclose(expected(again), expected(model), rtol=1e-9, atol=1e-12)
    assert to_sql(again) == to_sql(model)
    save(again, tmp_path / "again.sim")
    assert (tmp_path / "again.sim").read_bytes() == (tmp_path / "m.sim").read_bytes()


def test_columns_without_weight_are_no_inputs():
    model = make_pipeline(SimpleImputer(), SingleIndexRegressor(1)).fit(FRAME[["age", "dose"]], INDEX)
    pytest.importorskip("skl2onnx")
    made = to_onnx(model)
    used, idle = np.array(["age", "dose"])[np.argsort(model[-1].coef_ == 0)]
    assert [one.name for one in made.graph.input] == [used]
    assert json.loads({p.key: p.value for p in made.metadata_props}["columns"]) == [used]
    assert idle not in to_sql(model)


def test_features_without_weight_may_be_nan():
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    X = np.random.default_rng(0).standard_normal((60, 3))
    model = SingleIndexRegressor(1).fit(X, X[:, 1])
    holes = X.copy()
    holes[:, [0, 2]] = np.nan
    found = runtime.InferenceSession(to_onnx(model).SerializeToString()).run(None, {"X": holes})[0].ravel()
    np.testing.assert_allclose(found, model.predict(X), atol=1e-9)


def test_refused_values_have_no_prediction():
    encoder = make_column_transformer((OneHotEncoder(), ["city"]), ("passthrough", ["dose"]))
    full = FRAME.dropna()
    model = make_pipeline(encoder, SingleIndexRegressor()).fit(full, INDEX[full.index])
    known = NEW[["city", "dose"]].notna().all(axis=1) & (NEW["city"] != "Ürümqi")
    for engine in ("sqlite", "duckdb"):
        found = np.array(in_sql(engine, to_sql(model, dialect=engine)), dtype=float)
        np.testing.assert_array_equal(np.isnan(found), ~known)
        np.testing.assert_allclose(found[known], model.predict(NEW[known]), atol=1e-6)
    pytest.importorskip("skl2onnx")
    np.testing.assert_allclose(in_onnx(to_onnx(model))[0].ravel(), found, atol=1e-6)
    with pytest.raises(ValueError, match=r"'city'.*not fitted to, in 4 rows: 'Ürümqi'"):
        from_json(to_json(model)).predict(NEW[NEW["city"].notna() & NEW["dose"].notna()])
    with pytest.raises(ValueError, match="'dose' is missing in"):
        from_json(to_json(model)).predict(NEW[NEW["city"].isin(["B", "Zürich"])])


def test_pipelines_of_arrays_take_one_input():
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    X = NEW[["age", "dose", "code"]].to_numpy()
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), SingleIndexRegressor())
    pipeline.fit(FRAME[["age", "dose", "code"]].to_numpy(), INDEX)
    found = runtime.InferenceSession(to_onnx(pipeline).SerializeToString()).run(None, {"X": X})[0].ravel()
    np.testing.assert_allclose(found, pipeline.predict(X), atol=1e-9)
    np.testing.assert_allclose(from_json(to_json(pipeline)).predict(X), pipeline.predict(X), atol=1e-9)


@pytest.mark.parametrize("name", ["label", "constant_1", "_", "probabilities"])
def test_columns_may_have_any_name(name):
    pytest.importorskip("skl2onnx")
    rows = FRAME[["age", "dose"]].rename(columns={"dose": name})
    model = TableClassifier(SingleIndexClassifier()).fit(rows, INDEX > 2)
    found = in_onnx(to_onnx(model), rows)
    np.testing.assert_allclose(found[1], model.predict_proba(rows), atol=1e-6)


# ---------------------------------------------------------------- from the command line


@pytest.fixture(scope="module", params=["yes", "no", "regression"])
def at_the_command_line(request, tmp_path_factory):
    """A model file and what `singleindex predict` says of the new rows."""
    folder = tmp_path_factory.mktemp("cli")
    target = INDEX if request.param == "regression" else np.where(INDEX > 2, "yes", "no")
    options = [] if request.param == "regression" else ["--positive", request.param, "--threshold", "0.3"]
    FRAME.assign(y=target).to_csv(folder / "t.csv", index=False)
    NEW.to_csv(folder / "new.csv", index=False)
    model = str(folder / "m.sim")
    fit = ["fit", str(folder / "t.csv"), "-t", "y", "-o", model, "--impute", "median", "--folds", "3", "-q"]
    assert run([*fit, "--n-atoms", "6", "--categorical", "code", *options]) == 0
    assert run(["predict", model, str(folder / "new.csv"), "-o", str(folder / "p.csv"), "-q"]) == 0
    return folder, model, request.param, pd.read_csv(folder / "p.csv")


def wanted(kind, written):
    return written["prediction" if kind == "regression" else f"probability of {kind}"]


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_sql_of_the_command_line(at_the_command_line, engine):
    folder, model, kind, written = at_the_command_line
    for value in ("expected", "class") if kind != "regression" else ("expected",):
        export = ["export", model, "--to", "sql", "--dialect", engine, "--value", value]
        assert run([*export, "-o", str(folder / "q.sql"), "-q"]) == 0
        found = in_sql(engine, (folder / "q.sql").read_text(encoding="utf-8"))
        if value == "class":
            assert found == written["prediction"].tolist()
        else:
            np.testing.assert_allclose(found, wanted(kind, written), atol=1e-6)


def test_onnx_of_the_command_line(at_the_command_line):
    onnx = pytest.importorskip("onnx")
    folder, model, kind, written = at_the_command_line
    assert run(["export", model, "-o", str(folder / "m.onnx"), "-q"]) == 0
    made = onnx.load(folder / "m.onnx")
    found = in_onnx(made)
    np.testing.assert_allclose(found[-1][:, -1], wanted(kind, written), atol=1e-6)
    if kind != "regression":
        assert found[0].tolist() == written["prediction"].tolist()
        assert json.loads({p.key: p.value for p in made.metadata_props}["classes"])[1] == kind


def test_json_of_the_command_line(at_the_command_line):
    folder, model, kind, written = at_the_command_line
    assert run(["export", model, "-o", str(folder / "m.json"), "-q"]) == 0
    again = from_json((folder / "m.json").read_text(encoding="utf-8"))
    if kind == "regression":
        np.testing.assert_allclose(again.predict(NEW), written["prediction"], atol=1e-6)
        return
    np.testing.assert_array_equal(again.predict(NEW), written["prediction"])
    np.testing.assert_allclose(again.predict_proba(NEW), load_table(model).predict_proba(NEW), atol=1e-6)


# ---------------------------------------------------------------- several labels


def test_onnx_of_several_labels():
    pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import DoubleTensorType

    Y = np.column_stack([INDEX > 2, INDEX < 1]).astype(int)
    model = TableClassifier(SingleIndexClassifier()).fit(FRAME, Y)
    found = in_onnx(to_onnx(model))
    np.testing.assert_array_equal(found[0], model.predict(NEW))
    np.testing.assert_allclose(found[1], model.predict_proba(NEW), atol=1e-6)
    rows = model.prepare(NEW).to_numpy()
    inner = SingleIndexClassifier().fit(model.prepare(FRAME).to_numpy(), Y)
    converted = to_onnx(inner, initial_types=[("X", DoubleTensorType([None, rows.shape[1]]))])
    runtime = pytest.importorskip("onnxruntime")
    found = runtime.InferenceSession(converted.SerializeToString()).run(None, {"X": rows})
    np.testing.assert_array_equal(found[0], inner.predict(rows))
    np.testing.assert_allclose(found[1], inner.predict_proba(rows), atol=1e-6)
