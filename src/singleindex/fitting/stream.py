"""Learning from a stream of rows: `partial_fit`, and `fit` with the stochastic solver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..design import as_row_design
from ..design.blocks import Target, check_finite, check_weight
from ..solvers import SolverResult, Stochastic, StochasticCsi
from ..solvers.result import FloatArray
from ..solvers.stochastic import check_state
from .extremes import check_reach
from .memory import with_final_links
from .plan import Plan
from .record import Fitted, Targets, as_fitted

# Rows of a batch, and the most where rows are so sparse that a step costs more than they do.
_BATCH, _LARGEST_BATCH = 256, 4096
# What is kept of rows that fill no batch yet.
_WAITING = ("X", "Y", "weight")


def go_on(
    plan: Plan, saved: Mapping[str, Any] | None, X: Any, Y: FloatArray, weight: FloatArray | None
) -> Fitted:
    """Learn from rows that follow those seen so far; `saved` is the `stream_` of the fit before."""
    unit = np.ones(Y.shape[1]) if saved is None else saved["unit"]
    if saved is not None and len(saved["outputs"]) != Y.shape[1]:
        raise ValueError(f"y has {Y.shape[1]} outputs where {len(saved['outputs'])} were seen before.")
    stream = Stream(plan, Y.shape[1], saved)
    stream.feed(X, Y / unit, weight)
    return stream.as_fitted(unit)


def stream_rows(plan: Plan, X: Any, targets: Targets, weight: FloatArray | None) -> Fitted:
    """Learn from rows in memory, in a new order for each epoch."""
    Y = targets.Y
    stream = Stream(plan, Y.shape[1])
    X = X.tocsr() if sparse.issparse(X) else X
    for epoch, order in enumerate(_orders(stream.settings, len(Y))):
        if order is None:
            stream.feed(X, Y, weight, epoch == 0)
        else:
            stream.feed_in_order(X, Y, weight, order, epoch == 0)
    return stream.as_fitted(targets.unit)


def stream_blocks(plan: Plan, source: Any, targets: list[Target], unit: FloatArray) -> Fitted:
    """Learn from data in blocks; rows change places within their block."""
    stream = Stream(plan, len(targets))
    seed = stream.settings.random_state
    rng = None if seed is None else np.random.default_rng(seed)
    for epoch in range(stream.settings.epochs):
        for block in source:
            if epoch == 0:
                check_finite(block)
            Y = np.column_stack([target.values(block) for target in targets])
            weight = targets[0].weights(block)
            order = np.arange(len(block)) if rng is None else rng.permutation(len(block))
            stream.feed_in_order(block.X, Y, weight, order, epoch == 0)
    return stream.as_fitted(unit)


def _orders(settings: Stochastic, n_rows: int) -> Iterator[Any]:
    rng = None if settings.random_state is None else np.random.default_rng(settings.random_state)
    for _ in range(settings.epochs):
        yield None if rng is None else rng.permutation(n_rows)


def _check_plan(plan: Plan, n_outputs: int) -> None:
    if plan.is_joint(n_outputs):
        raise ValueError(
            "a stream learns outputs one by one, and this structure or shared_link=True ties them together; "
            "use solver='two-pass'."
        )
    if plan.link_cv is not None:
        raise ValueError("the link of a stream is fitted to rows not seen before anyway; leave link_cv out.")
    if not plan.structure.streams:
        raise ValueError(
            "overlapping groups, and other structures whose coordinates are not told by w, cannot be learned "
            "from a stream; use solver='one-pass'."
        )


class Stream:
    """Cuts rows into batches of one size, wherever they come from, and passes them to one solver per output.

    Rows that fill no batch wait for the next ones, so that the result does not depend on how a stream is cut
    into calls. `saved` is what :meth:`save` returned.
    """

    def __init__(self, plan: Plan, n_outputs: int, saved: Mapping[str, Any] | None = None) -> None:
        _check_plan(plan, n_outputs)
        self.plan = plan
        self.settings = plan.solver if isinstance(plan.solver, Stochastic) else Stochastic()
        saved = saved or {}
        self.batch_size: int | None = saved.get("batch_size", self.settings.batch_size)
        waiting = saved.get("waiting")
        self.waiting: Any = None if waiting is None else tuple(waiting[name] for name in _WAITING)
        states = saved.get("outputs", [None] * n_outputs)
        self.solvers = [self._solver(state) for state in states]

    def _solver(self, state: Mapping[str, Any] | None) -> StochasticCsi:
        plan = self.plan
        coordinates, structure = plan.structure.coordinates(plan.n_features)
        return StochasticCsi(
            structure, plan.fitter, self.settings, n_atoms=plan.n_atoms, alpha=plan.alpha,
            penalty=plan.penalty, power=plan.power_of_columns, coordinates=coordinates, state=state,
        )  # fmt: skip

    def feed(self, X: Any, Y: FloatArray, weight: FloatArray | None, is_new: bool = True) -> None:
        """Learn from rows; `Y` has one column per output."""
        for values, name in ((X, "X"), (Y, "y")):
            check_reach(values, name)
        check_weight(weight, "sample_weight")
        if self.batch_size is None:
            self.batch_size = _batch_size(X)
        X, Y, weight = _joined(self.waiting, (X, Y, weight))
        n_whole = len(Y) - len(Y) % self.batch_size
        for start in range(0, n_whole, self.batch_size):
            self._step(X, Y, weight, slice(start, start + self.batch_size), is_new)
        rest = slice(n_whole, None)
        self.waiting = None
        if n_whole < len(Y):
            self.waiting = (X[rest].copy(), Y[rest].copy(), None if weight is None else weight[rest].copy())

    def finish(self, is_new: bool = True) -> None:
        """Learn from the rows that wait, too."""
        if self.waiting is not None:
            X, Y, weight = self.waiting
            self._step(X, Y, weight, slice(None), is_new)
            self.waiting = None

    def results(self) -> list[SolverResult]:
        """Return the model of each output after all rows so far; that leaves no trace in the stream."""
        solvers = self.solvers
        waiting, self.solvers = self.waiting, [solver.copy() for solver in solvers]
        try:
            self.finish()
            if any("w" not in solver.state for solver in self.solvers):
                raise ValueError("No row of positive weight has been seen yet; at least one is needed.")
            return [solver.result() for solver in self.solvers]
        finally:
            self.waiting, self.solvers = waiting, solvers

    def feed_in_order(
        self, X: Any, Y: FloatArray, weight: FloatArray | None, order: Any, is_new: bool, rows: int = 1 << 14
    ) -> None:
        """Learn from rows in another order."""
        # In pieces: a copy of all rows would take as much memory again.
        for start in range(0, len(order), rows):
            part = order[start : start + rows]
            self.feed(X[part], Y[part], None if weight is None else weight[part], is_new)

    def as_fitted(self, unit: FloatArray) -> Fitted:
        """Return the model after all rows so far, and what it takes to go on."""
        results = self.results()
        if self.plan.fitter.is_learned:
            none = np.empty((0, len(results)))  # the results bring the bins that their links were fitted to
            results = with_final_links(self.plan, results, none, None, None)
        return as_fitted(results, lambda w: w, unit, {"stream_": {**self.save(), "unit": unit}})

    def save(self) -> dict[str, Any]:
        """Return all there is to go on from, as numbers, arrays and links."""
        waiting = None
        if self.waiting is not None:
            X, *others = self.waiting
            rows = sparse.csr_array(X) if sparse.issparse(X) else X
            waiting = dict(zip(_WAITING, (rows, *others), strict=True))
        return {
            "batch_size": self.batch_size,
            "waiting": waiting,
            "outputs": [dict(solver.state) for solver in self.solvers],
        }

    def _step(self, X: Any, Y: FloatArray, weight: FloatArray | None, rows: slice, is_new: bool) -> None:
        design = as_row_design(X[rows])
        part = None if weight is None else weight[rows]
        for k, solver in enumerate(self.solvers):
            solver.step(design, np.ascontiguousarray(Y[rows, k]), part, is_new)


def _batch_size(X: Any) -> int:
    entries = X.nnz / max(X.shape[0], 1) if sparse.issparse(X) else X.shape[1]
    return int(np.clip(X.shape[1] / max(entries, 1), _BATCH, _LARGEST_BATCH))


def _joined(waiting: Any, rows: Any) -> Any:
    """Return the rows that wait and the new ones as one; of weights that are not given, each is 1."""
    if waiting is None:
        return rows
    old, new = waiting[0], rows[0]
    if sparse.issparse(old) and not sparse.issparse(new):
        old = old.toarray()
    stack = sparse.vstack([old, new], format="csr") if sparse.issparse(new) else np.concatenate([old, new])
    Y = np.concatenate([waiting[1], rows[1]])
    if waiting[2] is None and rows[2] is None:
        return stack, Y, None
    weights = [np.ones(len(y)) if w is None else w for _, y, w in (waiting, rows)]
    return stack, Y, np.concatenate(weights)


def check_stream(saved: Mapping[str, Any], n_features: int, n_outputs: int) -> None:
    """Raise where a stream cannot be gone on from: for what comes from a file."""
    size = saved["batch_size"]
    if size is not None and (type(size) is not int or size < 1):
        raise ValueError(f"the batches of a stream must have a size, got {size!r}.")
    if len(saved["outputs"]) != n_outputs or np.shape(saved["unit"]) != (n_outputs,):
        raise ValueError(f"a stream of {n_outputs} outputs must have a state and a unit for each.")
    if not (np.isfinite(saved["unit"]).all() and (np.asarray(saved["unit"]) > 0).all()):
        raise ValueError("the units of a stream must be positive numbers.")
    for state in saved["outputs"]:
        check_state(state, n_features)
    if saved["waiting"] is not None:
        _check_waiting(saved["waiting"], n_features, n_outputs)


def _check_waiting(waiting: Mapping[str, Any], n_features: int, n_outputs: int) -> None:
    X, Y, weight = (waiting[name] for name in _WAITING)
    shapes = [np.shape(X), np.shape(Y)] + ([] if weight is None else [np.shape(weight)])
    n = len(Y)
    if shapes != [(n, n_features), (n, n_outputs), (n,)][: len(shapes)]:
        raise ValueError(
            f"the rows that wait in a stream have the shapes {shapes}, which do not go together."
        )
    for values in (X.data if sparse.issparse(X) else X, Y, 0.0 if weight is None else weight):
        if np.asarray(values).dtype.kind != "f" or not np.isfinite(values).all():
            raise ValueError("the rows that wait in a stream must hold finite numbers.")
