"""Data frames as they are: the same models as on the command line, and estimators like any other."""

import pickle
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from singleindex import (
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexRegressor,
    TableClassifier,
    TableRegressor,
    load,
    save,
)
from singleindex.cli.app import run
from singleindex.export import to_sql
from singleindex.inspection import make_report
from singleindex.persistence import ModelFileError, load_table
from singleindex.tables import LeakWarning, TableError
from singleindex.tables.python_words import python_words


def people(n=160, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "id": np.arange(n), "age": rng.integers(20, 80, n).astype(float),
        "dose": rng.gamma(3.0, 2.0, n).round(2),
        "city": rng.choice(["Köln, Süd", "München", "Gießen"], n), "flag": rng.random(n) < 0.5,
        "when": pd.date_range("2023-01-01", periods=n).strftime("%d.%m.%Y"), "same": "x",
    })  # fmt: skip
    index = 0.06 * (frame["age"] - 50) - 0.4 * (frame["dose"] - 6) + (frame["city"] == "München")
    y = np.where(rng.random(n) < np.clip(0.5 + 0.25 * index, 0.02, 0.98), "ja", "nein")
    frame.loc[::11, "dose"] = np.nan
    frame.loc[::17, "city"] = None
    return frame, y, index.to_numpy()


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = people()
    return TableClassifier(SingleIndexClassifier(n_atoms=4), drop=["when"]).fit(X, y)


def test_one_line_fits_a_messy_frame(fitted):
    X, y, _ = people()
    assert fitted.score(X, y) > 0.7
    assert fitted.predict_proba(X).shape == (160, 2)
    assert set(fitted.preparation_.dropped) == {"id", "when", "same"}
    assert {"age", "dose", "flag=True"} < set(fitted.get_feature_names_out())
    new = X.head(2).assign(city="Ürümqi", dose=None)
    assert np.isfinite(fitted.index(new)).all()


@pytest.mark.parametrize(
    "convert", [pl.from_pandas, lambda X: X[X.columns[::-1]], lambda X: X.drop(columns=["id", "same"])]
)
def test_frames_of_any_kind_and_order(fitted, convert):
    X, _, _ = people(40, 1)
    np.testing.assert_array_equal(fitted.predict(convert(X)), fitted.predict(X))


def test_arrays_are_tables_too():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    X[::9, 2] = np.nan
    y = np.tanh(X[:, 0] + X[:, 1])
    model = TableRegressor(SingleIndexRegressor()).fit(X, y)
    assert model.score(X, y) > 0.9
    assert list(model.get_feature_names_out()) == ["x0", "x1", "x2", "x3"]


def test_it_is_an_estimator_like_others(fitted):
    X, y, _ = people()
    again = clone(fitted)
    assert again.get_params()["drop"] == ["when"]
    search = GridSearchCV(again, {"estimator__n_atoms": [1, 4], "impute": ["median", "mean"]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.6
    assert cross_val_score(again, X, y, cv=3, scoring="neg_log_loss").mean() > -0.69
    assert make_pipeline(FunctionTransformer(), again).fit(X, y).predict(X).shape == (160,)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


def test_reports_are_made_of_its_parts(fitted):
    X, y, _ = people()
    assert "city=München" in make_report(fitted.estimator_, fitted.prepare(X), y, n_folds=2)


def test_save_and_load(fitted, tmp_path):
    X, _, _ = people()
    for model in (fitted, TableClassifier(dates="days")):
        save(model, tmp_path / "m.sim")
        again = load(tmp_path / "m.sim")
        assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
        if model is fitted:
            np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
            assert again.preparation_ == model.preparation_


def test_gaps_are_refused_where_nothing_fills_them():
    X, y, _ = people()
    with pytest.raises(TableError, match=r'fill them with impute="median".*drop=\["COL"\]'):
        TableClassifier(impute=None).fit(X, y)
    with pytest.raises(ValueError, match="impute must be None or one of"):
        TableClassifier(impute="zero").fit(X, y)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("use --drop 'a b', or --keep COL", "use drop=['a b'], or keep=[\"COL\"]"),
        ("add --date-order day-first", 'add date_order="day-first"'),
        ("use --na 'n.d.' for missing", "use X.replace('n.d.', None) for missing"),
        ("--dates days takes it", 'dates="days" takes it'),
    ],
)
def test_errors_speak_python(text, says):
    assert python_words(text) == says


