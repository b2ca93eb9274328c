"""What the command line says to people: errors, warnings, notes and progress, all on standard error."""

from __future__ import annotations

import contextlib
import enum
import io
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

import click


class ExitCode(enum.IntEnum):
    """How a command ended."""

    FINE = 0
    UNEXPECTED = 1
    USAGE = 2
    DATA = 3
    MODEL = 4
    INTERRUPTED = 130


class CliError(click.ClickException):
    """Data that cannot be used as they are; the message contains the fix."""

    exit_code = ExitCode.DATA


# What acts on a terminal in place of being shown: control characters but for tab and line end, and marks that
# turn the direction of writing. Halves of characters cannot be written at all.
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Return text with all that would act on a terminal written as escapes, such as \x1b."""
    return _ACTING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def printable_lines(lines: Iterable[str]) -> str:
    """Return lines for people to read: a name with a line end in it makes no line of its own."""
    return "\n".join(printable(line.replace("\n", "\\n")) for line in lines)


def for_stdout(text: str) -> str:
    """Return what is meant for other programs as it is, unless a terminal would show it."""
    return printable(text) if sys.stdout.isatty() else text


def one_line(text: str) -> str:
    return printable(re.sub(r"\s*\n\s*", " ", text.strip()))


def counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def say_error(text: str) -> None:
    print(f"singleindex: error: {one_line(text)}", file=sys.stderr)


def say_warning(message: Any, *_: Any) -> None:
    """Show a warning of Python as one line; in place of `warnings.showwarning`."""
    print(f"singleindex: warning: {one_line(str(message))}", file=sys.stderr)


def say_note(text: str) -> None:
    if not is_quiet():
        print(f"note: {one_line(text)}", file=sys.stderr)


def is_quiet() -> bool:
    context = click.get_current_context(silent=True)
    return bool(context and context.params.get("quiet"))


class ProgressLine(io.TextIOBase):
    """Takes the lines an estimator prints while it works; on a terminal shows the last as one that changes.

    There it is drawn anew every second, with the seconds it took so far, whatever the estimator does;
    elsewhere a line is written every ten.
    """

    LIVE, PLAIN = 1.0, 10.0

    def __init__(self, stream: Any, what: str) -> None:
        self.stream, self.what = stream, what
        self.live = stream.isatty()
        self.step, self.at_step = "", False
        self.began = time.monotonic()
        self.ended = threading.Event()
        self.lock = threading.Lock()

    def isatty(self) -> bool:
        return True  # to bars: they may be drawn as often as they like

    def write(self, text: str) -> int:
        step = re.match(r"\r?\[\w+\] (.*)", text)
        with self.lock:
            if step is not None:
                self.step = step.group(1)
                self.draw()
            # `print` ends its line with a call of its own.
            elif not (self.at_step and text == "\n"):
                self.clear()
                self.stream.write(printable(text))
        self.at_step = step is not None
        return len(text)

    def draw(self) -> None:
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            self.stream.write(f"\r\033[K{printable(self.line())[:width]}")
            self.stream.flush()

    def line(self) -> str:
        seconds = time.monotonic() - self.began
        return f"{self.what} ({seconds:.0f} s)" + (f": {self.step}" if self.step else "")

    def tick(self) -> None:
        """Tell that work goes on until it has ended; runs in a thread."""
        while not self.ended.wait(self.LIVE if self.live else self.PLAIN):
            with self.lock:
                self.draw()
                if not self.live:
                    self.stream.write(f"{printable(self.line())}\n")
                    self.stream.flush()

    def clear(self) -> None:
        if self.live:
            self.stream.write("\r\033[K")
            self.stream.flush()


@contextlib.contextmanager
def progress(what: str) -> Iterator[None]:
    """Show what goes on: on a terminal a line that changes, elsewhere one every while; none with --quiet."""
    if is_quiet():
        yield
        return
    line = ProgressLine(sys.stderr, what)
    line.draw()
    ticker = threading.Thread(target=line.tick, daemon=True)
    ticker.start()
    try:
        with contextlib.redirect_stderr(line):
            yield
    finally:
        line.ended.set()
        ticker.join()
        line.clear()


@contextlib.contextmanager
def counting_rows(what: str, source: Any) -> Iterator[None]:
    """Show how far a reading of a source of rows has come."""
    from ..fitting.progress import RowsBar, Teller

    with progress(what), RowsBar(Teller("rows", not is_quiet(), None, {}, lambda coef, links: {}), source):
        yield
