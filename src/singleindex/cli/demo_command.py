"""`singleindex demo`: a tour with made-up data."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path

import click
import numpy as np

from .messages import CliError
from .output import write_output

_ROWS, _GENES, _NEW = 240, 120, 5
_SITES = ("north", "south", "west")


@click.command("demo")
@click.argument("folder", default="singleindex-demo")
@click.option("--force", is_flag=True, help="Write into a folder that is there already.")
@click.pass_context
def command(ctx: click.Context, folder: str, force: bool) -> None:
    """Make up a table of patients, learn who responds, and write a report; all into FOLDER.

    Every command is shown before it runs, so that the tour can be taken again with other data.
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
        ["fit", data, "--target", "responds", "--holdout", "0.25", "--report", report, "-o", model],
        ["predict", model, new],
    ]
    root = ctx.find_root().command
    for arguments in tour:
        click.echo("$ singleindex " + " ".join(map(shlex.quote, arguments)), err=True)
        root.main(args=list(arguments), prog_name="singleindex", standalone_mode=False)
        click.echo("", err=True)
    click.echo(f"Open {report} in a browser.", err=True)


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