# ---------------------------------------------------------------- classes, leaks and notes


def test_what_is_modelled_goes_by_the_word(fitted):
    X, y, _ = people()
    assert (fitted.labels_.tolist(), fitted.classes_.tolist()) == (["nein", "ja"], ["ja", "nein"])
    assert fitted.notes_[0].startswith("modelled is the probability of ja, by its name (")
    other = TableClassifier(SingleIndexClassifier(n_atoms=4), positive="nein", drop=["when"]).fit(X, y)
    assert other.labels_.tolist() == ["ja", "nein"]
    assert "as asked" in other.notes_[0]
    assert get_scorer("roc_auc")(fitted, X, y) > 0.7
    case = fitted.predict_proba(X)[:, 0]
    strict = clone(fitted).set_params(threshold=0.9).fit(X, y)
    np.testing.assert_array_equal(strict.predict(X) == "ja", case > 0.9)


def test_classes_may_be_numbers_and_switches():
    X, y, _ = people()
    plain = SingleIndexClassifier(n_atoms=4)
    for no, yes in ((0, 1), (False, True), (1, 2)):
        coded = np.where(y == "ja", yes, no)
        model = TableClassifier(plain, positive=no, drop=["when"]).fit(X, coded)
        assert model.labels_.tolist() == [yes, no]
        assert set(model.predict(X).tolist()) == {no, yes}
        assert model.score(X, coded) > 0.7
    with pytest.raises(ValueError, match="there is no class 7; there are 1, 2"):
        TableClassifier(plain, positive=7).fit(X, coded)
    with pytest.raises(ValueError, match="positive is for a target of two classes"):
        (model := TableClassifier(plain, positive=1)).fit(X, np.arange(len(y)) % 3)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_weights_of_classes_go_with_their_names():
    X, y, _ = people()
    weighted = [
        TableClassifier(SingleIndexClassifier(n_atoms=4, class_weight={"ja": weight}), drop=["when"])
        for weight in (1.0, 9.0)
    ]
    first, second = (model.fit(X, y).predict_proba(X)[:, 0].mean() for model in weighted)
    assert second > first + 0.1


def test_either_class_in_sql(fitted):
    X, _, _ = people()
    with closing(sqlite3.connect(":memory:")) as connection:
        X.to_sql("people", connection, index=False)

        def asked(**options):
            query = f"SELECT {to_sql(fitted, dialect='sqlite', **options)} FROM people"
            return [row[0] for row in connection.execute(query)]

        for k, label in enumerate(fitted.classes_):
            np.testing.assert_allclose(asked(output=label), fitted.predict_proba(X)[:, k], rtol=1e-9)
        np.testing.assert_array_equal(asked(), asked(output="ja"))
        np.testing.assert_allclose(asked(output="nein", value="index"), -np.array(asked(value="index")))
    with pytest.raises(ValueError, match=r"output must be one of \['nein', 'ja'\], got 'x'"):
        to_sql(fitted, output="x")


def test_leaks_are_told_and_notes_kept(tmp_path):
    X, y, _ = people()
    leaking = X.assign(**{"treated after": np.where(y == "ja", "ward", "home")})
    model = TableClassifier(SingleIndexClassifier(n_atoms=4))
    with pytest.warns(LeakWarning, match="leak: it nearly decides 'relapse' alone") as told:
        model.fit(leaking, pd.Series(y, name="relapse"))
    assert "fit again with drop=['treated after']" in str(told[0].message)
    assert told[0].filename == __file__
    assert any(note.startswith("left out 'same': constant") for note in model.notes_)
    assert any("column 'city' is text" in note for note in model.notes_)
    save(model, tmp_path / "m.sim")
    assert load(tmp_path / "m.sim").notes_ == model.notes_
    with pytest.warns(LeakWarning, match=r"nearly decides the target alone \(rank correlation"):
        TableRegressor(SingleIndexRegressor()).fit(X, X["age"].to_list())


