"""What the commands say of how far a model and its predictions can be trusted."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from singleindex.cli.text import in_columns

FAST = ["--n-atoms", "2,3", "--folds", "3", "-q"]


@pytest.fixture
def patients(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(60, 10, 150).round(1),
            "smoker": rng.integers(0, 2, 150),
            "lab": rng.normal(size=150),
        }
    )
    index = (frame.age - 60) / 5 + 2 * frame.smoker - 1
    frame["relapse"] = np.where(rng.random(150) < 1 / (1 + np.exp(-2 * index)), "yes", "no")
    frame.to_csv(tmp_path / "patients.csv", index=False)
    return tmp_path / "patients.csv"


@pytest.fixture
def noise(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(120, 5)), columns=[f"lab{k}" for k in range(5)])
    frame["relapse"] = rng.permutation(np.repeat(["yes", "no"], 60))
    frame.to_csv(tmp_path / "noise.csv", index=False)
    return tmp_path / "noise.csv"


def test_the_terminal_says_where_there_is_no_evidence(cli, noise, patients):
    code, out, _ = cli("fit", noise, "-t", "relapse", *FAST)
    assert code == 0
    assert "No evidence that the 5 features predict relapse (p = 0." in out
    assert "It uses what such a search finds in noise: lab" in out
    assert "effect on the prediction" not in out  # there is none to be told of
    code, out, _ = cli("fit", patients, "-t", "relapse", *FAST)
    assert "of 3 features are in use to predict relapse" in out
    assert "No evidence" not in out


def test_the_terminal_names_what_halves_find_again(cli, patients, tmp_path):
    model = tmp_path / "m.sim"
    _, out, _ = cli("fit", patients, "-t", "relapse", "-o", model, *FAST)
    assert "; 2 are stable: " in out
    marked = [line.split()[0] for line in out.splitlines() if line.endswith("   stable")]
    assert sorted(marked) == ["age", "smoker"]
    assert cli("inspect", model)[1].count("   stable") == 2  # it is kept
    _, out, _ = cli("fit", patients, "-t", "relapse", "--json", *FAST)
    told = json.loads(out)["stable"]
    assert sorted(told["features"]) == ["age", "smoker"]
    assert 0 < told["bound"] <= 1


def test_predictions_of_the_rows_are_told(cli, patients, noise, tmp_path):
    model = tmp_path / "m.sim"
    _, out, _ = cli("fit", patients, "-t", "relapse", "-o", model, *FAST)
    told = out.splitlines()[-1]
    _, predicted, _ = cli("predict", model, patients, "-q")
    values = pd.read_csv(io.StringIO(predicted))["probability of yes"]
    assert told.startswith("the probability of yes goes from ")
    low, high = (float(word.rstrip(",")) for word in (told.split()[6], told.split()[8]))
    assert low == pytest.approx(values.min(), rel=0.1)
    assert high == pytest.approx(values.max(), rel=0.1)


def test_a_warning_is_in_the_answer_and_in_the_model(cli, patients, tmp_path):
    frame, model = pd.read_csv(patients), tmp_path / "m.sim"
    frame["code"] = np.where(frame.relapse == "yes", "R", "H")
    frame.to_csv(patients, index=False)
    _, out, _ = cli("fit", patients, "-t", "relapse", "-o", model, *FAST)
    assert "warning: column 'code' looks like a leak" in out
    assert "warning: column 'code' looks like a leak" in cli("inspect", model)[1]


def test_long_numbers_keep_their_distance():
    lines = in_columns([["feature", "weight", "in models"], ["a", "+1.61 × 10⁻¹⁰⁰", "100%"]], 7)
    assert lines[1] == "a        +1.61 × 10⁻¹⁰⁰        100%"
    assert len({len(line) for line in lines}) == 1


def test_features_are_told_by_effect_in_the_outcomes_units(cli, patients):
    _, out, _ = cli("fit", patients, "-t", "relapse", *FAST)
    first = next(line for line in out.splitlines() if line.startswith("age"))
    assert "+10: " in first
    assert first.count(" %") == 2
    _, out, _ = cli("fit", patients, "-t", "relapse", "--json", *FAST)
    told = json.loads(out)
    assert [feature["name"] for feature in told["features"]][:2] == ["age", "smoker"]
    effect = told["features"][0]["effect"]
    assert effect["step"] == 10
    assert effect["before"] < effect["after"]
    assert told["cross_validation"]["p_value"] < 0.05
    assert told["cross_validation"]["held_out"]["AUC"]["error"] > 0


def test_scores_have_errors(cli, patients):
    _, out, _ = cli("fit", patients, "-t", "relapse", "--holdout", 0.3, "-o", "m.sim", *FAST)
    line = next(line for line in out.splitlines() if line.strip().startswith("AUC"))
    assert line.count("±") == 2
    _, out, _ = cli("score", "m.sim", patients, "--json")
    assert set(json.loads(out)["errors"]["log-loss"]) == {"score", "error", "other", "gain", "gain_error"}


def test_predictions_are_explained(cli, patients):
    cli("fit", patients, "-t", "relapse", "-o", "m.sim", *FAST)
    code, out, _ = cli("predict", "m.sim", patients, "--explain", "--to-pass", 0.5, "--json")
    assert code == 0
    assert "outside" not in json.loads(out)
    found = pd.DataFrame(json.loads(out))
    parts = [name for name in found if name.startswith("contribution of ")]
    assert parts[:2] == ["contribution of age", "contribution of smoker"]
    np.testing.assert_allclose(found["base"] + found[parts].sum(axis=1), found["index"], atol=1e-9)
    changes = found["to pass 0.5"]
    assert changes[changes != ""].str.match(r"\w+ from \S+ to \S+").all()


def test_values_beyond_those_of_the_fit_are_named(cli, patients):
    cli("fit", patients, "-t", "relapse", "-o", "m.sim", *FAST)
    pd.read_csv(patients).head(3).assign(age=[55.0, 160.0, 60.0]).to_csv("new.csv", index=False)
    _, out, err = cli("predict", "m.sim", "new.csv", "--explain", "--json")
    assert json.loads(out)["outside"] == ["", "age", ""]
    assert "1 row with values beyond those of the fit" in err


def test_several_classes_are_explained_one_by_one(cli, patients):
    frame = pd.read_csv(patients)
    frame["stage"] = pd.cut(frame.age, [0, 55, 65, 200], labels=["a", "b", "c"]).astype(str)
    frame.drop(columns="relapse").to_csv("stages.csv", index=False)
    cli("fit", "stages.csv", "-t", "stage", "-o", "m.sim", *FAST)
    _, out, _ = cli("predict", "m.sim", "stages.csv", "--explain", "--json")
    found = pd.DataFrame(json.loads(out))
    for name in "abc":
        parts = [column for column in found if column.startswith(f"contribution to {name} of ")]
        total = found[f"base of {name}"] + found[parts].sum(axis=1)
        np.testing.assert_allclose(total, found[f"index of {name}"], atol=1e-9)
