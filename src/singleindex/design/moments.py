"""Means and covariances of all columns: what exact steps need of the data where there are few columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .arrays import FloatArray

if TYPE_CHECKING:
    from .base import Design
    from .view import LinearMap


@dataclass(frozen=True, eq=False)
class Moments:
    """Means and covariances of columns and outputs, over rows with weights.

    Those of a fold are had by taking the held-out rows off, those of other units by factors: the data need be
    read once. All are about the means of their own rows, and are put together about the difference of the
    means, so that columns far from zero lose no digits.

    Attributes
    ----------
    total : float
        The sum of the weights.
    mean : array of shape (d,)
    covariance : array of shape (d, d)
    y_mean : array of shape (n_outputs,)
    cross : array of shape (d, n_outputs)
        The covariances of columns and outputs.
    y_variance : array of shape (n_outputs,)
    """

    total: float
    mean: FloatArray
    covariance: FloatArray
    y_mean: FloatArray
    cross: FloatArray
    y_variance: FloatArray

    @classmethod
    def none(cls, d: int, n_outputs: int) -> Moments:
        """Return those of no rows, to which others can be added."""
        means = np.zeros(d), np.zeros(n_outputs)
        return cls(0.0, means[0], np.zeros((d, d)), means[1], np.zeros((d, n_outputs)), np.zeros(n_outputs))

    @classmethod
    def of(
        cls,
        design: Design,
        y: FloatArray,
        weight: FloatArray | None = None,
        which: NDArray[np.intp] | None = None,
    ) -> Moments:
        """Return those of rows in memory, and of some columns or all; y has shape (n,) or (n, n_outputs)."""
        n, d = design.shape
        which = np.arange(d) if which is None else which
        total = float(n if weight is None else weight.sum())
        if not total > 0:
            raise ValueError("no row has any weight; give at least one a positive weight.")
        share = np.full(n, 1 / n) if weight is None else weight / total
        Y = y.reshape(n, -1)
        mean, y_mean = design.column_moments(share)[0], share @ Y
        centred = Y - y_mean
        weighted = (centred.T * share).T
        # The outputs are centred but for rounding, which columns far from zero would make much of.
        cross = design.rmatvec(weighted) - np.outer(mean, weighted.sum(axis=0))
        y_variance = share @ np.square(centred)
        return cls(total, mean[which], design.gram(which, share), y_mean, cross[which], y_variance)

    def plus(self, other: Moments) -> Moments:
        """Return the moments of the rows of both."""
        if self.total == 0 or other.total == 0:
            return other if self.total == 0 else self
        return self._with(other, other.total)

    merge = plus

    def minus(self, part: Moments) -> Moments:
        """Return the moments without a part of the rows."""
        if not self.total > part.total:
            raise ValueError("no rows are left; take off fewer.")
        return self._with(part, -part.total)

    def _with(self, other: Moments, weight: float) -> Moments:
        """Put together the moments of these rows, and `weight` times those of others."""
        total = self.total + weight
        share = weight / total  # of the others; theirs of the whole is negative where they are taken off
        gap, y_gap = other.mean - self.mean, other.y_mean - self.y_mean
        between = share * (1 - share)
        return Moments(
            total,
            self.mean + share * gap,
            (1 - share) * self.covariance + share * other.covariance + between * np.outer(gap, gap),
            self.y_mean + share * y_gap,
            (1 - share) * self.cross + share * other.cross + between * np.outer(gap, y_gap),
            (1 - share) * self.y_variance + share * other.y_variance + between * y_gap**2,
        )

    def scaled(self, scale: FloatArray) -> Moments:
        """Return the moments of columns that were multiplied by `scale`."""
        return Moments(
            self.total,
            self.mean * scale,
            self.covariance * np.outer(scale, scale),
            self.y_mean,
            self.cross * scale[:, None],
            self.y_variance,
        )

    def through(self, linear_map: LinearMap) -> Moments:
        """Return the moments of the columns that a linear map of w sees in place of these."""
        half = linear_map.pull_back(self.covariance.copy())
        return Moments(
            self.total,
            linear_map.pull_back(self.mean.copy()),
            linear_map.pull_back(half.T.copy()),
            self.y_mean,
            linear_map.pull_back(self.cross.copy()),
            self.y_variance,
        )
