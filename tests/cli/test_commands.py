"""Every command as a new user would call it: what it prints, what it writes, how it ends."""

import io
import json
import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

import singleindex
from singleindex import SingleIndexClassifierCV, SingleIndexRegressor, save
from singleindex.cli.app import COMMANDS, app, run
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
        assert cli("fit", name, "--target", "relapse", "-o", f"{name}.sim")[0] == 0
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
    X, y = wide.drop(columns="relapse").to_numpy(), wide["relapse"].to_numpy()
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


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["fit", "no.csv", "-t", "y"], ExitCode.DATA, "there is no file no.csv"),
        (["fit", "DATA", "-t", "relaps"], ExitCode.DATA, "did you mean 'relapse'"),
        (["fit", "DATA"], ExitCode.DATA, "--target COL"),
        (["fit", "DATA", "-t", "relapse", "--n-atoms", "many"], ExitCode.USAGE, "whole numbers"),
        (["fit", "DATA", "-t", "relapse", "--scoring", "nonsense"], ExitCode.DATA, "nonsense"),
        (["fit", "DATA", "-t", "relapse", "--scoring", "r2"], ExitCode.DATA, "not for classification"),
        (["fit", "DATA", "-t", "gene_1", "--scoring", "roc_auc"], ExitCode.DATA, "not for regression"),
        (["fit", "sheet.xls", "-t", "y"], ExitCode.DATA, "save it as .xlsx or CSV"),
        (["fit", "DATA", "-t", "relapse", "-o", "no/where.sim"], ExitCode.USAGE, "create it first"),
        (["fit"], ExitCode.USAGE, "Missing argument"),
        (["fly"], ExitCode.USAGE, "No such command"),
        (["predict", "no.sim", "DATA"], ExitCode.DATA, "there is no model file"),
        (["predict", "DATA", "DATA"], ExitCode.MODEL, "singleindex.save did not write it"),
        (["fit", "DATA", "-t", "gene_1", "--task", "classification"], ExitCode.DATA, "single row"),
        (["fit", "DATA", "-t", "relapse", "--weights", "gene_1"], ExitCode.DATA, "at least 0"),
        (["fit", "DATA", "-t", "relapse", "--structure", "rows"], ExitCode.DATA, "several targets"),
        (["fit", "DATA", "-t", "relapse", "--structure", "group"], ExitCode.DATA, "--groups FILE"),
        (["path", "DATA", "-t", "relapse", "--positive", "7"], ExitCode.DATA, "no class '7'"),
    ],
)
def test_errors_are_one_line(cli, wide_csv, arguments, code, says):
    found, out, err = cli(*(wide_csv if a == "DATA" else a for a in arguments))
    assert found == code
    assert says in err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert out == ""


def test_debug_shows_where(cli):
    with pytest.raises(Exception, match="there is no file"):
        cli("fit", "no.csv", "-t", "y", "--debug")


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (KeyboardInterrupt(), ExitCode.INTERRUPTED, "interrupted"),
        (KeyError("x"), ExitCode.UNEXPECTED, "unexpected KeyError: 'x'; run again with --debug"),
        (ValueError("two\n  lines"), ExitCode.DATA, "two lines"),
    ],
)
def test_whatever_happens_ends_in_one_line(cli, monkeypatch, error, code, says):
    def fail(path):
        raise error

    monkeypatch.setattr("singleindex.cli.inspect_command.read_model", fail)
    found, out, err = cli("inspect", "m.sim")
    assert (found, out) == (code, "")
    assert err.strip().startswith(f"singleindex: error: {says}")
    assert err.strip().count("\n") == 0


def test_a_target_with_gaps(cli, messy, tmp_path):
    messy = messy.assign(**{"class": messy["class"].where(~messy.index.isin([1, 2]))})
    messy[["dose", "naïve âge", "class"]].dropna(subset="dose").to_csv(tmp_path / "t.csv", index=False)
    code, _, err = cli("fit", "t.csv", "-t", "class", *FAST)
    assert code == ExitCode.DATA
    assert "missing in 2 of 87 rows; add --drop-unlabelled" in err
    code, _, err = cli("fit", "t.csv", "-t", "class", "--drop-unlabelled", "--n-atoms", 2)
    assert code == 0
    assert "2 rows without a target are left out" in err


def test_constant_target(cli, wide, tmp_path):
    wide.assign(relapse=1).to_csv(tmp_path / "t.csv", index=False)
    assert "1 in every row" in cli("fit", "t.csv", "-t", "relapse")[2]


def test_score_refuses_unknown_classes(cli, wide, wide_csv, tmp_path):
    cli("fit", wide_csv, "-t", "relapse", "-o", "m.sim", *FAST)
    wide.assign(relapse=2).head(5).to_csv(tmp_path / "t.csv", index=False)
    code, _, err = cli("score", "m.sim", "t.csv")
    assert code == ExitCode.DATA
    assert "in every row" in err


