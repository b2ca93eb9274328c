"""How far a run is and how long it will take."""

from __future__ import annotations

import sys
import time
from collections import defaultdict

from .units import Unit

SECONDS_BETWEEN_LINES = 15.0


class TimeLeft:
    """Guesses the time that is left from what units of the same method, table and data set have taken."""

    def __init__(self, units: list[Unit], n_jobs: int):
        self.left = dict.fromkeys(units)
        self.n_jobs = n_jobs
        self.taken: dict[tuple[str, ...], list[float]] = defaultdict(list)

    def done(self, unit: Unit, seconds: float) -> None:
        self.left.pop(unit, None)
        for kind in self._kinds(unit):
            self.taken[kind].append(seconds)

    @staticmethod
    def _kinds(unit: Unit) -> list[tuple[str, ...]]:
        """From the closest likeness to none."""
        return [(unit.table, unit.method, unit.dataset), (unit.table, unit.method), (unit.table,), ()]

    def _expected(self, unit: Unit) -> float:
        for kind in self._kinds(unit):
            if self.taken[kind]:
                return sum(self.taken[kind]) / len(self.taken[kind])
        return 0.0

    def seconds(self) -> float:
        return sum(map(self._expected, self.left)) / self.n_jobs


def in_words(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


class Progress:
    """One line on standard error now and then."""

    def __init__(self, title: str, units: list[Unit], n_jobs: int):
        self.title, self.total, self.count = title, len(units), 0
        self.time_left = TimeLeft(units, n_jobs)
        self.last_line = -float("inf")

    def done(self, unit: Unit, seconds: float) -> None:
        self.count += 1
        self.time_left.done(unit, seconds)
        now = time.monotonic()
        if now - self.last_line >= SECONDS_BETWEEN_LINES or self.count == self.total:
            self.last_line = now
            left = in_words(self.time_left.seconds())
            print(
                f"[{self.title}] {self.count}/{self.total} units, about {left} left; {unit.name}",
                file=sys.stderr, flush=True,
            )  # fmt: skip
