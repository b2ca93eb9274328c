"""Sparse w: the atoms are the signed unit vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .base import FloatArray, Structure, keep_largest
from .by_column import (
    as_hashable,
    as_stored,
    at_positions,
    check_factors,
    check_signs,
    expanded,
    is_chosen,
    remembered,
)
from .separable import Separable, amounts, dual_norm_of, norm_of, ranks_of


@dataclass(frozen=True)
class Sparse(Structure):
    """At most `n_atoms` coefficients are not zero.

    Parameters
    ----------
    positive : bool, default=False
        No coefficient is negative: the atoms are the unit vectors without their negatives.
    factors : dict or array of shape (n_features,), default=None
        What the penalty of each column is multiplied by, 1 for columns that a dict does not name; its keys
        are column names, or positions. A column of factor 0 is never penalised: it is in every model, and
        does not count among the `n_atoms`. One of an infinite factor is left out. Limits on the number of
        atoms keep those of the largest coefficients divided by factors.
    signs : dict or array of shape (n_features,), default=None
        1 for a coefficient that is not negative, -1 for one that is not positive, 0 for any, as for columns
        that a dict does not name.

    Notes
    -----
    Factors and coefficients are those of scaled columns, if columns are scaled. A ridge (`alpha`) has no
    factors: it holds back all coefficients alike. The largest penalty is that at which nothing is in use but
    what is never penalised; gradient steps in one pass and streams take it before that is fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from singleindex.structures import Sparse
    >>> w = np.array([3.0, -1.0, 2.0, -4.0])
    >>> Sparse().project(w, n_atoms=2)
    array([ 3.,  0.,  0., -4.])
    >>> Sparse(positive=True).project(w, n_atoms=2)
    array([3., 0., 2., 0.])
    >>> Sparse().shrink(w, 1.5)
    array([ 1.5,  0. ,  0.5, -2.5])

    A column that is always in the model, and one that must not have a negative coefficient:

    >>> structure = Sparse(factors={1: 0}, signs={3: 1})
    >>> structure.project(w, n_atoms=1)
    array([ 3., -1.,  0.,  0.])
    >>> structure.shrink(w, 1.5)
    array([ 1.5, -1. ,  0.5,  0. ])

    By name, for a data frame:

    >>> Sparse(factors={"age": 0, "batch": np.inf}, signs={"dose": 1})
    Sparse(positive=False, factors={'age': 0.0, 'batch': inf}, signs={'dose': 1.0})
    """

    positive: bool = False
    factors: Mapping[Any, float] | ArrayLike | None = field(default=None, kw_only=True)
    signs: Mapping[Any, float] | ArrayLike | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", as_stored(self.factors))
        object.__setattr__(self, "signs", as_stored(self.signs))

    def __hash__(self) -> int:
        return hash((type(self), self.positive, as_hashable(self.factors), as_hashable(self.signs)))

    def project(self, w: FloatArray, n_atoms: int | None) -> FloatArray:
        w = self._with_signs(w)
        n_atoms = w.size if n_atoms is None else n_atoms
        if self.factors is None:
            return project_sparse(w, n_atoms)
        factors = self._factors_of(w)
        size = np.abs(w, dtype=np.float64)
        kept = factors == 0
        kept.flat[keep_largest(ranks_of(size, factors).ravel(), n_atoms)] = True
        kept &= np.isfinite(factors)
        return np.where(kept, w, np.zeros_like(w))

    def count_atoms(self, w: FloatArray) -> int:
        return int(np.count_nonzero(w if self.factors is None else w[self._factors_of(w) > 0]))

    def check(self, shape: tuple[int, ...]) -> int:
        if self.positive and self.signs is not None:
            raise ValueError("positive=True is the sign of every column; leave signs out, or positive.")
        self._signs(shape[0])
        if self.factors is None:
            return int(np.prod(shape))
        return int(np.count_nonzero(is_chosen(self._factors(shape[0])))) * int(np.prod(shape[1:]))

    def shrink(self, w: FloatArray, amount: float) -> FloatArray:
        if self.positive and self.factors is None:
            return np.maximum(w - amount, 0)
        # What is within the amount of zero becomes zero, anything else moves by it.
        if self.factors is None:
            within = np.clip(w, -amount, amount)
        else:
            held = amounts(self._factors_of(w), amount).astype(w.dtype, copy=False)
            within = np.clip(w, -held, held)
        return self._with_signs(np.subtract(w, within, out=within))

    def separable(self, n_coordinates: int) -> Separable:
        if self.positive:
            return Separable(self._factors(n_coordinates), lower=np.zeros(n_coordinates))
        signs = self._signs(n_coordinates)
        lower = np.where(signs > 0, 0.0, -np.inf) if (signs > 0).any() else None
        upper = np.where(signs < 0, 0.0, np.inf) if (signs < 0).any() else None
        return Separable(self._factors(n_coordinates), lower=lower, upper=upper)

    def norm(self, w: FloatArray) -> float:
        size = np.abs(w)
        return float(size.sum() if self.factors is None else norm_of(size, self._factors_of(w)))

    def dual_norm(self, gradient: FloatArray) -> float:
        pull = np.abs(self._with_signs(gradient))
        if self.factors is None:
            return float(np.max(pull, initial=0.0))
        return dual_norm_of(pull, self._factors_of(pull))

    def resolve(self, feature_names: Sequence[str] | None) -> Sparse:
        """Return the same structure with column positions in place of column names."""
        factors = at_positions(self.factors, feature_names, "factors")
        signs = at_positions(self.signs, feature_names, "signs")
        unchanged = factors is self.factors and signs is self.signs
        return self if unchanged else replace(self, factors=factors, signs=signs)

    def _factors(self, n_features: int) -> FloatArray:
        if self.factors is None:
            return np.ones(n_features)
        return remembered(
            self, "_cached_factors", n_features,
            lambda: check_factors(expanded(self.factors, n_features, 1.0, "factors"), "factors"),
        )  # fmt: skip

    def _factors_of(self, w: FloatArray) -> FloatArray:
        """Return the factor of every coefficient."""
        factors = self._factors(len(w))
        return factors if w.ndim == 1 else np.broadcast_to(factors[:, None], w.shape)

    def _signs(self, n_features: int) -> FloatArray:
        if self.signs is None:
            return np.zeros(n_features)
        return remembered(
            self, "_cached_signs", n_features,
            lambda: check_signs(expanded(self.signs, n_features, 0.0, "signs")),
        )  # fmt: skip

    def _with_signs(self, w: FloatArray) -> FloatArray:
        """Return w, or a copy with zeros for coefficients of the other sign."""
        if self.positive:
            return np.maximum(w, 0)
        if self.signs is None:
            return w
        signs = self._signs(len(w))
        return np.where(w.T * signs < 0, 0.0, w.T).T.astype(w.dtype, copy=False)


def project_sparse(w: FloatArray, n_atoms: int) -> FloatArray:
    r"""Project `w` onto the vectors with at most `n_atoms` non-zeros.

    Solves :math:`\min_v \|v - w\|_2` subject to :math:`\|v\|_0 \le s`, the projection step of CSI.
    Equal magnitudes keep the lowest index, so reruns agree bit for bit.
    """
    if n_atoms >= w.size:
        return w.copy()
    projected = np.zeros_like(w)
    keep = keep_largest(np.abs(w).ravel(), n_atoms)
    projected.flat[keep] = w.flat[keep]
    return projected
