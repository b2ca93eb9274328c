"""`singleindex report`: a page on a saved model."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from ..tables.preparation import Preparation
from .data import DataOptions, Rows, feature_table, fingerprint, read_weights, split_rows, take
from .messages import CliError, progress, say_note
from .model_file import ModelFile, read_for, read_model
from .options import DATA, FILE, MODEL, READING, split_options
from .output import check_output, write_output
from .reporting import page_for
from .tables import Table
from .targets import read_target

EPILOG = """\b
Examples:
  singleindex report model.sim data.csv
  singleindex report model.sim data.csv -o page.html --title "Relapse, spring"
  singleindex report model.sim data.csv -o - | gzip > page.html.gz

The page needs no network. How well the model predicts is measured by fitting it anew without a part of the
rows, five times, so that it takes about five times as long as the fit.
"""


@click.command("report", epilog=EPILOG)
@MODEL
@DATA
@click.option(
    "-o", "--output", type=FILE, default="report.html", show_default=True, help="- for standard output."
)
@click.option("--title", help="Heading of the page.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Folds to run side by side.")
@READING
@click.option("-q", "--quiet", is_flag=True, help="No notes and no progress.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show where an error came from.")
def command(
    model: str, data: tuple[str, ...], output: str, title: str | None, jobs: int, quiet: bool, **given: Any
) -> None:
    """Write a page on MODEL, with the DATA that it was fitted to.

    Shows the response's shape, the features, how well it predicts beside plain regression, and how it was
    chosen.
    """
    if model == "-" in data:
        raise click.UsageError("only one of MODEL and DATA can come from standard input")
    check_output(output, inputs=(model, *data))
    reading, _, _ = split_options(given)
    file = read_model(model)
    if not file.record.get("is_whole", True):
        raise CliError(
            "the model was fitted to blocks or to a sample of rows, which the page cannot have again; "
            "make it with the fit: singleindex fit … --report page.html"
        )
    train, test = rows_of(file, read_for(file, data, reading))
    with progress("writing the report"):
        page = page_for(file, train, test, title, jobs)
    write_output(page, output)
    if output != "-":
        say_note(f"report in {output}")


def rows_of(file: ModelFile, table: Table) -> tuple[Rows, Rows | None]:
    """Return the rows that the model learned from and those it did not, as the fit split them."""
    record = file.record
    options = DataOptions(
        target=file.targets,
        task="classification" if file.class_names else "regression",
        positive=file.positive,
        weights=record.get("weights"),
        holdout=record.get("holdout", 0.0),
        seed=record.get("seed", 0),
        drop_unlabelled=record.get("drop_unlabelled", False),
    )
    target, known = read_target(
        table, options.target, options.task, options.drop_unlabelled, options.positive
    )
    weight = read_weights(table, options.weights, known)
    features = feature_table(table, options, known)
    imputed = isinstance(file.preparation, Preparation) and file.preparation.imputed is not None

    def rows(numbers: Any) -> Rows:
        X = take(features, file.preparation, numbers, imputed)
        return Rows(X, target.y[numbers], None if weight is None else weight[numbers])

    train, test = split_rows(target, options)
    learned = rows(train)
    if record and (learned.n != record["n_rows"] or fingerprint(learned, target) != record["fingerprint"]):
        raise CliError(
            f"these are not the rows that the model was fitted to ({record['data']}, "
            f"{record['n_rows']} rows); a report needs those. For new rows use: singleindex score"
        )
    return learned, rows(test) if len(np.atleast_1d(test)) else None
