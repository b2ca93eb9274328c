"""What a structure is: the geometry of w."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@runtime_checkable
class Structure(Protocol):
    """A set of atoms, known only by the projection onto the combinations of few of them."""

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
