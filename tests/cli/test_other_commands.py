"""Paths, reports, the demo, help and the tab key, and models that other programs saved."""

import io
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import singleindex
from singleindex import SingleIndexRegressor, save
from singleindex.cli.app import COMMANDS, app
from singleindex.cli.messages import ExitCode

FAST = ["--n-atoms", "2,4", "--folds", "3"]
DOCS = Path(__file__).parents[2] / "docs"


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


def test_report_needs_the_rows_of_the_fit(cli, wide, tmp_path):
    wide = wide.iloc[:, [3, 50, 77, 120, -1]]
    wide.to_csv(tmp_path / "rows.csv", index=False)
    cli("fit", "rows.csv", "-t", "relapse", "--holdout", 0.25, "-o", "m.sim", *FAST)
    code, _, err = cli("report", "m.sim", "rows.csv", "-o", "r.html")
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
    assert missing_lines("start.md", out) == []
    assert missing_lines("command_line.md", out) == []
    assert missing_lines("start.md", out.replace("gene_64", "gene_65")) != []
    code, _, err = cli("demo", "tour")
    assert "--force" in err


def missing_lines(page, printed):
    """Return the lines of the page's sample answers of the demo that were not printed."""
    blocks = re.findall(r"```text\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    lines = [line for block in blocks if "dose_mg " in block for line in block.splitlines()]
    assert lines
    return [line for line in lines if line not in {*printed.splitlines(), "…"}]


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
