"""Regression without a penalty on a few columns that have been chosen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..link import LinkFitter
from ..structures.separable import Separable
from .descent import Products, descend
from .result import FloatArray

# A ridge that keeps what is nearly undetermined from running away, as a share of the mean curvature.
_RIDGE = 1e-2
# Curvature of the loss below which a row would count for next to nothing.
_LEAST_CURVATURE = 1e-4
# By how much the index may move in a step: further out its curvature is another one.
_LONGEST = 4.0
# Steps with a known curvature, which are Newton's, and with a bound of it.
_NEWTON, _MAJORISED = 3, 6
# The duality gap of a step within bounds, as a share of its objective.
_GAP = 1e-8


def relax(
    columns: FloatArray,
    y: FloatArray,
    share: FloatArray,
    start: FloatArray,
    fitter: LinkFitter,
    alpha: float = 0.0,
    bounds: Separable | None = None,
) -> FloatArray:
    """Return the coefficients of some columns, of shape (n, k), that fit y best through their link.

    Nearly: a few steps from `start`, and a small ridge. Within bounds, where there are any.
    """
    centred = columns - share @ columns
    w = start.copy()
    metric: Metric | None = None
    index = centred @ w
    _, fitted = fitter.fit(index, y, share)
    steps = _MAJORISED if fitter.curvature(fitted) is None else _NEWTON
    if fitter.curvature(fitted) is None and not fitter.is_learned and fitter.takes_any_unit:
        steps = 1  # least squares
    for _ in range(steps):
        known = fitter.curvature(fitted)
        if known is not None or metric is None:
            curvature = (
                np.maximum(known, _LEAST_CURVATURE) if known is not None else np.full(len(y), fitter.slope)
            )
            metric = Metric.of(centred, share * curvature, alpha)
        rest = share * (y - fitted)
        gradient = centred.T @ rest
        if bounds is None:
            step = metric.step(gradient, w)
        else:
            step = metric.step_within(gradient, w, float(rest @ ((y - fitted) / curvature)), bounds)
        if step is None:
            break
        move = centred @ step
        if known is not None:
            length = float(np.max(np.abs(move[share > 0]), initial=0.0))
            short = min(1.0, _LONGEST / length) if length > 0 else 1.0
            step, move = short * step, short * move
        w, index = w + step, index + move
        _, fitted = fitter.fit(index, y, share)
    return w


@dataclass(eq=False)
class Metric:
    """Products of weighted columns, and the ridge that goes with them."""

    products: FloatArray
    ridge: float

    @classmethod
    def of(cls, centred: FloatArray, weight: FloatArray, alpha: float) -> Metric:
        centred = centred - (weight @ centred) / weight.sum()
        products = (centred.T * weight) @ centred
        return cls(products, alpha + _RIDGE * max(float(np.mean(np.diag(products))), 1e-300))

    @cached_property
    def factor(self) -> Any:
        ridged = self.products.copy()
        ridged[np.diag_indices_from(ridged)] += self.ridge
        return cho_factor(ridged, lower=True, overwrite_a=True, check_finite=False)

    def step(self, gradient: FloatArray, w: FloatArray) -> FloatArray | None:
        """Return the way from w to where the quadratic is least; None where there is none."""
        try:
            step: FloatArray = cho_solve(self.factor, gradient - self.ridge * w, check_finite=False)
        except (LinAlgError, ValueError):
            return None
        return step

    def step_within(
        self, gradient: FloatArray, w: FloatArray, square: float, bounds: Separable
    ) -> FloatArray:
        """Return the way to where it is least within bounds; `square` is what w leaves of the residuals'."""
        there = descend(Products(self.products, gradient, square), w, bounds, 0.0, self.ridge, tol=_GAP)
        step: FloatArray = there.w - w
        return step
