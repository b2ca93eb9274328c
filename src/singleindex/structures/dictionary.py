"""w made of few atoms of a given finite dictionary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike

from .base import FloatArray, Structure

# What is left of w below this share of it is rounding.
_ROUNDING = 1e-7
# An atom with less of what is left depends on the chosen ones.
_OUT_OF_REACH = 1e-10


@dataclass(frozen=True, eq=False)
class Dictionary(Structure):
    """w is a combination of at most `n_atoms` of the given atoms.

    Parameters
    ----------
    atoms : array-like of shape (n_dictionary, n_features)
        One atom per row, of any length but zero.

    Notes
    -----
    Atoms are selected greedily (orthogonal matching pursuit). For orthogonal atoms this is the nearest
    point; in general finding that is NP-hard, and the greedy answer may be worse and need not be a
    fixed point of a second projection.

    Examples
    --------
    >>> import numpy as np
    >>> from singleindex.structures import Dictionary
    >>> steps = Dictionary([[1, 1, 1, 1], [0, 0, 1, 1], [1, 0, 0, 0]])
    >>> steps.project(np.array([0.0, 0.1, 2.0, 2.1]), n_atoms=1)
    array([0.  , 0.  , 2.05, 2.05])
    """

    atoms: ArrayLike

    keeps_scaling = False

    def project(self, w: FloatArray, n_atoms: int | None) -> FloatArray:
        atoms = self._unit_atoms()
        if n_atoms is None or n_atoms >= len(atoms):
            weights = np.linalg.lstsq(atoms.T, w.astype(np.float64), rcond=None)[0]
            return (weights @ atoms).astype(w.dtype, copy=False)
        steps = list(islice(pursue(atoms, w), n_atoms))
        return (steps[-1] if steps else np.zeros_like(w)).astype(w.dtype, copy=False)

    def count_atoms(self, w: FloatArray) -> int:
        """Return how many atoms the greedy selection takes to make `w`, up to rounding.

        All of them where `w` is no combination of atoms.
        """
        if not w.any():
            return 0
        atoms = self._unit_atoms()
        scale = np.max(np.abs(w))
        enough = _ROUNDING * np.linalg.norm(w / scale)
        for count, point in enumerate(pursue(atoms, w), start=1):
            if np.linalg.norm((w - point) / scale) <= enough:
                return count
        return len(atoms)

    def check(self, shape: tuple[int, ...]) -> int:
        atoms = np.asarray(self.atoms, dtype=np.float64)
        if atoms.ndim != 2 or atoms.shape[1] != shape[0]:
            raise ValueError(
                f"atoms must have shape (n_dictionary, {shape[0]}), one atom per row and one column per "
                f"feature, got {atoms.shape}."
            )
        if not np.isfinite(atoms).all() or not atoms.any(axis=1).all():
            raise ValueError("atoms must be finite and none of them zero; leave such rows out.")
        return len(atoms)

    def _unit_atoms(self) -> FloatArray:
        cached = self.__dict__.get("_cached_atoms")
        if cached is None:
            atoms = np.asarray(self.atoms, dtype=np.float64)
            cached = atoms / np.linalg.norm(atoms, axis=1, keepdims=True)
            object.__setattr__(self, "_cached_atoms", cached)
        unit: FloatArray = cached
        return unit


def pursue(atoms: FloatArray, w: FloatArray) -> Iterator[FloatArray]:
    """Yield the nearest points to `w` by one atom, by two, and so on: orthogonal matching pursuit.

    Ends where no atom brings the point any nearer. Equal atoms keep the lowest position.

    Not scikit-learn's: that one also ends, with the same warning as at a dependent atom, at an atom which is
    orthogonal to `w` itself but not to what is left of it, and at `w` of small scale.
    """
    if not w.any():
        return
    scale = float(np.max(np.abs(w)))
    rest = w.astype(np.float64) / scale
    point = np.zeros_like(rest)
    least = _OUT_OF_REACH * np.linalg.norm(rest)
    basis = np.empty((min(atoms.shape), len(rest)))
    for k in range(len(basis)):
        # Invariant: the first k rows are orthonormal and span the chosen atoms; `rest` is orthogonal to them.
        chosen = basis[:k]
        along = np.abs(atoms @ rest)
        best = int(np.argmax(along))
        if along[best] <= least:
            return
        direction = atoms[best]
        for _ in range(2):  # once would leave rounding between nearly dependent atoms
            direction = direction - (chosen @ direction) @ chosen
        basis[k] = direction / np.linalg.norm(direction)
        step = (basis[k] @ rest) * basis[k]
        point, rest = point + step, rest - step
        yield point * scale
