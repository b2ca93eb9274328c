"""What a structure is: the geometry of w."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ._select import select_largest
from .separable import Separable

FloatArray = NDArray[np.float64]


class Structure:
    """A set of atoms, known by the projection onto the combinations of few of them.

    A structure of one's own inherits from this class and has `project`, `count_atoms` and `check`; with
    `shrink`, `norm` and `dual_norm` it can be penalised as well. The rest has defaults that suit most.

    Attributes
    ----------
    joint : bool, default=False
        With several outputs, w of shape (d, n_outputs) is projected as one; without it every output is a
        problem of its own.
    keeps_scaling : bool, default=True
        False where scaling the columns of X would destroy the structure, so that all of them are divided by
        one common factor only.
    """

    joint: ClassVar[bool] = False
    keeps_scaling: ClassVar[bool] = True

    # ------------------------------------------------------------ what each structure is

    def project(self, w: FloatArray, n_atoms: int | None) -> FloatArray:
        """Return the best approximation of `w` by `n_atoms` atoms, None for no limit.

        A new array; `w` is never changed.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method project(w, n_atoms).")

    def count_atoms(self, w: FloatArray) -> int:
        """Return how many atoms `w` is made of."""
        raise NotImplementedError(f"{type(self).__name__} needs a method count_atoms(w).")

    def check(self, shape: tuple[int, ...]) -> int:
        """Return the number of atoms there are for w of this shape.

        Raises ValueError, with the fix in the message, where the structure does not fit the shape.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method check(shape).")

    # ------------------------------------------------------------ soft thresholding

    @property
    def is_soft(self) -> bool:
        """Whether the atomic norm can be penalised."""
        return type(self).shrink is not Structure.shrink

    def shrink(self, w: FloatArray, amount: float) -> FloatArray:
        """Return the minimiser v of ‖v − w‖²/2 + amount · norm(v), a new array."""
        raise ValueError(f"{type(self).__name__} has no soft thresholding; use penalty=0 and n_atoms.")

    def norm(self, w: FloatArray) -> float:
        """Return the atomic norm: the least sum of coefficients that makes `w` of atoms."""
        raise ValueError(f"{type(self).__name__} has no soft thresholding; use penalty=0 and n_atoms.")

    def dual_norm(self, gradient: FloatArray) -> float:
        """Return the least amount at which `shrink(gradient, amount)` is zero."""
        raise ValueError(f"{type(self).__name__} has no soft thresholding; use penalty=0 and n_atoms.")

    def separable(self, n_coordinates: int) -> Separable | None:
        """Return the norm as a sum over blocks of coordinates, None where it is no such sum.

        Where it is one, w is found by coordinate descent.
        """
        return None

    # ------------------------------------------------------------ how it is used

    @property
    def streams(self) -> bool:
        """Whether w can be learned from a stream of rows: only where it tells its coordinates."""
        return True

    def resolve(self, feature_names: Sequence[str] | None) -> Structure:
        """Return the structure with column positions in place of the names it was given by."""
        return self

    def fresh(self) -> Structure:
        """Return the structure for one fit: a copy where it remembers something between projections."""
        return self

    def coordinates(self, n_features: int) -> tuple[LinearMap | None, Structure]:
        """Return where w is learned: a linear map from coordinates to w, and the structure of these.

        None where the coordinates are the entries of w.
        """
        return None, self


class LinearMap(Protocol):
    """Coordinates in which w is learned; arrays have shape (length,) or (length, n_outputs)."""

    def width(self, n_features: int) -> int:
        """Return how many coordinates there are."""
        ...

    def to_features(self, z: FloatArray) -> FloatArray:
        """Return w."""
        ...

    def from_features(self, w: FloatArray) -> FloatArray:
        """Return the coordinates of w, where w tells them: only streams ask for this."""
        ...

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        """Return the gradient in these coordinates of one in those of w, which may be overwritten."""
        ...


def is_count(value: Any) -> bool:
    """Tell an integer of at least one; True is none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= 1


def keep_largest(size: FloatArray, n_atoms: int) -> NDArray[np.intp]:
    """Return where the `n_atoms` largest sizes stand; equal ones keep the lowest position.

    Linear time, and the same answer at every run.
    """
    if n_atoms >= len(size):
        return np.arange(len(size))
    keep = np.empty(max(n_atoms, 0), dtype=np.intp)
    if n_atoms > 0:
        select_largest(np.ascontiguousarray(size, dtype=np.float64), n_atoms, keep)
    return keep
