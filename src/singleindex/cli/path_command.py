"""`singleindex path`: models from the simplest to the richest, without choosing one."""

from __future__ import annotations

import json
from typing import Any

import click
import numpy as np

from .csv_text import csv_text
from .data import Data, load_data
from .fit_command import counts
from .fitting import FitOptions
from .messages import CliError, printable_lines, progress, say_note
from .options import COLUMNS, DATA, FILE, READING, TARGET, split_options, talking
from .output import check_output, write_output
from .several import read_tables
from .structures import make_structure

_MOST_NAMES = 4

EPILOG = """\b
Examples:
  singleindex path data.csv --target y
  singleindex path data.csv -t y --n-atoms 1,2,5,10 -o path.csv
"""


@click.command("path", epilog=EPILOG)
@DATA
@TARGET
@click.option("--n-atoms", metavar="LIST", callback=counts, help="Numbers of features, or groups.")
@click.option(
    "--structure", type=click.Choice(["sparse", "group", "low-rank"]), default="sparse", show_default=True
)
@click.option("--groups", type=FILE, metavar="FILE", help="CSV of feature,group.")
@click.option("--shape", metavar="ROWSxCOLS", help="Of the features as a matrix, for low-rank.")
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FILE",
    help="Write every weight to a CSV file; - for standard output.",
)
@COLUMNS
@READING
@talking
def command(
    data: tuple[str, ...], n_atoms: list[int] | None, output: str | None, as_json: bool, quiet: bool,
    **given: Any,
) -> None:  # fmt: skip
    """Show which columns of DATA come in, one after the other, as the model may use more of them.

    The errors are those of the rows it is fitted to, which fall by themselves: use fit to choose.
    """
    check_output(output, inputs=data)
    reading, data_options, rest = split_options(given)
    loaded = load_data(read_tables(data, reading), data_options)
    for note in loaded.notes:
        say_note(note)
    structure, notes = make_structure(FitOptions(n_atoms=n_atoms, **rest), loaded)
    for note in notes:
        say_note(note)
    levels = trace(loaded, n_atoms, structure, data_options.positive)
    if output is not None:
        write_weights(levels, output)
    if as_json:
        click.echo(json.dumps(levels, indent=1))
    elif output != "-":
        click.echo(printable_lines(as_lines(levels)))


def trace(
    data: Data, n_atoms: list[int] | None, structure: Any, positive: str | None
) -> list[dict[str, Any]]:
    """Return the levels of the path, from few features to many."""
    from .. import single_index_path

    y = as_numbers(data, positive)
    names = data.preparation.names
    with progress("tracing the path"):
        path = single_index_path(
            data.train.X, y, n_atoms=n_atoms, sample_weight=data.train.weight, structure=structure
        )
    levels = []
    for k in reversed(range(len(path.n_atoms))):
        coef = path.coefs[k].reshape(len(names), -1)
        size = np.abs(coef).max(axis=1)
        order = np.argsort(-size, kind="stable")[: np.count_nonzero(size)].tolist()
        weights = {names[j]: coef[j].tolist() if coef.shape[1] > 1 else float(coef[j, 0]) for j in order}
        mse = float(np.mean(path.mse[k][-1]))
        limit = path.n_atoms[k]
        levels.append({
            "n_atoms": int(limit) if limit is not None and limit == limit else None,
            "n_features": len(order),
            "r2": 1 - mse / float(np.mean(np.var(y, axis=0))),
            "weights": weights,
        })  # fmt: skip
    return levels


def as_numbers(data: Data, positive: str | None) -> Any:
    y = data.train.y
    if data.target.task == "regression" or y.ndim > 1:
        return np.asarray(y, dtype=np.float64)
    if data.target.is_coded:
        return y.astype(np.float64)
    classes = [str(label) for label in data.target.classes]
    if positive is None:
        if len(classes) > 2:
            raise CliError(
                f"a path needs one class to tell from the others: --positive, one of {', '.join(classes[:8])}"
            )
        positive = classes[1]
    return (y.astype(str) == positive).astype(np.float64)


def as_lines(levels: list[dict[str, Any]]) -> list[str]:
    lines = [f"{'atoms':>7s}{'features':>10s}{'R² in sample':>14s}   new or largest"]
    seen: set[str] = set()
    for level in levels:
        new = [name for name in level["weights"] if name not in seen]
        seen |= set(level["weights"])
        shown = ", ".join(new[:_MOST_NAMES]) + (
            f" and {len(new) - _MOST_NAMES} more" if len(new) > _MOST_NAMES else ""
        )
        atoms = "all" if level["n_atoms"] is None else str(level["n_atoms"])
        lines.append(f"{atoms:>7s}{level['n_features']:10d}{level['r2']:14.3f}   {shown}")
    return lines


def write_weights(levels: list[dict[str, Any]], output: str) -> None:
    """Write one row per level and feature with a weight."""
    rows = [(level["n_atoms"], *pair) for level in levels for pair in level["weights"].items()]
    write_output(csv_text([("n_atoms", "feature", "weight"), *rows]), output)
