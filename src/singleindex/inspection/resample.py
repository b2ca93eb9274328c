"""How sure a model is: many fits to halves of the rows, and to y in random order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..estimators.base import Problem, SingleIndexBase, problem_of
from ..estimators.outputs import Facts, facts_of
from ..estimators.slisotron import Slisotron
from ..fitting.blocks import is_in_blocks
from ..fitting.checks import check_count
from ..fitting.halves import PartPlan, atoms_of, order_of_atoms, score_without
from ..fitting.memory import prepare
from ..fitting.stability import path_length
from ._intervals import Evidence
from ._resampled import Resampled

FloatArray = NDArray[np.float64]

_LEAST_ROWS, _LEAST_PERMUTATIONS = 20, 19
# Folds by which the score of y, and of y in random order, is found.
_FOLDS = 5


def resample(
    model: Any, X: Any, y: Any, n_resamples: int = 100, random_state: Any = None, n_jobs: int | None = None,
    *, sample_weight: Any = None, groups: Any = None, n_permutations: int = 99,
    feature_names: Sequence[str] | None = None, verbose: int = 0,
) -> Resampled:  # fmt: skip
    """Fit to many halves of the rows, and to y in random order, to tell how sure a model is.

    Parameters
    ----------
    model : fitted estimator
        A single-index regressor or classifier, plain or with a search.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The rows that the model was fitted to.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Their targets.
    n_resamples : int, default=100
        How many halves; they come in pairs that share no row.
    random_state : int, RandomState instance or None, default=None
        Draws the halves and the orders of y.
    n_jobs : int, default=None
        Processes side by side; the result is the same.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of the fit. Halves are halves of the rows, whatever their weight.
    groups : array-like of shape (n_samples,), default=None
        Of a search whose splitter keeps groups together: the groups of the fit. Halves do not.
    n_permutations : int, default=99
        How often y is put in random order; 0 leaves `evidence` out.
    feature_names : sequence of str, default=None
        None takes `feature_names_in_`, and x0, x1, … where there are no names.
    verbose : int, default=0
        Above 0, a progress bar on standard error.

    Returns
    -------
    resampled : Resampled

    Notes
    -----
    On each half a path of penalised fits, with a logistic curve or a straight line as the link and all
    columns at unit spread, ends at a fixed number of features: what the search of the model would choose
    plays no part, and it is not run again for every half. It is run once more in all, for the index of
    held-out rows; a plain model is fitted ten times more.

    Examples
    --------
    >>> from singleindex import SingleIndexClassifier
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.inspection import resample
    >>> X, y, w, g = make_single_index(400, 30, n_atoms=3, link="clipped", random_state=0)
    >>> model = SingleIndexClassifier(n_atoms=3).fit(X, y)
    >>> resampled = resample(model, X, y, n_resamples=40, random_state=0)
    >>> sorted(resampled.stable().tolist()) == w.nonzero()[0].tolist()
    True
    >>> low, high = resampled.link_band([0.0])
    >>> bool(low[0] < model.link_(0.0) < high[0])
    True
    >>> resampled.evidence.p_value < 0.05
    True
    """
    check_count("n_resamples", n_resamples)
    if n_permutations != 0 and check_count("n_permutations", n_permutations) < _LEAST_PERMUTATIONS:
        raise ValueError(
            f"n_permutations must be {_LEAST_PERMUTATIONS} at least for a p-value of 0.05, or 0 for none, "
            f"got {n_permutations}."
        )
    facts, problem = _check(model, X, y, sample_weight, groups)
    names = facts.names(feature_names)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))
    n_pairs = (n_resamples + 1) // 2
    Y, weight = problem.targets.Y, problem.weight
    _, spread = prepare(problem.X, weight)
    atoms = atoms_of(problem.plan, problem.X, spread, Y.shape[1])
    rows = np.arange(len(Y)) if weight is None else np.flatnonzero(weight)
    part = PartPlan(problem.plan, spread, path_length(int(atoms.tested.sum()), len(rows) // 2))
    bar = _Bar(2 * n_pairs + (1 + n_permutations if n_permutations else 0), verbose)
    data = (problem.X, Y, weight)
    orders = _run(
        n_jobs, bar, order_of_atoms, [(part, atoms, *data, half) for half in _halves(rows, n_pairs, rng)]
    )
    evidence = None
    if n_permutations:
        folds = rng.permutation(np.arange(len(Y)) % _FOLDS)
        shuffled = [Y, *(_shuffled(Y, rows, rng) for _ in range(n_permutations))]
        scores = _run(n_jobs, bar, score_without, [(part, problem.X, one, weight, folds) for one in shuffled])
        evidence = Evidence(scores[0], np.array(scores[1:]))
    return Resampled(model, facts, problem, X, names, atoms, np.array(orders), evidence)


def _check(model: Any, X: Any, y: Any, sample_weight: Any, groups: Any) -> tuple[Facts, Problem]:
    """Return what the model is, and the rows as a fit would take them."""
    if not isinstance(model, SingleIndexBase):
        raise TypeError(
            f"resample takes a fitted single-index regressor or classifier, got {type(model).__name__}; of a "
            "pipeline pass its last step, and X as the steps before it make it."
        )
    if isinstance(model, Slisotron):
        raise ValueError("resample chooses features, and Slisotron uses all of them; fit another estimator.")
    facts = facts_of(model)
    if is_in_blocks(X):
        raise ValueError("resample needs rows in memory; pass an array, sparse matrix or data frame of some.")
    problem = problem_of(model, X, y, sample_weight, groups)
    (n, d), n_outputs = problem.X.shape, problem.targets.Y.shape[1]
    if (d, n_outputs) != facts.coef.shape:
        raise ValueError(
            f"X and y have {d} features and {n_outputs} outputs, the model {facts.coef.shape[0]} and "
            f"{facts.coef.shape[1]}; pass the rows that it was fitted to."
        )
    used = n if problem.weight is None else np.count_nonzero(problem.weight)
    if used < _LEAST_ROWS:
        raise ValueError(f"resample needs {_LEAST_ROWS} rows of positive weight at least, got {used}.")
    return facts, problem


def _halves(rows: NDArray[np.intp], n_pairs: int, rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """Return pairs of halves without a row in common, one after the other."""
    size, found = len(rows) // 2, []
    for _ in range(n_pairs):
        mixed = rng.permutation(rows)
        found += [np.sort(mixed[:size]), np.sort(mixed[size : 2 * size])]
    return found


def _shuffled(Y: FloatArray, rows: NDArray[np.intp], rng: np.random.Generator) -> FloatArray:
    shuffled = Y.copy()
    shuffled[rows] = Y[rng.permutation(rows)]
    return shuffled


def _run(n_jobs: int | None, bar: _Bar, task: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Return what a task makes of each of the arguments, in their order."""
    found = []
    for one in Parallel(n_jobs=n_jobs, return_as="generator")(delayed(task)(*given) for given in arguments):
        found.append(one)
        bar.step()
    return found


class _Bar:
    """A progress bar on standard error; on what is no terminal, one line at the end."""

    WIDTH = 30

    def __init__(self, total: int, verbose: int) -> None:
        self.total, self.done, self.is_on = total, 0, verbose > 0

    def step(self) -> None:
        self.done += 1
        ends = self.done == self.total
        if self.is_on and (ends or sys.stderr.isatty()):
            bar = ("#" * round(self.done / self.total * self.WIDTH)).ljust(self.WIDTH, ".")
            start, end = ("\r" if sys.stderr.isatty() else ""), ("\n" if ends else "")
            told = f"{start}[resample] [{bar}] {self.done}/{self.total} fits{end}"
            print(told, end="", file=sys.stderr, flush=True)
