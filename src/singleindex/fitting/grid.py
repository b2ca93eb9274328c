"""What a search tries: column scales, links in the loop, ridges, and the levels along each path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..design import Design
from ..link import LinkFitter
from ..solvers import Level, TwoPass
from ..solvers.path import hard_levels, soft_levels
from ..solvers.result import FloatArray
from .checks import check_n_atoms, check_number, check_penalty
from .extremes import Spread
from .plan import Plan

# Rows from which a link can be learned while w is, of classes and of numbers.
_ROWS_TO_LEARN = {True: 1000, False: 150}
# Levels of a path, and the last one as a share of the first, with more rows than columns or fewer.
_N_LEVELS, _LAST_LONG, _LAST_WIDE = 50, 1e-3, 1e-2
# From so many rows on half as many levels: neighbours are then hardly other models.
_MANY_ROWS = 5000
# How a path is traced.
EXACT, GRADIENT, RIDGE = "exact", "gradient", "ridge"
# Ridges, as shares of the largest curvature.
_RIDGES = np.geomspace(1e2, 1e-5, 25)
# The ridge along gradient paths where none is asked for.
_GRADIENT_ALPHA = 0.1


@dataclass(frozen=True)
class Cell:
    """One path of the search: a column scale, the link in the loop, a ridge, and the levels along it.

    It ends where w has more coefficients than a share `most` of the rows, or leaves no more than a share
    `unexplained` of the squares.
    """

    scale_power: float | None
    fitter: LinkFitter
    alpha: float
    levels: tuple[Level, ...]
    method: str
    most: float = 0.5
    unexplained: float = 0.01

    @property
    def is_further(self) -> bool:
        """Whether it goes on beyond where paths end."""
        return not np.isfinite(self.most)

    @property
    def link(self) -> str:
        """The name of the link in the loop."""
        return "learned" if self.fitter.is_learned else str(getattr(self.fitter, "name", "own"))

    def plan(self, plan: Plan) -> Plan:
        return replace(plan, power=self.scale_power, alpha=self.alpha, fitter=self.fitter, solver=TwoPass())


def listed(values: Any) -> Sequence[Any]:
    """Return what is to be tried; one value is as good as a list of it."""
    return [values] if values is None or np.ndim(values) == 0 else values


def make_cells(
    plan: Plan, settings: Any, design: Design, spread: Spread, n_rows: float, n_outputs: int
) -> list[Cell]:
    """Return the paths that are searched."""
    exact = is_exact(plan, n_outputs)
    scales = distinct_scales(plan, listed(settings.scale_power), spread)
    if exact:
        levels = [exact_levels(settings.penalty, plan, n_rows, design.shape[1])]
        fitters, alphas = (
            loop_fitters(plan, n_rows),
            listed(0.0 if settings.alpha is None else settings.alpha),
        )
        method = EXACT
    else:
        levels = gradient_levels(plan, settings, design.shape[1])
        fitters, alphas = [plan.fitter], listed(_GRADIENT_ALPHA if settings.alpha is None else settings.alpha)
        method = GRADIENT
    cells = [
        Cell(scale, fitter, check_number("alpha", alpha), path, method)
        for scale in scales
        for fitter in fitters
        for alpha in alphas
        for path in levels
        # Of classes a learned link in the loop brings little: it is tried at one scale.
        if fitter is fitters[0] or scale == scales[0] or not plan.is_classifier
    ]
    if exact and may_be_dense(settings, n_rows) and is_unbounded(plan):
        if settings.dense is not False:
            ridges = tuple(Level(ridge=float(share)) for share in _RIDGES)
            cells += [Cell(scale, fitters[0], 0.0, ridges, RIDGE) for scale in scales]
        if n_rows < design.shape[1]:
            cells += [
                Cell(scale, plan.fitter, _GRADIENT_ALPHA, path, GRADIENT)
                for scale in scales
                for path in gradient_levels(
                    plan, replace(settings, penalty=[], n_atoms=None), design.shape[1]
                )
            ]
    return cells


def may_be_dense(settings: Any, n_rows: float) -> bool:
    """Tell whether dense candidates are worth tracing: nothing is asked of w, or more than few atoms."""
    if settings.alpha is not None or settings.penalty is not None:
        return False
    if settings.n_atoms is None:
        return True
    return is_many(max((k or np.inf for k in listed(settings.n_atoms)), default=0), n_rows)


def is_dense(cell: Cell, level: int, n_rows: float) -> bool:
    """Tell whether a candidate has more atoms than the rows can determine."""
    n_atoms = cell.levels[level].n_atoms
    return cell.method == RIDGE or (
        cell.method == GRADIENT and n_atoms is not None and is_many(n_atoms, n_rows)
    )


def is_many(n_atoms: float, n_rows: float) -> bool:
    return bool(n_atoms > n_rows / 2)


def is_unbounded(plan: Plan) -> bool:
    """Tell whether any w is one of the structure, and all of it is held back: then a ridge may find it."""
    shape = plan.structure.separable(plan.n_features)
    return shape is not None and not shape.is_constrained and bool(shape.factor.all())


def check_sizes(plan: Plan, n_atoms: Any, n_features: int) -> list[int] | None:
    """Return the numbers of atoms that were asked for, None for any."""
    if n_atoms is None:
        return None
    available = plan.structure.check((n_features,))
    given = np.atleast_1d(np.asarray(n_atoms)).tolist()
    return sorted({check_n_atoms(k, available) or available for k in given})


def is_exact(plan: Plan, n_outputs: int) -> bool:
    """Tell whether w can be found by exact steps: where its norm is a sum over blocks of coordinates."""
    return plan.structure.separable(plan.n_features) is not None and not (plan.shared_link and n_outputs > 1)


def loop_fitters(plan: Plan, n_rows: float) -> list[LinkFitter]:
    """Return the links that w is learned with.

    Few rows cannot afford a link that is learned together with w; for a link that was asked for there is no
    other.
    """
    if not plan.link_is_free:
        return [plan.fitter]
    fixed = plan.plain_fitter
    return [fixed, plan.fitter] if n_rows >= _ROWS_TO_LEARN[plan.is_classifier] else [fixed]


def exact_levels(penalty: Any, plan: Plan, n_rows: float, n_features: int) -> tuple[Level, ...]:
    """Return the levels of a path of exact steps, from strong to weak, as shares of the largest penalty."""
    if penalty is None or not len(listed(penalty)):
        last = _LAST_LONG if n_rows > n_features else _LAST_WIDE
        n_levels = _N_LEVELS if n_rows < _MANY_ROWS else _N_LEVELS // 2
        shares = np.geomspace(1.0, last, n_levels + 1)[1:].tolist()
    else:
        shares = sorted({check_penalty(p, plan.structure, "penalty") for p in listed(penalty)}, reverse=True)
    return tuple(Level(penalty=share) for share in shares)


def further(cell: Cell) -> Cell:
    """Return a path of exact steps that goes on in the same way, to the weakest penalty of any path."""
    last, ratio = cell.levels[-1].penalty, cell.levels[-1].penalty / cell.levels[-2].penalty
    n_more = max(0, int(np.ceil(np.log(_LAST_LONG / last) / np.log(ratio) - 1e-9)))
    weaker = (Level(penalty=last * ratio**k) for k in range(1, n_more + 1))
    return replace(cell, levels=(*cell.levels, *weaker), most=np.inf, unexplained=1e-4)


def gradient_levels(plan: Plan, settings: Any, n_features: int) -> list[tuple[Level, ...]]:
    """Return the paths of gradient steps: few atoms, and soft thresholding where there is one."""
    structure = plan.structure
    n_available = structure.check((n_features,))
    if settings.n_atoms is None:
        hard = hard_levels(n_available)
    else:
        counts = {check_n_atoms(k, n_available) for k in np.atleast_1d(np.asarray(settings.n_atoms)).tolist()}
        hard = [Level(n_atoms=k) for k in sorted(counts, key=lambda k: k or np.inf, reverse=True)]
    paths = [tuple(hard)] if hard else []
    if structure.is_soft:
        if settings.penalty is None:
            paths.append(tuple(soft_levels()))
        elif len(listed(settings.penalty)):
            shares = {check_penalty(p, structure, "penalty") for p in listed(settings.penalty)}
            paths.append(tuple(Level(penalty=p) for p in sorted(shares, reverse=True)))
    return paths


def distinct_scales(plan: Plan, powers: Sequence[float | None], spread: Spread) -> list[float | None]:
    """Return those of the column scales that make a difference to these columns."""
    kept: dict[float | None, FloatArray] = {}
    for power in powers:
        checked = None if power is None else check_number("scale_power", power)
        factor = np.log(replace(plan, power=checked).column_factors(spread)[spread.variance > 0])
        if all(np.max(np.abs(factor - other)) > np.log(1.25) for other in kept.values()):
            kept[power] = factor
    return list(kept)
