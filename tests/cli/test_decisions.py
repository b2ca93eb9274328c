"""Two classes as analysts have them: which one is modelled, what leaks it, where yes begins."""

import io
import json
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import singleindex
from singleindex.cli.app import ExitCode
from singleindex.tables.classes import modelled_class
from singleindex.tables.leaks import find_leaks

TARGET = ["-t", "Rückfall", "--impute", "median", "--n-atoms", "2,4", "--folds", "3"]
HONEST = [*TARGET, "--drop", "Nachsorge"]


# ---------------------------------------------------------------- which class


@pytest.mark.parametrize(
    ("classes", "counts", "modelled"),
    [
        (["ja", "nein"], [500, 10], "ja"),
        (["no", "yes"], [10, 500], "yes"),
        (["Non", "Oui"], [10, 500], "Oui"),
        (["died", "survived"], [500, 10], "died"),
        (["Remission", "relapse"], [10, 500], "relapse"),
        (["False", "True"], [10, 500], "True"),
        ([0, 1], [10, 500], 1),
        ([-1, 1], [10, 500], 1),
        (["j", "n"], [500, 10], "j"),
        (["dead", "moved away"], [500, 10], "dead"),
        (["alive", "unknown"], [10, 500], "unknown"),
        ([1, 2], [500, 10], 2),  # digits alone say nothing: the rarer one
        ([1, 2], [10, 500], 1),
        (["f", "m"], [10, 500], "f"),
        (["a", "b"], [50, 50], "b"),
    ],
)
def test_the_class_that_is_modelled(classes, counts, modelled):
    assert modelled_class(classes, counts)[0] == modelled


def test_ja_is_modelled_and_said(cli, patients, patients_csv):
    code, out, err = cli("fit", patients_csv, *HONEST, "--json")
    assert code == 0
    n = int((patients["Rückfall"] == "ja").sum())
    assert f"modelled is the probability of Rückfall = ja, by its name ({n} of 400 rows)" in err
    assert "--positive nein" in err
    found = json.loads(out)
    assert (found["classes"], found["positive"]) == (["nein", "ja"], "ja")
    weights = {feature["name"]: feature["weight"] for feature in found["features"]}
    assert weights["Alter"] > 0 > weights["Dosis"]
    assert "the probability of ja goes" in cli("inspect", "model.sim")[1]


@pytest.fixture
def turned(cli, patients_csv):
    """Two models of the same rows, one of ja and one of nein."""
    for positive in ("ja", "nein"):
        assert cli("fit", patients_csv, *HONEST, "--positive", positive, "-o", f"{positive}.sim")[0] == 0


def test_either_class_gives_the_same_predictions(cli, patients, patients_csv, turned):
    frames = [
        pd.read_csv(io.StringIO(cli("predict", f"{name}.sim", patients_csv)[1])) for name in ("ja", "nein")
    ]
    for name in ("probability of ja", "probability of nein"):
        np.testing.assert_allclose(frames[0][name], frames[1][name], atol=0.02)  # other folds
    assert (frames[0]["prediction"] == frames[1]["prediction"]).mean() > 0.98
    assert (frames[0]["prediction"] == patients["Rückfall"]).mean() > 0.75
    assert np.corrcoef(frames[0]["index"], frames[1]["index"])[0, 1] < -0.999


def test_scores_exports_and_pages_know_the_class(cli, patients, patients_csv, turned, tmp_path):
    score = [json.loads(cli("score", f"{name}.sim", patients_csv, "--json")[1]) for name in ("ja", "nein")]
    assert score[0]["scores"]["AUC"] == pytest.approx(score[1]["scores"]["AUC"], abs=0.005)
    assert score[0]["confusion"]["found"] == pytest.approx(score[1]["confusion"]["true_negatives"], abs=5)
    query = cli("export", "ja.sim", "--to", "sql", "--value", "class", "--table", "t")[1]
    with closing(sqlite3.connect(":memory:")) as table:
        patients.to_sql("t", table, index=False)
        found = pd.read_sql_query(query, table)["class"].tolist()
    said = pd.read_csv(io.StringIO(cli("predict", "ja.sim", patients_csv)[1]))["prediction"].tolist()
    assert found == said
    assert json.loads(cli("export", "ja.sim", "--to", "json")[1])["classes"] == ["nein", "ja"]
    assert cli("report", "ja.sim", patients_csv, "-o", "ja.html", "--title", "x")[0] == 0
    page = (tmp_path / "ja.html").read_text()
    assert "probability of Rückfall = ja" in page
    assert "Rückfall = nein" in page
    assert singleindex.load("ja.sim").classes_.tolist() == [0, 1]  # in order, as scikit-learn wants them