def test_few_rows_of_a_class_make_fewer_folds(cli, wide, tmp_path):
    y = np.zeros(60, dtype=int)
    y[:3] = 1
    wide.assign(relapse=y).to_csv(tmp_path / "t.csv", index=False)
    _, _, err = cli("fit", "t.csv", "-t", "relapse", "--n-atoms", 2)
    assert "class 1 has 3 rows: 3 folds in place of 10" in err


def test_a_sorted_file_is_shuffled(cli, tmp_path):
    rng = np.random.default_rng(0)
    x = np.sort(rng.standard_normal(80))
    frame = pd.DataFrame({"a": x, "b": rng.standard_normal(80), "y": x})
    frame.to_csv(tmp_path / "t.csv", index=False)
    _, out, _ = cli("fit", "t.csv", "-t", "y", "--json")
    assert -json.loads(out)["cross_validation"]["score"] < 0.1 * np.var(x)


# ---------------------------------------------------------------- the other commands


def test_path(cli, wide_csv):
    _, out, _ = cli("path", wide_csv, "-t", "relapse", "--n-atoms", "1,3,9", "--json")
    levels = json.loads(out)
    assert [level["n_features"] for level in levels] == [1, 3, 9]
    _, out, _ = cli("path", wide_csv, "-t", "relapse", "--n-atoms", "1,3,9", "-o", "-")
    found = pd.read_csv(io.StringIO(out))
    assert len(found) == 13
    assert dict(zip(found.feature[:1], found.weight[:1], strict=True)) == pytest.approx(levels[0]["weights"])
    _, out, _ = cli("path", wide_csv, "-t", "relapse", "--n-atoms", "1,3,9")
    assert "R² in sample" in out


def test_report_needs_the_rows_of_the_fit(cli, wide, wide_csv, tmp_path):
    cli("fit", wide_csv, "-t", "relapse", "--holdout", 0.25, "-o", "m.sim", *FAST)
    code, _, err = cli("report", "m.sim", wide_csv, "-o", "r.html")
    assert code == 0
    assert "15 held-out rows" in (tmp_path / "r.html").read_text()
    wide.head(50).to_csv(tmp_path / "t.csv", index=False)
    code, _, err = cli("report", "m.sim", "t.csv")
    assert code == ExitCode.DATA
    assert "not the rows that the model was fitted to" in err


def test_the_form_of_a_report_asks_for_columns_not_features(cli, messy_csv, tmp_path):
    cli("fit", messy_csv, "-t", "Ergebnis €", "--drop", "class", "-o", "m.sim", "--impute", "mean", *FAST)
    assert cli("report", "m.sim", messy_csv, "-o", "r.html")[0] == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert '"name": "ville", "place"' in page
    assert '"values": ["Kraków", "São Paulo", "Zürich, CH"]' in page


@pytest.mark.parametrize("more", [[], ["--holdout", 0.2, "--positive", "no", "--impute", "mean"]])
def test_the_report_says_how_to_make_the_model_in_python(cli, messy, messy_csv, more):
    from singleindex.cli.model_file import read_model
    from singleindex.cli.recipe import python_lines

    how = more or ["--impute", "median", "--drop-unlabelled"]
    cli("fit", messy_csv, "-t", "class", "--drop", "Ergebnis €", "-o", "m.sim", *how, *FAST)
    file, known = read_model("m.sim"), {}
    exec(python_lines(file), known)
    model = known["model"]
    np.testing.assert_array_equal(model.estimator_.coef_, file.model.coef_)
    assert model.preparation_.names == file.preparation.names
    assert model.preparation_.fills == file.preparation.fills


def test_models_from_python_work_too(cli, wide, wide_csv):
    X, y = wide.drop(columns="relapse"), wide["relapse"]
    singleindex.save(singleindex.SingleIndexClassifier(n_atoms=3).fit(X, y), "m.sim")
    code, out, _ = cli("predict", "m.sim", wide_csv)
    assert code == 0
    assert len(out.splitlines()) == 61
    assert cli("inspect", "m.sim")[0] == 0
    assert cli("score", "m.sim", wide_csv, "-t", "relapse")[0] == 0


