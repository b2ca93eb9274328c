"""Curves of two parameters, a level and a slope: what few rows can tell of a link."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from .base import FloatArray
from .curve import MonotoneCurve

# Targets of a sigmoid are drawn in by this part of a row of each class (Platt has a whole one), so that the
# curve exists where the classes do not overlap.
PSEUDO_ROWS = 0.3
# A loss counts a row that is wrong with certainty as if this much had been left to chance.
LEFT_TO_CHANCE = 5e-4
# Numbers that are worked on at a time, so that they stay in the cache.
_CHUNK = 1 << 17
# Where a sigmoid is tabulated, in units of its own index: p from 1e-6 to 1 - 1e-6.
_GRID = np.linspace(-13.8, 13.8, 139)


class Shape:
    """A family of rising curves; index of shape (n,) or (n_curves, n), parameters (2,) or (2, n_curves)."""

    def fit(self, index: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
        """Return slope and level of each curve: the best ones for y, the slope not below zero."""
        rows = np.atleast_2d(index)
        size = max(1, _CHUNK // max(rows.shape[1], 1))
        parts = [
            self._fit_some(rows[k : k + size].astype(np.float64, copy=False), y, weight)
            for k in range(0, len(rows), size)
        ]
        parameters: FloatArray = np.concatenate(parts, axis=1)
        return parameters if index.ndim == 2 else parameters[:, 0]

    def _fit_some(self, index: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
        raise NotImplementedError

    def values(self, parameters: FloatArray, index: FloatArray) -> FloatArray:
        """Return the curves at the index."""
        slope, level = (p[..., None] for p in parameters)
        return self._bend(slope * index + level)

    def _bend(self, linear: FloatArray) -> FloatArray:
        raise NotImplementedError

    def loss(self, fitted: FloatArray, y: FloatArray) -> FloatArray:
        """Return the loss of every row."""
        raise NotImplementedError

    def steepest(self, parameters: FloatArray) -> float:
        """Return the largest slope of a curve."""
        raise NotImplementedError

    def gain_unit(self, loss: float) -> float:
        """Return what a difference of losses is divided by to be one of log-likelihoods."""
        raise NotImplementedError

    def tabulate(self, parameters: FloatArray, index: FloatArray) -> MonotoneCurve:
        """Return a curve with corners, over the index and somewhat beyond."""
        raise NotImplementedError


@dataclass(frozen=True)
class Sigmoid(Shape):
    """Logistic curves, for y from 0 to 1; the loss is the log-loss."""

    def _fit_some(self, index: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
        total = weight.sum()
        share, positive = weight / total, weight @ y
        high = (positive + PSEUDO_ROWS) / (positive + 2 * PSEUDO_ROWS)
        low = PSEUDO_ROWS / (total - positive + 2 * PSEUDO_ROWS)
        target = low + (high - low) * y
        mean = share @ target
        flat = np.log(mean / (1 - mean))
        slope, level = np.ones(len(index)), np.full(len(index), flat)
        open_ = np.arange(len(index))
        for _ in range(25):
            rows = index[open_]
            p = expit(slope[open_, None] * rows + level[open_, None])
            residual = (p - target) * share
            curvature = np.maximum(p * (1 - p), 1e-6) * share
            moment = curvature * rows
            gradient = np.array([np.einsum("kn,kn->k", residual, rows), residual.sum(axis=1)])
            hess = np.array(
                [np.einsum("kn,kn->k", moment, rows) + 1e-6, moment.sum(axis=1), curvature.sum(axis=1)]
            )
            steps = solve_pairs(hess, gradient)
            # No further than where the curvature still tells something.
            steps *= np.minimum(1, 2 / (np.abs(steps).sum(axis=0) + 1e-300))
            slope[open_] -= steps[0]
            level[open_] -= steps[1]
            open_ = open_[np.abs(steps).max(axis=0) > 1e-5]
            if not len(open_):
                break
        falls = slope <= 0
        slope[falls], level[falls] = 0.0, flat
        return np.array([slope, level])

    def _bend(self, linear: FloatArray) -> FloatArray:
        values: FloatArray = expit(linear)
        return values

    def loss(self, fitted: FloatArray, y: FloatArray) -> FloatArray:
        p = np.clip(fitted, LEFT_TO_CHANCE, 1 - LEFT_TO_CHANCE)
        loss: FloatArray = -(y * np.log(p) + (1 - y) * np.log1p(-p))
        return loss

    def steepest(self, parameters: FloatArray) -> float:
        return float(parameters[0]) / 4

    def gain_unit(self, loss: float) -> float:
        return 1.0

    def tabulate(self, parameters: FloatArray, index: FloatArray) -> MonotoneCurve:
        slope, level = parameters
        if not slope > 0:
            return MonotoneCurve([float(np.mean(index))], [float(expit(level))])
        return MonotoneCurve((_GRID - level) / slope, expit(_GRID))


@dataclass(frozen=True)
class Line(Shape):
    """Straight lines; the loss is the squared error."""

    def _fit_some(self, index: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
        share = weight / weight.sum()
        mean, centred = index @ share, y - share @ y
        gap = index - mean[:, None]
        variance = np.einsum("kn,kn,n->k", gap, gap, share)
        along = gap @ (share * centred)
        slope = np.divide(along, variance, out=np.zeros_like(mean), where=variance > 0).clip(min=0)
        return np.array([slope, share @ y - slope * mean])

    def _bend(self, linear: FloatArray) -> FloatArray:
        return linear

    def loss(self, fitted: FloatArray, y: FloatArray) -> FloatArray:
        loss: FloatArray = np.square(fitted - y)
        return loss

    def steepest(self, parameters: FloatArray) -> float:
        return float(parameters[0])

    def gain_unit(self, loss: float) -> float:
        return max(loss, 1e-300)

    def tabulate(self, parameters: FloatArray, index: FloatArray) -> MonotoneCurve:
        # Half as far again as the rows go: beyond that a line is a guess.
        beyond = 0.5 * float(np.ptp(index)) or 1.0
        ends = np.array([np.min(index) - beyond, np.max(index) + beyond])
        return MonotoneCurve(ends, self.values(parameters, ends))


def solve_pairs(hessian: FloatArray, gradient: FloatArray) -> FloatArray:
    """Solve many systems of two equations; of the symmetric matrices the entries 00, 01 and 11 are given."""
    a, b, c = hessian
    # Where the rows are one in all but name, the two equations are.
    determinant = np.maximum(a * c - b * b, 1e-12 * a * c + 1e-200)
    solved: FloatArray = (
        np.array([c * gradient[0] - b * gradient[1], a * gradient[1] - b * gradient[0]]) / determinant
    )
    return solved