def test_a_class_that_is_not_there(cli, patients_csv):
    code, _, err = cli("fit", patients_csv, *HONEST, "--positive", "yes")
    assert code == ExitCode.DATA
    assert "no class 'yes'; there are ja, nein" in err
    code, _, err = cli(
        "fit", patients_csv, "-t", "Stadt", "--drop-unlabelled", "--impute", "mean", "--positive", "München"
    )
    assert (code, "of several, each is modelled" in err) == (ExitCode.DATA, True)


# ---------------------------------------------------------------- leaks


def test_a_leak_is_named_on_the_terminal_and_on_the_page(cli, patients_csv, tmp_path):
    code, out, err = cli("fit", patients_csv, *TARGET, "--report", "r.html", "--json")
    assert code == 0
    said = "column 'Nachsorge' looks like a leak: it nearly decides 'Rückfall' alone (AUC 0.99"
    assert said in err or said.replace("0.99", "1.00") in err
    assert "--drop Nachsorge" in err
    assert "--drop Nachsorge" in json.loads(out)["warnings"][0]
    page = (tmp_path / "r.html").read_text()
    assert "looks like a leak" in page.split('class="warning"')[1][:500]
    _, _, err = cli("fit", patients_csv, *HONEST)
    assert "looks like a leak" not in err


def leaks_of(frame, y, is_classes=True):
    kinds = {name: "number" if frame[name].dtype.kind == "f" else "category" for name in frame}
    return [(leak.column, leak.by_gaps) for leak in find_leaks(frame, kinds, np.asarray(y), is_classes)]


def test_leaks_of_every_kind_are_seen_and_noise_is_not():
    rng = np.random.default_rng(0)
    n = 600
    y = (rng.random(n) < 0.05).astype(int)
    frame = pd.DataFrame(rng.standard_normal((n, 6)), columns=list("abcdef"))
    frame["text"] = rng.choice(list("xyz"), n)
    frame["many"] = rng.integers(0, 200, n).astype(str)
    frame["paid"] = np.where(y == 1, rng.normal(-8, 1, n), rng.normal(0, 1, n))
    frame["code"] = np.where(y == 1, rng.choice(["M1", "M2"], n), rng.choice(["A", "B"], n))
    frame["died on"] = np.where(y == 1, rng.normal(0, 1, n), np.nan)
    assert sorted(leaks_of(frame, y)) == [("code", False), ("died on", True), ("paid", False)]
    amount = frame["a"].to_numpy()
    assert leaks_of(frame[["b", "text"]].assign(copy=np.exp(amount)), amount, False) == [("copy", False)]
    assert leaks_of(frame[["b", "c", "text", "many"]], y) == []


def test_few_rows_and_many_columns_are_no_leak():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((14, 3000)), columns=[f"g{j}" for j in range(3000)])
    assert leaks_of(frame, np.arange(14) % 2) == []


def test_of_several_classes_all_must_be_told():
    data = load_iris(as_frame=True)
    assert leaks_of(data.data, data.target) == []  # petals tell one class from two others
    named = data.data.assign(label=data.target.map({0: "s", 1: "c", 2: "v"}))
    assert leaks_of(named, data.target) == [("label", False)]


# ---------------------------------------------------------------- yes or no


