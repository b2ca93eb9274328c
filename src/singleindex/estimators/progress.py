"""What a fit tells while it runs: lines for `verbose`, and scikit-learn's callbacks."""

from __future__ import annotations

import functools
import sys
import time

from ..solvers import in_units

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:  # pragma: no cover

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn knows no callbacks yet."""

    def with_callbacks(method):
        return method


class Progress:
    """Called by a solver at every iterate; passes it on, and passes back a wish to stop."""

    def __init__(self, estimator, X, y, unit, n_fits, attributes):
        self.estimator, self.X, self.y, self.unit = estimator, X, y, unit
        self.n_fits, self.attributes = n_fits, attributes
        self.fit_number = 0
        self.context = None
        if getattr(estimator, "_skl_callbacks", None):
            self.context = estimator._init_callback_context(max_subtasks=n_fits * estimator.max_iter)
            self.context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    def __call__(self, iterate):
        units = self.unit if self.n_fits == 1 else self.unit[self.fit_number : self.fit_number + 1]
        records = [in_units(r, u) for r, u in zip(iterate.by_output(), units, strict=True)]
        if self.estimator.verbose:
            self._print(records[0] if len(records) == 1 else iterate)
        if self.context is None:
            return False
        # Fitted one by one, several outputs make no estimator to show before all of them are there.
        fitted = self.attributes(records) if self.n_fits == 1 else None
        task = self.context.subcontext(task_name="iteration")
        told = {"estimator": self.estimator, "X": self.X, "y": self.y}
        task.call_on_fit_task_begin(**told, reconstruction_attributes=fitted)
        return bool(task.call_on_fit_task_end(**told, reconstruction_attributes=fitted))

    def _print(self, iterate):
        output = f"output {self.fit_number + 1}/{self.n_fits}  " if self.n_fits > 1 else ""
        print(
            f"[{type(self.estimator).__name__}] {output}iteration {iterate.n_iter + 1}"
            f"/{self.estimator.max_iter}  mse {iterate.mse:.6g}  atoms {iterate.n_atoms}"
            f"  change {iterate.change:.2e}",
            file=sys.stderr,
            flush=True,
        )

    def end(self):
        if self.context is not None:
            self.context.call_on_fit_task_end(
                estimator=self.estimator, X=self.X, y=self.y, reconstruction_attributes={}
            )


class RowsBar:
    """Tells how far a reading of the data has come, and how many rows per second it makes.

    On a terminal a bar that is drawn over itself; elsewhere one line at the end of each reading. Silent
    unless the estimator's `verbose` is above 0.
    """

    WIDTH = 30
    EVERY = 0.2  # seconds between two drawings

    def __init__(self, estimator, source, file=None):
        self.name, self.source = type(estimator).__name__, source
        self.is_on = bool(estimator.verbose)
        self.file = sys.stderr if file is None else file
        self.total = source.n_rows
        self.rows, self.n_readings, self.began, self.drawn = 0, 0, 0.0, 0.0

    def __enter__(self):
        if self.is_on:
            self.source.on_rows = self.add
        return self

    def __exit__(self, *_):
        self.source.on_rows = None
        self._end()

    def add(self, n_rows):
        """Note that so many rows more have been worked on; none, that the reading has ended."""
        now = time.perf_counter()
        if n_rows == 0:
            self._end()
            return
        if self.rows == 0:
            self.began = self.drawn = now
            self.n_readings += 1
        self.rows += n_rows
        if self.file.isatty() and now - self.drawn >= self.EVERY:
            self.drawn = now
            self.file.write("\r" + self.line(now))
            self.file.flush()

    def line(self, now):
        seconds = max(now - self.began, 1e-9)
        rate = f"{self.rows / seconds:,.0f} rows/s"
        if self.total is None:
            return f"[{self.name}] reading {self.n_readings}  {self.rows:,} rows  {rate}"
        done = min(self.rows / self.total, 1.0)
        bar = ("#" * round(done * self.WIDTH)).ljust(self.WIDTH, ".")
        return f"[{self.name}] reading {self.n_readings} [{bar}] {self.rows:,}/{self.total:,} rows  {rate}"

    def _end(self):
        if not self.rows:
            return
        start = "\r" if self.file.isatty() else ""
        self.file.write(start + self.line(time.perf_counter()) + "\n")
        self.file.flush()
        self.total = self.rows
        self.rows = 0


class SearchProgress:
    """Tells of the steps of a search: every fold that has been traced, every path that has been scored."""

    def __init__(self, estimator, X, y, n_folds, n_paths):
        self.estimator, self.told = estimator, {"estimator": estimator, "X": X, "y": y}
        self.total = {"fold traced": n_folds, "path scored": n_paths}
        self.done = dict.fromkeys(self.total, 0)
        self.context = None
        if getattr(estimator, "_skl_callbacks", None):
            self.context = estimator._init_callback_context(max_subtasks=n_folds + n_paths)
            self.context.call_on_fit_task_begin(**self.told)

    def step(self, name):
        self.done[name] += 1
        if self.estimator.verbose:
            where = f"{name} {self.done[name]}/{self.total[name]}"
            print(f"[{type(self.estimator).__name__}] {where}", file=sys.stderr, flush=True)
        if self.context is not None:
            task = self.context.subcontext(task_name=name)
            task.call_on_fit_task_begin(**self.told)
            task.call_on_fit_task_end(**self.told)

    def end(self):
        if self.context is not None:
            self.context.call_on_fit_task_end(**self.told, reconstruction_attributes={})


def all_or_nothing(fit):
    """Make `fit` leave the estimator as it was where it fails or is interrupted."""

    @functools.wraps(fit)
    def fit_or_restore(estimator, *args, **kwargs):
        before = vars(estimator).copy()
        try:
            return fit(estimator, *args, **kwargs)
        except BaseException:
            vars(estimator).clear()
            vars(estimator).update(before)
            raise

    return fit_or_restore
