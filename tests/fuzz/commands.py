"""The command line in this process: tables of every kind and options of every kind, good and bad."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

from singleindex import SingleIndexClassifier, SingleIndexRegressor
from singleindex.cli.app import app

from .model_files import data, saved_models, to_bytes
from .mutations import WORDS, spoil_bytes
from .registry import Case, target
from .tables import Drawn, draw_file

KINDS = ["csv", "csv", "tsv", "svm", "npz", "parquet"]
DONE, WRONG_USE, BAD_DATA, BAD_MODEL = 0, 2, 3, 4

# One line each; what stands on it goes together.
FIT_OPTIONS = """
--task classification
--task regression
--weights x0
--drop x0
--drop no
--keep x1
--categorical x1
--dates days
--max-categories 2
--impute median
--impute most-frequent
--drop-unlabelled
--holdout 0.3
--holdout 0.9
--rule one_se
--average
--seed -1
--seed 1099511627776
--structure group
--structure rows
--structure low-rank --shape 2x2
--shape 0x0
--shape x
--n-atoms 99999999999999999999
--scoring roc_auc
--scoring no
-t x0
-t no
--folds 40
--jobs 0
"""
READ_OPTIONS = """
--separator ;
--separator ab
--separator=
--decimal ,
--decimal=
--encoding latin-1
--encoding utf-16
--encoding base64
--encoding no
--na 0
--format csv
--format npz
--format parquet
--format svmlight
--json
"""


def invoke(case: Case, *arguments: Any) -> str:
    """Run a command; return its standard output, or raise what it ended with."""
    words = [str(argument) for argument in arguments]
    case.say("singleindex", words)
    result = CliRunner().invoke(app, words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    said = result.stderr.strip()
    case.need(result.exit_code in (DONE, WRONG_USE, BAD_DATA, BAD_MODEL), f"exit code {result.exit_code}")
    if result.exit_code != DONE:
        case.need(said, "a command failed without a word")
        raise ValueError(said[-300:])
    return result.stdout


def options_from(case: Case, options: str) -> list[str]:
    """Draw some options; whatever they are, they may be what is wrong."""
    if case.chance(0.6):
        return []
    lines = options.strip().splitlines()
    drawn = [word for _ in range(case.rng.integers(1, 3)) for word in case.pick(lines).split()]
    case.spoilt("options", drawn)
    return drawn


def target_of(drawn: Drawn) -> list[str]:
    return [] if drawn.kind in ("svm", "npz") else ["-t", "y"]


@target("cli-fit")
def fit_a_table(case: Case) -> None:
    drawn = draw_file(case, KINDS)
    given = [*target_of(drawn), *options_from(case, FIT_OPTIONS + READ_OPTIONS)]
    if case.chance(0.2):
        invoke(case, "path", drawn.path, "--n-atoms", "1,2", *[o for o in given if o != "--average"])
        return
    invoke(case, "fit", drawn.path, "--folds", "2", "--n-atoms", "1,2", "-o", "model.sim", *given)
    case.need(Path("model.sim").exists(), "there is no model after a fit")
    json.loads(invoke(case, "inspect", "model.sim", "--json"))
    if not any(
        word.startswith(("--separator", "--decimal", "--encoding", "--format", "--na")) for word in given
    ):
        check_predictions(case, invoke(case, "predict", "model.sim", drawn.path, "--json", "--impute"))


def check_predictions(case: Case, text: str, n_rows: int | None = None) -> None:
    found = json.loads(text)
    lengths = {len(values) for values in found.values()}
    case.need(len(lengths) == 1, "columns of predictions of several lengths")
    case.need(n_rows is None or lengths == {n_rows}, "there is not one prediction per row")
    for values in found.values():
        if all(isinstance(value, float) for value in values):
            case.need_finite(values, "predictions on the command line")


# ---------------------------------------------------------------- with a model


@cache
def models() -> dict[str, bytes]:
    """Return models of the columns x0, x1, x2 by name, and of matrices of as many columns."""
    import pandas as pd

    X, y = data()
    X = X[:, :3]
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    return {
        "names": to_bytes(SingleIndexRegressor(2).fit(frame, y)),
        "classes": to_bytes(
            SingleIndexClassifier(2).fit(frame, np.array(["no", "yes\\'; --"])[(y > 0).astype(int)])
        ),
        "matrix": to_bytes(SingleIndexRegressor(2).fit(X, y)),
    }


@target("cli-use")
def use_a_model(case: Case) -> None:
    name = case.pick(models())
    drawn = draw_file(case, KINDS, n_features=3)
    model = case.write("model.sim", models()[name])
    if (name == "matrix") != (drawn.kind in ("svm", "npz")):
        case.spoilt("names where there are none, or none where they are needed")
    if drawn.first_column:
        case.spoilt("columns from 1 on, where models made in Python count from 0")
    given = options_from(case, READ_OPTIONS)
    if case.chance(0.8):
        text = invoke(case, "predict", model, drawn.path, *given, *([] if "--json" in given else ["--json"]))
        check_predictions(case, text, len(drawn.y) if case.sound else None)
        return
    if name == "classes":
        case.spoilt("other classes than the model has")
    invoke(case, "score", model, drawn.path, *given, "-t", "y")


@target("cli-model")
def use_a_spoilt_model(case: Case) -> None:
    """Print and export models: those of every kind, and damaged ones."""
    content = case.pick([*models().values(), *(content for content, _ in saved_models().values())])
    case.spoilt("any model")
    if case.chance(0.3):
        content = spoil_bytes(case, content)
    model = case.write("model.sim", content)
    command = case.pick(["inspect", "json", "sql", "sql", "report"])
    if command == "inspect":
        invoke(case, "inspect", model, *case.pick([[], ["--json"]]))
    elif command == "json":
        json.loads(invoke(case, "export", model, "--to", "json"))
    elif command == "report":
        drawn = draw_file(case, ["csv"], n_features=3)
        invoke(case, "report", model, drawn.path, "--title", case.pick([*WORDS, "{{BODY}}"]))
    else:
        dialect = case.pick(["ansi", "duckdb", "sqlite", "postgres", "mysql", "bigquery", "no"])
        value = case.pick(["expected", "class", "index"])
        text = invoke(case, "export", model, "--to", "sql", "--dialect", dialect, "--value", value)
        case.need(text.strip(), "an empty SQL expression")
