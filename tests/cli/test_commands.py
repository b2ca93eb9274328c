"""Every command as a new user would call it: what it prints, what it writes, how it ends."""

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

import singleindex
from singleindex import SingleIndexClassifierCV
from singleindex.cli.app import run
from singleindex.cli.messages import ExitCode

FAST = ["--n-atoms", "2,4", "--folds", "3"]


def call(arguments, **settings):
    return subprocess.run(
        [sys.executable, "-m", "singleindex.cli", *map(str, arguments)], capture_output=True, **settings
    )


# ---------------------------------------------------------------- fit, predict, score


def test_fit_is_the_fit_of_python(cli, wide, wide_csv):
    code, out, err = cli("fit", wide_csv, "--target", "relapse", "-o", "m.sim")
    assert code == 0
    assert "features with a weight" in out
    assert "saved to m.sim" in err
    expected = SingleIndexClassifierCV().fit(wide.drop(columns="relapse"), wide["relapse"])
    np.testing.assert_allclose(singleindex.load("m.sim").coef_, expected.coef_, rtol=1e-12, atol=1e-15)


def test_units_of_columns_do_not_matter(cli, wide, wide_csv):
    """A column in thousandths is found as well as the same column in units."""
    wide.assign(gene_3=1000 * wide["gene_3"]).to_csv("other.csv", index=False)
    for name in (wide_csv, "other.csv"):
        assert cli("fit", name, "--target", "relapse", "-o", f"{name}.sim", *FAST)[0] == 0
    plain, other = (singleindex.load(f"{name}.sim") for name in (wide_csv, "other.csv"))
    assert plain.coef_[3] != 0
    assert other.coef_[3] != 0


def test_a_messy_table_from_file_to_prediction(cli, messy, messy_csv):
    code, _, err = cli("fit", messy_csv, "-t", "Ergebnis €", "--drop", "class")
    assert code == ExitCode.DATA
    assert "4 values are missing in 2 columns of 90 rows: 'dose' 3, 'ville' 1" in err
    assert err.count("\n") == 1
    options = ["-t", "Ergebnis €", "--drop", "class", "--impute", "median", "--holdout", 0.25, "--json"]
    code, out, err = cli("fit", messy_csv, *options, "-o", "m.sim", *FAST)
    assert code == 0
    answer = json.loads(out)
    assert answer["task"] == "regression"
    assert answer["held_out"]["scores"]["R²"] > 0.7
    assert {"naïve âge", "dose"} <= {feature["name"] for feature in answer["features"]}
    for left_out in ("Patient ID", "name, full", "Datum", "constant"):
        assert left_out in answer["left_out"]
    code, out, _ = cli("predict", "m.sim", messy_csv, "--with", "Patient ID")
    found = pd.read_csv(io.StringIO(out))
    assert found["Patient ID"].tolist() == messy["Patient ID"].tolist()
    assert np.corrcoef(found["prediction"], messy["Ergebnis €"])[0, 1] > 0.8
    code, out, _ = cli("score", "m.sim", messy_csv, "--json")
    residual = found["prediction"] - messy["Ergebnis €"]
    assert json.loads(out)["scores"]["RMSE"] == pytest.approx(np.sqrt(np.mean(residual**2)))


def test_text_classes(cli, messy_csv):
    code, out, _ = cli(
        "fit", messy_csv, "-t", "class", "--drop", "Ergebnis €", "--impute", "mean", "--json", *FAST
    )
    assert code == 0
    assert json.loads(out)["classes"] == ["no", "yes"]
    code, out, _ = cli("predict", "model.sim", messy_csv)
    found = pd.read_csv(io.StringIO(out))
    assert list(found) == ["prediction", "probability of no", "probability of yes", "index"]
    assert set(found["prediction"]) == {"no", "yes"}
    assert ((found["index"] > 0) == (found["prediction"] == "yes")).all()


