"""Messages on tables for people who call from Python: parameters in place of options."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from .errors import TableError

# The options that may be given several times.
LISTS = ("drop", "keep", "categorical")


@contextlib.contextmanager
def in_words_of_python() -> Iterator[None]:
    """Let errors on tables name parameters in place of options."""
    try:
        yield
    except TableError as error:
        raise TableError(python_words(str(error))) from None


def python_words(text: str) -> str:
    """Return a message with options such as --drop 'x' as parameters, drop=['x']."""
    text = re.sub(r"--na ('[^']*'|\S+)", r"X.replace(\1, None)", text)
    text = text.replace("--decimal ,", "numbers with a decimal point")
    lists = "|".join(LISTS)
    text = re.sub(rf"--({lists}) ('[^']*'|\w+)", lambda m: f"{m[1]}=[{as_literal(m[2])}]", text)
    return re.sub(r"--([a-z-]+) ([\w-]+)", lambda m: f"{m[1].replace('-', '_')}={as_literal(m[2])}", text)


def as_literal(value: str) -> str:
    return value if value.startswith("'") else f'"{value}"'
