"""CSI: projected gradient steps for w, a link fitted afresh at every step."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..design import Design
from ..link import LinkFitter
from ..structures import Structure
from .result import FloatArray, Iterate, SolverResult, Status

# Coefficients of a start beyond which squares of its index might be no numbers.
_FAR = 2.0**100

RECORDED = ("objective", "mse", "n_atoms", "step_size", "change")


def solve_csi(
    design: Design,
    y: FloatArray,
    structure: Structure,
    link_fitter: LinkFitter,
    *,
    n_atoms: int | None = None,
    alpha: float = 0.0,
    penalty: float = 0.0,
    largest_penalty: float | None = None,
    max_iter: int = 50,
    tol: float = 1e-3,
    sample_weight: FloatArray | None = None,
    start: FloatArray | SolverResult | None = None,
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

    With a `penalty` the step ends with the proximal operator of the atomic norm (soft thresholding) before
    the projection.

    CSI is not a descent method. Returned is the iterate with the least
    :math:`\tfrac12(\mathrm{mse} + \alpha L\|w\|^2) + L \cdot \mathrm{penalty} \cdot \|w\|_A`, the
    earliest of equals. With a known link the steps do descend, on the loss that belongs to that link, and
    the last iterate is returned.

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
    penalty : float
        Weight of the atomic norm, as a share, from 0 to 1, of the least weight at which w is zero.
    largest_penalty : float, default=None
        That least weight, where it is known.
    max_iter : int
        Largest number of iterations, at least 1.
    tol : float
        Ends when the centred index turns by less than this angle; for a known link, when it changes by less
        than this share; with a penalty and a learned link also when the objective changes by less than the
        square of it.
    sample_weight : array of shape (n,), default=None
    start : array or SolverResult, default=None
        A first w in place of the default one, as for warm starts. A result of the same data brings its index
        and its link with it.
    step_size : float, default=None
        A fixed step size in place of the adaptive one.
    on_iteration : callable, default=None
        Called with each :class:`Iterate`; a true answer stops the solver.
    """
    loop = _Loop(design, y, structure, link_fitter, n_atoms, alpha, sample_weight)
    if penalty > 0:
        loop.penalty = penalty * (loop.largest_penalty() if largest_penalty is None else largest_penalty)
    known: tuple[Any, FloatArray] | None = None
    if isinstance(start, SolverResult):
        w, index = start.coef, start.index
        known = None if start.fitted is None else (start.link, start.fitted)
    elif start is None:
        w, index = loop.start()
    else:
        w, index = start, design.matvec(start)
    vars(loop).pop("correlation", None)  # as long as w, and of no more use
    step = loop.step_size(w, index) if step_size is None else step_size
    change = np.inf
    best: Iterate | None = None
    history: list[list[float]] = []
    status = Status.MAX_ITER
    for t in range(max_iter):
        link, fitted = known or link_fitter.fit(index, y, sample_weight)
        known = None
        objective, mse = loop.objective(w, fitted - y)
        count = loop.structure.count_atoms(w)
        iterate = Iterate(t, w, index, link, objective, mse, count, step, change, None, fitted)
        history.append([getattr(iterate, name) for name in RECORDED])
        if best is None or objective < best.objective or not link_fitter.is_learned:
            best = iterate
        if has_settled(history, tol, loop.penalty > 0 and link_fitter.is_learned):
            status = Status.CONVERGED
        if on_iteration is not None and on_iteration(iterate):
            status = Status.STOPPED
        if status is not Status.MAX_ITER or t + 1 == max_iter:
            break
        w_next = loop.simplify(loop.moved(w, fitted - y, step), step)
        if not (w.any() or w_next.any()):
            status = Status.FLAT
            break
        index_next = design.matvec(w_next)
        if not np.isfinite(index_next).all():
            raise ValueError(
                "The index has left the range of numbers; bring the columns of X to units in which they are "
                "near 1, or choose a smaller step."
            )
        change = loop.change(index, index_next)
        if step_size is None:
            step = loop.step_size(w_next - w, index_next - index) or step
        w, index = w_next, index_next
    assert best is not None
    return SolverResult(
        best.coef, best.index, best.link, len(history), best.n_iter, status,
        dict(zip(RECORDED, np.array(history, dtype=np.float64).T.copy(), strict=True)), None, best.fitted,
    )  # fmt: skip


