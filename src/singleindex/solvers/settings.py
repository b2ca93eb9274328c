"""Which solver an estimator uses, and how: small records that users pass as `solver`."""

from __future__ import annotations

import numbers
import os
from dataclasses import dataclass, field
from typing import Any

# Of a path, which is of this session and this machine: a model file that named it could have it written to.
_NOT_SAVED = {"saved": False}


class _Kept:
    """What solvers share whose state can be kept in a file."""

    checkpoint: Any
    checkpoint_every: int

    def __post_init__(self) -> None:
        if isinstance(self.checkpoint, os.PathLike):  # as text, whatever kind of path it is
            object.__setattr__(self, "checkpoint", os.fspath(self.checkpoint))

    def check(self) -> None:
        _check_count("checkpoint_every", self.checkpoint_every)


@dataclass(frozen=True)
class TwoPass(_Kept):
    """Plain CSI: a fresh link and an exact one, two readings of the data per iteration.

    The index and y are held for every row. The default for data in memory that is not very long.

    Parameters
    ----------
    checkpoint : str, path or None, default=None
        A file to keep the state of the fit in, as in :class:`OnePass`. Outputs that are fitted together share
        one. Where a long w is :class:`~singleindex.structures.LowRank` the fit goes on to the same model but
        for rounding: its decompositions start from the last one, which is not kept.
    checkpoint_every : int, default=10
        Iterations between two checkpoints.
    """

    checkpoint: Any = field(default=None, metadata=_NOT_SAVED)
    checkpoint_every: int = 10


@dataclass(frozen=True)
class ExactSteps(_Kept):
    """Steps in the metric of X: see :class:`singleindex.solvers.Exact`.

    Every step is a penalised least-squares regression, so that correlated columns and columns in other units
    cost time alone. The default where columns are correlated, and in searches.

    Files and Dask are read once more, for the products of all columns, of which there may be 4096 then; after
    that once for each step, with bins for the link: see :class:`singleindex.solvers.OnePassExact`. Few atoms
    are those that fit best by a straight line.

    Parameters
    ----------
    checkpoint : str, path or None, default=None
        A file to keep the state of the fit in, as in :class:`OnePass`.
    checkpoint_every : int, default=10
        Steps between two checkpoints.
    """

    checkpoint: Any = field(default=None, metadata=_NOT_SAVED)
    checkpoint_every: int = 10


@dataclass(frozen=True)
class OnePass(_Kept):
    """CSI with one reading of the data per iteration: see :class:`singleindex.solvers.OnePassGradient`.

    The default for files, for Dask and for very long data in memory.

    Parameters
    ----------
    n_bins : int or None, default=4096
        The link is fitted to at most so many bins of the index, and nothing as long as the data is kept.
        None for an exact link, for which the index and y of every row are.
    checkpoint : str, path or None, default=None
        A file to keep the state of the fit in. Where it exists the fit goes on from it, to the same model as
        without a break; at the end it is deleted. With several outputs each has its own, with a number. It
        is not kept when the estimator is saved.
    checkpoint_every : int, default=10
        Iterations between two checkpoints.
    n_threads : int or None, default=None
        Threads for data in memory; None for all there are. The result does not depend on it. A forked process
        uses one, whatever is asked for: OpenMP's threads do not survive a fork.

    Examples
    --------
    >>> from singleindex import SingleIndexClassifier
    >>> from singleindex.solvers import OnePass
    >>> SingleIndexClassifier(solver=OnePass(n_bins=1024, checkpoint="fit.ckpt")).solver
    OnePass(n_bins=1024, checkpoint='fit.ckpt', checkpoint_every=10, n_threads=None)
    """

    n_bins: int | None = 4096
    checkpoint: Any = field(default=None, metadata=_NOT_SAVED)
    checkpoint_every: int = 10
    n_threads: int | None = None

    def check(self) -> None:
        super().check()
        _check_count("n_bins", self.n_bins, least=2, none="an exact link")
        _check_count("n_threads", self.n_threads, none="all there are")


@dataclass(frozen=True)
class Stochastic:
    """Steps on batches of rows: see :class:`singleindex.solvers.StochasticCsi`.

    Parameters
    ----------
    batch_size : int or None, default=None
        Rows per step. None for 256, or more where a row has fewer entries than w has coefficients.
    epochs : int, default=1
        How often `fit` reads the data; `partial_fit` reads what it is given once.
    step_size : float or None, default=None
        The first step size; None to take it from the curvature of the batches.
    decay : float, default=0.5
        The step size of step t is the first one divided by (1 + t / 100) to this power.
    average : float, default=8.0
        The model is the average of the iterates, in which later ones count more, the more so the larger this
        is; 0 for a plain mean.
    refit_every : int, default=32
        Steps between two projections of w and fits of the link.
    n_bins : int, default=1024
        The most bins of the index that the link is fitted to.
    random_state : int or None, default=0
        Of the order in which `fit` visits the rows; None to keep that of the data.
    """

    batch_size: int | None = None
    epochs: int = 1
    step_size: float | None = None
    decay: float = 0.5
    average: float = 8.0
    refit_every: int = 32
    n_bins: int = 1024
    random_state: int | None = 0

    def check(self) -> None:
        _check_count("batch_size", self.batch_size, none="a choice by the data")
        _check_count("epochs", self.epochs)
        _check_count("refit_every", self.refit_every)
        _check_count("n_bins", self.n_bins, least=2)
        for name in ("decay", "average"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= float(value) < 1e6:
                raise ValueError(f"{name} must be a number of at least 0, got {value!r}.")
        step: Any = self.step_size
        if step is not None and not (isinstance(step, numbers.Real) and 0 < float(step) < float("inf")):
            raise ValueError(f"step_size must be a positive number or None, got {self.step_size!r}.")


SOLVERS: dict[str, Any] = {
    "exact": ExactSteps, "two-pass": TwoPass, "one-pass": OnePass, "stochastic": Stochastic,
}  # fmt: skip


def check_solver(solver: Any) -> ExactSteps | TwoPass | OnePass | Stochastic | None:
    """Return the settings of the solver; None where the choice is left to the data."""
    if isinstance(solver, str) and solver == "auto":
        return None
    if isinstance(solver, str) and solver in SOLVERS:
        solver = SOLVERS[solver]()
    if not isinstance(solver, tuple(SOLVERS.values())):
        raise ValueError(
            f"solver must be 'auto', one of {sorted(SOLVERS)}, or ExactSteps(...), TwoPass(...), "
            f"OnePass(...) or Stochastic(...) of singleindex.solvers, got {solver!r}."
        )
    checked: Any = solver
    checked.check()
    return checked  # type: ignore[no-any-return]


def _check_count(name: str, value: Any, least: int = 1, none: str | None = None) -> None:
    if value is None and none is not None:
        return
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < least:
        what = "" if none is None else f", or None for {none}"
        raise ValueError(f"{name} must be an integer of at least {least}{what}, got {value!r}.")
