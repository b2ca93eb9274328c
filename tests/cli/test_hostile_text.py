"""Names and labels that would act on a terminal, or in a spreadsheet, are shown and do nothing."""

import contextlib
import csv
import io
import os
import re
import sys
import threading

import numpy as np
import pandas as pd
import pytest

import singleindex
from singleindex.cli.app import run
from singleindex.cli.csv_text import csv_text
from singleindex.cli.messages import printable

FAST = ["--n-atoms", "2", "--folds", "3"]
ACTING = [
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x9b2J",
    "\u202eabc\u2066",
    "a\rb",
    "\x00",
    "\x08\x7f",
    "\u2028",
    "\ud800",
]
ANY_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


@pytest.mark.parametrize("text", ACTING)
def test_what_acts_is_written_as_escapes(text):
    assert not ANY_ACTING.search(printable(text))
    assert "\\" in printable(text)


@pytest.mark.parametrize("text", ["plain", "tab\tand\nline", "Zürich ✓ 🧬 नमस्ते", "می‌خواهم", "a\xa0b"])
def test_what_does_not_act_stays(text):
    assert printable(text) == text


@pytest.fixture
def hostile_csv(tmp_path):
    """A table whose columns, categories, classes and slips all carry escapes, line ends and formulas."""
    rng = np.random.default_rng(0)
    n = 90
    a, b = rng.standard_normal((2, n))
    frame = pd.DataFrame({
        "=cmd|'/C calc'!A0": a, "\x1b[2Jb\u202e\nR² 1.0": b,
        "@group\x1b": rng.choice(["\x1b[31mx", "+y+1", "z"], n), "constant\x9b": "\x1b]0;c\x07",
        "-note": ["=1+1", "-5", "+"] * (n // 3),
        "target\x1b": np.where(a > b, "\x1b[8mno\u202e\nway", "=yes()"),
    })  # fmt: skip
    path = tmp_path / "hostile\x1b[1m.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("command", ["fit", "inspect", "score", "path", "errors"])
def test_nothing_acts_on_the_terminal(cli, hostile_csv, command):
    fit = ["fit", hostile_csv, "-t", "target\x1b", "-o", "m\x1b.sim", *FAST]
    found = cli(*fit)
    if command == "inspect":
        assert not ANY_ACTING.search(cli("inspect", "m\x1b.sim", "--solver")[1])
        found = cli("inspect", "m\x1b.sim")
    elif command == "score":
        found = cli("score", "m\x1b.sim", hostile_csv)
    elif command == "path":
        found = cli("path", hostile_csv, "-t", "target\x1b", "--n-atoms", "1,3")
    elif command == "errors":
        found = cli("fit", "no\x1b[31m.csv", "-t", "\x9b\nx")
    code, out, err = found
    assert (code == 0) == (command != "errors")
    assert not ANY_ACTING.search(out + err)
    assert "\\x1b" in out + err
    assert not any(line.startswith("R² 1.0") for line in (out + err).splitlines())


def on_a_terminal(arguments):
    """Run a command with a terminal as its standard output; return what the terminal got."""
    ours, theirs = os.openpty()
    usual, got = sys.stdout, []
    reader = threading.Thread(target=read_all, args=(ours, got))  # a terminal holds a few thousand bytes only
    reader.start()
    try:
        with os.fdopen(theirs, "w", encoding="utf-8") as sys.stdout:
            assert run([str(argument) for argument in arguments]) == 0
    finally:
        sys.stdout = usual
        reader.join()
        os.close(ours)
    return b"".join(got).decode().replace("\r\n", "\n")


def read_all(terminal, got):
    """Read until the other side has gone, which Linux tells by an error."""
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 1 << 16):
            got.append(part)


def test_data_is_as_it_is_but_on_a_terminal(cli, hostile_csv):
    assert cli("fit", hostile_csv, "-t", "target\x1b", *FAST)[0] == 0
    head = pd.read_csv(hostile_csv).head(4)
    head.to_csv("head.csv", index=False)
    for arguments in (
        ["predict", "model.sim", "head.csv", "-q"],
        ["export", "model.sim", "--to", "sql", "--value", "class"],
        ["export", "model.sim", "--to", "json"],
    ):
        _, out, _ = cli(*arguments)
        assert "\u202e" in out
        assert not ANY_ACTING.search(on_a_terminal(arguments))


# ---------------------------------------------------------------- spreadsheets


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "-a", "--5", "=\n1"]
)
def test_formulas_get_an_apostrophe(cell):
    ((found, plain),) = csv.reader(io.StringIO(csv_text([[cell, "x"]]), newline=""))
    assert (found, plain) == ("'" + cell, "x")


@pytest.mark.parametrize(
    "cell",
    [-1.5, -3, float("-inf"), "-5", "+5", "-1.5e-3", "-1,5", "+", "-", "=", "", "a=1", "it's", "'=1", None],
)
def test_numbers_and_plain_text_stay(cell):
    assert csv_text([["x", cell]]) == f"x,{csv_cell(cell)}\n"


def csv_cell(cell):
    text = "" if cell is None else str(cell)
    return f'"{text}"' if "," in text else text


def test_predictions_and_paths_hold_no_formulas(cli, hostile_csv):
    assert cli("fit", hostile_csv, "-t", "target\x1b", *FAST)[0] == 0
    assert cli("predict", "model.sim", hostile_csv, "--with", "-note", "-o", "p.csv")[0] == 0
    found = pd.read_csv("p.csv", dtype=str)
    assert list(found)[:2] == ["'-note", "prediction"]
    assert found["'-note"].tolist() == ["'=1+1", "-5", "+"] * 30
    assert set(found["prediction"]) == {"\x1b[8mno\u202e\nway", "'=yes()"}
    model = singleindex.load("model.sim")
    assert cli("predict", "model.sim", hostile_csv, "--with", "-note", "-o", "p.parquet")[0] == 0
    exact = pd.read_parquet("p.parquet")
    assert exact["-note"].tolist() == ["=1+1", "-5", "+"] * 30
    assert set(exact["prediction"]) <= set(model.classes_)
    _, out, _ = cli("path", hostile_csv, "-t", "target\x1b", "--n-atoms", "1,2", "-o", "-")
    names = pd.read_csv(io.StringIO(out))["feature"]
    assert "'=cmd|'/C calc'!A0" in set(names)
    assert not names.str.match("[=+@-]").any()
