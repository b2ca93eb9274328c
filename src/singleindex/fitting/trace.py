"""One fold of a search: models along every path, as rows that they have not seen find them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..design import Design, View, as_design, take_rows
from ..solvers.exact import PATH_SWEEPS, PATH_TOL, Exact, exact_path
from ..solvers.relax import relax
from ..solvers.result import FloatArray, Iterate
from ..structures.separable import Separable
from .cross_fit import Weight, common_spread, spread_of
from .extremes import Spread, shares_of
from .grid import Cell
from .memory import prepare
from .path import trace_path
from .plan import Plan

# Relaxed fits are tried where there are so many rows per coefficient.
_ROWS_TO_RELAX = 5
# The most rows with which a link is learned in relaxed fits too, and the most coefficients to relax beyond.
_FEW_ENOUGH_TO_LEARN, _MOST_OF_MANY_ROWS = 2000, 30
# How far a soft fit is relaxed: not, half and wholly.
RELAXED = (0.0, 0.5, 1.0)


class Key(NamedTuple):
    """Where a candidate stands: its path, its level on it, and its form there."""

    cell: int
    level: int
    form: float


@dataclass(frozen=True, eq=False)
class Model:
    """w in the units of X, its index at unit spread over the rows it was learned from.

    Attributes
    ----------
    positions, values
        Of the coefficients that are not zero, among the flattened (n_features, n_outputs).
    offset : array of shape (n_outputs,)
        What to add to Xw.
    n_atoms : float
    ended : array of shape (n_outputs,) or None
        Where the path of an output has ended before this level, so that this is its last model once more.
    votes : array or None
        Of an average, in which share of its models each of the coefficients is in use; None for all.
    """

    positions: NDArray[np.intp]
    values: FloatArray
    offset: FloatArray
    n_atoms: float
    ended: NDArray[np.bool_] | None = None
    votes: FloatArray | None = None

    def add_to(self, coef: FloatArray, by: FloatArray) -> None:
        """Add w, each output times a number, to an array of shape (n_features, n_outputs)."""
        coef.reshape(-1)[self.positions] += by[self.positions % len(by)] * self.values


# No coefficient at all: of outputs that nothing explains.
NOTHING = Model(np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(1), 0.0)


def as_model(
    coef: FloatArray,
    index: FloatArray,
    weight: Weight,
    n_atoms: float,
    is_free: bool,
    is_together: bool = False,
) -> Model | None:
    """Return w of shape (d, n_outputs) as a model; None where its index is the same for all rows.

    `index` is that of the training rows. Where the scale of w is not free, as for a known link, it is left;
    where that of all outputs is one, it is that of their mean spread.
    """
    coef, offset = coef.copy(), np.zeros(coef.shape[1])
    if is_free:
        spreads = [spread_of(one, weight) for one in index.T]
        common = common_spread(index, weight) if is_together else 0.0
        for k, (mean, sd) in enumerate(spreads):
            sd = common if is_together else sd
            if not sd > 0:
                coef[:, k] = 0.0
                continue
            coef[:, k] /= sd
            offset[k] = -mean / sd
    positions = np.flatnonzero(coef)
    return Model(positions, coef.reshape(-1)[positions], offset, n_atoms) if len(positions) else None


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from."""

    X: Any
    Y: FloatArray
    weight: Weight

    @property
    def share(self) -> FloatArray:
        return shares_of(len(self.Y), self.weight)

    @property
    def n_rows(self) -> float:
        return float(len(self.Y) if self.weight is None else self.weight.sum())

    @property
    def n_outputs(self) -> int:
        return int(self.Y.shape[1])

    def problems(self, are_one: bool) -> list[Fold]:
        """Return the same rows with each output alone, or as they are where the outputs are one problem."""
        if are_one:
            return [self]
        return [Fold(self.X, self.Y[:, [k]], self.weight) for k in range(self.n_outputs)]


def rows_of(X: Any, Y: FloatArray, weight: Weight, rows: Any) -> Fold:
    return Fold(take_rows(X, rows), Y[rows], None if weight is None else weight[rows])


