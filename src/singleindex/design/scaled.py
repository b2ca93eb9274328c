"""A design seen through scaled columns: the preconditioner of CSI."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from .base import Design, FloatArray
from .checks import check_length
from .csr import CsrDesign
from .dense import DenseDesign
from .sparse import SparseDesign
from .sweep import Sweep, Visit


class ScaledDesign:
    """X diag(scale), without a copy of X."""

    def __init__(self, design: Design, scale: FloatArray) -> None:
        self.design = design
        self.scale = scale

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.shape

    def matvec(self, w: FloatArray) -> FloatArray:
        check_length(w, self.shape[1], "w")
        return self.design.matvec(self.in_units_of_X(w))

    def rmatvec(self, r: FloatArray) -> FloatArray:
        product = self.design.rmatvec(r).T
        product *= self.scale  # a new array, which nobody else has
        return product.T

    def column_moments(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, variance = self.design.column_moments(weight)
        return mean * self.scale, variance * self.scale**2

    def in_units_of_X(self, w: FloatArray) -> FloatArray:
        """Return the coefficients in the units of X."""
        scaled: FloatArray = (w.T * self.scale).T
        return scaled

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        """Return the gradient in these columns of one in the columns of X."""
        return self.in_units_of_X(gradient)

    def sweep(self, visit: Visit, y: Any, weight: FloatArray | None = None) -> Sweep:
        return sweep_through(self, visit, y, weight)


def sweep_through(design: Any, visit: Visit, y: Any, weight: FloatArray | None) -> Sweep:
    """Sweep the design that `design` is a view of."""
    for name in ("w", "w_old"):
        check_length(getattr(visit, name), design.shape[1], name)
    w = design.in_units_of_X(visit.w)
    w_old = w if visit.w_old is visit.w else design.in_units_of_X(visit.w_old)
    inner = innermost(design)
    sweep = inner.sweep(replace(visit, w=w, w_old=w_old), y, weight)
    pulled: Sweep = replace(sweep, gradient=design.pull_back(sweep.gradient))
    return pulled


def innermost(design: Any) -> Any:
    """Return the design that holds the data, under all views of it."""
    while isinstance(getattr(design, "design", None), Design):
        design = design.design
    return design


def as_design(X: Any) -> Design:
    """Wrap checked data: a two-dimensional numpy array or a scipy sparse matrix."""
    return SparseDesign(X) if sparse.issparse(X) else DenseDesign(X)


def as_row_design(X: Any, keeps_support: bool = False) -> Design:
    """Wrap checked data for solvers that visit each row once, again and again where `keeps_support`."""
    return CsrDesign(X, keeps_support) if sparse.issparse(X) else DenseDesign(X)


def column_scale(variance: FloatArray, power: float, unit: FloatArray | None = None) -> FloatArray:
    r"""Return the factors :math:`1 / (s\,(\sigma_j / s)^\gamma)`, s the root mean square of the σ.

    With `power` γ = 1 every column gets unit variance, with γ = 0 all are divided by the same number, so
    that their mean variance is one; γ = ½ is between the two. Constant columns get the factor 0.

    `unit` says that the variances are those of columns multiplied by it, as they themselves would overflow.
    """
    sd = np.sqrt(variance) if unit is None else np.sqrt(variance) / unit
    used = sd > 0
    scale = np.zeros_like(sd)
    if used.any():
        with np.errstate(all="ignore"):  # what is too large or too small is for the caller to see
            if unit is None:
                typical = np.sqrt(np.mean(variance[used]))
                scale[used] = 1 / (typical * (sd[used] / typical) ** power)
            else:
                # By logarithms: of units so far apart even the ratios need not be numbers.
                top = np.max(sd)
                of_typical = np.log2(top) + 0.5 * np.log2(np.mean(np.square(sd[used] / top)))
                scale[used] = np.exp2(-power * np.log2(sd[used]) - (1 - power) * of_typical)
    return scale
