"""What a fit tells while it runs: lines for `verbose`, and scikit-learn's callbacks."""

from __future__ import annotations

import functools
import sys

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
