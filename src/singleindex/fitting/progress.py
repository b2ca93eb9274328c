"""What a fit tells while it runs: lines for `verbose`, bars, and scikit-learn's callbacks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..solvers.result import FloatArray
from .record import Fitted, model_of


@dataclass(frozen=True)
class Teller:
    """Who is told, and how.

    Attributes
    ----------
    name : str
        What to call the estimator on standard error.
    verbose : bool
    open_context : callable or None
        Begins a task of so many steps for scikit-learn's callbacks, where there are any.
    told : dict
        What callbacks are told: the estimator, X and y.
    attributes : callable
        From coefficients and links to the attributes of a fitted estimator.
    """

    name: str
    verbose: bool
    open_context: Callable[[int], Any] | None
    told: Mapping[str, Any]
    attributes: Callable[[FloatArray, list[Any]], dict[str, Any]]

    def begin(self, n_steps: int) -> Any:
        """Return the context of a task of so many steps, None where nobody asked for one."""
        if self.open_context is None:
            return None
        context = self.open_context(n_steps)
        context.call_on_fit_task_begin(**self.told)
        return context

    def end(self, context: Any, fitted: Fitted) -> None:
        """End the task of this context: the model is there."""
        if context is not None:
            attributes = self.attributes(fitted.coef, fitted.links)
            context.call_on_fit_task_end(**self.told, reconstruction_attributes=attributes)

    def say(self, text: str) -> None:
        if self.verbose:
            print(f"[{self.name}] {text}", file=sys.stderr, flush=True)


class Progress:
    """Called by a solver at every iterate; passes it on, and passes back a wish to stop."""

    def __init__(self, teller: Teller, unit: FloatArray) -> None:
        self.teller, self.unit = teller, unit
        self.fit_number, self.n_fits, self.max_iter = 0, 1, 1
        self.context: Any = None

    def begin(self, n_fits: int, max_iter: int, to_features: Callable[[FloatArray], FloatArray]) -> None:
        """Note how many fits there will be, and what brings w to the units of X."""
        self.n_fits, self.max_iter, self.to_features = n_fits, max_iter, to_features
        self.context = self.teller.begin(n_fits * max_iter)

    def next_fit(self) -> None:
        self.fit_number += 1

    def __call__(self, iterate: Any) -> bool:
        units = self.unit if self.n_fits == 1 else self.unit[self.fit_number : self.fit_number + 1]
        outputs = iterate.by_output()
        if self.teller.verbose:
            self._say(outputs[0].in_units(units[0]) if len(outputs) == 1 else iterate)
        if self.context is None:
            return False
        # Fitted one by one, several outputs make no estimator to show before all of them are there.
        fitted = None
        if self.n_fits == 1:
            fitted = self.teller.attributes(*model_of(outputs, self.to_features, units))
        task = self.context.subcontext(task_name="iteration")
        task.call_on_fit_task_begin(**self.teller.told, reconstruction_attributes=fitted)
        return bool(task.call_on_fit_task_end(**self.teller.told, reconstruction_attributes=fitted))

    def _say(self, iterate: Any) -> None:
        output = f"output {self.fit_number + 1}/{self.n_fits}  " if self.n_fits > 1 else ""
        self.teller.say(
            f"{output}iteration {iterate.n_iter + 1}/{self.max_iter}  mse {iterate.mse:.6g}  "
            f"atoms {iterate.n_atoms}  change {iterate.change:.2e}"
        )

    def end(self, fitted: Fitted) -> None:
        self.teller.end(self.context, fitted)


# The steps of every search, and one that only some take, on every fold.
PLANNED, FURTHER = ("fold traced", "stage scored"), "fold traced further"


class SearchProgress:
    """Tells of the steps of a search: every fold that has been traced, both stages that are scored."""

    def __init__(self, teller: Teller) -> None:
        self.teller = teller
        self.total: dict[str, int] = {}
        self.done: dict[str, int] = {}
        self.context: Any = None

    def begin(self, n_folds: int, n_stages: int) -> None:
        self.total = {**dict(zip(PLANNED, (n_folds, n_stages), strict=True)), FURTHER: n_folds}
        self.done = dict.fromkeys(self.total, 0)
        self.context = self.teller.begin(n_folds + n_stages)

    def step(self, name: str) -> None:
        """Tell of a step; callbacks of those alone that every search takes, which they know the number of."""
        self.done[name] += 1
        self.teller.say(f"{name} {self.done[name]}/{self.total[name]}")
        if self.context is not None and name in PLANNED:
            task = self.context.subcontext(task_name=name)
            task.call_on_fit_task_begin(**self.teller.told)
            task.call_on_fit_task_end(**self.teller.told)

    def end(self, fitted: Fitted) -> None:
        self.teller.end(self.context, fitted)


class RowsBar:
    """Tells how far a reading of the data has come, how many rows per second it makes, and what is left.

    On a terminal a bar that is drawn over itself; elsewhere one line at the end of each reading. Silent
    unless the estimator is verbose. `most` is the largest number of readings there may be.
    """

    WIDTH = 30
    EVERY = 0.2  # seconds between two drawings

    def __init__(self, teller: Teller, source: Any, file: Any = None, most: int | None = None) -> None:
        self.name, self.source, self.is_on = teller.name, source, teller.verbose
        self.file = sys.stderr if file is None else file
        self.total: int | None = source.n_rows
        self.most = most
        self.rows, self.n_readings, self.began, self.drawn, self.ended = 0, 0, 0.0, 0.0, 0.0

    def __enter__(self) -> RowsBar:
        self.ended = time.perf_counter()
        if self.is_on:
            self.source.on_rows = self.add
        return self

    def __exit__(self, *_: Any) -> None:
        self.source.on_rows = None
        self._end()

    def add(self, n_rows: int) -> None:
        """Note that so many rows more have been worked on; none, that the reading has ended."""
        now = time.perf_counter()
        if n_rows == 0:
            self._end()
            return
        if self.rows == 0:
            # The first rows have been worked on by now: they count from the end of the reading before.
            self.began, self.drawn = self.ended, 0.0
            self.n_readings += 1
        self.rows += n_rows
        if self.file.isatty() and now - self.drawn >= self.EVERY:
            self.drawn = now
            self.file.write("\r" + self.line(now))
            self.file.flush()

    def line(self, now: float) -> str:
        seconds = max(now - self.began, 1e-9)
        rate = f"{self.rows / seconds:,.0f} rows/s"
        most = "" if self.most is None else f" of at most {self.most}"
        said = f"[{self.name}] reading {self.n_readings}{most}"
        if self.total is None:
            return f"{said}  {self.rows:,} rows  {rate}"
        done = min(self.rows / max(self.total, 1), 1.0)
        left = f"{in_words(seconds / done - seconds)} left"
        if self.most is not None:
            left += f", {in_words(seconds / done * (self.most - self.n_readings + 1 - done))} at most in all"
        # The bar comes last: on a narrow terminal it is what can be done without.
        bar = ("#" * round(done * self.WIDTH)).ljust(self.WIDTH, ".")
        return f"{said}  {left}  {rate}  {self.rows:,}/{self.total:,} rows [{bar}]"

    def _end(self) -> None:
        if not self.rows:
            return
        start = "\r" if self.file.isatty() else ""
        self.total = self.rows
        self.file.write(start + self.line(time.perf_counter()) + "\n")
        self.file.flush()
        self.rows, self.ended = 0, time.perf_counter()


def in_words(seconds: float) -> str:
    """Return a time to come, to the minute where it is long."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