def test_summaries_name_the_target_and_the_class(fitted):
    X, _, index = people()
    assert fitted.summary().startswith("TableClassifier of the target: the probability of ja\n")
    assert "city=München" in fitted.summary()
    model = TableRegressor(SingleIndexRegressor()).fit(X, pd.Series(index, name="risk"))
    assert model.summary(top=1).splitlines()[0] == "TableRegressor of risk"
    assert "and 1" in model.summary(top=1)


# ---------------------------------------------------------------- the command line


@pytest.fixture
def at_the_command_line(tmp_path, monkeypatch, capsys):
    X, y, _ = people()
    monkeypatch.chdir(tmp_path)
    X.assign(relapse=y).to_csv("t.csv", index=False)

    def fit(*options):
        arguments = [
            "fit",
            "t.csv",
            "-t",
            "relapse",
            "--drop",
            "when",
            "--folds",
            "3",
            "--n-atoms",
            "4",
            "-q",
        ]
        assert run([*arguments, *options]) == 0
        assert run(["predict", "model.sim", "t.csv", "-o", "p.csv", "-q"]) == 0
        return X, y, pd.read_csv("p.csv")

    return fit


@pytest.mark.parametrize("positive", [None, "ja", "nein"])
def test_it_is_the_fit_of_the_command_line(at_the_command_line, positive):
    X, y, written = at_the_command_line("--impute", "median", *(["--positive", positive] if positive else []))
    model = TableClassifier(SingleIndexClassifierCV([4], cv=3), positive=positive, drop=["when"]).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 0], written["probability of ja"], rtol=1e-9)


@pytest.mark.parametrize("positive", ["ja", "nein"])
def test_models_of_the_command_line_take_frames(at_the_command_line, positive):
    _, y, written = at_the_command_line("--impute", "mean", "--positive", positive, "--threshold", "0.3")
    model = load_table("model.sim")
    assert model.classes_.tolist() == ["ja", "nein"]
    frame = pd.read_csv("t.csv").drop(columns="relapse")
    for k, name in enumerate(("ja", "nein")):
        np.testing.assert_allclose(
            model.predict_proba(frame)[:, k], written[f"probability of {name}"], rtol=1e-12
        )
    np.testing.assert_array_equal(model.predict(frame), written["prediction"])
    assert get_scorer("roc_auc")(model, frame, y) > 0.7
    assert get_scorer("neg_log_loss")(model, frame, y) > -0.69


def test_what_is_no_table_is_refused(tmp_path):
    save(SingleIndexRegressor().fit([[1.0], [2.0], [3.0]], [1, 2, 3]), tmp_path / "m.sim")
    with pytest.raises(ModelFileError, match="not saved by singleindex fit; use load"):
        load_table(tmp_path / "m.sim")


def test_the_command_line_takes_fronts(fitted, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, _, _ = people()
    save(fitted, "m.sim")
    X.to_csv("t.csv", index=False)
    assert run(["predict", "m.sim", "t.csv", "-o", "p.csv", "-q"]) == 0
    np.testing.assert_array_equal(pd.read_csv("p.csv")["prediction"], fitted.predict(X))
    save(TableClassifier(), "blank.sim")
    assert run(["inspect", "blank.sim"]) == 3
    assert "not fitted" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::singleindex.tables.LeakWarning")
@pytest.mark.every_case
@parametrize_with_checks([TableRegressor(SingleIndexRegressor()), TableClassifier(SingleIndexClassifier())])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
