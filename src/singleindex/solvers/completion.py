"""CSI for the entries of a matrix: effects of rows and columns and a low-rank part, in factors throughout."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..design import EntriesDesign
from ..files.arrays import check_finite, check_floats, check_reals
from ..link import LinkFitter
from ..link.stored import check_link
from ..structures import GraphLowRank, GraphSmoother
from .alternate import Ridge, solve_side
from .drive import Run
from .result import FloatArray

# Alternations that settle the effects before the low-rank part starts, and the whole start after that.
_EFFECT_ROUNDS, _START_ROUNDS = 20, 50
# The start ends when the index changes by less than this share.
_START_TOL = 1e-3
# What an inner solver leaves of its residual: the next alternation goes on from there.
_INNER_TOL = 0.05
# Where an atom starts that the penalty would not let in yet, as a share of the largest.
_SEED = 1e-2
# Singular values below this share of the largest are no atoms any more.
_GONE = 1e-4


@dataclass(frozen=True, eq=False)
class Parts:
    """The matrix of the index in parts: row effect + column effect + row factor · column factor."""

    row_effects: FloatArray
    col_effects: FloatArray
    row_factors: FloatArray
    col_factors: FloatArray

    @property
    def left(self) -> FloatArray:
        return np.column_stack([self.row_factors, self.row_effects, np.ones(len(self.row_effects))])

    @property
    def right(self) -> FloatArray:
        return np.column_stack([self.col_factors, np.ones(len(self.col_effects)), self.col_effects])

    def scaled(self, by: float) -> Parts:
        """Return the parts of the index multiplied by `by` > 0."""
        root = np.sqrt(by)
        return Parts(
            by * self.row_effects, by * self.col_effects, root * self.row_factors, root * self.col_factors
        )

    def check(self, n_rows: int, n_cols: int) -> None:
        """Raise where these are no parts of a matrix of this shape: for what comes from a file."""
        rank = np.shape(self.row_factors)[1]
        check_floats("row_effects", self.row_effects, n_rows)
        check_floats("col_effects", self.col_effects, n_cols)
        check_floats("row_factors", self.row_factors, n_rows, rank)
        check_floats("col_factors", self.col_factors, n_cols, rank)

    def side(self, axis: int) -> tuple[FloatArray, FloatArray]:
        """Return effects and factors of the rows (0) or the columns (1)."""
        if axis == 0:
            return self.row_effects, self.row_factors
        return self.col_effects, self.col_factors

    def with_side(self, axis: int, effects: FloatArray, factors: FloatArray) -> Parts:
        if axis == 0:
            return replace(self, row_effects=effects, row_factors=factors)
        return replace(self, col_effects=effects, col_factors=factors)


@dataclass(frozen=True)
class State:
    """Parts and their index, before the link is fitted; and the index of least squares."""

    parts: Parts
    index: FloatArray
    start_index: FloatArray
    change: float = np.inf


@dataclass(frozen=True)
class CompletionIterate:
    """One iterate, as the callback sees it."""

    RECORDED: ClassVar = ("objective", "mse", "n_atoms", "change")

    n_iter: int
    parts: Parts
    index: FloatArray
    start_index: FloatArray
    link: Any
    objective: float
    mse: float
    n_atoms: int
    change: float


class CompletionProblem:
    """Ratings and graphs, with the sums over them that all fits share; ratings are sorted by row and column.

    Parameters
    ----------
    design : EntriesDesign
    y : array of shape (n_entries,)
    rows, cols : GraphSmoother
    """

    def __init__(
        self, design: EntriesDesign, y: FloatArray, rows: GraphSmoother, cols: GraphSmoother
    ) -> None:
        # Row by row, so that the factors of a row are read once and not from all over the memory.
        order = np.lexsort((design.cols, design.rows))
        design = design.part(order)
        self.design, self.y, self.smoothers = design, y[order], (rows, cols)
        self.sides = (design.side(0), design.side(1))
        weight = np.ones(len(y)) if design.weight is None else design.weight
        self.share = weight / weight.sum()
        self.total = float(weight.sum())
        self.structure = GraphLowRank.of_smoothers(rows, cols)

    def with_strengths(self, strengths: tuple[float, float]) -> CompletionProblem:
        """Return the same ratings over the same graphs at other strengths."""
        other = CompletionProblem.__new__(CompletionProblem)
        other.__dict__.update(self.__dict__)
        rows, cols = (s.with_strength(v) for s, v in zip(self.smoothers, strengths, strict=True))
        other.smoothers, other.structure = (rows, cols), GraphLowRank.of_smoothers(rows, cols)
        return other

    def index(self, parts: Parts) -> FloatArray:
        return self.design.index(parts.left, parts.right)

    def empty_parts(self) -> Parts:
        n, m = self.design.shape
        return Parts(np.zeros(n), np.zeros(m), np.zeros((n, 0)), np.zeros((m, 0)))

    def gradient(self, residual: FloatArray) -> Any:
        """Return the sparse matrix of weighted residuals."""
        return self.sides[0].matrix(residual)

    def improve(self, parts: Parts, target: FloatArray, ridge: Ridge, tol: float = _INNER_TOL) -> Parts:
        """Solve for the rows' part, then for the columns' part, of penalised least squares for `target`."""
        for axis in (0, 1):
            parts = self._improve_side(axis, parts, target, ridge, tol)
        return parts

    def _improve_side(self, axis: int, parts: Parts, target: FloatArray, ridge: Ridge, tol: float) -> Parts:
        effects, factors = parts.side(axis)
        other_effects, other_factors = parts.side(1 - axis)
        own_ridge = ridge.effects[axis]
        n_factors = factors.shape[1]
        weights = np.full(n_factors, ridge.atoms)
        features, start = other_factors, factors
        if own_ridge is not None:
            features = np.column_stack([features, np.ones(len(other_effects))])
            start, weights = np.column_stack([start, effects]), np.append(weights, own_ridge)
        if len(weights) == 0:
            return parts
        if ridge.effects[1 - axis] is not None:
            target = target - other_effects[self.design.cols if axis == 0 else self.design.rows]
        solved = solve_side(self.sides[axis], self.smoothers[axis], features, target, weights, start, tol)
        effects = effects if own_ridge is None else solved[:, n_factors].copy()
        return parts.with_side(axis, effects, solved[:, :n_factors])

    def penalty(self, parts: Parts, ridge: Ridge) -> float:
        """Return half the squared lengths in the graphs' norms, by their ridges."""
        total = 0.0
        for axis, smoother in enumerate(self.smoothers):
            effects, factors = parts.side(axis)
            own_ridge = ridge.effects[axis]
            if own_ridge is not None:
                total += own_ridge * float(np.sum(effects * smoother.apply(effects)))
            if factors.shape[1]:
                total += ridge.atoms * float(np.sum(factors * smoother.apply(factors)))
        return 0.5 * total

    def centred(self, values: FloatArray) -> FloatArray:
        centred: FloatArray = values - self.share @ values
        return centred

    def change(self, old: FloatArray, new: FloatArray, free_scale: bool) -> float:
        """Return the sine of the angle between two centred indices, or their relative distance."""
        old, new = self.centred(old), self.centred(new)
        spread, size = self.share @ (new * new), self.share @ (old * old)
        if not size > 0:
            return float(np.inf if spread > 0 else 0.0)
        along = (self.share @ (new * old)) / spread if free_scale and spread > 0 else 1.0
        return float(np.sqrt(self.share @ (old - along * new) ** 2 / size))


