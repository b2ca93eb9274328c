"""A learned link for probabilities that are believed no further than the rows go."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from .base import FloatArray
from .curve import MonotoneCurve
from .fitters import Lpav

# Rows that a logistic curve counts for, as a multiple of the root of the number of rows.
_ROOTS = 10.0


class CautiousLpav(Lpav):
    """A learned link for y from 0 to 1 that is nowhere certain.

    As if to n rows were added 10√n which say what a logistic curve fitted to the n says, and half a row at
    either end of the index that contradicts the others there. The first steadies the link where there are
    few rows and fades as they grow; the second keeps it away from 0 and 1: where it ends in m rows of one
    class, about 1/(2m) away. Its residuals do not sum to zero, so it is for the link of a finished w.
    """

    def fit(
        self, index: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None
    ) -> tuple[MonotoneCurve, FloatArray]:
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        seen = index[weight > 0]
        share = _ROOTS / np.sqrt(weight.sum())
        y = (y + share * fit_logistic(index, y, weight)) / (1 + share)
        link, fitted = super().fit(
            np.append(index, [seen.min(), seen.max()]),
            np.append(y, [1.0, 0.0]),
            np.append(weight * (1 + share), [0.5, 0.5]),
        )
        return link, fitted[:-2]


def fit_logistic(index: FloatArray, y: FloatArray, weight: FloatArray, max_iter: int = 30) -> FloatArray:
    """Return the values at `index` of a rising logistic curve fitted to y.

    Newton's method for its two parameters, each step halved until the loss falls. The targets are drawn in
    by one row of each class (Platt), so that the curve exists where the classes do not overlap.
    """
    total, positive = weight.sum(), weight @ y
    target = (y * (positive + 1) / (positive + 2)) + (1 - y) / (total - positive + 2)
    centre = weight @ index / total
    spread = np.sqrt(weight @ (index - centre) ** 2 / total)
    if not spread > 0:
        return np.full(len(y), weight @ target / total)
    z = np.column_stack([(index - centre) / spread, np.ones(len(y))])

    def loss(parameters: FloatArray) -> float:
        linear = z @ parameters
        return float(weight @ (np.logaddexp(0, linear) - target * linear))

    parameters = np.zeros(2)
    for _ in range(max_iter):
        p = expit(z @ parameters)
        gradient = z.T @ (weight * (p - target))
        if np.max(np.abs(gradient)) <= 1e-9 * total:
            break
        hessian = (z.T * (weight * p * (1 - p))) @ z
        step = np.linalg.solve(hessian + 1e-12 * total * np.eye(2), gradient)
        before = loss(parameters)
        while loss(parameters - step) > before and np.max(np.abs(step)) > 1e-12:
            step /= 2
        parameters = parameters - step
    if parameters[0] <= 0:
        return np.full(len(y), weight @ target / total)
    values: FloatArray = expit(z @ parameters)
    return values
