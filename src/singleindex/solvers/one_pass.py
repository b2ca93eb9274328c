"""CSI that reads the data once per iteration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..design.survey import Survey
from ..design.sweep import Sweep, Visit
from ..files.arrays import check_finite, check_floats
from ..link import LinkFitter
from ..link.bins import Points, check_exponent
from ..link.stored import check_link
from .drive import Run
from .result import FloatArray, Iterate
from .simplicity import Simplicity, squared_length


@dataclass(frozen=True)
class Seen:
    """What an iteration takes from its visit of the data."""

    points: Points
    gradient: FloatArray
    total: float
    step: float
    change: float
    index: FloatArray | None
    exponent: int | None
    link: Any = None
    mse: float = np.nan


@dataclass(frozen=True)
class State:
    """All that goes from one iteration to the next, and into a checkpoint.

    `link` is that of the iteration before; `first` is what the visit gave that found the start.
    """

    w: FloatArray
    w_old: FloatArray
    link: Any
    step: float
    exponent: int | None = None
    index_old: FloatArray | None = None
    first: Seen | None = None


class OnePassGradient:
    r"""CSI in one visit of the data per iteration, to be driven by :func:`~singleindex.solvers.drive`.

    Plain CSI reads X twice: for the index, and for the gradient once the link is known. Here the residuals
    come from the link of the iteration before,
    :math:`r_i = g_{t-1}(x_i \cdot w_t) - y_i`, less their mean, so that index and gradient come from the same
    visit of a row; the link :math:`g_t` is then fitted afresh to the index, for the record and for the next
    round. The step size is that of :class:`Gradient`, with the two last iterates, both of whose indices are
    had in that visit. The first link is the least-squares line of y on the index of the start.

    With `n_bins` the link is fitted to bins of the index, so that nothing as long as the data is kept: see
    :class:`singleindex.link.Bins` for the error of that.

    Parameters
    ----------
    design : RowDesign
    y : array of shape (n,), or what the design's `sweep` takes in its place
    simplicity, link_fitter, penalty, sample_weight
        As in :class:`Gradient`.
    survey : Survey
        Means of the columns and their covariance with y, in the units of `design`.
    output : int
        The output of `survey` that is learned.
    n_bins : int or None
        The most bins; None for an exact link, which needs the index of every row.
    n_threads : int or None
        None for all there are. The result does not depend on it.
    """

    def __init__(
        self,
        design: Any,
        y: Any,
        simplicity: Simplicity,
        link_fitter: LinkFitter,
        *,
        survey: Survey,
        output: int = 0,
        penalty: float = 0.0,
        sample_weight: FloatArray | None = None,
        n_bins: int | None = 4096,
        n_threads: int | None = None,
    ) -> None:
        self.design, self.y, self.weight, self.fitter = design, y, sample_weight, link_fitter
        self.n_bins, self.n_threads = n_bins, n_threads
        self.mean, self.y_mean = survey.mean, float(survey.y_mean[output])
        self.correlation = np.ascontiguousarray(survey.covariance[:, output])
        self.simplicity = simplicity.for_one_fit()
        self._peeked: State | None = None
        if penalty > 0:
            largest = self.simplicity.largest_penalty(self.correlation)
            self.simplicity = replace(self.simplicity, penalty=penalty * largest)

    @property
    def descends(self) -> bool:
        return not self.fitter.is_learned

    @property
    def ends_by_objective(self) -> bool:
        return self.simplicity.penalty > 0 and self.fitter.is_learned

    def start(self) -> State:
        """Return the first state, which may have been peeked at."""
        state, self._peeked = self._peeked or self._first(), None
        return state

    def peek(self) -> tuple[FloatArray, FloatArray]:
        """Return the w of the start, and the covariances of the columns times it: from the first visit."""
        self._peeked = state = self._first()
        assert state.first is not None
        product = state.first.gradient + self.correlation - self.simplicity.alpha * state.w
        return state.w, product / self.simplicity.slope

    def _first(self) -> State:
        """Return the start of :class:`Gradient`, and what a visit at it would give, from one visit.

        The residuals of that visit are the centred index, whatever length w has; with them the gradient of
        the least-squares line is known as soon as its slope is.
        """
        w = self.simplicity.simplify(self.correlation, 1.0)
        sweep = self._sweep(State(w, w, None, 0.0))
        spread = sweep.spread(0, 0)
        slope = sweep.spread(0, 2) / spread if spread > 0 else 1.0
        factor = slope / self.simplicity.slope
        scaled = w * factor
        step = self.simplicity.step_size(squared_length(scaled), factor**2 * spread)
        # The line is slope × (index of the unscaled w), and its residuals are that less y, both centred.
        gradient = (
            slope * sweep.centred_gradient(self.mean) - self.correlation + self.simplicity.alpha * scaled
        )
        seen = self._seen(sweep, gradient, step, np.inf)
        index = None if seen.index is None else seen.index * factor
        first = replace(seen, points=seen.points.rescale(factor), index=index, exponent=None)
        return State(scaled, scaled, None, step, first=first)

    def look(self, state: State, n_iter: int) -> tuple[Iterate, Seen]:
        """Visit the rows and fit the link; return the iterate, and what the visit gave."""
        seen = state.first or self._visit(state)
        points = seen.points
        link, fitted = self.fitter.fit(points.index, points.y, points.weight)
        squares = np.square(fitted - points.y)
        error = float(squares.sum() if points.weight is None else points.weight @ squares)
        mse = (error + points.within) / seen.total
        iterate = Iterate(
            n_iter, state.w, points.index if seen.index is None else seen.index, link,
            self.simplicity.objective(state.w, mse), mse, self.simplicity.count_atoms(state.w), seen.step,
            seen.change, points,
        )  # fmt: skip
        return iterate, replace(seen, link=link, mse=mse)

    def move(self, state: State, seen: Seen) -> State | None:
        w_next = self.simplicity.simplify(state.w - seen.step * seen.gradient, seen.step)
        return self._moved(state, w_next, seen)

    def _moved(self, state: State, w_next: FloatArray, seen: Seen) -> State | None:
        if not (state.w.any() or w_next.any()):
            return None
        # Rows in memory have their old index at hand; blocks of rows would have to be sent it.
        index_old = seen.index if isinstance(self.y, np.ndarray) else None
        return State(w_next, state.w, seen.link, seen.step, seen.exponent, index_old)

    def check(self, run: Run) -> None:
        state, best, (n, d) = run.state, run.best, self.design.shape
        if not (isinstance(state, State) and isinstance(best, Iterate)):
            raise ValueError("this is no run of one visit per iteration.")
        if state.first is not None or best.points is None:
            raise ValueError("a state that has moved has no first visit, and its best iterate has points.")
        check_floats("w", state.w, d)
        check_floats("w_old", state.w_old, d)
        if state.index_old is not None:
            check_floats("index_old", state.index_old, n)
        check_finite(state.step)
        check_exponent(state.exponent)
        check_link(state.link)
        best.check(d)

    def _visit(self, state: State) -> Seen:
        sweep = self._sweep(state)
        gradient = sweep.centred_gradient(self.mean) + self.simplicity.alpha * state.w
        return self._seen(sweep, gradient, self._step_size(state, sweep), self._change(sweep))

    def _step_size(self, state: State, sweep: Sweep) -> float:
        length = squared_length(state.w - state.w_old)
        return self.simplicity.step_size(length, sweep.spread(1, 1)) or state.step

    def _sweep(self, state: State) -> Sweep:
        visit = Visit(
            state.w, state.w_old, float(self.mean @ state.w), float(self.mean @ state.w_old), self.y_mean,
            state.link, self.n_bins, state.exponent, state.index_old, self.n_threads,
        )  # fmt: skip
        sweep: Sweep = self.design.sweep(visit, self.y, self.weight)
        return sweep

    def _seen(self, sweep: Sweep, gradient: FloatArray, step: float, change: float) -> Seen:
        exponent = None if sweep.bins is None else sweep.bins.finer_exponent()
        return Seen(sweep.points(self.y_mean), gradient, sweep.total, step, change, sweep.index, exponent)

    def _change(self, sweep: Sweep) -> float:
        """Return the sine of the angle between the last two indices, as in :class:`Gradient`."""
        new, across, turn = sweep.spread(0, 0), sweep.spread(1, 1), sweep.spread(0, 1)
        old = new + 2 * turn + across
        if self.fitter.is_learned:
            across = across - turn**2 / new if new > 0 else old
        return float(np.sqrt(max(across, 0.0) / old)) if old > 0 else 1.0
