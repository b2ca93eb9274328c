"""Which atoms a w of few may use: from soft paths, whose supports do not freeze, and by exchange."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..design import Design
from ..link import LinkFitter
from ..structures.separable import Separable
from .exact import PATH_SWEEPS, PATH_TOL, Exact, exact_path
from .relax import relax
from .result import FloatArray
from .simplicity import Simplicity

# Levels of the soft path from which supports are taken, and its last one as a share of the first.
_N_LEVELS, _LAST = 40, 1e-3
# A path ends where it uses this multiple of the atoms that are wanted: further on its largest ones change little.
_ENOUGH = 3.0
# Supports that are compared by how well they fit.
_COMPARED = 8
# Exchanges are tried with so many rows per coefficient, and so many times.
_ROWS_TO_EXCHANGE, _EXCHANGES = 20, 20
# The share of its error by which an exchange has to improve a fit.
_LEAST_GAIN = 1e-4


def within_support(n_coordinates: int, support: NDArray[np.intp]) -> Separable:
    """Return the penalty of w that may use these coordinates freely, and no others."""
    factor = np.full(n_coordinates, np.inf)
    factor[support] = 0.0
    return Separable(factor)


def choose_support(
    design: Design, y: FloatArray, simplicity: Simplicity, fitter: LinkFitter, weight: FloatArray | None, n_atoms: int
) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the coordinates of at most `n_atoms` atoms that fit y well, and a w to start from.

    Candidates are the largest atoms at each level of a soft path; the one is taken whose least-squares fit,
    through the link, has the smallest error. With many rows atoms are exchanged afterwards.
    """
    structure = simplicity.structure
    method = Exact(
        design, y, replace(simplicity, n_atoms=None), fitter, sample_weight=weight, inner_tol=PATH_TOL,
        max_sweeps=PATH_SWEEPS,
    )  # fmt: skip
    penalties = method.largest_penalty() * np.geomspace(1, _LAST, _N_LEVELS + 1)[1:]
    found: dict[bytes, FloatArray] = {}
    for iterate in exact_path(method, penalties.tolist()):
        if not iterate.coef.any():
            continue
        kept = structure.project(iterate.coef, n_atoms)
        found[np.flatnonzero(_used(kept)).tobytes()] = kept
        if iterate.n_atoms > _ENOUGH * n_atoms:
            break
    if not found:
        return np.zeros(0, dtype=np.intp), np.zeros((design.shape[1], *y.shape[1:]))
    fits = [fit_within(design, method, w) for w in list(found.values())[-_COMPARED:]]
    best = min(fits, key=lambda fit: fit.error)
    if method.rows >= _ROWS_TO_EXCHANGE * len(best.support) and method.shape.block is None and y.ndim == 1:
        best = exchanged(design, method, best)
    return best.support, best.coef(design.shape[1])


@dataclass(frozen=True, eq=False)
class Fit:
    """A support, the coefficients that fit best within it, and the error that is left."""

    support: NDArray[np.intp]
    values: FloatArray
    fitted: FloatArray
    error: float

    def coef(self, n_coordinates: int) -> FloatArray:
        w = np.zeros((n_coordinates, *self.values.shape[1:]))
        w[self.support] = self.values
        return w


def fit_within(design: Design, method: Exact, w: FloatArray) -> Fit:
    """Return the fit without a penalty on the support of w."""
    support = np.flatnonzero(_used(w))
    columns = design.columns(support)
    targets, starts = (v.reshape(len(v), -1) for v in (method.y, w[support]))
    fitter, values, fitted = method.fitter.of_output(), [], []
    for y, start in zip(targets.T, starts.T, strict=True):
        y = np.ascontiguousarray(y)
        values.append(relax(columns, y, method.share, start, fitter, method.simplicity.alpha))
        fitted.append(fitter.fit(columns @ values[-1], y, method.share)[1])
    at_rows = np.column_stack(fitted)
    error = float((method.share @ np.square(targets - at_rows)).sum())
    return Fit(support, np.column_stack(values).reshape(w[support].shape), at_rows.reshape(method.y.shape), error)


def exchanged(design: Design, method: Exact, fit: Fit) -> Fit:
    """Return a fit in which single coordinates were exchanged for others, as long as its error falls."""
    d = design.shape[1]
    _, variance = method.spread
    for _ in range(_EXCHANGES):
        pull = np.abs(design.rmatvec(method.share * (method.y - fit.fitted)))
        pull = np.divide(pull, np.sqrt(variance), out=np.zeros(d), where=variance > 0)
        pull[fit.support] = 0.0
        weakest = int(np.argmin(np.abs(fit.values) * np.sqrt(variance[fit.support])))
        w = fit.coef(d)
        w[fit.support[weakest]] = 0.0
        w[int(np.argmax(pull))] = np.finfo(np.float64).tiny
        other = fit_within(design, method, w)
        if not other.error < (1 - _LEAST_GAIN) * fit.error:
            break
        fit = other
    return fit


def _used(w: FloatArray) -> NDArray[np.bool_]:
    used: NDArray[np.bool_] = w != 0 if w.ndim == 1 else w.any(axis=1)
    return used
