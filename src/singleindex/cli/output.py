"""Where results go: to standard output, or to a file that is replaced whole or left as it was."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from ..files.replace import check_target, replace_file
from .messages import for_stdout
from .several import matching


def check_output(*outputs: str | None, inputs: Sequence[str] = ()) -> None:
    """Refuse names that cannot be written to, or are read from, before the work is done, not after."""
    names = [output for output in outputs if output is not None]
    files = [name if name == "-" else os.path.realpath(name) for name in names]
    for name in names:
        try:
            if name != "-":
                check_target(name)
        except OSError as error:
            raise click.UsageError(f"{error} (- is standard output)") from error
    read = {os.path.realpath(path) for name in inputs if name != "-" for path in matching(name)}
    for name, file in zip(names, files, strict=True):
        if file in read:
            raise click.UsageError(f"{name} is read from and would be lost; give the output another name")
    if len(set(files)) < len(files):
        raise click.UsageError(f"{names[0]} is named for two outputs; give each its own name")


def write_output(content: str | bytes, output: str) -> None:
    """Write text or bytes to a file, or to standard output for -."""
    if output != "-":
        replace_file(output, content.encode("utf-8") if isinstance(content, str) else content)
    elif isinstance(content, str):
        click.echo(for_stdout(content), nl=False)
    else:
        sys.stdout.buffer.write(content)