@pytest.fixture
def rare_csv(tmp_path):
    """56 events in 2,000 rows, none of them likelier than not."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 5))
    p = 0.004 + 0.25 / (1 + np.exp(-3 * (X[:, 0] + X[:, 1] - 2.2)))
    order = np.argsort(rng.random(2000) / p)
    died = np.isin(np.arange(2000), order[:56])
    frame = pd.DataFrame(X, columns=list("abcde")).assign(died=np.where(died, "yes", "no"))
    frame.to_csv(tmp_path / "rare.csv", index=False)
    return tmp_path / "rare.csv"


RARE = ["-t", "died", "--n-atoms", "2", "--folds", "3", "--holdout", "0.4", "--json"]


def confusion(out):
    return json.loads(out)["held_out"]["confusion"]


def test_rare_events_do_not_become_no_for_all(cli, rare_csv):
    _, out, err = cli("fit", rare_csv, *RARE)
    assert confusion(out)["found"] + confusion(out)["false_alarms"] == 0
    assert "nearly every row is called 'no'" in err
    assert "--threshold cost=10:1" in err
    code, out, err = cli("fit", rare_csv, *RARE, "--threshold", "cost=20:1")
    assert code == 0
    assert "nearly every row" not in err
    table = confusion(out)
    assert table["found"] >= 10
    assert sum(table.values()) == 800
    assert json.loads(out)["threshold"] == {"value": pytest.approx(1 / 21), "costs": [20, 1]}
    text = cli("inspect", "model.sim")[1]
    assert "said no" in text
    assert "without a model" in text


def test_the_threshold_goes_with_the_model(cli, rare_csv):
    cli("fit", rare_csv, *RARE, "--threshold", "0.1")
    found = pd.read_csv(io.StringIO(cli("predict", "model.sim", rare_csv)[1]))
    assert ((found["prediction"] == "yes") == (found["probability of yes"] > 0.1)).all()
    assert (found["prediction"] == "yes").any()
    other = pd.read_csv(io.StringIO(cli("predict", "model.sim", rare_csv, "--threshold", 0.05)[1]))
    assert ((other["prediction"] == "yes") == (other["probability of yes"] > 0.05)).all()
    assert (
        "1.00000000000000006e-01 THEN 'yes'"
        in cli("export", "model.sim", "--to", "sql", "--value", "class")[1]
    )


def test_the_page_shows_thresholds_and_their_costs(cli, rare_csv, tmp_path):
    assert cli("fit", rare_csv, *RARE, "--threshold", "cost=20:1", "--report", "r.html")[0] == 0
    page = (tmp_path / "r.html").read_text()
    assert "What a threshold costs" in page
    assert "a missed one costs 20 false alarms" in page
    assert "said yes" in page
    assert "Other thresholds" in page


def test_class_weights_move_the_probabilities(cli, rare_csv):
    plain = confusion(cli("fit", rare_csv, *RARE)[1])
    weighted = confusion(cli("fit", rare_csv, *RARE, "--class-weight", "yes=20")[1])
    balanced = confusion(cli("fit", rare_csv, *RARE, "--class-weight", "balanced")[1])
    assert weighted["found"] > plain["found"]
    assert balanced["found"] > plain["found"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--threshold", "2"], "a probability such as 0.2, or cost=5:1"),
        (["--threshold", "cost=0:1"], "a probability such as 0.2, or cost=5:1"),
        (["--threshold", "cost=5"], "a probability such as 0.2, or cost=5:1"),
        (["--class-weight", "yes"], "is balanced, or such as yes=5"),
        (["--class-weight", "maybe=5"], "there is no class 'maybe'; there are no, yes"),
        (["--threshold", "cost=5:1", "--class-weight", "yes=5"], "use one of the two"),
        (["-t", "a", "--threshold", "0.2"], "for a target of two classes"),
        (["-t", "a", "--class-weight", "balanced"], "for a single target with classes"),
    ],
)
def test_thresholds_and_weights_that_make_no_sense(cli, rare_csv, options, says):
    given = options if "-t" in options else ["-t", "died", *options]
    code, _, err = cli("fit", rare_csv, *given)
    assert code in (ExitCode.USAGE, ExitCode.DATA)
    assert says in err
