"""What is to be known of the data before the first iteration, in sums that merge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import FloatArray
from .base import Design


@dataclass(frozen=True)
class Survey:
    """Means and variances of the columns, and their covariance with the outputs.

    Attributes
    ----------
    total : float
        The sum of the weights.
    mean, variance : arrays of shape (d,)
        The variance of a column that is constant is zero, exactly.
    y_mean : array of shape (n_outputs,)
    covariance : array of shape (d, n_outputs)
    lengths : tuple of int
        The rows of each block.
    value : array of shape (d,)
        The value of each column that is constant so far, NaN for others.
    """

    total: float
    mean: FloatArray
    variance: FloatArray
    y_mean: FloatArray
    covariance: FloatArray
    lengths: tuple[int, ...]
    value: FloatArray

    def merge(self, other: Survey) -> Survey:
        """Return the survey of the rows of both: means are merged about each other, without cancellation."""
        total = self.total + other.total
        lengths = self.lengths + other.lengths
        if self.total == 0 or other.total == 0:
            used = other if self.total == 0 else self
            return Survey(total, used.mean, used.variance, used.y_mean, used.covariance, lengths, used.value)
        share = other.total / total
        gap, y_gap = other.mean - self.mean, other.y_mean - self.y_mean
        value = np.where(self.value == other.value, self.value, np.nan)
        variance = (1 - share) * self.variance + share * other.variance + share * (1 - share) * gap**2
        covariance = (1 - share) * self.covariance + share * other.covariance
        return Survey(
            total,
            np.where(np.isnan(value), self.mean + share * gap, value),
            np.where(np.isnan(value), variance, 0.0),
            self.y_mean + share * y_gap,
            covariance + share * (1 - share) * np.outer(gap, y_gap),
            lengths,
            value,
        )


def survey_rows(design: Design, Y: FloatArray, weight: FloatArray | None) -> Survey:
    """Return the survey of rows in memory; `Y` has shape (n, n_outputs)."""
    n, d = design.shape
    total = float(n if weight is None else weight.sum())
    if total == 0:
        none = np.zeros(d)
        return Survey(0.0, none, none, np.zeros(Y.shape[1]), np.zeros((d, Y.shape[1])), (n,), none)
    share = np.full(n, 1 / n) if weight is None else weight / total
    mean, variance = design.column_moments(share)
    y_mean = share @ Y
    covariance = design.rmatvec((share * (Y - y_mean).T).T)
    value = np.where(variance == 0, mean, np.nan)
    return Survey(total, mean, variance, y_mean, covariance, (n,), value)


@dataclass(frozen=True)
class TargetSurvey:
    """What is to be known of y: its shape, range, and the weight of each of its values if they are few."""

    n_rows: int
    n_outputs: int
    is_matrix: bool
    low: FloatArray
    high: FloatArray
    labels: Any
    label_weight: FloatArray | None
    any_weight: bool
    total: float

    # More values than this are no classes.
    MOST_LABELS = 1000

    @classmethod
    def of(cls, y: Any, weight: FloatArray | None, name: str) -> TargetSurvey:
        from .blocks import ChunkError, check_weight

        check_weight(weight, name)
        numeric = y.dtype.kind in "fiub"
        if numeric and not np.isfinite(y).all():
            raise ChunkError(f"{name}: y holds NaN or infinity; remove these rows.")
        if not numeric and any(value is None or value != value for value in y.ravel()):
            raise ChunkError(f"{name}: y has no value in some row; remove these rows.")
        used = y if weight is None else y[weight > 0]
        columns = used if used.ndim == 2 else used[:, None]
        low = high = np.zeros(0)
        if numeric and len(used):
            low, high = columns.min(axis=0).astype(float), columns.max(axis=0).astype(float)
        labels, label_weight = None, None
        if y.ndim == 1:
            labels, codes = np.unique(y, return_inverse=True)
            label_weight = np.bincount(codes, weights=weight, minlength=len(labels)).astype(float)
        n_outputs = y.shape[1] if y.ndim == 2 else 1
        few, total = _few(labels, label_weight), float(len(y) if weight is None else weight.sum())
        return cls(len(y), n_outputs, y.ndim == 2, low, high, *few, weight is not None, total)

    def merge(self, other: TargetSurvey) -> TargetSurvey:
        """Return the survey of the rows of both."""
        # A block without rows may not even know what kind of values it would have.
        if self.n_rows == 0 or other.n_rows == 0:
            return other if self.n_rows == 0 else self
        low, high = (
            (a if len(b) == 0 else b) if len(a) == 0 or len(b) == 0 else pick(a, b)
            for a, b, pick in ((self.low, other.low, np.minimum), (self.high, other.high, np.maximum))
        )
        labels, label_weight = None, None
        if self.labels is not None and other.labels is not None:
            labels, codes = np.unique(np.concatenate([self.labels, other.labels]), return_inverse=True)
            weights = np.concatenate([self.label_weight, other.label_weight])
            label_weight = np.bincount(codes, weights).astype(np.float64)
        return TargetSurvey(
            self.n_rows + other.n_rows,
            self.n_outputs,
            self.is_matrix,
            low,
            high,
            *_few(labels, label_weight),
            self.any_weight or other.any_weight,
            self.total + other.total,
        )


def _few(labels: Any, weight: FloatArray | None) -> tuple[Any, FloatArray | None]:
    if labels is None or len(labels) > TargetSurvey.MOST_LABELS:
        return None, None
    return labels, weight