def test_codes_in_late_rows_are_those_of_the_fit(cli):
    rng = np.random.default_rng(0)
    ward = rng.choice(["007", "12", "34"], 90)
    y = (ward == "007") + 0.1 * rng.standard_normal(90)
    pd.DataFrame({"ward": ward, "x": rng.standard_normal(90), "y": y}).to_csv("t.csv", index=False)
    pd.DataFrame({"ward": ["12"] * 250 + ["007"], "x": 0.0}).to_csv("new.csv", index=False)
    assert cli("fit", "t.csv", "-t", "y", "--n-atoms", 2, "--folds", 3)[0] == 0
    _, out, err = cli("predict", "model.sim", "new.csv")
    found = pd.read_csv(io.StringIO(out))["prediction"]
    assert found.iloc[-1] > found.iloc[0] + 0.5
    assert err == ""


def test_several_targets_share_their_rows(cli, wide, tmp_path):
    rng = np.random.default_rng(0)
    wide = wide.drop(columns="relapse").iloc[:, :30]
    for k in range(2):
        wide[f"y{k}"] = np.tanh(wide["gene_3"] - wide["gene_7"]) + 0.1 * rng.standard_normal(len(wide))
    wide.to_csv(tmp_path / "t.csv", index=False)
    code, out, _ = cli("fit", "t.csv", "-t", "y0", "-t", "y1", "--structure", "rows", "--json", *FAST)
    assert code == 0
    assert {"gene_3", "gene_7"} <= {feature["name"] for feature in json.loads(out)["features"]}
    code, out, _ = cli("predict", "model.sim", "t.csv")
    assert list(pd.read_csv(io.StringIO(out)))[:2] == ["prediction of y0", "prediction of y1"]
    code, out, _ = cli("inspect", "model.sim")
    assert code == 0
    code, out, _ = cli("report", "model.sim", "t.csv", "-o", "-")
    assert code == 0
    assert out.startswith("<!DOCTYPE html>")


def test_svmlight_and_npz_give_the_same_model(cli, wide, tmp_path):
    X, y = wide.iloc[:, :60].to_numpy(), wide["relapse"].to_numpy()
    dump_svmlight_file(X, y, str(tmp_path / "t.svm"), zero_based=False)
    np.savez(tmp_path / "t.npz", X=X, y=y)
    for name in ("t.svm", "t.npz"):
        code, _, _ = cli("fit", name, "-o", f"{name}.sim", *FAST)
        assert code == 0
    first, second = singleindex.load("t.svm.sim"), singleindex.load("t.npz.sim")
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=1e-6)
    _, out, _ = cli("inspect", "t.svm.sim")
    _, out_npz, _ = cli("inspect", "t.npz.sim")
    largest = np.abs(first.coef_).argmax()
    assert f"x{largest + 1} " in out  # svmlight counts from one
    assert f"x{largest} " in out_npz
    assert cli("predict", "t.svm.sim", "t.svm")[0] == 0
    assert cli("report", "t.svm.sim", "t.svm", "-o", "t.html")[0] == 0


def test_weights_are_not_a_feature(cli, wide, tmp_path):
    wide.assign(w=np.where(np.arange(60) < 40, 1.0, 0.0)).to_csv(tmp_path / "t.csv", index=False)
    wide.head(40).to_csv(tmp_path / "head.csv", index=False)
    code, out, _ = cli("fit", "t.csv", "-t", "relapse", "--weights", "w", "--json", *FAST)
    assert code == 0
    assert "w" not in {feature["name"] for feature in json.loads(out)["features"]}
    assert json.loads(out)["n_features"] == 200


