"""CSI that reads the data once per iteration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..design.survey import Survey
from ..design.sweep import Sweep, Visit
from ..link import LinkFitter
from ..link.bins import Points
from ..structures import Structure
from .csi import RECORDED, for_one_fit, has_settled, squared_length
from .result import FloatArray, Iterate, SolverResult, Status


@dataclass
class State:
    """All that goes from one iteration to the next, and into a checkpoint."""

    w: FloatArray
    w_old: FloatArray
    link: Any
    step: float
    t: int = 0
    exponent: int | None = None
    index_old: FloatArray | None = None
    best: Iterate | None = None
    history: list[list[float]] = field(default_factory=list)


@dataclass(frozen=True)
class Seen:
    """What an iteration takes from its visit of the data."""

    points: Points
    gradient: FloatArray
    total: float
    change: float
    index: FloatArray | None
    exponent: int | None


def solve_one_pass(
    design: Any,
    y: Any,
    structure: Structure,
    link_fitter: LinkFitter,
    *,
    survey: Survey,
    output: int = 0,
    n_atoms: int | None = None,
    alpha: float = 0.0,
    penalty: float = 0.0,
    max_iter: int = 50,
    tol: float = 1e-3,
    sample_weight: FloatArray | None = None,
    n_bins: int | None = 4096,
    n_threads: int | None = None,
    on_iteration: Callable[[Iterate], bool | None] | None = None,
    checkpoint: Any = None,
) -> SolverResult:
    r"""Learn w and the link of a single-index model in one visit of the data per iteration.

    Plain CSI reads X twice: for the index, and for the gradient once the link is known. Here the residuals
    come from the link of the iteration before,
    :math:`r_i = g_{t-1}(x_i \cdot w_t) - y_i`, less their mean, so that index and gradient come from the same
    visit of a row; the link :math:`g_t` is then fitted afresh to the index, for the record and for the next
    round. The step size is that of :func:`solve_csi`, with the two last iterates, both of whose indices are
    had in that visit. The first link is the least-squares line of y on the index of the start.

    With `n_bins` the link is fitted to bins of the index, so that nothing as long as the data is kept: see
    :class:`singleindex.link.Bins` for the error of that.

    Parameters
    ----------
    design : Design
        With the method `sweep`.
    y : array of shape (n,), or what the design's `sweep` takes in its place
    structure, link_fitter, n_atoms, alpha, penalty, max_iter, tol, sample_weight, on_iteration
        As in :func:`solve_csi`.
    survey : Survey
        Means of the columns and their covariance with y, in the units of `design`.
    output : int
        The output of `survey` that is learned.
    n_bins : int or None
        The most bins; None for an exact link, which needs the index of every row.
    n_threads : int or None
        None for all there are. The result does not depend on it.
    checkpoint : Checkpoint or None
        Where the state is kept between iterations, and taken up from.
    """
    loop = _Loop(design, y, structure, link_fitter, n_atoms, alpha, penalty, sample_weight, survey, output)
    loop.n_bins, loop.n_threads = n_bins, n_threads
    state = None if checkpoint is None else checkpoint.load(design.shape)
    seen = None
    if state is None:
        state, seen = loop.start()
    status = Status.MAX_ITER
    while True:
        seen = seen or loop.visit(state)
        iterate = loop.record(state, seen)
        if has_settled(state.history, tol, loop.penalty > 0 and link_fitter.is_learned):
            status = Status.CONVERGED
        if on_iteration is not None and on_iteration(iterate):
            status = Status.STOPPED
        if status is not Status.MAX_ITER or state.t + 1 == max_iter:
            break
        w_next = loop.simplify(state.w - state.step * seen.gradient, state.step)
        if not (state.w.any() or w_next.any()):
            status = Status.FLAT
            break
        state, seen = loop.advance(state, seen, iterate.link, w_next), None
        if checkpoint is not None:
            checkpoint.save(state)
    return _as_result(state, status)


def _as_result(state: State, status: Status) -> SolverResult:
    best = state.best
    assert best is not None
    return SolverResult(
        best.coef, best.index, best.link, len(state.history), best.n_iter, status,
        dict(zip(RECORDED, np.array(state.history, dtype=np.float64).T.copy(), strict=True)), best.points,
    )  # fmt: skip


class _Loop:
    """The arithmetic of one iteration, for fixed data and settings."""

    n_bins: int | None = None
    n_threads: int | None = None

    def __init__(
        self,
        design: Any,
        y: Any,
        structure: Structure,
        link_fitter: LinkFitter,
        n_atoms: int | None,
        alpha: float,
        penalty: float,
        sample_weight: FloatArray | None,
        survey: Survey,
        output: int,
    ) -> None:
        self.design, self.y, self.n_atoms, self.weight = design, y, n_atoms, sample_weight
        self.structure, self.fitter = for_one_fit(structure), link_fitter
        self.alpha, self.slope = alpha, link_fitter.slope
        self.mean, self.y_mean = survey.mean, float(survey.y_mean[output])
        self.correlation = np.ascontiguousarray(survey.covariance[:, output])
        self.penalty = 0.0
        if penalty > 0:
            self.penalty = penalty * self.structure.dual_norm(self.correlation)

    def start(self) -> tuple[State, Seen]:
        """Return the start of :func:`solve_csi`, and what a visit at it would give, from one visit.

        The residuals of that visit are the centred index, whatever length w has; with them the gradient of
        the least-squares line is known as soon as its slope is.
        """
        w = self.simplify(self.correlation, 1.0)
        sweep = self._sweep(State(w, w, None, 0.0))
        spread = sweep.spread(0, 0)
        slope = sweep.spread(0, 2) / spread if spread > 0 else 1.0
        factor = slope / self.slope
        scaled = w * factor
        length = squared_length(scaled)
        state = State(scaled, scaled, None, self._step_size(length, factor**2 * spread))
        # The line is slope × (index of the unscaled w), and its residuals are that less y, both centred.
        gradient = slope * sweep.centred_gradient(self.mean) - self.correlation + self.alpha * scaled
        seen = self._seen(sweep, gradient, np.inf)
        index = None if seen.index is None else seen.index * factor
        return state, replace(seen, points=seen.points.rescale(factor), index=index, exponent=None)

    def visit(self, state: State) -> Seen:
        """Return what a visit at w gives; the step size of the state becomes that of the last move."""
        sweep = self._sweep(state)
        length = squared_length(state.w - state.w_old)
        state.step = self._step_size(length, sweep.spread(1, 1)) or state.step
        gradient = sweep.centred_gradient(self.mean) + self.alpha * state.w
        return self._seen(sweep, gradient, self._change(sweep))

    def _sweep(self, state: State) -> Sweep:
        visit = Visit(
            state.w, state.w_old, float(self.mean @ state.w), float(self.mean @ state.w_old), self.y_mean,
            state.link, self.n_bins, state.exponent, state.index_old, self.n_threads,
        )  # fmt: skip
        sweep: Sweep = self.design.sweep(visit, self.y, self.weight)
        return sweep

    def _seen(self, sweep: Sweep, gradient: FloatArray, change: float) -> Seen:
        exponent = None if sweep.bins is None else sweep.bins.finer_exponent()
        return Seen(sweep.points(self.y_mean), gradient, sweep.total, change, sweep.index, exponent)

    def record(self, state: State, seen: Seen) -> Iterate:
        """Fit the link, write the iterate into the history, and keep it if it is the best."""
        points = seen.points
        link, fitted = self.fitter.fit(points.index, points.y, points.weight)
        squares = np.square(fitted - points.y)
        error = float(squares.sum() if points.weight is None else points.weight @ squares)
        mse = (error + points.within) / seen.total
        objective = 0.5 * (mse + self.alpha * self.slope * squared_length(state.w))
        if self.penalty > 0:
            objective += self.slope * self.penalty * self.structure.norm(state.w)
        index = points.index if seen.index is None else seen.index
        count = self.structure.count_atoms(state.w)
        iterate = Iterate(
            state.t, state.w, index, link, objective, mse, count, state.step, seen.change, points
        )
        state.history.append([getattr(iterate, name) for name in RECORDED])
        if state.best is None or objective < state.best.objective or not self.fitter.is_learned:
            state.best = iterate
        return iterate

    def advance(self, state: State, seen: Seen, link: Any, w_next: FloatArray) -> State:
        """Return the state before the next visit."""
        # Rows in memory have their old index at hand; blocks of rows would have to be sent it.
        index_old = seen.index if isinstance(self.y, np.ndarray) else None
        return State(
            w_next,
            state.w,
            link,
            state.step,
            state.t + 1,
            seen.exponent,
            index_old,
            state.best,
            state.history,
        )

    def simplify(self, w: FloatArray, step: float) -> FloatArray:
        if self.penalty > 0:
            w = self.structure.shrink(w, step * self.penalty)
        projected: FloatArray = self.structure.project(w, self.n_atoms)
        return projected

    def _step_size(self, length: float, spread: float) -> float:
        curvature = self.slope * spread + self.alpha * length
        return length / curvature if curvature > 0 else 0.0

    def _change(self, sweep: Sweep) -> float:
        """Return the sine of the angle between the last two indices, as in :func:`solve_csi`."""
        new, across, turn = sweep.spread(0, 0), sweep.spread(1, 1), sweep.spread(0, 1)
        old = new + 2 * turn + across
        if self.fitter.is_learned:
            across = across - turn**2 / new if new > 0 else old
        return float(np.sqrt(max(across, 0.0) / old)) if old > 0 else 1.0