# Of one split: the models that its training rows give, its held-out rows, and their index under each model.
Found = tuple[dict[Any, Model], Any, FloatArray]


def on_split(data: Any, split: Any, find: Callable[[Fold], dict[Any, Model]]) -> Found:
    """Return what the training rows of a split give, and what its held-out rows see of it."""
    train, test = split
    models = find(rows_of(data.X, data.Y, data.weight, train))
    X_test = take_rows(data.X, test)
    return models, test, held_out_indices(X_test, list(models.values()), data.n_features, data.n_outputs)


def by_columns(X: Any) -> Design:
    """Return data as a design that hands out columns cheaply."""
    if isinstance(X, np.ndarray):
        X = np.asfortranarray(X)
    return as_design(X)


def exact_method(plan: Plan, cell: Cell, design: Design, spread: Spread, fold: Fold) -> tuple[View, Exact]:
    """Return the exact steps of a path on some rows, and the view of X they are taken in."""
    view, viewed = cell.plan(plan).view(design, spread)
    y = fold.Y
    if fold.n_outputs == 1:
        y = np.ascontiguousarray(y[:, 0])
    else:
        viewed = viewed.for_joint_fit()
    return view, Exact(
        view, y, viewed.simplicity, viewed.fitter, sample_weight=fold.weight, inner_tol=PATH_TOL,
        max_sweeps=PATH_SWEEPS,
    )  # fmt: skip


def trace_exact(
    plan: Plan, cell: Cell, design: Design, spread: Spread, fold: Fold, largest: float
) -> Iterator[tuple[tuple[int, float], Model]]:
    """Yield level, form and model along a path of exact steps."""
    view, method = exact_method(plan, cell, design, spread, fold)
    shares = [level.penalty for level in cell.levels]
    relaxer = Relaxer(view, fold, cell, plan, method.shape)
    most, is_empty = max(1.0, cell.most * fold.n_rows * fold.n_outputs), True
    for level, iterate in enumerate(exact_path(method, [share * largest for share in shares])):
        if not iterate.coef.any():
            continue
        n_used = np.count_nonzero(iterate.coef[~method.shape.is_free])
        # No path is empty, however little there is to be explained, and however few rows there are.
        if not is_empty and (n_used > most or iterate.mse < cell.unexplained * method.null):
            return
        for form, w, index in relaxer.forms(iterate):
            coef, index = view.to_features(w), index.reshape(-1, fold.n_outputs)
            model = as_model(
                coef.reshape(-1, fold.n_outputs), index, fold.weight, iterate.n_atoms, plan.fitter.is_learned
            )
            if model is not None:
                is_empty = False
                yield (level, form), model


class Relaxer:
    """Fits without a penalty what soft fits use; where one uses what the last did, there is nothing to do."""

    def __init__(self, view: View, fold: Fold, cell: Cell, plan: Plan, shape: Separable) -> None:
        self.view, self.fold, self.alpha, self.shape = view, fold, cell.alpha, shape
        self.is_learned = plan.fitter.is_learned
        # With many rows a learned link is dear, and a plain one finds the same direction.
        is_long = fold.n_rows > _FEW_ENOUGH_TO_LEARN and plan.link_is_free
        self.fitter = plan.plain_fitter if is_long else cell.fitter
        # And of weak penalties there is then little to relax.
        self.most = _MOST_OF_MANY_ROWS if is_long else fold.n_rows / _ROWS_TO_RELAX
        self.used = np.zeros(0, dtype=np.intp)
        self.columns, self.free = np.zeros((0, 0)), np.zeros(0)

    def forms(self, iterate: Iterate) -> Iterator[tuple[float, FloatArray, FloatArray]]:
        """Yield the soft fit, and with rows enough the one without a penalty, and the mean of both."""
        yield 0.0, iterate.coef, iterate.index
        used = np.flatnonzero(iterate.coef if iterate.coef.ndim == 1 else iterate.coef.any(axis=1))
        if len(used) > self.most:
            return
        soft = iterate.coef[used]
        if not np.array_equal(used, self.used):
            self.used, self.columns = used, self.view.columns(used)
            self.free = self._unit(self._relaxed(soft))
        soft = self._unit(soft)
        for form in RELAXED[1:]:
            w = np.zeros_like(iterate.coef)
            w[used] = form * self.free + (1 - form) * soft
            yield form, w, self.columns @ w[used]

    def _relaxed(self, start: FloatArray) -> FloatArray:
        starts, fold, bounds = start.reshape(len(start), -1), self.fold, self.shape.bounds_of(self.used)
        relaxed = np.column_stack([
            relax(self.columns, np.ascontiguousarray(y), fold.share, s, self.fitter, self.alpha, bounds)
            for y, s in zip(fold.Y.T, starts.T, strict=True)
        ])  # fmt: skip
        return relaxed.reshape(start.shape)

    def _unit(self, w: FloatArray) -> FloatArray:
        return at_unit_spread(w, self.columns, self.fold.share) if self.is_learned else w


