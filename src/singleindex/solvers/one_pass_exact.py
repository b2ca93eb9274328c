"""Exact steps that read the data once per iteration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..design.moments import Moments
from ..design.sweep import Sweep
from .one_pass import OnePassGradient, Seen, State
from .quadratic import largest_penalty, step_for


class OnePassExact(OnePassGradient):
    r"""The step in the metric of X, in one visit of the data per iteration.

    The visits are those of :class:`OnePassGradient`: index, bins for the link, and the gradient with the link
    of the iteration before. The step is that of :class:`Exact`, by the covariances C of all columns, which
    one more reading of the data gave before the first iteration: the next w is the minimiser of

    .. math:: \nabla\cdot(v - w) + \tfrac{L}{2} (v - w)^\top C (v - w) + \tfrac{\alpha}{2}\|v\|^2
              + \lambda \|v\|_A.

    It starts from the answer of a straight link, for which the covariances suffice. Few atoms are those that
    fit best by that link: the support stays as it is.

    Parameters
    ----------
    design, y, simplicity, link_fitter, survey, output, penalty, sample_weight, n_bins, n_threads
        As for :class:`OnePassGradient`.
    moments : Moments
        Of the columns of `design`, and of the outputs.
    """

    def __init__(
        self, *args: Any, moments: Moments, output: int = 0, penalty: float = 0.0, **options: Any
    ) -> None:
        super().__init__(*args, output=output, **options)
        self.y_variance = float(moments.y_variance[output])
        slope = self.simplicity.slope
        quadratic = slope * moments.covariance, self.correlation, self.y_variance / slope
        if penalty > 0:
            largest = largest_penalty(self.simplicity, *quadratic)
            self.simplicity = replace(self.simplicity, penalty=penalty * largest)
        self.inner = step_for(self.simplicity, *quadratic)

    def _first(self) -> State:
        """Return the answer of a straight link, and what a visit at it gives once its own link is known."""
        slope = self.simplicity.slope
        w = self.inner.minimise(np.zeros_like(self.correlation), self.correlation, self.y_variance / slope)
        points = self._sweep(State(w, w, None, 1.0)).points(self.y_mean)
        link, _ = self.fitter.fit(points.index, points.y, points.weight)
        first = self._visit(State(w, w, link, 1.0))
        return State(w, w, None, 1.0, first=replace(first, change=np.inf))  # there is no iterate before it

    def move(self, state: State, seen: Seen) -> State | None:
        gradient = self.simplicity.alpha * state.w - seen.gradient
        w_next = self.inner.minimise(state.w, gradient, seen.mse / self.simplicity.slope)
        return self._moved(state, w_next, seen)

    def _step_size(self, state: State, sweep: Sweep) -> float:
        return 1.0