class _Loop:
    """The arithmetic of one iteration, for fixed data and settings."""

    penalty = 0.0

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
        self.design, self.y, self.n_atoms = design, y, n_atoms
        self.structure = for_one_fit(structure)
        self.alpha, self.slope, self.is_learned = alpha, link_fitter.slope, link_fitter.is_learned
        self.share = np.full(n, 1 / n) if sample_weight is None else sample_weight / sample_weight.sum()

    @cached_property
    def correlation(self) -> FloatArray:
        """Xᵀ(y − ȳ)/n; a warm start without a penalty has no use for it."""
        return self.design.rmatvec(self.weighted(self.centred(self.y)))

    def largest_penalty(self) -> float:
        """Return the least penalty at which w is zero."""
        return float(self.structure.dual_norm(self.correlation))

    def start(self) -> tuple[FloatArray, FloatArray]:
        """Return P(Xᵀ(y − ȳ)), scaled so that a line of the largest slope fits y, and its index."""
        w = self.simplify(self.correlation, 1.0)
        if np.max(np.abs(w)) > _FAR:
            w = np.ldexp(w, -int(np.frexp(np.max(np.abs(w)))[1]))  # its length is settled below anyway
        index = self.design.matvec(w)
        centred = self.centred(index)
        spread = self.share @ (centred * centred)
        slope = np.divide(self.share @ (centred * self.y), spread, out=np.ones_like(spread), where=spread > 0)
        return w * (slope / self.slope), index * (slope / self.slope)

    def simplify(self, w: FloatArray, step: float) -> FloatArray:
        """Soft thresholding where there is a penalty, then the projection."""
        if self.penalty > 0:
            w = self.structure.shrink(w, step * self.penalty)
        projected: FloatArray = self.structure.project(w, self.n_atoms)
        return projected

    def moved(self, w: FloatArray, residual: FloatArray, step: float) -> FloatArray:
        """Return w after a step against the gradient."""
        moved = self.design.rmatvec(self.weighted(self.centred(residual)))
        # In place: fresh memory for a long w costs more than the arithmetic.
        moved *= -step
        moved += w if self.alpha == 0 else (1 - step * self.alpha) * w
        return moved

    def step_size(self, move: FloatArray, index_move: FloatArray) -> float:
        length = squared_length(move)
        centred = self.centred(index_move)
        curvature = self.slope * self.mean_product(centred, centred) + self.alpha * length
        return length / curvature if curvature > 0 else 0.0

    def objective(self, w: FloatArray, residual: FloatArray) -> tuple[float, float]:
        mse = self.mean_product(residual, residual)
        objective = 0.5 * (mse + self.alpha * self.slope * squared_length(w))
        if self.penalty > 0:
            objective += self.slope * self.penalty * self.structure.norm(w)
        return objective, mse

    def change(self, old: FloatArray, new: FloatArray) -> float:
        """Return the sine of the angle between two indices, both centred; the largest one over outputs.

        The scale of the index is left out where the link is learned: it goes on drifting, at the expense
        of the link's slope, long after the direction has settled.
        """
        old, new = self.centred(old), self.centred(new)
        spread = self.share @ (new * new)
        along = np.divide(self.share @ (new * old), spread, out=np.zeros_like(spread), where=spread > 0)
        across = old - along * new if self.is_learned else old - new
        size = self.share @ (old * old)
        sine = np.sqrt(
            np.divide(self.share @ (across * across), size, out=np.ones_like(size), where=size > 0)
        )
        return float(np.max(sine))

    def weighted(self, values: FloatArray) -> FloatArray:
        weighted: FloatArray = (values.T * self.share).T
        return weighted

    def centred(self, values: FloatArray) -> FloatArray:
        centred: FloatArray = values - self.share @ values
        return centred

    def mean_product(self, a: FloatArray, b: FloatArray) -> float:
        return float((self.share @ (a * b)).sum())


def largest_penalty(
    design: Design,
    y: FloatArray,
    structure: Structure,
    link_fitter: LinkFitter,
    sample_weight: FloatArray | None,
) -> float:
    """Return the least penalty at which w is zero."""
    return _Loop(design, y, structure, link_fitter, None, 0.0, sample_weight).largest_penalty()


def has_settled(history: list[list[float]], tol: float, by_objective: bool) -> bool:
    """Tell whether the last iterate is hardly another one than that before it.

    With a penalty the last few coefficients come and go without an effect on the objective, which then tells
    it earlier than the direction does.
    """
    if history[-1][RECORDED.index("change")] <= tol:
        return True
    if not by_objective or len(history) < 2 or tol == 0:
        return False
    old, new = (record[RECORDED.index("objective")] for record in history[-2:])
    return abs(old - new) <= tol**2 * abs(old)


def for_one_fit(structure: Any) -> Any:
    """Return a copy of a structure that carries something from one projection to the next."""
    return structure.fresh() if hasattr(structure, "fresh") else structure


def squared_length(w: FloatArray) -> float:
    # Not by BLAS: for long vectors it wakes its threads, which costs more than the product.
    return float(np.square(w).sum())
