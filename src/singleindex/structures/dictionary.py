"""w made of few atoms of a given finite dictionary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .base import FloatArray


@dataclass(frozen=True, eq=False)
class Dictionary:
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
        elif n_atoms == 0 or not w.any():
            return np.zeros_like(w)
        else:
            weights = _pursue(atoms, w, n_atoms)
        return (weights @ atoms).astype(w.dtype, copy=False)

    def count_atoms(self, w: FloatArray) -> int:
        """Return how many atoms the greedy selection takes to make `w`, up to rounding."""
        if not w.any():
            return 0
        atoms = self._unit_atoms()
        for k in range(1, min(len(atoms), len(w)) + 1):
            rest = w - _pursue(atoms, w, k) @ atoms
            if np.linalg.norm(rest) <= 1e-7 * np.linalg.norm(w):
                return k
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


def _pursue(atoms: FloatArray, w: FloatArray, n_atoms: int) -> FloatArray:
    # Imported here: sklearn.linear_model would double the time that `import singleindex` takes.
    from sklearn.linear_model import orthogonal_mp

    weights: FloatArray = orthogonal_mp(atoms.T, w.astype(np.float64), n_nonzero_coefs=n_atoms)
    return weights
