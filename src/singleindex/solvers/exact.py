"""CSI in the metric of X: every step a penalised least-squares regression on the working response."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..design import Design
from ..link import LinkFitter
from ..structures.separable import Separable
from .descent import Rows, descend
from .gradient import Gradient, State
from .result import FloatArray, Iterate
from .simplicity import Simplicity
from .unpenalised import curvature_at

# The duality gap at which an inner problem is solved, as a share of its objective, and the most sweeps.
_INNER_TOL, _MOST_SWEEPS = 1e-6, 1000
# The same along paths, where the next level goes on from here.
PATH_TOL, PATH_SWEEPS = 1e-3, 50


@dataclass(frozen=True)
class ExactState(State):
    """A state, and the weight of the penalty it was found at."""

    penalty: float = np.inf
    gap: float = 0.0


@dataclass(frozen=True)
class ExactIterate(Iterate):
    """An iterate, and the duality gap of the problem it solves, as a share of that one's objective."""

    RECORDED: ClassVar = ("objective", "mse", "n_atoms", "gap", "change")

    gap: float = 0.0


class Exact(Gradient):
    r"""The step in the metric of X, to be driven by :func:`~singleindex.solvers.drive`.

    Where the paper's step minimises a quadratic whose curvature is the same in all directions, this one takes
    that of the data: with c the slope of the link at each row (its largest slope L where it is learned), the
    next w is the minimiser of

    .. math:: \tfrac12 \sum_i \omega_i c_i \bigl((y_i - g_i)/c_i - x_i\cdot(v - w)\bigr)^2
              + \tfrac{\alpha}{2}\|v\|^2 + \lambda \|v\|_A,

    X centred: a lasso, group lasso or ridge regression. It is solved by coordinate descent on the
    coefficients that can matter, and certified by its duality gap. Correlated columns and columns in other
    units cost it nothing but time.

    Parameters
    ----------
    design, y, simplicity, link_fitter, penalty, largest_penalty, sample_weight, start
        As for :class:`Gradient`; the structure of `simplicity` has to be separable.
    shape : Separable, default=None
        The penalty, where it is not that of the structure.
    inner_tol : float
        The duality gap at which an inner problem is solved, as a share of its objective.
    max_sweeps : int
        The most sweeps of coordinate descent for it.
    """

    def __init__(
        self,
        design: Design,
        y: FloatArray,
        simplicity: Simplicity,
        link_fitter: LinkFitter,
        *,
        shape: Separable | None = None,
        inner_tol: float = _INNER_TOL,
        max_sweeps: int = _MOST_SWEEPS,
        **options: Any,
    ) -> None:
        super().__init__(design, y, simplicity, link_fitter, **options)
        self.inner_tol, self.max_sweeps = inner_tol, max_sweeps
        own = self.simplicity.structure.separable(design.shape[1]) if shape is None else shape
        if own is None:
            raise ValueError(f"{type(self.simplicity.structure).__name__} has no exact step.")
        self.shape: Separable = own
        self.rows = float(design.shape[0] if self.weight is None else self.weight.sum())

    @cached_property
    def null(self) -> float:
        """The mean squared error where no atom is in use."""
        return self._mean_square(
            self._centred(self.y) if self.unpenalised is None else self.unpenalised.residual
        )

    @cached_property
    def spread(self) -> tuple[FloatArray, FloatArray]:
        """The means and variances of the columns."""
        return self.design.column_moments(self.share)

    def start(self) -> State:
        if self.first is None:
            if self.unpenalised is not None:
                return ExactState(self.unpenalised.w, self.unpenalised.index, 1.0)
            _, d = self.design.shape
            return ExactState(np.zeros((d, *self.y.shape[1:])), np.zeros(self.y.shape), 1.0)
        state = super().start()
        return ExactState(state.w, state.index, 1.0, link=state.link, fitted=state.fitted)

    def look(self, state: Any, n_iter: int) -> tuple[Iterate, FloatArray]:
        iterate, residual = super().look(state, n_iter)
        return ExactIterate(**vars(iterate), gap=state.gap), residual

    def move(self, state: Any, seen: FloatArray) -> ExactState:
        """Return the minimiser of the quadratic at this state; `seen` are the residuals."""
        curvature = curvature_at(self.fitter, seen + self.y)
        weight = self._weighted(curvature)
        rows = Rows(self.design, weight, -seen / curvature)
        inner = descend(
            rows, state.w, self.shape, self.simplicity.penalty, self.simplicity.alpha,
            tol=self.inner_tol, max_sweeps=self.max_sweeps,
            last_penalty=state.penalty if np.isfinite(state.penalty) else None,
        )  # fmt: skip
        if not (state.w.any() or inner.w.any()):
            stays: ExactState = replace(state, penalty=self.simplicity.penalty)
            return stays
        index = self.design.matvec(inner.w)
        change = self._change(state.index, index)
        return ExactState(
            inner.w,
            index,
            1.0,
            change,
            penalty=self.simplicity.penalty,
            gap=inner.gap / max(inner.objective, 1e-300),
        )


def exact_path(method: Exact, penalties: Sequence[float], n_steps: int = 1) -> Iterator[Iterate]:
    """Yield an iterate for each weight of the penalty, from strong to weak, each a warm step from the last.

    One step a level is enough where levels are fine: the next one goes on from there.
    """
    state, simplicity = method.start(), method.simplicity
    _, seen = method.look(state, 0)
    for number, penalty in enumerate(penalties):
        method.simplicity = replace(simplicity, penalty=penalty)
        for _ in range(n_steps):
            state = method.move(state, seen)
            iterate, seen = method.look(state, number)
        yield iterate
