"""All settings of a fit, checked and resolved once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..design import Chain, Design, Scaling, View, column_factors
from ..link import FIXED_LINKS, FixedLink, LinkFitter, Lpav, PerOutput, SharedLink
from ..solvers import ExactSteps, OnePass, Simplicity, Stochastic, TwoPass, check_solver
from ..solvers.result import FloatArray
from ..structures import EachOutput, Sparse, Structure
from .checks import (
    check_atoms_available,
    check_count,
    check_n_atoms,
    check_number,
    check_penalty,
    check_slope,
    check_structure,
)
from .extremes import Spread

# No probability of a learned link is closer to 0 or 1: data cannot tell that anything is certain.
CERTAIN = 1e-6
# Rows in memory from which one pass, with bins for the link, is the faster on dense rows and as fast on
# sparse ones: benchmarks/bigdata.py. Dense rows that are short are read so fast that the link decides.
LONG, LONG_DENSE = 50_000, 10_000
_SHORT_ROW = 1 / 20  # of the number of rows


@dataclass(frozen=True)
class Plan:
    """What is to be fitted, and how.

    Attributes
    ----------
    n_features : int
    structure : Structure
    fitter : LinkFitter
        Of the link while w is learned.
    final_fitter : LinkFitter
        Of the link of a finished w to held-out rows.
    n_atoms, alpha, penalty
        How simple w has to be.
    power : float or None
        Of the standard deviations that columns are divided by; None to take X as it is.
    shared_link : bool
        One link for all outputs.
    link_cv : int, splitter or None
        How rows are held out for the final link.
    is_classifier : bool
        Whether folds keep the shares of the classes.
    solver : ExactSteps, TwoPass, OnePass, Stochastic or None
        None to choose by the data.
    max_iter, tol
        When a solver ends.
    is_together : bool
        Whether the outputs are classes whose probabilities are learned as one.
    """

    n_features: int
    structure: Structure
    fitter: LinkFitter
    final_fitter: LinkFitter
    n_atoms: int | None
    alpha: float
    penalty: float
    power: float | None
    shared_link: bool
    link_cv: Any
    is_classifier: bool
    solver: ExactSteps | TwoPass | OnePass | Stochastic | None
    max_iter: int
    tol: float
    is_together: bool = False

    @property
    def simplicity(self) -> Simplicity:
        return Simplicity(self.structure, self.fitter.slope, self.n_atoms, self.alpha)

    @property
    def link_is_free(self) -> bool:
        """Whether nothing is known of the link but that it rises: then any that does may stand in for it."""
        return self.fitter.is_free and not self.shared_link

    @property
    def plain_fitter(self) -> LinkFitter:
        """What stands in for a free link where rows are few or many: a logistic curve, or a line."""
        return FixedLink("logistic" if self.is_classifier else "identity")

    def is_joint(self, n_outputs: int) -> bool:
        """Return whether the outputs are one problem."""
        return n_outputs > 1 and (self.shared_link or self.structure.joint)

    def final_link_is_open(self, n_outputs: int) -> bool:
        """Return whether a finished w still needs its link: learned, and for each output by itself."""
        return self.fitter.is_learned and not (self.shared_link and n_outputs > 1)

    def for_joint_fit(self) -> Plan:
        """Return the plan of all outputs as one problem."""
        return replace(
            self,
            structure=self.structure if self.structure.joint else EachOutput(self.structure),
            fitter=SharedLink(self.fitter) if self.shared_link else PerOutput(self.fitter),
        )

    def view(self, design: Design, spread: Spread) -> tuple[View, Plan]:
        """Return X in the coordinates in which w is learned, and the plan that goes with it."""
        scaling = Scaling(self.column_factors(spread))
        coordinates, structure = self.structure.coordinates(design.shape[1])
        linear_map = scaling if coordinates is None else Chain(scaling, coordinates)
        return View(design, linear_map), replace(self, structure=structure)

    @property
    def power_of_columns(self) -> float | None:
        """The power by which columns are scaled one by one; 0 where the structure does not allow for it."""
        return self.power if self.power is None or self.structure.keeps_scaling else 0.0

    def column_factors(self, spread: Spread) -> FloatArray:
        """Return what to multiply each column by, 0 for constant ones."""
        if self.power is None:
            if spread.unit is not None:
                raise ValueError(
                    "scale_power=None leaves the columns of X as they are, and their squares are no "
                    "numbers; use scale_power=0, or bring X to other units."
                )
            return np.where(spread.variance > 0, 1.0, 0.0)
        scale = column_factors(
            spread.variance, self.power if self.structure.keeps_scaling else 0.0, spread.unit
        )
        if not np.isfinite(scale).all():
            raise ValueError(
                f"scale_power={self.power} makes columns too large for numbers; use a value from 0 to 1, or "
                "bring the columns of X to comparable units."
            )
        return scale

    def solver_for(self, X: Any, n_outputs: int) -> ExactSteps | TwoPass | OnePass | Stochastic:
        """Return the solver that was asked for, or that suits data in memory."""
        if self.is_joint(n_outputs):
            if isinstance(self.solver, OnePass | Stochastic):
                raise ValueError(
                    f"solver={self.solver!r} learns outputs one by one, and this structure or "
                    "shared_link=True ties them together; use solver='two-pass'."
                )
            return self.solver or TwoPass()
        return self.solver or (OnePass() if _is_long(X) else TwoPass())


def _is_long(X: Any) -> bool:
    """Tell whether one pass over data in memory is the faster."""
    n, d = X.shape
    return n >= LONG or (n >= LONG_DENSE and d <= _SHORT_ROW * n and not sparse.issparse(X))


def make_plan(
    n_features: int,
    feature_names: Sequence[str] | None,
    *,
    is_classifier: bool,
    structure: Any = None,
    n_atoms: Any = None,
    alpha: Any = 0.0,
    penalty: Any = 0.0,
    lipschitz: Any = 1.0,
    scale_power: Any = None,
    link: Any = "learned",
    shared_link: bool = False,
    link_cv: Any = None,
    solver: Any = "auto",
    max_iter: Any = 100,
    tol: Any = 1e-2,
) -> Plan:
    """Return the plan of these parameters of an estimator, or raise with the fix in the message."""
    if link_cv is not None and shared_link:
        raise ValueError("link_cv and shared_link=True do not go together; leave one of them out.")
    structure = check_structure(Sparse() if structure is None else structure).resolve(feature_names)
    fitter = make_fitter(link, lipschitz)
    if shared_link and not fitter.is_learned:
        raise ValueError("shared_link=True needs link='learned': a known link is shared anyway.")
    return Plan(
        n_features=n_features,
        structure=structure,
        fitter=fitter,
        final_fitter=fitter.cautious() if is_classifier else fitter,
        n_atoms=check_n_atoms(n_atoms, check_atoms_available(structure, n_features)),
        alpha=check_number("alpha", alpha),
        penalty=check_penalty(penalty, structure),
        power=None if scale_power is None else check_number("scale_power", scale_power),
        shared_link=shared_link,
        link_cv=link_cv,
        is_classifier=is_classifier,
        solver=check_solver(solver),
        max_iter=check_count("max_iter", max_iter),
        tol=check_number("tol", tol),
    )


def make_fitter(link: Any, lipschitz: Any) -> LinkFitter:
    """Return what fits the link that was asked for."""
    lipschitz = check_slope(lipschitz)
    if isinstance(link, LinkFitter):
        return link
    if isinstance(link, str) and link == "learned":
        return Lpav(lipschitz)
    if callable(link):
        return FixedLink(link, slope_bound=lipschitz)
    if not isinstance(link, str) or link not in FIXED_LINKS:
        raise ValueError(
            f"link must be 'learned', a function, or one of {sorted(FIXED_LINKS)}, or a LinkFitter of your "
            f"own, got {link!r}."
        )
    return FixedLink(link)
