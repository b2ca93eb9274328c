"""Where paths begin: what is never penalised, fitted through the link, and nothing else in use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..design import Design
from ..link import LinkFitter
from ..structures.separable import Separable
from .descent import Rows, descend
from .result import FloatArray

# Curvature of the loss below which a row would count for next to nothing, however wrong it is.
_LEAST_CURVATURE = 1e-3
# The most steps; by how much, as a share of its length, the index may still move in the last one; the
# duality gap of each.
_MOST_STEPS, _SETTLED, _GAP = 20, 1e-6, 1e-10


def curvature_at(fitter: LinkFitter, fitted: FloatArray) -> FloatArray:
    """Return the slope of the link at each row, or a bound of it."""
    known = fitter.curvature(fitted)
    return np.full(fitted.shape, fitter.slope) if known is None else np.maximum(known, _LEAST_CURVATURE)


@dataclass(frozen=True, eq=False)
class Unpenalised:
    """w with nothing in use but what is never penalised, its index, and what that leaves of y."""

    w: FloatArray
    index: FloatArray
    residual: FloatArray


def fit_unpenalised(
    design: Design, y: FloatArray, share: FloatArray, fitter: LinkFitter, shape: Separable, alpha: float
) -> Unpenalised:
    """Fit what is never penalised, by steps in the metric of its columns."""
    alone = shape.only(np.flatnonzero(shape.is_free))
    w, index = np.zeros((design.shape[1], *y.shape[1:])), np.zeros(y.shape)
    _, fitted = fitter.fit(index, y, share)
    for _ in range(_MOST_STEPS):
        curvature = curvature_at(fitter, fitted)
        rows = Rows(design, (curvature.T * share).T, (y - fitted) / curvature)
        w = descend(rows, w, alone, 0.0, alpha, tol=_GAP).w
        last, index = index, design.matvec(w)
        _, fitted = fitter.fit(index, y, share)
        move, length = (float(np.sum(share @ np.square(v - share @ v))) for v in (index - last, index))
        if not move > _SETTLED**2 * length:
            break
    return Unpenalised(w, index, y - fitted)
