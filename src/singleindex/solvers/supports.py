"""Which atoms a w of few may use: from soft paths, whose supports do not freeze, and by exchange."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..design import Design
from ..link import LinkFitter
from ..structures.separable import Separable, ranks_of
from .exact import PATH_SWEEPS, PATH_TOL, Exact, exact_path
from .relax import relax
from .result import FloatArray
from .simplicity import Simplicity

# Levels of the soft path from which supports are taken, and its last one as a share of the first.
_N_LEVELS, _LAST = 40, 1e-3
# A path ends where it uses this multiple of the atoms wanted: further on its largest ones change little.
_ENOUGH = 3.0
# Supports that are compared by how well they fit.
_COMPARED = 8
# Exchanges are tried with so many rows per coefficient, and so many times.
_ROWS_TO_EXCHANGE, _EXCHANGES = 20, 20
# The share of its error by which an exchange has to improve a fit.
_LEAST_GAIN = 1e-4


class SoftPath:
    """A soft path, from whose levels supports of few atoms are taken.

    Parameters
    ----------
    design, y, simplicity, fitter, weight
        As for :class:`Exact`.
    n_atoms : int
        The most atoms that will be asked for.
    """

    def __init__(
        self,
        design: Design,
        y: FloatArray,
        simplicity: Simplicity,
        fitter: LinkFitter,
        weight: FloatArray | None,
        n_atoms: int,
    ) -> None:
        self.design = design
        self.method = Exact(
            design, y, replace(simplicity, n_atoms=None, penalty=0.0), fitter, sample_weight=weight,
            inner_tol=PATH_TOL, max_sweeps=PATH_SWEEPS,
        )  # fmt: skip
        penalties = self.method.largest_penalty() * np.geomspace(1, _LAST, _N_LEVELS + 1)[1:]
        self.levels: list[tuple[int, FloatArray]] = []
        for iterate in exact_path(self.method, penalties.tolist()):
            if iterate.coef.any():
                self.levels.append((iterate.n_atoms, iterate.coef))
            if iterate.n_atoms > _ENOUGH * n_atoms:
                break

    def best_fit(self, n_atoms: int) -> Fit | None:
        """Return at most `n_atoms` atoms that fit y well; None where nothing does.

        Candidates are the largest atoms at each level; the one is taken whose least-squares fit, through the
        link, has the smallest error. With many rows atoms are exchanged afterwards.
        """
        found: dict[bytes, FloatArray] = {}
        for n_used, w in self.levels:
            kept = self.method.simplicity.structure.project(w, n_atoms)
            found[np.flatnonzero(_used(kept)).tobytes()] = kept
            if n_used > _ENOUGH * n_atoms:
                break
        fits = [fit_within(self.design, self.method, w) for w in list(found.values())[-_COMPARED:]]
        if not fits:
            return None
        best = min(fits, key=lambda fit: fit.error)
        is_plain = self.method.shape.block is None and self.method.y.ndim == 1
        if is_plain and self.method.rows >= _ROWS_TO_EXCHANGE * len(best.support):
            best = exchanged(self.design, self.method, best)
        return best


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


def within_fit(path: SoftPath, fit: Fit | None, simplicity: Simplicity) -> Exact:
    """Return exact steps of a w that may use the coordinates of this fit freely, and no others."""
    method, d = path.method, path.design.shape[1]
    support = np.zeros(0, dtype=np.intp) if fit is None else fit.support
    return Exact(
        path.design, method.y, replace(simplicity, penalty=0.0), method.fitter, sample_weight=method.weight,
        shape=method.shape.only(support), start=None if fit is None else fit.coef(d),
    )  # fmt: skip


def fit_within(design: Design, method: Exact, w: FloatArray) -> Fit:
    """Return the fit without a penalty on the support of w."""
    support = np.flatnonzero(_used(w))
    columns = design.columns(support)
    targets, starts = (v.reshape(len(v), -1) for v in (method.y, w[support]))
    fitter, bounds, values, fitted = method.fitter.of_output(), method.shape.bounds_of(support), [], []
    for y, start in zip(targets.T, starts.T, strict=True):
        y = np.ascontiguousarray(y)
        values.append(relax(columns, y, method.share, start, fitter, method.simplicity.alpha, bounds))
        fitted.append(fitter.fit(columns @ values[-1], y, method.share)[1])
    at_rows = np.column_stack(fitted)
    error = float((method.share @ np.square(targets - at_rows)).sum())
    return Fit(
        support, np.column_stack(values).reshape(w[support].shape), at_rows.reshape(method.y.shape), error
    )


def exchanged(design: Design, method: Exact, fit: Fit) -> Fit:
    """Return a fit in which single coordinates were exchanged for others, as long as its error falls."""
    d, factor = design.shape[1], method.shape.factor
    _, variance = method.spread
    for _ in range(_EXCHANGES):
        pull = np.abs(_allowed(design.rmatvec(method.share * (method.y - fit.fitted)), method.shape))
        pull = np.divide(pull, np.sqrt(variance), out=np.zeros(d), where=variance > 0)
        pull = ranks_of(pull, factor)
        pull[fit.support] = 0.0
        size = ranks_of(np.abs(fit.values) * np.sqrt(variance[fit.support]), factor[fit.support])
        # What is never penalised is not for exchange.
        size[factor[fit.support] == 0] = np.inf
        weakest = int(np.argmin(size))
        if not (pull.any() and np.isfinite(size[weakest])):
            break
        w = fit.coef(d)
        w[fit.support[weakest]] = 0.0
        w[int(np.argmax(pull))] = np.finfo(np.float64).tiny
        other = fit_within(design, method, w)
        if not other.error < (1 - _LEAST_GAIN) * fit.error:
            break
        fit = other
    return fit


def _allowed(w: FloatArray, shape: Separable) -> FloatArray:
    """Return w within bounds: of a gradient, what may come into use."""
    return w if shape.lower is None and shape.upper is None else np.clip(w, shape.lower, shape.upper)


def _used(w: FloatArray) -> NDArray[np.bool_]:
    used: NDArray[np.bool_] = (w != 0).reshape(len(w), -1).any(axis=1)
    return used
