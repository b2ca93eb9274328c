"""`singleindex export`: a model for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from .exporting import json_text, onnx_bytes, sql_text
from .messages import say_note
from .model_file import read_model
from .options import FILE, MODEL
from .output import check_output, write_output

EPILOG = """\b
Examples:
  singleindex export model.sim -o model.json
  singleindex export model.sim --to sql --dialect duckdb
  singleindex export model.sim --to sql --table patients > query.sql
  singleindex export model.sim -o model.onnx

All contain what happens to columns before the model sees them. ONNX takes each column with a weight as
an input of its own, named after it: doubles, NaN for a gap, and text, "" for a gap.
"""
# Those of `singleindex.export`, which is slow to import for a press of the tab key.
DIALECTS = ("ansi", "duckdb", "sqlite", "postgres", "snowflake", "mysql", "bigquery", "mssql")
KINDS = {".json": "json", ".sql": "sql", ".onnx": "onnx"}


@click.command("export", epilog=EPILOG)
@MODEL
@click.option("--to", "kind", type=click.Choice(list(KINDS.values())), help="Told by the name of the output.")
@click.option("-o", "--output", type=FILE, default="-", help="Standard output otherwise.")
@click.option(
    "--dialect", type=click.Choice(DIALECTS), default="ansi", show_default=True, help="For SQL: whose."
)
@click.option(
    "--value",
    type=click.Choice(["expected", "class", "index"]),
    default="expected",
    show_default=True,
    help="For SQL: the mean or probability, the likeliest class, or the index.",
)
@click.option("--of", "of", metavar="CLASS", help="For SQL: which class or target, where there are several.")
@click.option("--table", help="For SQL: a whole query on this table instead of an expression.")
@click.option("-q", "--quiet", is_flag=True, help="No notes.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show where an error came from.")
def command(model: str, kind: str | None, output: str, quiet: bool, **given: Any) -> None:
    """Write a saved MODEL for other programs: JSON, an SQL expression, or ONNX."""
    kind = kind or KINDS.get(Path(output).suffix.lower())
    if kind is None:
        raise click.UsageError("say what to write with --to json, sql or onnx")
    check_output(output, inputs=(model,))
    file = read_model(model)
    if kind == "onnx":
        if output == "-" and sys.stdout.isatty():
            raise click.UsageError("ONNX is not text; redirect it, or use -o FILE")
        write_output(onnx_bytes(file), output)
    else:
        text = json_text(file) if kind == "json" else sql_text(file, **given)
        write_output(text + "\n", output)
    if output != "-":
        say_note(f"written to {output}")
