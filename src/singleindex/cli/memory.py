"""How much memory a command may take, and whether files are read whole or in blocks of rows."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from .messages import say_note
from .read_options import ReadOptions
from .several import matching
from .tables import IN_BLOCKS, PACKED, guess_format

_UNITS = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
# About what the program, a sample and a few blocks of few columns take: benchmarks/cli.py.
LEAST = 512 << 20
# A byte of a file held whole: its text, the columns, the features. A row of a search, which keeps the index
# of every held-out row under every candidate.
_PER_BYTE = {"csv": 12, "tsv": 12, "svmlight": 6, "parquet": 40}
PER_SEARCHED_ROW = 20_000
_PACKED_TEXT, _HEAD_BYTES = 4, 1 << 16


@dataclass(frozen=True)
class MemoryOptions:
    """What the user said about memory."""

    memory: int | None = None
    in_blocks: bool | None = None
    sample: int | None = None


def parse_size(ctx: click.Context, param: click.Parameter, text: str | None) -> int | None:
    """Read a size such as 2GB."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]I?B?)\s*", text.upper())
    if found is None:
        raise click.BadParameter("a size such as 2GB or 800MB")
    size = int(float(found[1]) * _UNITS[found[2][0] + "B"])
    if size < LEAST:
        raise click.BadParameter(f"{LEAST >> 20}MB are the least that blocks of rows can do with")
    return size


def memory_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options on memory."""
    command = click.option(
        "--in-blocks/--in-memory",
        "in_blocks",
        default=None,
        help="Read CSV, Parquet and svmlight files in blocks of rows, or whole; chosen by their size.",
    )(command)
    return click.option(
        "--memory",
        metavar="SIZE",
        callback=parse_size,
        help="The most memory to take, such as 2GB, 512MB at the least; half of what is free if not given. "
        "Files that would need more are read in blocks of rows.",
    )(command)


def goes_by_blocks(
    names: Sequence[str], reading: ReadOptions, options: MemoryOptions, per_row: int = 0
) -> bool:
    """Return whether files are read in blocks: as asked, or where they would not fit into memory.

    `per_row` are bytes that the work takes for a row, beside the row itself.
    """
    if options.in_blocks is not None:
        return options.in_blocks
    if "-" in names:
        return False
    paths = [path for name in names for path in matching(name) if Path(path).is_file()]
    kinds = [reading.format or guess_format(path) for path in paths]
    if not paths or len(set(kinds)) > 1 or kinds[0] not in IN_BLOCKS:
        return False
    need = sum(need_of(path, kind, per_row) for path, kind in zip(paths, kinds, strict=True))
    bound = options.memory or free_memory() // 2
    if need <= bound:
        return False
    say_note(
        f"held in memory, these files would take about {as_size(need)}, more than {as_size(bound)}: they are "
        "read in blocks of rows (--in-memory reads them whole, --memory raises the bound)"
    )
    return True


def need_of(path: str, kind: str, per_row: int = 0) -> int:
    """Return about how many bytes of memory a file takes."""
    unpack = PACKED.get(Path(path).suffix.lower())
    size = os.path.getsize(path) * (1 if unpack is None else _PACKED_TEXT)
    return size * _PER_BYTE[kind] + (rows_in(path, kind, size) * per_row if per_row else 0)


def rows_in(path: str, kind: str, size: int) -> int:
    """Return about how many rows a file has, by the length of its first lines."""
    try:
        if kind == "parquet":
            from pyarrow.parquet import ParquetFile

            return int(ParquetFile(path).metadata.num_rows)
        unpack: Any = PACKED.get(Path(path).suffix.lower(), lambda file: file)
        with open(path, "rb") as file:
            head = bytes(unpack(file).read(_HEAD_BYTES))
        return size * head.count(b"\n") // max(len(head), 1)
    except (OSError, EOFError, ValueError, ImportError):  # told where it is read
        return 0


def free_memory() -> int:
    """Return the bytes that programs may still take, by the system."""
    try:
        with open("/proc/meminfo") as file:
            found = re.search(r"MemAvailable:\s+(\d+) kB", file.read())
        if found is not None:
            return int(found[1]) << 10
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (ValueError, OSError, AttributeError):  # no such thing on this system
        return 4 << 30


def as_size(n_bytes: int) -> str:
    return f"{n_bytes / (1 << 30):.1f} GB" if n_bytes >= 1 << 30 else f"{n_bytes >> 20} MB"
