"""`singleindex inspect`: what is in a model file."""

from __future__ import annotations

import json

import click

from ..tables.preparation import Preparation
from .messages import printable, printable_lines
from .model_file import ModelFile, read_model
from .options import MODEL, talking
from .text import settings_text, summary_json, summary_text

EPILOG = """\b
Examples:
  singleindex inspect model.sim
  singleindex inspect model.sim --json | jq '.features[0]'
"""


@click.command("inspect", epilog=EPILOG)
@MODEL
@click.option("--solver", is_flag=True, help="Also how the solver went, and the link in detail.")
@talking
def command(model: str, solver: bool, as_json: bool, quiet: bool) -> None:
    """Print what a saved MODEL uses, how it was chosen and where it came from."""
    file = read_model(model)
    if as_json:
        click.echo(json.dumps(summary_json(file), indent=1))
        return
    click.echo(summary_text(file))
    for line in history_lines(file):
        click.echo(printable_lines([line]))
    if solver:
        click.echo(f"\nsettings  {printable(settings_text(file.facts.search) or 'as given')}")
        click.echo("\n" + printable(file.named.summary()))


def history_lines(file: ModelFile) -> list[str]:
    lines = []
    if isinstance(file.preparation, Preparation) and file.preparation.dropped:
        lines += ["", "left out"]
        dropped = list(file.preparation.dropped.items())
        lines += [f"  {name}: {why}" for name, why in dropped[:10]]
        lines += [f"  and {len(dropped) - 10} more"] if len(dropped) > 10 else []
    if file.record:
        lines += ["", f"made by singleindex {file.record['version']}: {file.record['command']}"]
    return lines
