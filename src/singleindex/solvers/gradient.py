"""CSI: projected gradient steps for w, a link fitted afresh at every step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..design import Design
from ..files.arrays import check_finite, check_floats
from ..link import LinkFitter
from .drive import Run
from .result import FloatArray, Iterate
from .simplicity import Simplicity, squared_length
from .unpenalised import Unpenalised, fit_unpenalised

# Coefficients of a start beyond which squares of its index might be no numbers.
_FAR = 2.0**100


@dataclass(frozen=True)
class State:
    """An iterate before its link is fitted; of a warm start the link and its values may be known."""

    w: FloatArray
    index: FloatArray
    step: float
    change: float = np.inf
    link: Any = None
    fitted: FloatArray | None = None


class Gradient:
    r"""The paper's step, to be driven by :func:`~singleindex.solvers.drive`.

    With g the link fitted to the index Xw, every iteration takes the step

    .. math:: w \leftarrow P_s\bigl(w - \eta\,(X^\top(g(Xw) - y)/n + \alpha w)\bigr).

    Deviations from the paper's Algorithm 1, all of them needed for it to converge:

    - line 1: the start is P(Xᵀ(y − ȳ)), scaled by the least-squares slope of y on the index;
    - line 4: the ridge term has the sign of a penalty and is multiplied by the step size;
    - line 4: g is evaluated where it was fitted, at the present w;
    - the step size is that of the quadratic that bounds the loss along the last move,
      :math:`\|\Delta w\|^2 / (L\,\|\Delta\,Xw\|^2/n + \alpha\|\Delta w\|^2)`, the index centred: it needs no
      product with X and no tuning.

    With a `penalty` the step ends with the proximal operator of the atomic norm (soft thresholding) before
    the projection.

    CSI is not a descent method: the answer is the iterate with the least
    :math:`\tfrac12(\mathrm{mse} + \alpha L\|w\|^2) + L \cdot \mathrm{penalty} \cdot \|w\|_A`. With a known
    link the steps do descend, on the loss that belongs to that link, and the answer is the last iterate.

    The change of an iterate is the angle by which the centred index has turned; for a known link the share by
    which it has changed.

    Parameters
    ----------
    design : Design
    y : array of shape (n,) or (n, n_outputs)
    simplicity : Simplicity
        Without a penalty: it is set here.
    link_fitter : LinkFitter
    penalty : float
        Weight of the atomic norm, as a share, from 0 to 1, of the least weight at which w is zero.
    largest_penalty : float, default=None
        That least weight, where it is known.
    sample_weight : array of shape (n,), default=None
    start : array or Iterate, default=None
        A first w in place of the default one, as for warm starts. An iterate on the same data brings its
        index and its link with it.
    step_size : float, default=None
        A fixed step size in place of the adaptive one.
    """

    def __init__(
        self,
        design: Design,
        y: FloatArray,
        simplicity: Simplicity,
        link_fitter: LinkFitter,
        *,
        penalty: float = 0.0,
        largest_penalty: float | None = None,
        sample_weight: FloatArray | None = None,
        start: FloatArray | Iterate | None = None,
        step_size: float | None = None,
    ) -> None:
        n = design.shape[0]
        self.design, self.y, self.weight, self.fitter = design, y, sample_weight, link_fitter
        self.share = np.full(n, 1 / n) if sample_weight is None else sample_weight / sample_weight.sum()
        self.first, self.fixed_step = start, step_size
        self.simplicity = simplicity.for_one_fit()
        if penalty > 0:
            largest = self.largest_penalty() if largest_penalty is None else largest_penalty
            self.simplicity = replace(self.simplicity, penalty=penalty * largest)

    @property
    def descends(self) -> bool:
        return not self.fitter.is_learned

    @property
    def ends_by_objective(self) -> bool:
        return self.simplicity.penalty > 0 and self.fitter.is_learned

    @cached_property
    def correlation(self) -> FloatArray:
        """Xᵀ(y − ȳ)/n; a warm start without a penalty has no use for it."""
        return self.design.rmatvec(self._weighted(self._centred(self.y)))

    @cached_property
    def unpenalised(self) -> Unpenalised | None:
        """Where nothing is in use but what is never penalised; None where there is no such thing."""
        shape = self.simplicity.structure.separable(self.design.shape[1])
        if shape is None or not shape.is_free.any():
            return None
        return fit_unpenalised(self.design, self.y, self.share, self.fitter, shape, self.simplicity.alpha)

    def largest_penalty(self) -> float:
        """Return the least weight of the atomic norm at which w is zero, but for what is never penalised."""
        if self.unpenalised is None:
            return self.simplicity.largest_penalty(self.correlation)
        rest = self._weighted(self._centred(self.unpenalised.residual))
        return self.simplicity.largest_penalty(self.design.rmatvec(rest))

    def start(self) -> State:
        link, fitted = None, None
        if isinstance(self.first, Iterate):
            w, index, link, fitted = self.first.coef, self.first.index, self.first.link, self.first.fitted
        elif self.first is None:
            w, index = self._cold_start()
        else:
            w, index = self.first, self.design.matvec(self.first)
        vars(self).pop("correlation", None)  # as long as w, and of no more use
        step = self._step_size(w, index) if self.fixed_step is None else self.fixed_step
        return State(w, index, step, link=link, fitted=fitted)

    def _cold_start(self) -> tuple[FloatArray, FloatArray]:
        """Return P(Xᵀ(y − ȳ)), scaled so that a line of the largest slope fits y, and its index."""
        w = self.simplicity.simplify(self.correlation, 1.0)
        if np.max(np.abs(w)) > _FAR:
            w = np.ldexp(w, -int(np.frexp(np.max(np.abs(w)))[1]))  # its length is settled below anyway
        index = self.design.matvec(w)
        centred = self._centred(index)
        spread = self.share @ (centred * centred)
        slope = np.divide(self.share @ (centred * self.y), spread, out=np.ones_like(spread), where=spread > 0)
        factor = slope / self.simplicity.slope
        return w * factor, index * factor

    def look(self, state: State, n_iter: int) -> tuple[Iterate, FloatArray]:
        """Return the iterate, and its residuals."""
        link, fitted = state.link, state.fitted
        if fitted is None:
            link, fitted = self.fitter.fit(state.index, self.y, self.weight)
        residual = fitted - self.y
        mse = self._mean_square(residual)
        iterate = Iterate(
            n_iter, state.w, state.index, link, self.simplicity.objective(state.w, mse), mse,
            self.simplicity.count_atoms(state.w), state.step, state.change, None, fitted,
        )  # fmt: skip
        return iterate, residual

    def move(self, state: State, seen: FloatArray) -> State | None:
        w, step = state.w, state.step
        moved = self.design.rmatvec(self._weighted(self._centred(seen)))
        # In place: fresh memory for a long w costs more than the arithmetic.
        moved *= -step
        moved += w if self.simplicity.alpha == 0 else (1 - step * self.simplicity.alpha) * w
        w_next = self.simplicity.simplify(moved, step)
        if not (w.any() or w_next.any()):
            return None
        index = self.design.matvec(w_next)
        if not np.isfinite(index).all():
            raise ValueError(
                "The index has left the range of numbers; bring the columns of X to units in which they are "
                "near 1, or choose a smaller step."
            )
        change = self._change(state.index, index)
        if self.fixed_step is None:
            step = self._step_size(w_next - w, index - state.index) or step
        return State(w_next, index, step, change)

    def check(self, run: Run) -> None:
        state, best, (n, d), outputs = run.state, run.best, self.design.shape, self.y.shape[1:]
        if not (isinstance(state, State) and isinstance(best, Iterate)):
            raise ValueError("this is no run of gradient steps.")
        if not (state.link is None and state.fitted is None):
            raise ValueError("the link of a state that has moved is not known yet.")
        check_floats("w", state.w, d, *outputs)
        check_finite(state.step, state.change)
        best.check(d, *outputs)
        for index in (state.index, best.index):
            check_floats("index", index, n, *outputs)

    def _step_size(self, move: FloatArray, index_move: FloatArray) -> float:
        return self.simplicity.step_size(squared_length(move), self._mean_square(self._centred(index_move)))

    def _change(self, old: FloatArray, new: FloatArray) -> float:
        """Return the sine of the angle between two indices, both centred; the largest one over outputs.

        The scale of the index is left out where the link is learned: it goes on drifting, at the expense
        of the link's slope, long after the direction has settled.
        """
        old, new = self._centred(old), self._centred(new)
        spread = self.share @ (new * new)
        along = np.divide(self.share @ (new * old), spread, out=np.zeros_like(spread), where=spread > 0)
        across = old - along * new if self.fitter.is_learned else old - new
        size = self.share @ (old * old)
        sine = np.sqrt(
            np.divide(self.share @ (across * across), size, out=np.ones_like(size), where=size > 0)
        )
        return float(np.max(sine))

    def _weighted(self, values: FloatArray) -> FloatArray:
        weighted: FloatArray = (values.T * self.share).T
        return weighted

    def _centred(self, values: FloatArray) -> FloatArray:
        centred: FloatArray = values - self.share @ values
        return centred

    def _mean_square(self, values: FloatArray) -> float:
        return float((self.share @ (values * values)).sum())
