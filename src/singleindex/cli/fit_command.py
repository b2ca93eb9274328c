"""`singleindex fit`: from a table to a saved model and an answer in a few lines."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from .data import Data, DataOptions, load_data
from .fitting import FitOptions, Fitting, plan_fit, run_fit
from .messages import counted, progress, say_note
from .model_file import ModelFile, write_model
from .options import COLUMNS, READING, TARGET, split_options, talking
from .output import check_output, write_output
from .tables import ReadOptions, read_table
from .text import summary_json, summary_text

EPILOG = """\b
Examples:
  singleindex fit patients.csv --target relapse -o relapse.sim
  singleindex fit spectra.parquet -t octane --holdout 0.25 --report octane.html
  singleindex fit genes.csv -t y --structure group --groups pathways.csv
  singleindex fit text.svm --json
  cat data.csv | singleindex fit - -t y -o - > model.sim

The table has one row per case and one column per feature. Text columns become one feature per value;
constant columns, row numbers, identifiers and dates are left out with a note.
"""


def counts(ctx: click.Context, param: click.Parameter, value: str | None) -> list[int] | None:
    if value is None:
        return None
    parts = [part.strip() for part in value.split(",")]
    if not all(part.isdecimal() and int(part) for part in parts):
        raise click.BadParameter("whole numbers from 1 on with commas between them, such as 5,10,20")
    return [int(part) for part in parts]


@click.command("fit", epilog=EPILOG)
@click.argument("data")
@TARGET
@click.option("-o", "--output", default="model.sim", show_default=True, help="Where to save the model.")
@click.option("--report", "report_path", metavar="FILE", help="Also write a report page (HTML).")
@click.option(
    "--holdout",
    type=click.FloatRange(0, 0.9),
    default=0.0,
    metavar="SHARE",
    help="Keep this share of the rows, such as 0.25, to test on.",
)
@click.option(
    "--structure",
    type=click.Choice(["sparse", "group", "rows", "low-rank"]),
    default="sparse",
    show_default=True,
    help="What the weights may look like: few features; few groups; the same few features for all "
    "targets; a matrix of low rank.",
)
@click.option(
    "--groups",
    metavar="FILE",
    help="CSV of feature,group. Without it, a group is the features of one column.",
)
@click.option("--shape", metavar="ROWSxCOLS", help="Of the features as a matrix, for low-rank.")
@click.option(
    "--never-penalise",
    multiple=True,
    metavar="COL",
    help="A column that is in the model in any case; --n-atoms does not count it.",
)
@click.option(
    "--sign",
    multiple=True,
    metavar="COL=+",
    help="A column whose weight is not negative; COL=- not positive.",
)
@click.option("--n-atoms", metavar="LIST", callback=counts, help="Numbers of features, or groups, to try.")
@click.option(
    "--folds", type=click.IntRange(2), default=10, show_default=True, help="Of the cross-validation."
)
@click.option("--scoring", help="What to choose by; scikit-learn's names. Log-loss or squared error.")
@click.option(
    "--rule",
    type=click.Choice(["average", "best", "one_se"]),
    default="average",
    show_default=True,
    help="An average of the models that score well, the best one, or the simplest within one standard error "
    "of it.",
)
@click.option("--average", is_flag=True, help="Average the models of the folds, whatever the rule.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of all random choices.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Folds to run side by side.")
@COLUMNS
@READING
@talking
def command(
    data: str, output: str, report_path: str | None, as_json: bool, quiet: bool, **given: Any
) -> None:
    """Learn which columns of DATA predict the target, and the shape of the response.

    DATA is a CSV, TSV, Parquet, svmlight or npz file, .gz and .bz2 included, or - for standard input.
    The settings are chosen by cross-validation.
    """
    reading, data_options, rest = split_options(given)
    check_output(output, report_path)
    if output == "-" and sys.stdout.isatty():
        raise click.UsageError("a model on the terminal is not readable; redirect it, or use -o FILE")
    loaded = load_data(read_table(data, reading), data_options)
    estimator, notes = plan_fit(loaded, FitOptions(**rest), verbose=not quiet)
    for note in [*loaded.notes, *notes]:
        say_note(note)
    size = f"{counted(loaded.train.n, 'row')}, {counted(len(loaded.preparation.names), 'feature')}"
    with progress(f"searching settings for {size}"):
        fitting = run_fit(estimator, loaded, notes)
    file = ModelFile(
        fitting.model, loaded.preparation, make_record(data, loaded, fitting, reading, data_options)
    )
    write_model(file, output)
    if report_path is not None:
        write_report(file, loaded, report_path, given["jobs"])
    answer = summary_json(file) if as_json else summary_text(file)
    # Where the model or the page goes to standard output, words about them must not.
    click.echo(json.dumps(answer, indent=1) if as_json else answer, err="-" in (output, report_path))
    if output != "-" and not as_json:
        say_note(f"saved to {output}; next: singleindex report {shlex.quote(output)} {shlex.quote(data)}")


def make_record(
    path: str, data: Data, fitting: Fitting, reading: ReadOptions, options: DataOptions
) -> dict[str, Any]:
    """Return what is kept of a fit beside the model: enough to tell it, and to run it again."""
    from .. import __version__

    return {
        "command": called_with(),
        "data": "standard input" if path == "-" else Path(path).name,
        "version": __version__,
        "target": data.target.names,
        "task": data.target.task,
        "weights": options.weights,
        "holdout": options.holdout,
        "seed": options.seed,
        "drop_unlabelled": options.drop_unlabelled,
        "n_rows": data.train.n,
        "n_test": data.test.n if data.test else 0,
        "n_columns": data.n_columns,
        "fingerprint": data.fingerprint,
        "notes": data.notes + fitting.notes,
        "test_scores": fitting.test_scores,
        "null_scores": fitting.null_scores,
        "test_errors": fitting.test_errors,
    }


def called_with() -> str:
    arguments = getattr(click.get_current_context().find_root().command, "arguments", [])
    return "singleindex " + " ".join(shlex.quote(argument) for argument in arguments)


def write_report(file: ModelFile, data: Data, path: str, jobs: int) -> None:
    from .reporting import page_for

    with progress("writing the report"):
        page = page_for(file, data.train, data.test, jobs=jobs)
    write_output(page, path)
    if path != "-":
        say_note(f"report in {path}")
