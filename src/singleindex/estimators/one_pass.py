"""Fits that read the data once per iteration: long data in memory, files in chunks, and Dask."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from ..design import BlockDesign, ChunkedData, as_row_design
from ..design.blocks import SurveyTask
from ..design.dask import DaskSource, is_dask, predict_lazily
from ..design.survey import survey_rows
from ..files.replace import check_target
from ..solvers import Checkpoint, OnePass, Stochastic, TwoPass, check_solver, solve_one_pass
from ..solvers.checkpoint import fingerprint
from .extremes import Spread, spread_of_columns
from .progress import Progress, RowsBar

# Rows in memory from which one pass, with bins for the link, is the faster: measured in
# benchmarks/bigdata.py. Dense rows that are short are read so fast that the link decides.
LONG, LONG_DENSE = 50_000, 10_000
_SHORT_ROW = 1 / 20  # of the number of rows
# What may change between two fits that share a checkpoint.
_FREE = ("max_iter", "tol", "verbose", "solver")


def is_in_blocks(X):
    """Return whether X is data that is never held together."""
    return isinstance(X, ChunkedData) or is_dask(X)


def is_stochastic(estimator):
    """Return whether `fit` is to learn from batches of rows."""
    return isinstance(check_solver(getattr(estimator, "solver", "auto")), Stochastic)


def solver_for(estimator, X, joint):
    """Return the settings of the solver that the estimator asks for, or that suits data in memory."""
    solver = check_solver(estimator.solver)
    if joint and isinstance(solver, (OnePass, Stochastic)):
        raise ValueError(
            f"solver={estimator.solver!r} learns outputs one by one, and this structure or "
            "shared_link=True ties "
            "them together; use solver='two-pass'."
        )
    if solver is None:
        return OnePass() if not joint and _is_long(X) else TwoPass()
    return solver


def _is_long(X):
    """Tell whether one pass over data in memory is the faster."""
    n, d = X.shape
    return n >= LONG or (n >= LONG_DENSE and d <= _SHORT_ROW * n and not sparse.issparse(X))


def ties_outputs(estimator, structure, n_outputs):
    return n_outputs > 1 and (estimator.shared_link or getattr(structure, "joint", False))


# ---------------------------------------------------------------- solving


def solve_rows_in_one_pass(estimator, X, Y, weight, solver, told):
    """Return one solver result per output for data in memory, and the design."""
    inner = as_row_design(X, keeps_support=True)
    with np.errstate(over="ignore", invalid="ignore"):
        survey = survey_rows(inner, Y, weight)
    share = np.ones(X.shape[0]) / X.shape[0] if weight is None else weight / weight.sum()
    spread = spread_of_columns(X, survey.variance, share)
    outputs = [np.ascontiguousarray(Y[:, k]) for k in range(Y.shape[1])]
    return solve_outputs(estimator, inner, survey, spread, outputs, weight, solver, told, X, (X.shape,))


def solve_outputs(estimator, inner, survey, spread, outputs, weight, solver, told, X, mark):
    """Solve for each output in turn; `told` are the targets as callbacks are to see them, or None."""
    settings = estimator._check_settings(inner.shape[1])
    estimator._check_variance(spread.variance)
    structure = settings.pop("structure")
    design, structure = estimator._scaled((inner, spread), structure, estimator.column_scale)
    seen = replace(
        survey,
        mean=design.pull_back(survey.mean),
        covariance=np.column_stack([design.pull_back(c) for c in survey.covariance.T]),
    )
    progress, kept = None, list[Checkpoint]()
    if told is not None:
        estimator._checkpoints = kept
        progress = estimator._progress = Progress(
            estimator, X, told.y, told.unit, len(outputs),
            lambda records: estimator._attributes(records, design, inner_dtype(X)),
        )  # fmt: skip
    results = []
    for k, y in enumerate(outputs):
        if progress is not None:
            progress.fit_number = k
        # Fits that nobody is told of are those of folds: too short to be kept.
        checkpoint = None if told is None else _checkpoint(estimator, solver, survey, k, len(outputs), mark)
        kept += [] if checkpoint is None else [checkpoint]
        results.append(
            solve_one_pass(
                design, y, structure, survey=seen, output=k, sample_weight=weight, n_bins=solver.n_bins,
                n_threads=solver.n_threads, on_iteration=progress, checkpoint=checkpoint, **settings,
            )
        )  # fmt: skip
    return results, design


def inner_dtype(X):
    return np.dtype(X.dtype)


def _checkpoint(estimator, solver, survey, output, n_outputs, mark):
    """Return where the fit of one output is kept, None where it is not to be."""
    if solver.checkpoint is None:
        return None
    path = Path(solver.checkpoint)
    if n_outputs > 1:
        path = path.with_name(f"{path.name}.{output}")
    check_target(path)
    settings = sorted((k, repr(v)) for k, v in estimator.get_params().items() if k not in _FREE)
    of_fit = fingerprint(
        type(estimator).__name__, settings, solver.n_bins, output, mark,
        survey.mean, survey.variance, survey.covariance, survey.lengths,
    )  # fmt: skip
    return Checkpoint(path, of_fit, solver.checkpoint_every)


def remove_checkpoints(estimator):
    """Delete the checkpoints that the fit has kept, now that it has ended."""
    for checkpoint in vars(estimator).pop("_checkpoints", ()):
        checkpoint.remove()


# ---------------------------------------------------------------- data in blocks


def as_source(X, y, sample_weight):
    """Return the blocks of X; chunked data brings its own y and weights."""
    if is_dask(X):
        return DaskSource(X, y, sample_weight)
    if y is not None or sample_weight is not None:
        raise ValueError(
            "chunked data brings its own y and weights; name them in read_chunks(..., target=, "
            "sample_weight=) "
            "and leave them out of fit."
        )
    return X


def fit_blocks(estimator, X, y, sample_weight):
    """Fit to data in blocks, and set the fitted attributes."""
    if "solver" not in estimator.get_params():
        raise ValueError(
            f"{type(estimator).__name__} needs its data in memory. Choose the settings on a sample of the "
            "rows, as arrays, then fit SingleIndexRegressor or SingleIndexClassifier with them to all."
        )
    if getattr(estimator, "link_cv", None) is not None:
        raise ValueError("link_cv splits rows, which needs data in memory; leave it out for data in blocks.")
    source = as_source(X, y, sample_weight)
    note_features(estimator, source)
    solver = check_solver(estimator.solver) or OnePass()
    with RowsBar(estimator, source):
        targets, unit = estimator._targets_of_blocks(_survey_targets(source))
        if isinstance(solver, Stochastic):
            return estimator._fit_stream(source, targets, unit, solver)
        structure = estimator._check_settings(source.n_features)["structure"]
        if ties_outputs(estimator, structure, len(targets)):
            solver_for(estimator, None, joint=True)
            solver = TwoPass()
        solve = _solve_in_two_passes if isinstance(solver, TwoPass) else _solve_blocks
        results, design, unit = solve(estimator, source, targets, unit, solver)
    estimator._set_fitted(estimator._in_users_units(results, unit), design, source.dtype)
    return estimator


def _survey_targets(source):
    facts = source.survey_targets()
    if facts.total == 0:
        lack = "row" if facts.n_rows == 0 else "row of positive weight"
        raise ValueError(f"the data have no {lack}; check the filter they come from, and the weights.")
    return facts


def _solve_blocks(estimator, source, targets, unit, solver):
    survey = source.reduce(SurveyTask(tuple(targets)))
    inner = BlockDesign(source, survey.lengths)
    told = _Told(None, unit)
    results, design = solve_outputs(
        estimator, inner, survey, Spread(survey.variance), targets, None, solver, told, source,
        source.fingerprint(),
    )  # fmt: skip
    if estimator._link_fitter().is_learned:
        results = estimator._with_final_links(results, np.empty((0, len(targets))), None, None)
    return results, design, unit


def _solve_in_two_passes(estimator, source, targets, unit, solver):
    """Solve exactly, with the index and y of every row at hand: memory grows with the rows."""
    survey = source.reduce(SurveyTask(tuple(targets)))
    inner = BlockDesign(source, survey.lengths)
    rows = [inner.rows_of(replace(target, unit=1.0)) for target in targets]
    Y, weight = np.column_stack([values for values, _ in rows]), rows[0][1]
    if not is_classifier(estimator):
        unit = estimator._units_of_outputs(Y, weight)
    estimator._check_variance(survey.variance)
    prepared = (inner, Spread(survey.variance))
    results, design = estimator._solve_design(prepared, Y / unit, weight, source, _Told(None, unit))
    tied = len(results) > 1 and estimator.shared_link
    if estimator._link_fitter().is_learned and not tied:
        results = estimator._with_final_links(results, Y / unit, weight, None)
    return results, design, unit


class _Told:
    """What callbacks are told of the targets: they are not held together."""

    def __init__(self, y, unit):
        self.y, self.unit = y, unit


def note_features(estimator, source):
    """Set what scikit-learn's checks go by in prediction."""
    estimator.n_features_in_ = source.n_features
    vars(estimator).pop("feature_names_in_", None)
    names = source.feature_names
    if names is not None and all(isinstance(name, str) for name in names):
        estimator.feature_names_in_ = np.asarray(names, dtype=object)


def by_blocks(method):
    """Make a method of prediction work on data in blocks: lazily on Dask's, chunk after chunk on files."""
    name = method.__name__

    def predict(self, X):
        if isinstance(X, ChunkedData):
            nameless = _check_names(self, X.feature_names)
            return np.concatenate([method(nameless, block.X) for block in X])
        if is_dask(X):
            one_row = np.zeros((1, self.n_features_in_), dtype=self.coef_.dtype)
            small = method(_check_names(self, None), one_row)
            return predict_lazily(self, name, X, small.shape[1] if small.ndim == 2 else None, small.dtype)
        return method(self, X)

    predict.__name__, predict.__doc__, predict.__qualname__ = name, method.__doc__, method.__qualname__
    return predict


def _check_names(estimator, names):
    """Return the estimator without the names of its columns, once those of the data are known to be the same.

    Blocks of rows are plain arrays, which scikit-learn would warn of; frames of them would need pandas.
    """
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and names is not None and list(known) != list(names):
        raise ValueError(
            "the columns of the data are not those of the fit, in their order; use "
            "read_chunks(..., features=list(model.feature_names_in_))."
        )
    nameless = copy(estimator)
    vars(nameless).pop("feature_names_in_", None)
    return nameless