def test_demo(cli, tmp_path):
    code, out, err = cli("demo", "tour")
    assert code == 0
    assert "gene_31" in out
    assert "$ singleindex fit" in err
    scores = dict(re.findall(r"^  (\S+) +(?:[\d.]+) +([\d.]+) +(?:[\d.]+)$", out, re.MULTILINE))
    assert scores.keys() == {"singleindex", "L1-logistic", "L2-logistic"}
    assert min(scores, key=lambda name: float(scores[name])) == "singleindex"
    assert "L1-logistic: 50 penalties in the scale of the data" in out
    page = (tmp_path / "tour" / "report.html").read_text()
    assert "singleindex fit tour/patients.csv --target responds" in page
    code, _, err = cli("demo", "tour")
    assert "--force" in err


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_examples(cli, name):
    code, out, _ = cli(name, "--help")
    assert code == 0
    assert "Usage: singleindex" in out
    assert name == "demo" or "Examples:" in out


def test_help_version_and_completion(cli):
    _, out, _ = cli("--help")
    assert all(name in out for name in COMMANDS)
    assert "Exit codes" in out
    assert cli("--version")[1] == f"singleindex {singleindex.__version__}\n"
    for shell in ("bash", "zsh", "fish"):
        assert "_SINGLEINDEX_COMPLETE" in cli("shell-completion", shell)[1]


def test_the_tab_key_knows_commands_and_options():
    from click.shell_completion import ShellComplete

    complete = ShellComplete(app, {}, "singleindex", "_SINGLEINDEX_COMPLETE")
    assert "report" in [item.value for item in complete.get_completions([], "re")]
    assert "--holdout" in [item.value for item in complete.get_completions(["fit"], "--h")]


@pytest.mark.parametrize(
    ("before", "typed", "kind"),
    [
        (["fit"], "pat", "file"),
        (["predict", "m.sim"], "", "file"),
        (["predict"], "m", "file"),
        (["fit", "t.csv", "--report"], "", "file"),
        (["export", "m.sim", "--dialect"], "", "plain"),
    ],
)
def test_the_tab_key_knows_files_and_dialects(before, typed, kind):
    from click.shell_completion import ShellComplete

    from singleindex.export import DIALECTS

    found = ShellComplete(app, {}, "singleindex", "_SINGLEINDEX_COMPLETE").get_completions(before, typed)
    assert {item.type for item in found} == {kind}
    if kind == "plain":
        assert {item.value for item in found} == set(DIALECTS)


def test_a_dialect_that_is_none_gets_the_list(cli, wide_csv):
    cli("fit", wide_csv, "-t", "relapse", *FAST)
    code, _, err = cli("export", "model.sim", "--to", "json", "--dialect", "oracle")
    assert code == ExitCode.USAGE
    assert "'postgres'" in err


def test_the_next_line_works_as_it_is_printed(cli, wide, tmp_path):
    wide = wide.iloc[:, [3, 50, 77, 120, -1]].assign(größe=["groß", "ohne", *["klein"] * 58])
    wide.to_csv(tmp_path / "it's wide; really.csv", index=False, sep="#", encoding="latin-1")
    said = ["--separator", "#", "--encoding", "latin-1", "--na", "ohne", "--impute", "median"]
    for extra in (["-o", "my model.sim", *said], ["--report", "r.html", *said]):
        _, _, err = cli("fit", "it's wide; really.csv", "-t", "relapse", *FAST, *extra)
        line = err[err.index("next: ") + 6 :].strip()
        program, *arguments = shlex.split(line)
        assert program == "singleindex"
        code, _, err = cli(*arguments)
        assert code == 0, err


PREPARED = {
    "columns": ["a", "b", "c"], "kinds": ["number"] * 3, "fills": [0.0] * 3, "categories": {}, "dropped": {},
    "imputed": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("preparation", "record"),
    [
        (PREPARED | {"columns": ["a"]}, {}),
        (PREPARED | {"columns": ["a", "b"], "kinds": ["number"] * 2, "fills": [0.0] * 2}, {}),
        (PREPARED | {"kinds": ["number", "number", "category"]}, {}),
        (PREPARED | {"categories": {"c": []}}, {}),
        (PREPARED | {"columns": 3}, {}),
        ({"n_features": 10**12, "one_based": False, "given_names": None}, {}),
        ({"n_features": 3, "one_based": False, "given_names": ["a"]}, {}),
        ({"colour": 3}, {}),
        (None, {}),
        (PREPARED, {"command": "singleindex fit"}),
        (PREPARED, [1]),
    ],
)
def test_notes_that_do_not_go_with_the_model_are_refused(cli, tmp_path, preparation, record):
    X = np.random.default_rng(0).standard_normal((30, 3))
    model = SingleIndexRegressor(1).fit(X, np.tanh(X[:, 0]))
    save(model, tmp_path / "fine.sim", notes={"preparation": PREPARED, "record": {}})
    assert cli("inspect", "fine.sim")[0] == 0
    save(model, tmp_path / "odd.sim", notes={"preparation": preparation, "record": record})
    code, _, err = cli("inspect", "odd.sim")
    assert code == 4
    assert "odd.sim: its notes are malformed" in err
