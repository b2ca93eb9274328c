"""The whole path of models, as a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..solvers.path import Level, hard_levels
from .checks import check_n_atoms
from .regressor import SingleIndexRegressor
from .search import Cell, in_units_of_y, last_coefs, trace_cell


@dataclass(frozen=True)
class SingleIndexPath:
    """Models along a path, from the largest number of atoms to the smallest.

    `coefs[i]` is w at `n_atoms[i]`, in the units of X, `links[i]` its link, one per output. `mse[i]` and
    `atoms[i]` have an entry for each iterate of the level; the last one is the one kept.
    """

    n_atoms: np.ndarray
    coefs: np.ndarray
    links: list[Any]
    mse: list[np.ndarray]
    atoms: list[np.ndarray]


def single_index_path(X, y, *, n_atoms=None, sample_weight=None, max_iter=5, **settings):
    """Learn w and g at many numbers of atoms, each started from the one before.

    The data are prepared once for the whole path.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Numbers; for two classes 0 and 1.
    n_atoms : sequence of int, default=None
        None means the paper's fractions of the atoms there are, d/4 to d/1024, all, half, and small counts.
    sample_weight : array-like of shape (n_samples,), default=None
    max_iter : int, default=5
        Iterations on each level, twice as many on the first.
    **settings
        Other parameters of :class:`SingleIndexRegressor`: structure, alpha, lipschitz, column_scale, link.

    Returns
    -------
    path : SingleIndexPath

    Notes
    -----
    The length of w is that of the solver, held back by the ridge: use the estimators to predict.

    Examples
    --------
    >>> from singleindex import single_index_path
    >>> from singleindex.datasets import make_single_index
    >>> X, y, w, g = make_single_index(200, 300, n_atoms=3, noise="gaussian", random_state=0)
    >>> path = single_index_path(X, y, n_atoms=[20, 3, 1])
    >>> [int((coef != 0).sum()) for coef in path.coefs]
    [20, 3, 1]
    """
    model = SingleIndexRegressor(max_iter=max_iter, **settings)
    X, targets, weight = model._check_data(X, y, sample_weight)
    available = model._settings_of_all_levels(X.shape[1])["structure"].check((X.shape[1],))
    levels = (
        hard_levels(available)
        if n_atoms is None
        else [Level(check_n_atoms(k, available)) for k in sorted(set(n_atoms), reverse=True)]
    )
    cell = Cell(model.column_scale, model.alpha, tuple(levels))
    traced, design = trace_cell(model, model._prepare(X, weight), targets.Y, weight, cell)
    traced = in_units_of_y(traced, targets.unit)
    return SingleIndexPath(
        n_atoms=np.array([level.n_atoms for level in levels]),
        coefs=last_coefs(traced, design),
        links=[[one.link for one in steps[-1]] for steps in traced],
        mse=[np.array([[one.mse for one in step] for step in steps]) for steps in traced],
        atoms=[np.array([[one.n_atoms for one in step] for step in steps]) for steps in traced],
    )
