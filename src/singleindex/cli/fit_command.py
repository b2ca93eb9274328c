"""`singleindex fit`: from a table to a saved model and an answer in a few lines."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from typing import Any

import click

from .data import Data, DataOptions, load_data
from .decisions import THRESHOLD, Threshold, note_on_threshold
from .drift import index_facts
from .fitting import FitOptions, Fitting, plan_fit, run_fit
from .memory import PER_SEARCHED_ROW, MemoryOptions, goes_by_blocks, memory_options
from .messages import CliError, counted, progress, say_note, say_warning
from .model_file import ModelFile, write_model
from .options import COLUMNS, DATA, FILE, READING, TARGET, split_options, talking
from .output import check_output, write_output
from .read_options import ReadOptions
from .several import read_tables, source_of
from .tables import DECIMAL_COMMAS
from .text import summary_json, summary_text

EPILOG = """\b
Examples:
  singleindex fit patients.csv --target relapse -o relapse.sim
  singleindex fit spectra.parquet -t octane --holdout 0.25 --report octane.html
  singleindex fit patients.xlsx -t relapse --sheet 2024 --impute median --threshold cost=5:1
  singleindex fit genes.csv -t y --structure group --groups pathways.csv
  singleindex fit text.svm --json
  cat data.csv | singleindex fit - -t y -o - > model.sim
  singleindex fit "clicks-*.csv.gz" -t clicked --memory 1GB
  singleindex fit clicks.parquet -t clicked --sample 20000

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
@DATA
@TARGET
@click.option(
    "-o", "--output", type=FILE, default="model.sim", show_default=True, help="Where to save the model."
)
@click.option("--report", "report_path", type=FILE, metavar="FILE", help="Also write a report page (HTML).")
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
    type=FILE,
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
@click.option(
    "--class-weight",
    multiple=True,
    metavar="CLASS=W",
    help="Weight of a class, such as ja=5; or balanced. It moves the probabilities.",
)
@THRESHOLD
@click.option("--average", is_flag=True, help="Average the models of the folds, whatever the rule.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of all random choices.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Folds to run side by side.")
@click.option(
    "--sample",
    type=click.IntRange(10),
    metavar="N",
    help="Learn from a random sample of N rows, the same every time: a quick look.",
)
@memory_options
@COLUMNS
@READING
@talking
def command(
    data: tuple[str, ...], output: str, report_path: str | None, as_json: bool, quiet: bool,
    memory: int | None, in_blocks: bool | None, sample: int | None, **given: Any,
) -> None:  # fmt: skip
    """Learn which columns of DATA predict the target, and the shape of the response.

    DATA is a CSV, TSV, Excel, Parquet, svmlight or npz file, .gz and .bz2 included, or - for standard input;
    several tables of the same columns, or a pattern such as "week-*.csv", are read as one. The settings are
    chosen by cross-validation. Files beyond --memory are read in blocks of rows, many times, and never held
    whole: folds are drawn by a hash of the row number then, and the curve is fitted to bins of the index.
    """
    reading, data_options, rest = split_options(given)
    check_output(output, report_path, inputs=data)
    if output == "-" and sys.stdout.isatty():
        raise click.UsageError("a model on the terminal is not readable; redirect it, or use -o FILE")
    loaded = load(data, reading, data_options, MemoryOptions(memory, in_blocks, sample))
    if data_options.positive is not None and len(loaded.target.classes) != 2:
        raise CliError("--positive is for a target of two classes; of several, each is modelled")
    options = FitOptions(**rest)
    estimator, notes = plan_fit(loaded, options, verbose=not quiet)
    for note in [*loaded.notes, *notes]:
        say_note(note)
    for warning in loaded.warnings:
        say_warning(warning)
    say_note(f"{counted(loaded.train.n, 'row')}, {counted(len(loaded.preparation.names), 'feature')}")
    with progress("searching settings"):
        fitting = run_fit(estimator, loaded, options, notes)
    if note := note_on_threshold(fitting.model, loaded, options.threshold):
        say_note(note)
        fitting.notes.append(note)
    record = make_record(data, loaded, fitting, reading, data_options)
    record["threshold"] = (options.threshold or Threshold()).as_record()
    file = ModelFile(fitting.model, loaded.preparation, record)
    write_model(file, output)
    if report_path is not None:
        write_report(file, loaded, report_path, given["jobs"])
    answer = summary_json(file) if as_json else summary_text(file)
    # Where the model or the page goes to standard output, words about them must not.
    click.echo(json.dumps(answer, indent=1) if as_json else answer, err="-" in (output, report_path))
    if output != "-" and not as_json:
        has_page = report_path is not None or not loaded.is_whole
        say_note(f"saved to {output}; next: {next_command(output, data, has_page)}")


