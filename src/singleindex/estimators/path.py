"""The whole path of models, as a function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..fitting.block_path import trace_blocks
from ..fitting.blocks import as_source, is_in_blocks
from ..fitting.checks import check_n_atoms, check_penalty
from ..fitting.in_place import trace_in_place
from ..fitting.memory import prepare
from ..fitting.path import trace_path
from ..fitting.plan import Plan
from ..fitting.record import model_of
from ..solvers.path import Level, hard_levels
from ..solvers.result import squared
from .namespaces import as_known, as_numpy
from .regressor import SingleIndexRegressor


@dataclass(frozen=True)
class SingleIndexPath:
    """Models along a path, from the most atoms to the fewest, or from strong penalties to weak ones.

    `coefs[i]` is w at `n_atoms[i]` or `penalty[i]`, in the units of X, `links[i]` its link, one per output.
    `mse[i]` and `atoms[i]` have an entry for each iterate of the level; the last one is the one kept. Of
    `n_atoms` and `penalty` the one that is not varied is None. `feature_names` are those of a data frame.
    """

    n_atoms: Any
    penalty: Any
    coefs: np.ndarray
    links: list[Any]
    mse: list[np.ndarray]
    atoms: list[np.ndarray]
    feature_names: list[str] | None = None


def single_index_path(
    X: Any,
    y: Any = None,
    *,
    n_atoms: Sequence[int] | None = None,
    penalty: Sequence[float] | None = None,
    sample_weight: Any = None,
    max_iter: int = 3,
    **settings: Any,
) -> SingleIndexPath:
    """Learn w and g at many numbers of atoms, or at many penalties, each started from the one before.

    The data are prepared once for the whole path.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Or data on a GPU, as the estimators take them; from 50,000 rows on as data in blocks.
        Or data in blocks, as in :class:`SingleIndexRegressor`: every reading of them serves all levels.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Numbers; for two classes 0 and 1.
    n_atoms : sequence of int, default=None
        None means the paper's fractions of the atoms there are, d/4 to d/1024, all, half, and small counts.
    penalty : sequence of float, default=None
        Penalties in place of numbers of atoms, each a share, from 0 to 1, of the least at which w is zero.
    sample_weight : array-like of shape (n_samples,), default=None
    max_iter : int, default=3
        Iterations on each level, twice as many on the first.
    **settings
        Other parameters of :class:`SingleIndexRegressor`: structure, alpha, lipschitz, scale_power, link.

    Returns
    -------
    path : SingleIndexPath

    Notes
    -----
    The length of w is that of the solver, held back by the ridge: use the estimators to predict. Of data in
    blocks all levels start from where a straight link has them, and go on for as many readings as the first
    level has iterations, or until none of them turns any more.

    Examples
    --------
    >>> from singleindex import single_index_path
    >>> from singleindex.datasets import make_single_index
    >>> X, y, w, g = make_single_index(200, 300, n_atoms=3, noise="gaussian", random_state=0)
    >>> path = single_index_path(X, y, n_atoms=[20, 3, 1])
    >>> [int((coef != 0).sum()) for coef in path.coefs]
    [20, 3, 1]
    >>> path = single_index_path(X, y, penalty=[0.9, 0.05])
    >>> [int((coef != 0).sum()) for coef in path.coefs]
    [3, 195]
    """
    if n_atoms is not None and penalty is not None:
        raise ValueError("n_atoms and penalty do not go together along a path; leave one of them out.")
    model = SingleIndexRegressor(max_iter=max_iter, **settings)
    if is_in_blocks(X):
        source = as_source(X, y, sample_weight)
        model._note_features(source)
        trace, levels, unit = trace_blocks(
            model._plan(), source, model._read_targets,
            lambda plan: _levels_of(plan, source.n_features, n_atoms, penalty),
        )  # fmt: skip
    else:
        X, targets, weight = model._check_data(as_known(X), as_numpy(y), as_numpy(sample_weight))
        plan, unit = model._plan(), targets.unit
        levels = _levels_of(plan, X.shape[1], n_atoms, penalty)
        in_place = trace_in_place(plan, X, targets, weight, levels)
        trace = in_place or trace_path(plan, prepare(X, weight), targets.Y, weight, levels, last_only=True)
    names = vars(model).get("feature_names_in_")
    return SingleIndexPath(
        n_atoms=None if penalty is not None else np.array([level.n_atoms for level in levels]),
        penalty=None if penalty is None else np.array([level.penalty for level in levels]),
        coefs=trace.last_coefs(unit),
        links=[model_of(steps[-1], trace.view.to_features, unit)[1] for steps in trace.levels],
        mse=[
            np.array([[one.mse for one in step] for step in steps]) * squared(unit) for steps in trace.levels
        ],
        atoms=[np.array([[one.n_atoms for one in step] for step in steps]) for steps in trace.levels],
        feature_names=[str(name) for name in names] if names is not None else None,
    )


def _levels_of(
    plan: Plan, n_features: int, n_atoms: Sequence[int] | None, penalty: Sequence[float] | None
) -> list[Level]:
    """Return the levels of a path in the order in which a warm path goes best, or raise."""
    structure = plan.structure
    available = structure.check((n_features,))
    if penalty is not None:
        return [Level(penalty=check_penalty(p, structure)) for p in sorted(set(penalty), reverse=True)]
    if n_atoms is None:
        return hard_levels(available)
    return [Level(check_n_atoms(k, available)) for k in sorted(set(n_atoms), reverse=True)]
