"""What a target of the fuzz run is, and how one case of it is judged."""

import importlib
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

import singleindex

MODULES = ("model_files", "checkpoints", "streams", "commands", "chunks", "designs", "lpav", "estimators")
PLANTED = "planted"  # failures on purpose, for the tests of the harness

# What the library documents; subclasses are ModelFileError, CheckpointError, ChunkError and the like.
DOCUMENTED = (ValueError, TypeError, FileNotFoundError, IsADirectoryError, click.ClickException)
# Numpy tells of lost numbers by these; warnings for people, as of slow convergence, are of other kinds.
LOST_NUMBERS = (RuntimeWarning, np.exceptions.ComplexWarning, np.exceptions.VisibleDeprecationWarning)

# Refused by a `raise`, or by what numpy and others happen to raise: to be read, for its words seldom help.
REFUSED = ("refused", "refused by accident")

_SOURCE = Path(singleindex.__file__).resolve().parent


class Wrong(Exception):
    """A call worked, and its answer is not valid."""


@dataclass
class Case:
    """One example: where its chance comes from, and a folder for its files.

    Attributes
    ----------
    sound : bool
        Refusing what was drawn is a finding: so until the target has spoiled it, and called :meth:`spoilt`.
    wild : bool
        A model or a state was given numbers so large that what comes of it is not finite: that is none.
    """

    rng: np.random.Generator
    folder: Path
    sound: bool = True
    wild: bool = False

    def pick(self, options: Any) -> Any:
        options = list(options)
        return options[self.rng.integers(len(options))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def say(self, what: str, value: Any = "") -> None:
        """Keep what was drawn, to be read where it becomes a finding; a crash cannot take it away."""
        with open(self.folder / "case.txt", "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{what}: {value!r}\n"[:20_000])

    def spoilt(self, how: str, value: Any = "") -> None:
        """Note that the input is bad from here on, so that it may be refused."""
        self.sound = False
        self.say(how, value)

    def write(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        return path

    def need(self, holds: Any, what: str) -> None:
        if not holds:
            raise Wrong(what)

    def need_finite(self, values: Any, what: str) -> None:
        if not self.wild:
            self.need(np.isfinite(np.asarray(values, dtype=float)).all(), f"{what} not finite")


Target = Callable[[Case], None]
TARGETS: dict[str, Target] = {}


def target(name: str) -> Callable[[Target], Target]:
    def register(function: Target) -> Target:
        TARGETS[name] = function
        return function

    return register


def load_targets(modules: Iterable[str] = (*MODULES, PLANTED)) -> dict[str, Target]:
    for module in modules:
        importlib.import_module(f".{module}", __package__)
    return TARGETS


def ordinary_targets() -> list[str]:
    return [name for name in load_targets() if not name.startswith(PLANTED)]


@dataclass(frozen=True)
class Outcome:
    """How a case ended: "fine", one of REFUSED, or the kind of the finding."""

    kind: str
    place: str = ""
    message: str = ""
    details: str = ""

    @property
    def is_finding(self) -> bool:
        return self.kind not in ("fine", *REFUSED)


def run_case(name: str, seed: int, number: int, folder: Path) -> Outcome:
    """Run one case and judge it."""
    case = Case(np.random.default_rng([seed, zlib.crc32(name.encode()), number]), folder)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            TARGETS[name](case)
            outcome = Outcome("fine")
        except Exception as error:
            outcome = judge(error, case)
    lost = [w for w in seen if issubclass(w.category, LOST_NUMBERS)]
    if outcome.is_finding or case.wild or not lost:
        return outcome
    first = lost[0]
    return Outcome(first.category.__name__, f"{short(first.filename)}:{first.lineno}", str(first.message))


def judge(error: Exception, case: Case) -> Outcome:
    message, place = str(error).strip(), place_of(error)
    if isinstance(error, Wrong):
        # The place is that of the check, and says nothing: the words do.
        return Outcome("wrong answer", message.split(" = ")[0], message)
    kind = type(error).__name__
    details = "".join(traceback.format_exception(error))
    if any(isinstance(one, MemoryError) for one in causes_of(error)):
        kind = "MemoryError" if isinstance(error, MemoryError) else f"MemoryError behind {kind}"
        return Outcome(kind, place, message, details)
    if not isinstance(error, DOCUMENTED):
        return Outcome(kind, place, message, details)
    if not message:
        return Outcome(f"{kind} without a message", place, message, details)
    if case.sound:
        return Outcome("refused sound input", place, f"{kind}: {message}", details)
    line = traceback.extract_tb(error.__traceback__)[-1].line or ""
    return Outcome(REFUSED[not line.startswith("raise")], place, f"{kind}: {message}")


def causes_of(error: BaseException) -> list[BaseException]:
    found = []
    cause: BaseException | None = error
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found


def place_of(error: Exception) -> str:
    """Return the innermost line of the library that the error came through, or the innermost of all."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).resolve().is_relative_to(_SOURCE)]
    last = (ours or frames)[-1]
    return f"{short(last.filename)}:{last.lineno} {last.name}"


def short(filename: str) -> str:
    """Return a path from the package on."""
    path = Path(filename).resolve()
    return str(path.relative_to(_SOURCE) if path.is_relative_to(_SOURCE) else Path(*path.parts[-2:]))
