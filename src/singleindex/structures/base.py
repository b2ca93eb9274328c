"""What a structure is: the geometry of w."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ._select import select_largest

FloatArray = NDArray[np.float64]


@runtime_checkable
class Structure(Protocol):
    """A set of atoms, known only by the projection onto the combinations of few of them.

    A structure may also say, by class attributes, how it wants to be used:

    - `joint = True`: with several outputs, w of shape (d, n_outputs) is projected as one;
      without it every output is a problem of its own.
    - `keeps_scaling = False`: scaling the columns of X would destroy the structure, so that all of them
      are divided by one common factor only.

    - `coordinates()`, a method: the structure is that of another one after a linear map. w is then learned
      there, in the coordinates that `from_coordinates`, a symmetric map, brings back; streams need its
      inverse `to_coordinates` as well.

    A structure that carries something from one projection to the next has a method `fresh()` which
    returns a copy for one fit. One that is given by feature names has `resolve(feature_names)`.
    """

    def project(self, w: FloatArray, n_atoms: int | None) -> FloatArray:
        """Return the best approximation of `w` by `n_atoms` atoms, None for no limit.

        A new array; `w` is never changed.
        """
        ...

    def count_atoms(self, w: FloatArray) -> int:
        """Return how many atoms `w` is made of."""
        ...

    def check(self, shape: tuple[int, ...]) -> int:
        """Return the number of atoms there are for w of this shape.

        Raises ValueError, with the fix in the message, where the structure does not fit the shape.
        """
        ...


@runtime_checkable
class SoftStructure(Structure, Protocol):
    """A structure whose atomic norm can be penalised: soft in place of hard thresholding."""

    def shrink(self, w: FloatArray, amount: float) -> FloatArray:
        """Return the minimiser v of ‖v − w‖²/2 + amount · norm(v), a new array."""
        ...

    def norm(self, w: FloatArray) -> float:
        """Return the atomic norm: the least sum of coefficients that makes `w` of atoms."""
        ...

    def dual_norm(self, gradient: FloatArray) -> float:
        """Return the least amount at which `shrink(gradient, amount)` is zero."""
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
