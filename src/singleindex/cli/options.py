"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ..tables.columns import Choices
from ..tables.dates import DATE_ORDERS
from ..tables.preparation import IMPUTATIONS
from .data import DataOptions
from .read_options import ReadOptions
from .tables import FORMATS
from .targets import TASKS

Command = Callable[..., Any]


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return one decorator that adds all of these options, in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def talking(command: Command) -> Command:
    """Add the options on what a command says."""
    return together(
        click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text."),
        click.option("-q", "--quiet", is_flag=True, help="No notes and no progress."),
        click.option("--debug", is_flag=True, expose_value=False, help="Show where an error came from."),
    )(command)


READING = together(
    click.option("--format", "format", type=click.Choice(FORMATS), help="If the file name does not tell."),
    click.option("--separator", help="What separates columns; found by itself."),
    click.option("--decimal", help="Decimal mark of numbers in text; found by itself where it can be."),
    click.option("--encoding", help="Encoding of text files, UTF-8 if not given."),
    click.option("--na", "missing", multiple=True, metavar="TEXT", help="Also means a missing value."),
    click.option("--sheet", metavar="NAME", help="Of an Excel file; the first one if not given."),
)
# A name only, so that the tab key knows; commands check it themselves.
FILE = click.Path(allow_dash=True)
MODEL = click.argument("model", type=FILE)
DATA = click.argument("data", nargs=-1, required=True, type=FILE)
TARGET = together(
    click.option(
        "-t", "--target", multiple=True, metavar="COL", help="Column to predict; several for several outputs."
    ),
    click.option("--task", type=click.Choice(TASKS), help="Guessed from the target where not given."),
    click.option(
        "--positive",
        metavar="CLASS",
        help="Of two classes, the one to model the probability of; guessed by its name, or the rarer one.",
    ),
    click.option("--weights", metavar="COL", help="Column of row weights."),
)
COLUMNS = together(
    click.option("--drop", multiple=True, metavar="COL", help="Leave a column out."),
    click.option("--keep", multiple=True, metavar="COL", help="Use a column that looks like an identifier."),
    click.option(
        "--categorical", multiple=True, metavar="COL", help="Take a column of numbers as categories."
    ),
    click.option(
        "--dates",
        type=click.Choice(["drop", "days"]),
        default="drop",
        show_default=True,
        help="Leave dates out, or take them as days since 1970.",
    ),
    click.option(
        "--date-order",
        type=click.Choice(DATE_ORDERS),
        help="Whether 01/02/2023 is in February or in January; told by the column where it can be.",
    ),
    click.option(
        "--max-categories",
        type=click.IntRange(2),
        default=50,
        show_default=True,
        help="Most frequent values of a text column that get a feature.",
    ),
    click.option("--impute", type=click.Choice(IMPUTATIONS), help="Fill missing values; refused otherwise."),
    click.option("--drop-unlabelled", is_flag=True, help="Leave out rows without a target."),
)


def split_options(given: dict[str, Any]) -> tuple[ReadOptions, DataOptions, dict[str, Any]]:
    """Sort options by what they are about: how to read, what the data are, and the rest."""
    rest = dict(given)
    reading = ReadOptions(
        **{
            name: rest.pop(name)
            for name in ("format", "separator", "decimal", "encoding", "missing", "sheet")
        }
    )
    on_columns = ("drop", "keep", "categorical", "dates", "date_order", "max_categories")
    choices = Choices(**{name: rest.pop(name) for name in on_columns if name in rest})
    on_rows = ("target", "task", "positive", "weights", "holdout", "seed", "impute", "drop_unlabelled")
    data = DataOptions(choices=choices, **{name: rest.pop(name) for name in on_rows if name in rest})
    return reading, data, rest
