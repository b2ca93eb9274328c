"""CSI: projected gradient steps for w, a link fitted afresh at every step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..design import Design
from ..link import LinkFitter
from ..structures import Structure
from .result import FloatArray, Iterate, SolverResult, Status

RECORDED = ("objective", "mse", "n_atoms", "step_size", "change")


def solve_csi(
    design: Design,
    y: FloatArray,
    structure: Structure,
    link_fitter: LinkFitter,
    *,
    n_atoms: int | None = None,
    alpha: float = 0.0,
    max_iter: int = 50,
    tol: float = 1e-3,
    sample_weight: FloatArray | None = None,
    start: FloatArray | None = None,
    step_size: float | None = None,
    on_iteration: Callable[[Iterate], bool | None] | None = None,
) -> SolverResult:
    r"""Learn w and the link of a single-index model.

    With g the link fitted to the index Xw, every iteration takes the step

    .. math:: w \leftarrow P_s\bigl(w - \eta\,(X^\top(g(Xw) - y)/n + \alpha w)\bigr).

    Deviations from the paper's Algorithm 1, all of them needed for it to converge:

    - line 1: the start is P(Xᵀ(y − ȳ)), scaled by the least-squares slope of y on the index;
    - line 4: the ridge term has the sign of a penalty and is multiplied by the step size;
    - line 4: g is evaluated where it was fitted, at the present w;
    - the step size is that of the quadratic that bounds the loss along the last move,
      :math:`\|\Delta w\|^2 / (L\,\|\Delta\,Xw\|^2/n + \alpha\|\Delta w\|^2)`, the index centred: it needs no
      product with X and no tuning.

    CSI is not a descent method. Returned is the iterate with the least
    :math:`\tfrac12(\mathrm{mse} + \alpha L\|w\|^2)`, the earliest of equals.

    Parameters
    ----------
    design : Design
    y : array of shape (n,) or (n, n_outputs)
    structure : Structure
    link_fitter : LinkFitter
    n_atoms : int or None
        None for no limit.
    alpha : float
        The ridge λ of the paper.
    max_iter : int
        Largest number of iterations, at least 1.
    tol : float
        Ends when the centred index turns by less than this angle.
    sample_weight : array of shape (n,), default=None
    start : array, default=None
        A first w in place of the default one, as for warm starts.
    step_size : float, default=None
        A fixed step size in place of the adaptive one.
    on_iteration : callable, default=None
        Called with each :class:`Iterate`; a true answer stops the solver.
    """
    loop = _Loop(design, y, structure, link_fitter, n_atoms, alpha, sample_weight)
    w, index = loop.start() if start is None else (start, design.matvec(start))
    step = loop.step_size(w, index) if step_size is None else step_size
    change = np.inf
    best: Iterate | None = None
    history: list[Iterate] = []
    status = Status.MAX_ITER
    for t in range(max_iter):
        link, fitted = link_fitter.fit(index, y, sample_weight)
        residual = fitted - y
        objective, mse = loop.objective(w, residual)
        count = structure.count_atoms(w)
        iterate = Iterate(t, w, index, link, objective, mse, count, step, change)
        history.append(iterate)
        if best is None or objective < best.objective:
            best = iterate
        gradient = loop.gradient(w, residual)
        if not (w.any() or gradient.any()):
            status = Status.FLAT
        elif change <= tol:
            status = Status.CONVERGED
        if on_iteration is not None and on_iteration(iterate):
            status = Status.STOPPED
        if status is not Status.MAX_ITER or t + 1 == max_iter:
            break
        w_next = structure.project(w - step * gradient, n_atoms)
        index_next = design.matvec(w_next)
        change = loop.turn(index, index_next)
        if step_size is None:
            step = loop.step_size(w_next - w, index_next - index) or step
        w, index = w_next, index_next
    assert best is not None
    return SolverResult(
        best.coef, best.index, best.link, len(history), best.n_iter, status,
        {name: np.array([getattr(i, name) for i in history]) for name in RECORDED},
    )  # fmt: skip


class _Loop:
    """The arithmetic of one iteration, for fixed data and settings."""

    def __init__(
        self,
        design: Design,
        y: FloatArray,
        structure: Structure,
        link_fitter: LinkFitter,
        n_atoms: int | None,
        alpha: float,
        sample_weight: FloatArray | None,
    ) -> None:
        n = design.shape[0]
        self.design, self.y, self.structure, self.n_atoms = design, y, structure, n_atoms
        self.alpha, self.slope = alpha, link_fitter.slope
        self.share = np.full(n, 1 / n) if sample_weight is None else sample_weight / sample_weight.sum()

    def start(self) -> tuple[FloatArray, FloatArray]:
        """Return P(Xᵀ(y − ȳ)), scaled so that a line of the largest slope fits y, and its index."""
        target = self.centred(self.y)
        w = self.structure.project(self.design.rmatvec(self.weighted(target)), self.n_atoms)
        index = self.design.matvec(w)
        spread = self.mean_product(self.centred(index), self.centred(index))
        if spread > 0:
            scale = self.mean_product(self.centred(index), target) / (spread * self.slope)
            w, index = scale * w, scale * index
        return w, index

    def gradient(self, w: FloatArray, residual: FloatArray) -> FloatArray:
        return self.design.rmatvec(self.weighted(residual)) + self.alpha * w

    def step_size(self, move: FloatArray, index_move: FloatArray) -> float:
        length = float(np.vdot(move, move))
        centred = self.centred(index_move)
        curvature = self.slope * self.mean_product(centred, centred) + self.alpha * length
        return length / curvature if curvature > 0 else 0.0

    def objective(self, w: FloatArray, residual: FloatArray) -> tuple[float, float]:
        mse = self.mean_product(residual, residual)
        return 0.5 * (mse + self.alpha * self.slope * float(np.vdot(w, w))), mse

    def turn(self, old: FloatArray, new: FloatArray) -> float:
        """Return the sine of the angle between two indices, both centred; the largest one over outputs.

        The scale of the index is left out: it goes on drifting, at the expense of the link's slope, long
        after the direction has settled.
        """
        old, new = self.centred(old), self.centred(new)
        spread = self.share @ (new * new)
        along = np.divide(self.share @ (new * old), spread, out=np.zeros_like(spread), where=spread > 0)
        across = old - along * new
        size = self.share @ (old * old)
        sine = np.sqrt(np.divide(self.share @ (across * across), size, out=np.zeros_like(size), where=size > 0))
        return float(np.max(sine))

    def weighted(self, values: FloatArray) -> FloatArray:
        return (values.T * self.share).T

    def centred(self, values: FloatArray) -> FloatArray:
        centred: FloatArray = values - self.share @ values
        return centred

    def mean_product(self, a: FloatArray, b: FloatArray) -> float:
        return float(np.vdot(self.weighted(a), b))
