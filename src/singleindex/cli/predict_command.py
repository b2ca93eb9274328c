"""`singleindex predict`: predictions of new rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ..tables.columns import no_such_column
from .csv_text import csv_text
from .decisions import THRESHOLD, Threshold, check_threshold, decide
from .memory import MemoryOptions, goes_by_blocks, memory_options
from .messages import CliError, counted, say_note
from .model_file import ModelFile, prepared_rows, read_for, read_model
from .options import DATA, FILE, MODEL, READING, split_options, talking
from .output import check_output, write_output
from .tables import Table, need
from .text import output_names

if TYPE_CHECKING:
    from ..inspection import Change

EPILOG = """\b
Examples:
  singleindex predict model.sim new.csv > predicted.csv
  singleindex predict model.sim new.csv --with patient_id -o predicted.parquet
  singleindex predict model.sim week-1.xlsx week-2.xlsx --notes
  singleindex predict model.sim new.csv --explain --to-pass 0.5
  cat new.csv | singleindex predict model.sim - --json

With --explain the contributions and the base, the index of the mean row, add up to the index; for several
outputs or classes there is one of each. Values beyond all of those of the fit are named.

Writes one row per row of DATA: the prediction; for classes the probability of each; and the index
w · x, which ranks without ties. In CSV, text that a spreadsheet would compute, such as =1+1, gets an
apostrophe in front; Parquet and JSON have it as it is.
"""


@click.command("predict", epilog=EPILOG)
@MODEL
@DATA
@click.option(
    "-o", "--output", type=FILE, default="-", help="A .csv, .tsv or .parquet file; standard output otherwise."
)
@click.option("--with", "copied", multiple=True, metavar="COL", help="Copy a column of DATA to the output.")
@THRESHOLD
@click.option("--explain", is_flag=True, help="Add what each feature contributes to the index.")
@click.option(
    "--to-pass", type=float, metavar="VALUE",
    help="Add the smallest change of one feature that takes the prediction past this.",
)  # fmt: skip
@click.option("--impute", is_flag=True, help="Fill missing values as the training rows suggest.")
@click.option(
    "--notes", is_flag=True, help="A column that tells of values filled in, out of range or unknown."
)
@memory_options
@READING
@talking
def command(
    model: str, data: tuple[str, ...], output: str, copied: tuple[str, ...], threshold: Threshold | None,
    explain: bool, to_pass: float | None, impute: bool, notes: bool, as_json: bool, quiet: bool,
    memory: int | None, in_blocks: bool | None, **given: Any,
) -> None:  # fmt: skip
    """Predict the rows of DATA with a saved MODEL.

    Files beyond --memory are read, and predictions written, in blocks of rows.
    """
    if model == "-" in data:
        raise click.UsageError("only one of MODEL and DATA can come from standard input")
    check_output(output, inputs=(model, *data))
    reading, _, _ = split_options(given)
    file = read_model(model)
    check_threshold(threshold, file.positive is not None, has_class_weight=False)
    if goes_by_blocks(data, reading, MemoryOptions(memory, in_blocks)):
        from .block_predictions import predict_blocks

        if explain or to_pass is not None or as_json:
            raise click.UsageError(
                "--explain, --to-pass and --json are for rows that are held in memory; leave them out, "
                "add --in-memory, or predict some of the rows"
            )
        shown = threshold or file.threshold
        predict_blocks(file, data, reading, copied, shown, impute, notes, output)
        return
    table = read_for(file, data, reading)
    X, odd = prepared_rows(file, table, impute, say_note)
    for note in odd.summary() if odd else []:
        say_note(note)
    found = copied_columns(table, copied) | predicted_columns(file, X, threshold or file.threshold)
    if explain or to_pass is not None:
        found |= explained_columns(file, X, explain, to_pass)
    if notes:
        found["notes"] = odd.row_notes() if odd else [""] * table.n_rows
    if as_json:
        write_output(json.dumps({name: as_list(values) for name, values in found.items()}) + "\n", output)
    else:
        write_columns(found, output)


def copied_columns(table: Table, names: tuple[str, ...]) -> dict[str, Any]:
    for name in names:
        if table.frame is None:
            raise CliError(f"{table.source} has no columns with names to copy")
        if name not in table.frame.columns:
            raise no_such_column(table.frame.columns, name)
    return {name: table.frame[name].tolist() for name in names}


def predicted_columns(file: ModelFile, X: Any, threshold: Threshold) -> dict[str, Any]:
    """Return the predictions by the name of their column."""
    model = file.model
    predicted, index = decide(file, X, threshold), model.index(X)
    if not file.class_names:
        if predicted.ndim == 1:
            return {"prediction": predicted, "index": index}
        names = list(file.targets) or [str(k) for k in range(predicted.shape[1])]
        values = {f"prediction of {name}": predicted[:, k] for k, name in enumerate(names)}
        return values | {f"index of {name}": index[:, k] for k, name in enumerate(names)}
    probabilities = model.predict_proba(X)
    if file.facts.kind == "multilabel":
        found: dict[str, Any] = {
            f"prediction of {name}": predicted[:, k] for k, name in enumerate(file.class_names)
        }
    else:
        found = {"prediction": predicted}
    found |= {f"probability of {name}": probabilities[:, k] for k, name in enumerate(file.class_names)}
    # The index with its intercept: above zero where the second class is the likelier one.
    shifted = index + model.intercept_
    if shifted.ndim == 1:
        return found | {"index": shifted}
    return found | {f"index of {name}": shifted[:, k] for k, name in enumerate(file.class_names)}


def explained_columns(file: ModelFile, X: Any, explain: bool, to_pass: float | None) -> dict[str, Any]:
    """Return what the model makes of each row: contributions, and what would change its prediction."""
    from ..estimators.effects import ranking
    from ..inspection import explain as explain_rows

    facts = file.facts
    told, found = explain_rows(file.model, X, feature_names=file.preparation.names), dict[str, Any]()
    several = len(facts.outputs) > 1
    for k, (output, name) in enumerate(zip(facts.outputs, output_names(file), strict=True)):
        to, on = (f" to {name}", f" of {name}") if several else ("", "")
        if explain:
            added = told.contributions[:, :, k] if several else told.contributions
            # As the index is written: with its intercept.
            base = (told.base[k] if several else told.base) + output.intercept
            found[f"base{on}"] = np.full(len(added), base)
            used = [j for j in ranking(facts) if output.weights[j]]
            found |= {f"contribution{to} of {told.feature_names[j]}": added[:, j] for j in used}
        if to_pass is not None:
            changes = told.to_pass(to_pass, output.label if several else None)
            found[f"to pass {to_pass:g}{on}"] = [change_text(change) for change in changes]
    if told.outside.any():
        say_note(f"{counted(int(told.outside.any(axis=1).sum()), 'row')} with values beyond those of the fit")
        found["outside"] = ["; ".join(told.outside_names(row)) for row in range(len(told))]
    return found


def change_text(change: Change | None) -> str:
    return "" if change is None else f"{change.name} from {change.value:.4g} to {change.to:.4g}"


def as_list(values: Any) -> list[Any]:
    return values if isinstance(values, list) else values.tolist()


def write_columns(found: dict[str, Any], output: str) -> None:
    suffix = Path(output).suffix.lower() if output != "-" else ".csv"
    if suffix in (".parquet", ".pq"):
        need("pyarrow", "writing Parquet")
        frame = need("pandas", "writing Parquet").DataFrame(found)
        write_output(frame.to_parquet(index=False), output)
        return
    rows = zip(*map(as_list, found.values()), strict=True)
    write_output(csv_text([found, *rows], "\t" if suffix in (".tsv", ".tab") else ","), output)
