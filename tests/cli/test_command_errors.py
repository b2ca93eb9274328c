"""What goes wrong ends in one line that says what to do, and in an exit code that tells what it was."""

import json

import numpy as np
import pandas as pd
import pytest

from singleindex.cli.messages import ExitCode

FAST = ["--n-atoms", "2,4", "--folds", "3"]


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
