"""`singleindex demo`: a tour with made-up data."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path

import click
import numpy as np

from .data import DataOptions, load_data
from .demo_rivals import SETTINGS, rival_scores
from .messages import CliError, printable_lines
from .model_file import read_model
from .output import write_output
from .read_options import ReadOptions
from .several import read_tables

_ROWS, _GENES, _NEW, _HELD_OUT = 600, 300, 5, 0.5
OURS = "its default: 50 penalties for each of 3 column scales, 10 folds, by log-loss"
_SITES = ("north", "south", "west")


@click.command("demo")
@click.argument("folder", default="singleindex-demo")
@click.option("--force", is_flag=True, help="Write into a folder that is there already.")
@click.pass_context
def command(ctx: click.Context, folder: str, force: bool) -> None:
    """Make up a table of patients, learn who responds, and write a report; all into FOLDER.

    Half of the patients are held out, and penalised logistic regression is scored on them as well. Every
    command is shown before it runs, so that the tour can be taken again with other data.
    """
    place = Path(folder)
    if place.exists() and not force:
        raise CliError(f"{folder} is there already; name another folder, or add --force")
    place.mkdir(parents=True, exist_ok=True)
    write_tables(place)
    data, model, new = (str(place / name) for name in ("patients.csv", "model.sim", "new.csv"))
    report = str(place / "report.html")
    click.echo(f"{data}: {_ROWS} patients, {_GENES + 5} columns; {new}: {_NEW} more.\n", err=True)
    tour = [
        ["fit", data, "--target", "responds", "--holdout", str(_HELD_OUT), "--report", report, "-o", model],
        ["predict", model, new],
    ]
    root = ctx.find_root().command
    for arguments in tour:
        click.echo("$ singleindex " + " ".join(map(shlex.quote, arguments)), err=True)
        root.main(args=list(arguments), prog_name="singleindex", standalone_mode=False)
        click.echo("", err=True)
    click.echo(printable_lines(beside_rivals(model, data)))
    click.echo(f"\nOpen {report} in a browser.", err=True)


def beside_rivals(model: str, data: str) -> list[str]:
    """Return the scores of the model on the rows it has not seen, beside those of what is usual."""
    options = DataOptions(target=("responds",), holdout=_HELD_OUT)
    loaded, file = load_data(read_tables([data], ReadOptions()), options), read_model(model)
    scores = {"singleindex": file.record["test_scores"], **rival_scores(file.model, loaded)}
    lines = [f"the same {file.record['n_test']} rows, by other models:"]
    lines.append(f"  {'':14s}{'AUC':>8s}{'log-loss':>10s}{'Brier':>8s}")
    for name, found in scores.items():
        lines.append(f"  {name:14s}{found['AUC']:8.3f}{found['log-loss']:10.3f}{found['Brier score']:8.3f}")
    best = min(scores, key=lambda name: scores[name]["log-loss"])
    lines += [f"  {name}: {text}" for name, text in {"singleindex": OURS, **SETTINGS}.items()]
    return [*lines, f"the least log-loss has {best}"]


def write_tables(place: Path) -> None:
    """Write patients whose chance to respond rises with dose, age and four genes, and levels off."""
    rng = np.random.default_rng(0)
    n = _ROWS + _NEW
    genes = rng.standard_normal((n, _GENES))
    dose, age = rng.gamma(4.0, 2.0, n), rng.integers(25, 80, n)
    site = rng.integers(0, len(_SITES), n)
    index = genes[:, [7, 31, 64, 90]] @ [0.9, -0.8, 0.7, 0.5] + 0.25 * (dose - 8) - 0.03 * (age - 52)
    responds = rng.random(n) < np.clip(0.45 + 0.35 * index, 0.05, 0.9)
    heads = ["patient_id", "enrolled", "site", "dose_mg", "age", *(f"gene_{j}" for j in range(_GENES))]
    rows = [
        [10001 + 3 * i, f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}", _SITES[site[i]], f"{dose[i]:.2f}", age[i]]
        + [f"{value:.4f}" for value in genes[i]]
        for i in range(n)
    ]
    answers = ["yes" if value else "no" for value in responds]
    write_csv(
        place / "patients.csv",
        [*heads, "responds"],
        [[*r, a] for r, a in zip(rows, answers, strict=True)][:_ROWS],
    )
    write_csv(place / "new.csv", heads, rows[_ROWS:])


def write_csv(path: Path, heads: list[str], rows: list[list[object]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(heads)
    writer.writerows(rows)
    write_output(text.getvalue(), str(path))