def load(names: tuple[str, ...], reading: ReadOptions, options: DataOptions, memory: MemoryOptions) -> Data:
    """Read the files whole, a sample of their rows, or what blocks of them say."""
    by_blocks = goes_by_blocks(names, reading, memory, PER_SEARCHED_ROW)
    if by_blocks or (memory.sample is not None and "-" not in names):
        from .block_data import load_blocks, sample_rows
        from .block_tables import BlockTables

        tables = BlockTables(names, reading)
        if memory.sample is None:
            return load_blocks(tables, options)
        return replace(load_data(sample_rows(tables, memory.sample, options.seed), options), is_whole=False)
    if memory.sample is not None:
        raise click.UsageError("--sample reads files; standard input is read whole, so sample it before")
    with progress("reading"):
        table = read_tables(names, reading)
        return load_data(table, options)


def make_record(
    paths: tuple[str, ...], data: Data, fitting: Fitting, reading: ReadOptions, options: DataOptions
) -> dict[str, Any]:
    """Return what is kept of a fit beside the model: enough to tell it, and to run it again."""
    from .. import __version__

    return {
        "command": called_with(),
        "data": source_of(paths),
        "reading": reading.as_record(),
        # Found out, where it was not told: new files are asked again, rows of Python cannot be.
        "decimal": "," if DECIMAL_COMMAS in data.notes else reading.decimal,
        "version": __version__,
        "target": data.target.names,
        "task": data.target.task,
        # Of two classes, where the modelled one is the first in order: y was 0 and 1 then.
        "classes": list(data.target.classes) if data.target.is_coded else None,
        "weights": options.weights,
        "holdout": options.holdout,
        "seed": options.seed,
        "drop_unlabelled": options.drop_unlabelled,
        "n_rows": data.train.n,
        "n_test": data.test.n if data.test else 0,
        "n_columns": data.n_columns,
        "fingerprint": data.fingerprint,
        "is_whole": data.is_whole,
        "notes": data.notes + fitting.notes,
        "test_scores": fitting.test_scores,
        "null_scores": fitting.null_scores,
        "confusion": fitting.confusion,
        "training_index": index_facts(fitting.model, data.seen.X),
        "warnings": data.warnings,
        "test_errors": fitting.test_errors,
        "stable": fitting.stable,
    }


def next_command(output: str, data: tuple[str, ...], has_page: bool) -> str:
    """Return what to call next, as it can be typed: the page or, where there is or can be none, the model."""
    if not has_page and "-" not in data:
        return shlex.join(["singleindex", "report", output, *data])
    return shlex.join(["singleindex", "inspect", output])


def called_with() -> str:
    arguments = getattr(click.get_current_context().find_root().command, "arguments", [])
    return "singleindex " + " ".join(shlex.quote(argument) for argument in arguments)


def write_report(file: ModelFile, data: Data, path: str, jobs: int) -> None:
    from .reporting import page_for

    with progress("writing the report"):
        page = page_for(file, data.seen, data.test, jobs=jobs)
    write_output(page, path)
    if path != "-":
        say_note(f"report in {path}")
