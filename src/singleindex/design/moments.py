"""Means and covariances of all columns: what exact steps need of the data where there are few columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import FloatArray
from .base import Design


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
    def of(cls, design: Design, y: FloatArray, weight: FloatArray | None = None) -> Moments:
        """Return those of rows in memory; y has shape (n,) or (n, n_outputs)."""
        n, d = design.shape
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
        return cls(total, mean, design.gram(np.arange(d), share), y_mean, cross, y_variance)

    def plus(self, other: Moments) -> Moments:
        """Return the moments of the rows of both."""
        return self._with(other, other.total)

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
