"""True coefficient vectors, one function for each structure."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from ._checks import check_choice, check_count

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """What `w` should look like: the sizes that a structure may need."""

    n_features: int
    n_atoms: int
    group_size: int
    shape: tuple[int, int] | None
    n_outputs: int


@dataclass(frozen=True, eq=False)
class Coefficients:
    """A drawn `w`, not yet scaled, with its active features and its groups."""

    coef: FloatArray
    support: IntArray | None = None
    groups: IntArray | None = None


def draw_magnitudes(size: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Draw values of either sign in [0.5, 1.5], so that every active atom can be found."""
    return rng.choice([-1.0, 1.0], size=size) * rng.uniform(0.5, 1.5, size=size)


def draw_atoms(n_atoms: int, n_available: int, kind: str, rng: np.random.Generator) -> IntArray:
    check_count("n_atoms", n_atoms)
    if n_atoms > n_available:
        raise ValueError(
            f"n_atoms={n_atoms} is more than the {n_available} {kind}; "
            f"use n_atoms <= {n_available} or more features."
        )
    return np.sort(rng.choice(n_available, size=n_atoms, replace=False)).astype(np.int64)


def draw_sparse(layout: Layout, rng: np.random.Generator) -> Coefficients:
    support = draw_atoms(layout.n_atoms, layout.n_features, "features", rng)
    coef = np.zeros(layout.n_features)
    coef[support] = draw_magnitudes(support.shape, rng)
    return Coefficients(coef, support)


def draw_group(layout: Layout, rng: np.random.Generator) -> Coefficients:
    check_count("group_size", layout.group_size)
    groups = np.arange(layout.n_features, dtype=np.int64) // layout.group_size
    kind = f"groups of {layout.group_size} features"
    active = draw_atoms(layout.n_atoms, int(groups[-1]) + 1, kind, rng)
    support = np.flatnonzero(np.isin(groups, active))
    coef = np.zeros(layout.n_features)
    coef[support] = draw_magnitudes(support.shape, rng)
    return Coefficients(coef, support, groups)


def draw_rows(layout: Layout, rng: np.random.Generator) -> Coefficients:
    if layout.n_outputs < 2:
        raise ValueError(
            "structure='rows' shares features between outputs; pass n_outputs=2 or more, "
            "or use structure='sparse'."
        )
    support = draw_atoms(layout.n_atoms, layout.n_features, "features", rng)
    coef = np.zeros((layout.n_features, layout.n_outputs))
    coef[support] = draw_magnitudes((support.size, layout.n_outputs), rng)
    return Coefficients(coef, support)


def draw_low_rank(layout: Layout, rng: np.random.Generator) -> Coefficients:
    """Draw a matrix of `n_atoms` equally important directions, row by row as a vector."""
    p, q = check_shape(layout.shape, layout.n_features)
    if layout.n_atoms > min(p, q):
        raise ValueError(
            f"n_atoms={layout.n_atoms} is more than the largest rank {min(p, q)} of "
            f"shape={p, q}; use n_atoms <= {min(p, q)}."
        )
    check_count("n_atoms", layout.n_atoms)
    left = np.linalg.qr(rng.standard_normal((p, layout.n_atoms)))[0]
    right = np.linalg.qr(rng.standard_normal((q, layout.n_atoms)))[0]
    values = rng.uniform(0.5, 1.5, size=layout.n_atoms)
    return Coefficients(((left * values) @ right.T).ravel())


def draw_dense(layout: Layout, rng: np.random.Generator) -> Coefficients:
    return Coefficients(rng.standard_normal(layout.n_features))


def check_shape(shape: tuple[int, int] | None, n_features: int) -> tuple[int, int]:
    if shape is not None and len(shape) == 2 and shape[0] * shape[1] == n_features:
        check_count("shape[0]", shape[0])
        check_count("shape[1]", shape[1])
        return shape
    p = next(rows for rows in range(isqrt(n_features), 0, -1) if n_features % rows == 0)
    raise ValueError(
        f"structure='low_rank' needs shape=(p, q) with p * q == n_features={n_features}, "
        f"got {shape!r}; shape=({p}, {n_features // p}) would do."
    )


STRUCTURES: dict[str, Callable[[Layout, np.random.Generator], Coefficients]] = {
    "sparse": draw_sparse,
    "group": draw_group,
    "rows": draw_rows,
    "low_rank": draw_low_rank,
    "dense": draw_dense,
}


def draw_coefficients(structure: str, layout: Layout, rng: np.random.Generator) -> Coefficients:
    check_choice("structure", structure, STRUCTURES)
    if layout.n_outputs > 1 and structure != "rows":
        raise ValueError(f"structure={structure!r} has one output; use n_outputs=1 or structure='rows'.")
    return STRUCTURES[structure](layout, rng)