@dataclass(frozen=True)
class Start:
    """Effects alone, fitted by least squares, and the atoms that their residuals point to."""

    parts: Parts
    atoms: tuple[FloatArray, FloatArray, FloatArray]

    @property
    def largest_penalty(self) -> float:
        """The least weight of the atomic norm at which no atom enters."""
        return float(self.atoms[1][0]) if len(self.atoms[1]) else 0.0


def prepare_start(problem: CompletionProblem, slope: float, ridge: Ridge, n_atoms: int) -> Start:
    """Fit the effects, and find `n_atoms` atoms to start from; the same for every penalty and rank."""
    target = problem.centred(problem.y) / slope
    ridge = ridge.divided(slope)
    parts = settle(problem, problem.empty_parts(), target, ridge, _EFFECT_ROUNDS)
    if n_atoms == 0:
        return Start(parts, (np.zeros((0, 0)), np.zeros(0), np.zeros((0, 0))))
    residual = problem.centred(target - problem.index(parts))
    return Start(parts, problem.structure.top_atoms(problem.gradient(slope * residual), n_atoms))


class Completion:
    r"""Steps for effects, factors and link of a matrix of which entries are known, for :func:`drive`.

    The index of entry (i, j) is :math:`b_i + c_j + p_i \cdot q_j`. Least squares comes first: it is the
    start, and for the identity link the answer. Then every iteration fits the link g to the index and
    improves

    .. math:: \tfrac L2 \sum (t - b_i - c_j - p_i \cdot q_j)^2 + \tfrac{\alpha_1}{2} b^\top A b
        + \tfrac{\alpha_2}{2} c^\top B c
        + \tfrac{\lambda}{2} (\operatorname{tr} P^\top A P + \operatorname{tr} Q^\top B Q)

    with :math:`t = \text{index} - (g(\text{index}) - y)/L`, the quadratic that bounds the calibrated loss of
    CSI from above: first over b and P, then over c and Q. The least value of the last term over all factors
    of a matrix is λ times its atomic norm in :class:`GraphLowRank`: the step is the proximal step of CSI,
    taken in factors, with the curvature of every row and column in place of one step size for all.

    The change of an iterate is the angle by which the index turned where the link is learned, else a share.
    The objective is the penalised error.

    Parameters
    ----------
    problem : CompletionProblem
    link_fitter : LinkFitter
    ridge : Ridge
        Of the effects; that of the atoms is set here.
    n_atoms : int
        The largest rank; 0 for effects alone.
    penalty : float
        λ, as a share of the least weight at which no atom enters beside the effects.
    start : Start, default=None
        From :func:`prepare_start` for the same problem and ridge and at least as many atoms.
    """

    ends_by_objective = False

    def __init__(
        self,
        problem: CompletionProblem,
        link_fitter: LinkFitter,
        ridge: Ridge,
        *,
        n_atoms: int,
        penalty: float,
        start: Start | None = None,
    ) -> None:
        self.problem, self.fitter, self.n_atoms = problem, link_fitter, n_atoms
        slope = link_fitter.slope
        self.effects = prepare_start(problem, slope, ridge, n_atoms) if start is None else start
        self.ridge = replace(ridge.divided(slope), atoms=penalty * self.effects.largest_penalty / slope)

    @property
    def descends(self) -> bool:
        return not self.fitter.is_learned

    def start(self) -> State:
        parts = first_parts(self.problem, self.effects, self.ridge, self.n_atoms, self.fitter.slope)
        index = self.problem.index(parts)
        return State(parts, index, index)

    def look(self, state: State, n_iter: int) -> tuple[CompletionIterate, FloatArray]:
        """Return the iterate, and its residuals."""
        problem, parts = self.problem, state.parts
        link, fitted = self.fitter.fit(state.index, problem.y, problem.design.weight)
        residual = fitted - problem.y
        mse = float(problem.share @ residual**2)
        objective = 0.5 * mse + self.fitter.slope**2 * problem.penalty(parts, self.ridge) / problem.total
        iterate = CompletionIterate(
            n_iter, parts, state.index, state.start_index, link, objective, mse, count_atoms(problem, parts),
            state.change,
        )  # fmt: skip
        return iterate, residual

    def move(self, state: State, seen: FloatArray) -> State:
        target = state.index - self.problem.centred(seen) / self.fitter.slope
        parts = self.problem.improve(state.parts, target, self.ridge)
        index = self.problem.index(parts)
        change = self.problem.change(state.index, index, self.fitter.is_learned)
        return State(parts, index, state.start_index, change)

    def check(self, run: Run) -> None:
        state, best = run.state, run.best
        if not (isinstance(state, State) and isinstance(best, CompletionIterate)):
            raise ValueError("this is no run of a completion.")
        for one in (state, best):
            one.parts.check(*self.problem.design.shape)
            check_floats("index", one.index, len(self.problem.y))
            check_floats("start_index", one.start_index, len(self.problem.y))
        check_finite(best.objective, best.mse)
        check_reals(state.change, best.n_iter, best.n_atoms, best.change)
        check_link(best.link)