def at_unit_spread(w: FloatArray, columns: FloatArray, share: FloatArray) -> FloatArray:
    """Return coefficients of some columns, by outputs, at which their index has unit spread."""
    index = columns @ w
    index = index - share @ index
    sd = np.sqrt(share @ np.square(index))
    return np.divide(w, sd, out=np.zeros_like(w), where=sd > 0)


def merged(paths: list[dict[Any, Model]]) -> dict[Any, Model]:
    """Return the models of several outputs as one each; of a path that has ended, its last one stands on."""
    if len(paths) == 1:
        return paths[0]
    keys = sorted(set().union(*paths))
    last = [next(iter(path.values()), NOTHING) for path in paths]
    together = {}
    for key in keys:
        ended = np.array([key not in path for path in paths])
        last = [path.get(key, one) for path, one in zip(paths, last, strict=True)]
        together[key] = Model(
            np.concatenate([one.positions * len(last) + k for k, one in enumerate(last)]),
            np.concatenate([one.values for one in last]),
            np.concatenate([one.offset for one in last]),
            float(np.mean([one.n_atoms for one in last])),
            ended,
        )
    return together


def trace_gradient(plan: Plan, cell: Cell, fold: Fold) -> dict[tuple[int, float], Model]:
    """Return by level and iteration the models along a path of gradient steps."""
    planned = cell.plan(plan)
    trace = trace_path(planned, prepare(fold.X, fold.weight), fold.Y, fold.weight, cell.levels)
    found = {}
    for level, steps in enumerate(trace.levels):
        last: list[Iterate] = []
        for number, iterates in enumerate(steps):
            # Where the solver has settled, further iterations are the same candidate.
            if last and all(a.coef is b.coef for a, b in zip(iterates, last, strict=True)):
                break
            coef = np.column_stack([trace.view.to_features(one.coef) for one in iterates])
            index = np.column_stack([one.index for one in iterates])
            count = float(np.mean([one.n_atoms for one in iterates]))
            model = as_model(coef, index, fold.weight, count, plan.fitter.is_learned)
            if model is not None:
                found[level, float(number + 1)] = model
            last = iterates
    return found


def held_out_indices(X_test: Any, models: Sequence[Model], n_features: int, n_outputs: int) -> FloatArray:
    """Return the index of some rows under each of the models: (n_models, n_rows, n_outputs)."""
    if not models:
        return np.zeros((0, X_test.shape[0], n_outputs))
    columns = np.unique(np.concatenate([one.positions // n_outputs for one in models]))
    place = np.full(n_features, -1)
    place[columns] = np.arange(len(columns))
    stacked = np.zeros((len(columns), len(models), n_outputs))
    for k, one in enumerate(models):
        rows, outputs = np.divmod(one.positions, n_outputs)
        stacked[place[rows], k, outputs] = one.values
    product = as_design(X_test).combine(columns, stacked.reshape(len(columns), len(models) * n_outputs))
    offsets = np.array([one.offset for one in models])
    indices: FloatArray = product.reshape(-1, len(models), n_outputs).transpose(1, 0, 2) + offsets[:, None, :]
    return indices