def test_groups_from_a_file(cli, wide_csv, tmp_path):
    lines = ["feature,group", *(f"gene_{j},{j // 10}" for j in range(190)), "nobody,1"]
    (tmp_path / "groups.csv").write_text("\n".join(lines))
    code, out, err = cli(
        "fit", wide_csv, "-t", "relapse", "--groups", "groups.csv", "--n-atoms", 2, "--folds", 3, "--json"
    )
    assert code == 0
    assert "'nobody', which are no features" in err
    assert "10 features are in no group" in err
    groups = {int(f["name"].split("_")[1]) // 10 for f in json.loads(out)["features"]}
    assert len(groups) <= 12  # two groups, or soft thresholding


def test_groups_that_overlap_and_those_of_columns(cli, messy_csv, wide_csv, tmp_path):
    lines = [*(f"gene_{j},{j // 50}" for j in range(200)), "gene_0,3"]
    (tmp_path / "groups.csv").write_text("\n".join(lines))
    assert (
        cli("fit", wide_csv, "-t", "relapse", "--groups", "groups.csv", "--n-atoms", 2, "--folds", 3)[0] == 0
    )
    options = ["-t", "Ergebnis €", "--drop", "class", "--impute", "mean", "--structure", "group"]
    assert cli("fit", messy_csv, *options, "--n-atoms", 2, "--folds", 3)[0] == 0


def test_columns_that_are_never_penalised_and_signs(cli, wide_csv):
    options = ["fit", wide_csv, "-t", "relapse", "--folds", 3, "--json"]
    given = [*options, "--never-penalise", "gene_190", "--never-penalise", "gene_191", "--sign", "gene_190=-"]
    given += ["--sign", "gene_191=+"]
    code, out, _ = cli(*given)
    assert code == 0
    weights = {feature["name"]: feature["weight"] for feature in json.loads(out)["features"]}
    assert weights.get("gene_190", -1) < 0
    assert weights.get("gene_191", 1) > 0
    assert cli(*options, "--never-penalise", "gene_190")[1].count('"gene_190"') == 1
    for wrong, message in {
        ("--sign", "gene_1"): "such as --sign dose=+",
        ("--sign", "nobody=+"): "'nobody' is no feature in use",
        ("--never-penalise", "gene_1", "--structure", "low-rank"): "does not go with --structure low-rank",
    }.items():
        code, _, err = cli(*options, *wrong)
        assert code == ExitCode.DATA
        assert message in err


def test_low_rank_needs_a_shape(cli, wide_csv):
    code, _, err = cli("fit", wide_csv, "-t", "relapse", "--structure", "low-rank")
    assert code == ExitCode.DATA
    assert "--shape 40x40" in err
    code, _, err = cli("fit", wide_csv, "-t", "relapse", "--structure", "low-rank", "--shape", "3x3")
    assert "9 entries, but there are 200 features" in err


# ---------------------------------------------------------------- streams


def test_standard_input_and_output(cli, wide_csv, tmp_path, monkeypatch):
    table = wide_csv.read_bytes()
    done = call(["fit", "-", "-t", "relapse", "-o", "-", *FAST], input=table)
    assert done.returncode == 0
    assert done.stdout[:2] == b"PK"
    assert b"features with a weight" in done.stderr
    model = tmp_path / "m.sim"
    model.write_bytes(done.stdout)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(table)))
    assert cli("predict", model, "-")[1].startswith("prediction,probability of 0")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(model.read_bytes())))
    assert json.loads(cli("inspect", "-", "--json")[1])["target"] == ["relapse"]


def test_a_reader_that_goes_away_is_no_error(wide_csv, tmp_path):
    run(["fit", str(wide_csv), "-t", "relapse", "-o", str(tmp_path / "m.sim"), "-q", *FAST])
    command = f"{sys.executable} -m singleindex.cli predict {tmp_path}/m.sim {wide_csv} | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_without_click_there_is_one_line(tmp_path):
    (tmp_path / "click.py").write_text("raise ImportError")
    done = call(["--help"], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path), "PATH": ""})
    assert done.returncode == 1
    assert b'pip install "singleindex[cli]"' in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_quiet_says_nothing_but_the_answer(cli, wide_csv):
    code, out, err = cli("fit", wide_csv, "-t", "relapse", "--quiet", *FAST)
    assert (code, err) == (0, "")
    assert out