def first_parts(problem: CompletionProblem, start: Start, ridge: Ridge, n_atoms: int, slope: float) -> Parts:
    """Return the least-squares solution from which a link is learned."""
    rows, values, cols = start.atoms
    n_atoms = min(n_atoms, len(values))
    if n_atoms == 0 or ridge.atoms * slope >= start.largest_penalty:
        return start.parts
    values = values[:n_atoms] / slope
    # A rating counts once: shrunken gradient over the ratings that the heaviest atom sees.
    size = np.maximum(values - ridge.atoms, _SEED * values[0]) / heaviest(problem)
    parts = replace(
        start.parts,
        row_factors=rows[:, :n_atoms] * np.sqrt(size),
        col_factors=cols[:, :n_atoms] * np.sqrt(size),
    )
    return settle(problem, parts, problem.centred(problem.y) / slope, ridge, _START_ROUNDS)


def heaviest(problem: CompletionProblem) -> float:
    """Return the mean number of ratings in a row or column, whichever is larger."""
    n, m = problem.design.shape
    return max(1.0, problem.total / min(n, m))


def settle(
    problem: CompletionProblem, parts: Parts, target: FloatArray, ridge: Ridge, n_rounds: int
) -> Parts:
    """Alternate between rows and columns until the index stands."""
    index = problem.index(parts)
    for _ in range(n_rounds):
        parts = problem.improve(parts, target, ridge)
        last, index = index, problem.index(parts)
        if problem.change(last, index, free_scale=False) <= _START_TOL:
            break
    return parts


def count_atoms(problem: CompletionProblem, parts: Parts) -> int:
    """Return how many atoms the low-rank part is made of."""
    if parts.row_factors.shape[1] == 0:
        return 0
    values = problem.structure.atom_weights(parts.row_factors, parts.col_factors)
    return int(np.count_nonzero(values > _GONE * np.max(values)))
