"""Learning from a stream of rows: `partial_fit`, and `fit` with the stochastic solver."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..design import as_row_design
from ..design.blocks import check_finite, check_weight
from ..files.arrays import make_sparse
from ..solvers import Stochastic, StochasticCsi, check_solver
from ..solvers.stochastic import check_state
from .extremes import check_reach

# Rows of a batch, and the most where rows are so sparse that a step costs more than they do.
_BATCH, _LARGEST_BATCH = 256, 4096


class UnitsOfX:
    """Stands where a design tells the units: w is in those of X already."""

    def in_units_of_X(self, w):
        return w


def learns_from_streams(estimator):
    """Return whether there is a `partial_fit`: not for estimators that need all rows at once."""
    if getattr(estimator, "class_weight", None) == "balanced":
        raise AttributeError(
            "class_weight='balanced' needs all rows at once; give a dict, or sample weights, to partial_fit."
        )
    return "solver" in estimator.get_params(deep=False)


class Stream:
    """Cuts rows into batches of one size, wherever they come from, and passes them to one solver per output.

    Rows that fill no batch wait for the next ones, so that the result does not depend on how a stream is cut
    into calls. `saved` is what :meth:`save` returned.
    """

    def __init__(self, estimator, n_features, n_outputs, saved=None):
        settings = check_solver(estimator.solver)
        self.settings = settings if isinstance(settings, Stochastic) else Stochastic()
        saved = saved or {}
        self.batch_size = saved.get("batch_size", self.settings.batch_size)
        self.waiting: Any = _unpacked(saved.get("waiting"))
        states = saved.get("outputs", [None] * n_outputs)
        self.solvers = [_solver(estimator, self.settings, n_features, state) for state in states]

    def feed(self, X, Y, weight, is_new=True):
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

    def finish(self, is_new=True):
        """Learn from the rows that wait, too."""
        if self.waiting is not None:
            X, Y, weight = self.waiting
            self._step(X, Y, weight, slice(None), is_new)
            self.waiting = None

    def results(self):
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

    def save(self):
        """Return all there is to go on from, as numbers and arrays."""
        return {
            "batch_size": self.batch_size,
            "waiting": _packed(self.waiting),
            "outputs": [dict(solver.state) for solver in self.solvers],
        }

    def _step(self, X, Y, weight, rows, is_new):
        design = as_row_design(X[rows])
        part = None if weight is None else weight[rows]
        for k, solver in enumerate(self.solvers):
            solver.step(design, np.ascontiguousarray(Y[rows, k]), part, is_new)


def _solver(estimator, settings, n_features, state):
    checked = estimator._check_settings(n_features)
    structure = checked["structure"]
    if getattr(structure, "overlapping", False):
        raise ValueError("overlapping groups cannot be learned from a stream; use solver='one-pass'.")
    if hasattr(structure, "coordinates") and not hasattr(structure, "to_coordinates"):
        raise ValueError(
            f"{type(structure).__name__} has coordinates() but no to_coordinates, which a stream needs; add "
            "it, or use solver='one-pass'."
        )
    return StochasticCsi(
        structure, checked["link_fitter"], settings, n_atoms=checked["n_atoms"], alpha=checked["alpha"],
        penalty=checked["penalty"], power=estimator.column_scale, state=state,
    )  # fmt: skip


def _batch_size(X):
    entries = X.nnz / max(X.shape[0], 1) if sparse.issparse(X) else X.shape[1]
    return int(np.clip(X.shape[1] / max(entries, 1), _BATCH, _LARGEST_BATCH))


def _joined(waiting, rows):
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


def _packed(waiting):
    """Return waiting rows as arrays, which can be saved."""
    if waiting is None:
        return None
    X, Y, weight = waiting
    if sparse.issparse(X):
        X = X.tocsr()
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": list(X.shape)}
        return parts | {"Y": Y, "weight": weight}
    return {"X": X, "Y": Y, "weight": weight}


def _unpacked(packed):
    if packed is None:
        return None
    if "X" in packed:
        return packed["X"], packed["Y"], packed["weight"]
    X = sparse.csr_array((packed["data"], packed["indices"], packed["indptr"]), shape=tuple(packed["shape"]))
    return X, packed["Y"], packed["weight"]


def check_stream(saved, n_features, n_outputs):
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


def _check_waiting(packed, n_features, n_outputs):
    if "X" not in packed:
        parts = (packed[name] for name in ("data", "indices", "indptr", "shape"))
        make_sparse(sparse.csr_array, *parts)
    X, Y, weight = _unpacked(packed)
    shapes = [np.shape(X), np.shape(Y)] + ([] if weight is None else [np.shape(weight)])
    n = len(Y)
    if shapes != [(n, n_features), (n, n_outputs), (n,)][: len(shapes)]:
        raise ValueError(
            f"the rows that wait in a stream have the shapes {shapes}, which do not go together."
        )
    for values in (X.data if sparse.issparse(X) else X, Y, 0.0 if weight is None else weight):
        if np.asarray(values).dtype.kind != "f" or not np.isfinite(values).all():
            raise ValueError("the rows that wait in a stream must hold finite numbers.")


class StreamMixin:
    """Estimators that learn from streams."""

    # Of the estimators themselves.
    n_features_in_: Any
    shared_link: Any
    link_cv: Any
    _check_settings: Any
    _link_fitter: Any
    _with_final_links: Any
    _set_fitted: Any
    _in_users_units: Any

    def _check_stream(self, n_outputs):
        structure = self._check_settings(self.n_features_in_)["structure"]
        if n_outputs > 1 and (self.shared_link or getattr(structure, "joint", False)):
            raise ValueError(
                "a stream learns outputs one by one, and this structure or shared_link=True ties them "
                "together; "
                "use solver='two-pass'."
            )
        if self.link_cv is not None:
            raise ValueError(
                "the link of a stream is fitted to rows not seen before anyway; leave link_cv out."
            )

    def _go_on(self, X, Y, weight):
        """Learn from rows that follow those seen so far, and set the fitted attributes."""
        self._check_stream(Y.shape[1])
        saved = getattr(self, "stream_", None)
        unit = np.ones(Y.shape[1]) if saved is None else saved["unit"]
        if saved is not None and len(saved["outputs"]) != Y.shape[1]:
            raise ValueError(f"y has {Y.shape[1]} outputs where {len(saved['outputs'])} were seen before.")
        stream = Stream(self, X.shape[1], Y.shape[1], saved)
        stream.feed(X, Y / unit, weight)
        self._show(stream, unit, X.dtype)
        return self

    def _show(self, stream, unit, dtype):
        results = stream.results()
        if self._link_fitter().is_learned:
            results = self._with_final_links(results, np.empty((0, len(results))), None, None)
        self._set_fitted(self._in_users_units(results, unit), UnitsOfX(), dtype)
        self.stream_ = {**stream.save(), "unit": unit}

    def _stream_rows(self, X, Y, weight, unit):
        """Learn from rows in memory, in a new order for each epoch."""
        self._check_stream(Y.shape[1])
        stream = Stream(self, X.shape[1], Y.shape[1])
        X = X.tocsr() if sparse.issparse(X) else X
        for epoch, order in enumerate(_orders(stream.settings, len(Y))):
            if order is None:
                stream.feed(X, Y, weight, epoch == 0)
            else:
                self._feed_in_order(stream, X, Y, weight, order, epoch == 0)
        self._show(stream, unit, X.dtype)
        return self

    def _feed_in_order(self, stream, X, Y, weight, order, is_new, rows=1 << 14):
        # In pieces: a copy of all rows would take as much memory again.
        for start in range(0, len(order), rows):
            part = order[start : start + rows]
            stream.feed(X[part], Y[part], None if weight is None else weight[part], is_new)

    def _fit_stream(self, source, targets, unit, settings):
        """Learn from data in blocks; rows change places within their block."""
        self._check_stream(len(targets))
        stream = Stream(self, source.n_features, len(targets))
        rng = None if settings.random_state is None else np.random.default_rng(settings.random_state)
        for epoch in range(settings.epochs):
            for block in source:
                if epoch == 0:
                    check_finite(block)
                Y = np.column_stack([target.values(block) for target in targets])
                weight = targets[0].weights(block)
                order = np.arange(len(block)) if rng is None else rng.permutation(len(block))
                self._feed_in_order(stream, block.X, Y, weight, order, epoch == 0)
        self._show(stream, unit, source.dtype)
        return self


def _orders(settings, n_rows):
    rng = None if settings.random_state is None else np.random.default_rng(settings.random_state)
    for _ in range(settings.epochs):
        yield None if rng is None else rng.permutation(n_rows)
