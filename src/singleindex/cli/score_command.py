"""`singleindex score`: how well a model does on rows with a known target."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from .decisions import THRESHOLD, Threshold, check_threshold, confusion_lines, confusion_of
from .drift import drift_lines, drift_of, means_of
from .memory import MemoryOptions, goes_by_blocks, memory_options
from .messages import CliError, printable_lines, say_note
from .model_file import ModelFile, prepared_rows, read_for, read_model
from .options import DATA, MODEL, READING, split_options, talking
from .several import source_of
from .tables import Table
from .targets import Target, read_target
from .text import output_names, score_table

if TYPE_CHECKING:
    from ..inspection.scores import Predictions
    from ..tables.oddities import OddCounts

EPILOG = """\b
Examples:
  singleindex score model.sim test.csv
  singleindex score model.sim test.csv --target outcome --json
"""


@click.command("score", epilog=EPILOG)
@MODEL
@DATA
@click.option(
    "-t", "--target", multiple=True, metavar="COL", help="If it is called otherwise than in the fit."
)
@THRESHOLD
@click.option("--impute", is_flag=True, help="Fill missing values as the training rows suggest.")
@click.option("--drop-unlabelled", is_flag=True, help="Leave out rows without a target.")
@memory_options
@READING
@talking
def command(
    model: str, data: tuple[str, ...], target: tuple[str, ...], threshold: Threshold | None, impute: bool,
    drop_unlabelled: bool, as_json: bool, quiet: bool, memory: int | None, in_blocks: bool | None,
    **given: Any,
) -> None:  # fmt: skip
    """Compare the predictions of a saved MODEL with the target in DATA.

    Beside it stands what only knows the mean of these rows; below, how the rows differ from those of the fit.
    Of files beyond --memory, predictions of a random million rows are scored.
    """
    if model == "-" in data:
        raise click.UsageError("only one of MODEL and DATA can come from standard input")
    reading, _, _ = split_options(given)
    file = read_model(model)
    check_threshold(threshold, file.positive is not None, has_class_weight=False)
    asked = Asked(target or file.targets, impute, drop_unlabelled)
    if goes_by_blocks(data, reading, MemoryOptions(memory, in_blocks)):
        from .block_scores import scored_blocks

        scored = scored_blocks(file, data, reading, asked)
    else:
        scored = scored_rows(file, read_for(file, data, reading), asked)
    if file.record.get("data") == source_of(data):
        say_note(
            "the model was fitted to a file of this name; rows it has seen make it look better than it is"
        )
    scores, null, errors = scores_of(file, scored.predicted, scored.y)
    threshold = threshold or file.threshold
    confusion = confusion_of(file.model, scored.predicted.value, scored.y, threshold)
    drift = drift_of(file, scored.index, scored.odd, scored.means)
    if as_json:
        found = {
            "n_rows": len(scored.y), "scores": scores, "null": null, "errors": errors, "confusion": confusion,
            "drift": drift,
        }  # fmt: skip
        click.echo(json.dumps(found, indent=1))
        return
    lines = score_table(scores, null, errors, f"{len(scored.y)} rows")
    if confusion:
        lines += ["", *confusion_lines(confusion, file.class_names, threshold)]
    click.echo(printable_lines([*lines, *drift_lines(drift, output_names(file))]))


@dataclass(frozen=True)
class Asked:
    """What the user said about the rows to score."""

    target: tuple[str, ...]
    impute: bool
    drop_unlabelled: bool


@dataclass(frozen=True)
class Scored:
    """Rows with what the model says of them and what came true, what is odd about them, and their means."""

    predicted: Predictions
    index: Any
    y: Any
    odd: OddCounts | None
    means: Any


def scored_rows(file: ModelFile, table: Table, asked: Asked) -> Scored:
    from ..inspection.scores import predictions_of

    X, y, odd = labelled_rows(file, table, asked.target, asked.impute, asked.drop_unlabelled)
    counts, means = odd.counts() if odd else None, means_of(file, X)
    return Scored(predictions_of(file.model, X), file.model.index(X), y, counts, means)


def labelled_rows(
    file: ModelFile, table: Table, target: tuple[str, ...], impute: bool, drop_unlabelled: bool
) -> tuple[Any, Any, Any]:
    """Return features and target of the rows that have one, and what is odd about all of them."""
    task = "classification" if file.class_names else "regression"
    found, known = read_target(table, target, task, drop_unlabelled, file.positive)
    X, odd = prepared_rows(file, table, impute, say_note)
    if not known.all():
        X = X[known]
    check_classes(file, found)
    return X, found.y, odd


def check_classes(file: ModelFile, target: Target) -> None:
    if file.facts.kind in ("regression", "multilabel"):
        return
    unknown = [str(label) for label in target.classes if str(label) not in file.class_names]
    if unknown:
        raise CliError(
            f"the target holds {unknown[0]!r}, but the model knows {', '.join(file.class_names)} only"
        )


def scores_of(
    file: ModelFile, predicted: Predictions, y: Any
) -> tuple[dict[str, float], dict[str, float], dict[str, dict[str, float]]]:
    from ..inspection.scores import null_predictions, score_all, score_errors

    null = null_predictions(file.model, y, len(y))
    errors = score_errors(file.model, predicted, null, y)
    return score_all(predicted, y, file.model), score_all(null, y, file.model), errors
