"""Checks of parameters and targets; each raises with the fix in the message."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..link.lpav import check_lipschitz
from ..structures import Structure


def check_n_atoms(n_atoms: Any, n_available: int) -> int | None:
    if n_atoms is None:
        return None
    if isinstance(n_atoms, bool) or not isinstance(n_atoms, numbers.Integral):
        raise ValueError(
            f"n_atoms must be an integer or None (no limit), got {n_atoms!r}; "
            "for a share of the features use n_atoms=int(share * n_features)."
        )
    if not 1 <= int(n_atoms) <= n_available:
        raise ValueError(
            f"n_atoms must be from 1 to {n_available}, the number of atoms there are for this X, "
            f"got {n_atoms}; use n_atoms=None for no limit."
        )
    return int(n_atoms)


def check_structure(structure: Any) -> Structure:
    if not isinstance(structure, Structure):
        given = structure.__name__ if isinstance(structure, type) else repr(structure)
        raise ValueError(
            "structure must be an object such as Sparse() or GroupSparse(groups), or of a class of your own "
            "that inherits from singleindex.structures.Structure and has the methods project, count_atoms "
            f"and check, got {given}."
        )
    return structure


def check_atoms_available(structure: Structure, n_features: int) -> int:
    available: Any = structure.check((n_features,))  # of a class of the user's own, perhaps
    if not isinstance(available, numbers.Integral):
        raise ValueError(
            f"{type(structure).__name__}.check must return the number of atoms there are, got {available!r}."
        )
    return int(available)


def check_slope(lipschitz: Any) -> float:
    slope = check_lipschitz(lipschitz)
    if slope == 0:
        raise ValueError("lipschitz=0 leaves only a constant link; use a positive value, 1.0 by default.")
    if not 1e-50 <= slope <= 1e50 and slope != np.inf:
        raise ValueError(
            f"lipschitz={slope:g} makes the index so long or so short that squares of it are no numbers; "
            "it sets the length of w alone, use a value near 1, or infinity for no bound."
        )
    return slope


def check_number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= float(value) < np.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}.")
    return float(value)


def check_penalty(penalty: Any, structure: Structure, name: str = "penalty") -> float:
    share = check_number(name, penalty)
    if share > 1:
        raise ValueError(f"{name} is a share from 0 to 1, where w is zero, got {penalty!r}.")
    if share > 0 and not structure.is_soft:
        raise ValueError(f"{type(structure).__name__} has no soft thresholding; use penalty=0 and n_atoms.")
    return share


def check_count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")
    return int(value)


def check_varies(Y: NDArray[np.float64], n_rows: int | None = None) -> None:
    constant = np.flatnonzero((Y[:1] == Y).all(axis=0))
    if len(constant):
        which = "y" if Y.shape[1] == 1 else f"Column {constant[0]} of y"
        raise ValueError(
            f"{which} is constant ({Y[0, constant[0]]:g}) over the {n_rows or len(Y)} rows of positive "
            "weight: "
            "there is nothing to learn. At least two different values are needed."
        )
