"""Row-sparse w: all outputs use the same features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .base import FloatArray, Structure, keep_largest
from .by_column import as_hashable, as_stored, at_positions, check_factors, expanded, is_chosen, remembered
from .separable import Separable, amounts, dual_norm_of, norm_of, ranks_of


@dataclass(frozen=True)
class RowSparse(Structure):
    """At most `n_atoms` rows of w, of shape (n_features, n_outputs), are not zero.

    For y with several columns: multi-task regression and multi-label classification that share their
    features. With one output it is the same as `Sparse()`.

    Parameters
    ----------
    factors : dict or array of shape (n_features,), default=None
        What the penalty of each row is multiplied by, as for :class:`Sparse`: 0 for columns that are in
        every model and do not count among the `n_atoms`, infinity for columns that are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from singleindex.structures import RowSparse
    >>> w = np.array([[1.0, 1.0], [0.0, 3.0], [0.5, 0.0]])
    >>> RowSparse().project(w, n_atoms=1)
    array([[0., 0.],
           [0., 3.],
           [0., 0.]])
    >>> RowSparse(factors={2: 0}).project(w, n_atoms=1)
    array([[0. , 0. ],
           [0. , 3. ],
           [0.5, 0. ]])
    """

    factors: Mapping[Any, float] | ArrayLike | None = field(default=None, kw_only=True)

    joint = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", as_stored(self.factors))

    def __hash__(self) -> int:
        return hash((type(self), as_hashable(self.factors)))

    def project(self, w: FloatArray, n_atoms: int | None) -> FloatArray:
        factors = self._factors(len(w))
        kept = factors == 0
        kept[keep_largest(ranks_of(row_norms(w), factors), len(w) if n_atoms is None else n_atoms)] = True
        kept &= np.isfinite(factors)
        projected = np.zeros_like(w)
        projected[kept] = w[kept]
        return projected

    def count_atoms(self, w: FloatArray) -> int:
        used = (w != 0).reshape(len(w), -1).any(axis=1)
        return int(np.count_nonzero(used & (self._factors(len(w)) > 0)))

    def check(self, shape: tuple[int, ...]) -> int:
        return int(np.count_nonzero(is_chosen(self._factors(shape[0]))))

    def shrink(self, w: FloatArray, amount: float) -> FloatArray:
        return scale_rows(w, shrink_factors(row_norms(w), amounts(self._factors(len(w)), amount)))

    def separable(self, n_coordinates: int) -> Separable:
        return Separable(self._factors(n_coordinates))

    def norm(self, w: FloatArray) -> float:
        return norm_of(row_norms(w), self._factors(len(w)))

    def dual_norm(self, gradient: FloatArray) -> float:
        return dual_norm_of(row_norms(gradient), self._factors(len(gradient)))

    def resolve(self, feature_names: Sequence[str] | None) -> RowSparse:
        """Return the same structure with column positions in place of column names."""
        factors = at_positions(self.factors, feature_names, "factors")
        return self if factors is self.factors else replace(self, factors=factors)

    def _factors(self, n_features: int) -> FloatArray:
        if self.factors is None:
            return np.ones(n_features)
        return remembered(
            self, "_cached_factors", n_features,
            lambda: check_factors(expanded(self.factors, n_features, 1.0, "factors"), "factors"),
        )  # fmt: skip


def row_norms(w: FloatArray) -> FloatArray:
    norms: FloatArray = np.abs(w) if w.ndim == 1 else np.sqrt(np.square(w).sum(axis=1))
    return norms


def scale_rows(w: FloatArray, factors: FloatArray) -> FloatArray:
    scaled: FloatArray = (w.T * factors.astype(w.dtype, copy=False)).T
    return scaled


def shrink_factors(norms: FloatArray, amount: float | FloatArray) -> FloatArray:
    """Return the factors that shorten vectors of these lengths by `amount`, to zero at the least."""
    left = np.maximum(norms - amount, 0)
    return np.divide(left, norms, out=np.zeros_like(norms), where=norms > 0)
