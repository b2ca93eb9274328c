"""Many models that move together: every reading of the data takes each of them one exact step further."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import ndtri, xlogy

from ..design.many import ManySweep, ManyVisit, bin_edges, points_of
from ..design.moments import Moments
from ..design.view import LinearMap
from ..link import LinkFitter, Points
from ..structures.separable import Separable
from .quadratic import PenalisedStep, gradient_at
from .result import FloatArray
from .simplicity import Simplicity
from .unpenalised import curvature_at

# The duality gap of a step, as a share of its objective; of starts, which are moved on from.
_TOL, _START_TOL = 1e-12, 1e-8
# The angle, as its sine, by which an index may still turn once it stands still.
STILL = 3e-3
# A straight line explains at most this share of the variance of classes, or a first length would have no end.
_MOST_EXPLAINED = 0.9
# The least curvature along the index itself, as a share of that across it.
_LEAST_ALONG = 0.02
# By how much the curvature is raised where a step went too far; beyond the last one its bound is taken, which
# no step can go too far with.
_MORE_CAUTION, _MOST_CAUTION = 4.0, 100.0
# Where links that are known but for an offset are tried before there are rows to tell it: even quantiles.
_QUANTILES = ndtri((np.arange(64) + 0.5) / 64)


@dataclass(frozen=True, eq=False)
class LearnedRows:
    """The rows that a model learns from: all but those of one fold, in the coordinates w is learned in.

    Attributes
    ----------
    held : int
        The fold that is held out, `NO_FOLD` for none.
    moments : Moments
        Of the coordinates.
    linear_map : LinearMap
        From the coordinates to the coefficients of the columns of X.
    mean : array of shape (d,)
        Of the columns of X.
    """

    held: int
    moments: Moments
    linear_map: LinearMap
    mean: FloatArray


@dataclass(frozen=True, eq=False)
class Problem:
    """What a model minimises: the loss of an output over some rows, and what is asked of w.

    `is_scaled` tells whether the length of w is looked at, too; else its direction alone.
    """

    rows: LearnedRows
    output: int
    fitter: LinkFitter
    simplicity: Simplicity
    shape: Separable
    is_scaled: bool = False

    @property
    def covariance(self) -> FloatArray:
        return self.rows.moments.covariance

    @property
    def y_mean(self) -> float:
        return float(self.rows.moments.y_mean[self.output])

    @property
    def y_variance(self) -> float:
        return float(self.rows.moments.y_variance[self.output])

    def line_path(self, penalties: Sequence[float]) -> Iterator[tuple[FloatArray, float]]:
        """Yield the answers of a straight link, from strong penalties to weak, without a look at any row.

        Each with the share of the variance of y that it explains.
        """
        slope, cross = self.simplicity.slope, self.rows.moments.cross[:, self.output]
        gram, square = slope * self.covariance, self.y_variance / slope
        tol = _TOL if is_line(self.fitter) else _START_TOL
        w, gradient, left = np.zeros(len(cross)), cross, square
        for penalty in penalties:
            step = PenalisedStep(gram, self.shape, float(penalty), self.simplicity.alpha, tol)
            w = step.minimise(w, gradient, left)
            gradient, left = gradient_at(w, gram, cross, square)
            yield w, 1 - left / square if square > 0 else 0.0

    def start(self, w: FloatArray, explained: float) -> Mover:
        """Return a model that begins with the answer of a straight link."""
        mover = Mover(self, w)
        if self.fitter.curvature(np.full(1, 0.5)) is not None and self.y_variance > 0:
            # What normal columns in two classes would have, given how far these are apart.
            apart = self.simplicity.slope / self.y_variance / (1 - min(explained, _MOST_EXPLAINED))
            mover = Mover(self, w * apart)
        if self.fitter.is_learned:
            mover.link = Tangent(self.y_mean, self.simplicity.slope)
        else:
            index = mover.sd * _QUANTILES
            mover.link = self.fitter.fit(index, np.full(len(index), self.y_mean))[0]
        mover.is_still = is_line(self.fitter)
        return mover


@dataclass(frozen=True)
class Tangent:
    """A straight link."""

    level: float
    slope: float

    def __call__(self, index: FloatArray) -> FloatArray:
        return self.level + self.slope * index


def is_line(fitter: LinkFitter) -> bool:
    """Tell whether a link is a straight line: then moments of the data are all that w depends on."""
    return not fitter.is_learned and getattr(fitter, "name", None) == "identity"


@dataclass(eq=False)
class Mover:
    """One of many models, where it stands and what the last reading said of it.

    Attributes
    ----------
    problem : Problem
    w : array of shape (n_coordinates,)
    link : callable
        From the centred index to the prediction: that of the reading before.
    is_still : bool
        Whether it does not move any more.
    bins : array of shape (2, n_bins, 3) or None
        Of its index at unit spread, from the last reading: of rows it learns from, and of those held out.
    before : Mover or None
        Where the last step began.
    caution : float
        What the curvature by bins is multiplied by.
    """

    problem: Problem
    w: FloatArray
    link: Any = None
    is_still: bool = False
    bins: FloatArray | None = None
    gradient: FloatArray | None = None
    residual: float = 0.0
    before: Mover | None = field(default=None, repr=False)
    objective: float = np.inf
    caution: float = 1.0
    _sd: float | None = None

    @property
    def sd(self) -> float:
        """The spread of the index over the rows that are learned from; one where there is none."""
        if self._sd is None:
            self._sd = float(np.sqrt(max(float(self.w @ self._turned(self.w)), 0.0))) or 1.0
        return self._sd

    def _turned(self, w: FloatArray) -> FloatArray:
        used = np.flatnonzero(w)
        product: FloatArray = self.problem.covariance[:, used] @ w[used]
        return product

    @property
    def coef(self) -> FloatArray:
        """The coefficients of the columns of X at unit spread of the index."""
        return self.problem.rows.linear_map.to_features(self.w) / self.sd

    @property
    def offset(self) -> float:
        """What to add to the index at unit spread, so that it is centred."""
        return -float(self.problem.rows.mean @ self.coef)

    @property
    def points(self) -> Points:
        """What a link is fitted to: bins of the centred index of the rows that are learned from."""
        assert self.bins is not None
        return points_of(self.bins[0]).rescale(self.sd)

    def see(self, sweep: ManySweep, k: int) -> None:
        """Note what a reading says of it."""
        self.bins = sweep.bins[k].copy()
        if sweep.gradient.shape[1]:
            rows = self.problem.rows
            centred = sweep.gradient[:, k] - sweep.residual[k] * rows.mean
            self.gradient = rows.linear_map.pull_back(centred / rows.moments.total)
            self.residual = float(sweep.residual[k]) / rows.moments.total

    def advance(self) -> None:
        """Take an exact step, unless that hardly turns the index."""
        problem, points = self.problem, self.points
        link, fitted = problem.fitter.fit(points.index, points.y, points.weight)
        assert points.weight is not None
        share = points.weight / points.weight.sum()
        if problem.fitter.curvature(fitted) is not None:
            self.objective = self._objective(share, points.y, fitted)
            if self.before is not None and self.objective > self.before.objective:
                self._step_back()
                return
        if isinstance(self.link, Tangent):
            self.link = link  # for which w was the answer already: the next reading is by one that bends
            return
        moved = Mover(problem, self._step(), link, before=self._bare(), caution=max(self.caution / 2, 1.0))
        self.is_still = self._turn(moved) <= STILL
        if not self.is_still:
            self._become(moved)

    def _become(self, moved: Mover) -> None:
        """Go there; what was seen last stays known until the next reading."""
        self.__dict__.update(moved.__dict__ | {"bins": self.bins})

    def _bare(self) -> Mover:
        """Return what is needed to come back here."""
        return replace(self, before=None)

    def _step_back(self) -> None:
        """Go from where the last step began once more, less far."""
        before = self.before
        assert before is not None
        if before.caution > _MOST_CAUTION:  # as near as rounding lets it come
            self.is_still = True
            return
        before.caution *= _MORE_CAUTION
        points = before.points
        link, _ = self.problem.fitter.fit(points.index, points.y, points.weight)
        self._become(replace(before, w=before._step(), link=link, before=before, _sd=None))

    def _step(self) -> FloatArray:
        """Return the minimiser of the quadratic at this state."""
        problem, slope, points = self.problem, self.problem.simplicity.slope, self.points
        assert self.gradient is not None
        assert points.weight is not None
        share = points.weight / points.weight.sum()
        fitted = problem.fitter.fit(points.index, points.y, points.weight)[1]
        metric, gradient = slope * problem.covariance, self.gradient
        if problem.fitter.curvature(fitted) is not None and self.caution <= _MOST_CAUTION:
            metric, gradient = self._fisher(fitted, share)
        square = max(float(share @ np.square(fitted - points.y)), 1e-3 * problem.y_variance)
        step = PenalisedStep(
            metric, problem.shape, problem.simplicity.penalty, problem.simplicity.alpha, _TOL
        )
        return step.minimise(self.w, -gradient, square / slope)

    def _fisher(self, fitted: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the curvature of the loss, and its gradient, with the best offset taken into account.

        By the curvatures v of bins of the index u alone: where the rest of X is normal given the index, the
        sum of v x xᵀ is E[v] C + E[v (u² − 1)] C ŵ ŵᵀ C.
        """
        assert self.bins is not None
        assert self.gradient is not None
        u = points_of(self.bins[0]).index
        v = share * curvature_at(self.problem.fitter, fitted)
        across, lean = float(v.sum()), float(v @ u)
        along = max(float(v @ np.square(u)) - lean**2 / across, _LEAST_ALONG * across)
        toward = self._turned(self.w) / self.sd
        metric = across * self.problem.covariance + (along - across) * np.outer(toward, toward)
        return self.caution * metric, self.gradient - (lean / across * self.residual) * toward

    def _objective(self, share: FloatArray, y: FloatArray, fitted: FloatArray) -> float:
        """Return the log-loss, with what w is held back by."""
        loss = -float(share @ (xlogy(y, fitted) + xlogy(1 - y, 1 - fitted)))
        asked = self.problem.simplicity
        held_back = 0.5 * asked.alpha * float(self.w @ self.w)
        return loss + held_back + (asked.penalty * asked.structure.norm(self.w) if asked.penalty > 0 else 0.0)

    def _turn(self, other: Mover) -> float:
        """Return the sine of the angle between two indices, or the share by which they differ."""
        if self.problem.is_scaled:
            move = other.w - self.w
            return float(np.sqrt(max(float(move @ self._turned(move)), 0.0))) / other.sd
        if not (self.w.any() and other.w.any()):
            return 0.0 if self.w.any() == other.w.any() else 1.0
        cosine = float(other.w @ self._turned(self.w)) / (self.sd * other.sd)
        return float(np.sqrt(max(1 - cosine**2, 0.0))) if cosine > 0 else 1.0


def look_at(
    movers: Sequence[Mover], n_bins: int, read: Callable[[ManyVisit], ManySweep], needs_gradient: bool = True
) -> None:
    """Let one reading of the data tell all of these models where they stand."""
    edges = bin_edges(n_bins)
    visit = ManyVisit(
        np.column_stack([one.coef for one in movers]),
        np.array([one.offset for one in movers]),
        np.stack([np.asarray(one.link(one.sd * edges), dtype=np.float64) for one in movers]),
        np.array([one.problem.rows.held for one in movers], dtype=np.int32),
        np.array([one.problem.output for one in movers], dtype=np.int32),
        needs_gradient,
    )
    sweep = read(visit)
    for k, one in enumerate(movers):
        one.see(sweep, k)
