"""What the regressor and the classifier share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight, _check_y, check_is_fitted, validate_data

from ..design import Design
from ..design.blocks import Target
from ..design.checks import as_sound
from ..design.survey import TargetSurvey
from ..fitting.background import with_background
from ..fitting.blocks import as_source, fit_blocks, is_in_blocks
from ..fitting.extremes import as_precise, combined, weight_within_reach, wide_enough
from ..fitting.memory import fit_rows, held_out_rows
from ..fitting.plan import Plan, make_plan
from ..fitting.progress import Teller
from ..fitting.record import Fitted, Targets
from ..fitting.stream import go_on, stream_rows
from ..link import LinkFitter
from ..solvers import OnePass, Stochastic, TwoPass
from ..solvers.result import FloatArray
from ..structures import Structure
from .by_blocks import by_blocks
from .callbacks import CallbackSupportMixin, all_or_nothing, with_callbacks
from .namespaces import from_any_namespace
from .notebook import NotebookView
from .summary import summarise
from .to_file import write_predictions

LinkLike = str | Callable[[FloatArray], FloatArray] | LinkFitter
SolverLike = str | TwoPass | OnePass | Stochastic

# The parameters of an estimator that a plan is made of; a search has others in place of some.
PLANNED = (
    "structure", "n_atoms", "alpha", "penalty", "lipschitz", "scale_power", "link", "shared_link", "link_cv",
    "solver", "max_iter", "tol",
)  # fmt: skip
# Folds by which a plain estimator holds rows out, where it does not say.
_FOLDS = 10


class SingleIndexBase(NotebookView, CallbackSupportMixin, BaseEstimator):
    """Stores the parameters, checks input, hands a plan to `fitting`, copies the record it gets back."""

    def __init__(
        self,
        n_atoms: int | None = None,
        *,
        structure: Structure | None = None,
        alpha: float = 0.1,
        penalty: float = 0.0,
        lipschitz: float = 1.0,
        scale_power: float | None = 0.5,
        link: LinkLike = "learned",
        shared_link: bool = False,
        link_cv: Any = None,
        max_iter: int = 100,
        tol: float = 1e-2,
        solver: SolverLike = "auto",
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.structure = structure
        self.alpha = alpha
        self.penalty = penalty
        self.lipschitz = lipschitz
        self.scale_power = scale_power
        self.link = link
        self.shared_link = shared_link
        self.link_cv = link_cv
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.verbose = verbose

    # ------------------------------------------------------------ fitting

    @all_or_nothing
    @with_callbacks
    @from_any_namespace
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn w and g.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Or data in blocks: a Dask array or data frame, or what :func:`singleindex.design.read_chunks`
            returns, which brings its own y and weights. Or data on a GPU: an array or CSR matrix of CuPy, a
            tensor of PyTorch, or what :func:`singleindex.design.on_gpu` returns.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Numbers for a regressor. For a classifier class labels; or 0 and 1 for each of several labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights count as rows: 2 is the same as the row twice. Their unit therefore matters for how far
            the length of w is trusted; let them average about one.

        Returns
        -------
        self
        """
        self.__dict__.pop("stream_", None)
        if is_in_blocks(X):
            source = as_source(X, y, sample_weight)
            self._note_features(source)
            fitted = fit_blocks(self._plan(), source, self._read_targets, self._teller(source, None))
            self._copy(fitted, source.dtype)
            return self
        X, targets, weight = self._check_data(X, y, sample_weight)
        plan = self._own_plan()
        if isinstance(plan.solver, Stochastic):
            fitted = stream_rows(plan, X, targets, weight)
        else:
            fitted = fit_rows(plan, X, targets, weight, self._teller(X, targets.y))
        self._copy(with_background(fitted, X, weight), X.dtype)
        return self

    def _check_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Targets, FloatArray | None]:
        """Return checked X, what is to be learned, and the weights."""
        raise NotImplementedError

    def _read_targets(self, facts: TargetSurvey) -> tuple[list[Target], FloatArray]:
        """Return how each output is made of the y of a block, and its unit."""
        raise NotImplementedError

    def _plan(self, planned: tuple[str, ...] = PLANNED) -> Plan:
        """Return the checked settings, for the columns that were just looked at."""
        return make_plan(
            self.n_features_in_,
            vars(self).get("feature_names_in_"),
            is_classifier=is_classifier(self),
            **{name: getattr(self, name) for name in planned},
        )

    def _own_plan(self) -> Plan:
        """Return the checked settings that this kind of estimator has."""
        return self._plan()

    def _held_out(self, X: Any, targets: Targets, weight: FloatArray | None, groups: Any) -> FloatArray:
        """Return the index of each row under a w learned without it, in units of its spread."""
        plan = self._own_plan()
        solver = None if isinstance(plan.solver, Stochastic) else plan.solver
        held_out = replace(plan, link_cv=plan.link_cv or _FOLDS, solver=solver)
        return held_out_rows(held_out, X, targets, weight)

    def _go_on(self, X: Any, Y: FloatArray, weight: FloatArray | None) -> Self:
        """Learn from rows that follow those of the calls before."""
        fitted = go_on(self._plan(), vars(self).get("stream_"), X, Y, weight)
        self._copy(fitted, X.dtype)
        return self

    def _teller(self, X: Any, y: Any) -> Teller:
        """Return who is to be told of the fit."""
        callbacks = vars(self).get("_skl_callbacks")
        return Teller(
            name=type(self).__name__,
            verbose=bool(self.verbose),
            open_context=(lambda n: self._init_callback_context(max_subtasks=n)) if callbacks else None,
            told={"estimator": self, "X": X, "y": y},
            attributes=self._attributes,
        )

    def _attributes(self, coef: FloatArray, links: list[Any]) -> dict[str, Any]:
        """Return the attributes that prediction needs, from one column and one link per output."""
        single = len(links) == 1
        return {"coef_": coef[:, 0].copy() if single else coef, "link_": links[0] if single else links}

    def _copy(self, fitted: Fitted, dtype: Any) -> None:
        """Set the fitted attributes."""
        coef = as_precise(fitted.coef, dtype)
        attributes = self._attributes(coef, fitted.links)
        attributes["n_features_"] = int(np.count_nonzero(coef.any(axis=1)))
        results = fitted.results
        single = len(results) == 1
        attributes["history_"] = results[0].history if single else [r.history for r in results]
        attributes["status_"] = results[0].status.name if single else [r.status.name for r in results]
        attributes["n_iter_"] = max(r.n_iter for r in results)
        attributes["best_iter_"] = results[0].best.n_iter if single else [r.best.n_iter for r in results]
        self.__dict__.pop("background_", None)  # of rows that were learned from before
        self.__dict__.update(attributes | dict(fitted.more))

    def _note_features(self, source: Any) -> None:
        """Set what scikit-learn's checks go by in prediction, of data in blocks."""
        self.n_features_in_ = source.n_features
        self.__dict__.pop("feature_names_in_", None)
        names = source.feature_names
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.asarray(names, dtype=object)

    # ------------------------------------------------------------ checks

    def _check_X_y(self, X: Any, y: Any, *, reset: bool = True, **options: Any) -> tuple[Any, Any]:
        if isinstance(X, Design):
            return X, self._check_y_of_design(X, y, options)
        with np.errstate(over="ignore", invalid="ignore"):  # of sums by which it looks for NaN
            X, y = validate_data(
                self, X, y, accept_sparse=["csc", "csr"], dtype=[np.float64, np.float32],
                accept_large_sparse=True, reset=reset, **options,
            )  # fmt: skip
        return wide_enough(combined(as_sound(X))), y

    def _check_y_of_design(self, X: Design, y: Any, options: dict[str, Any]) -> Any:
        """Return checked y; a design answers for its own columns."""
        kinds = {name: options.get(name, False) for name in ("multi_output", "y_numeric")}
        y = _check_y(y, **kinds, estimator=self)
        if len(y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and y {len(y)}; give one value of y for each row.")
        self.n_features_in_ = X.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        return y

    def _check_weight(self, sample_weight: Any, X: Any) -> FloatArray | None:
        """Return the weights of all rows, None where they count alike."""
        weight = self._check_some_weight(sample_weight, X)
        return None if weight is None else weight_within_reach(weight)

    def _check_some_weight(self, sample_weight: Any, X: Any) -> FloatArray | None:
        """Return the weights of some rows, in units that all rows share."""
        if sample_weight is None:
            return None
        weight: FloatArray = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True, copy=False
        )
        if not weight.any():
            raise ValueError("All sample weights are zero; at least one must be positive.")
        return weight

    # ------------------------------------------------------------ prediction

    @by_blocks
    def index(self, X: Any) -> Any:
        """Return the index Xw, of shape (n_samples,) or (n_samples, n_outputs).

        It ranks without the ties that the flat pieces of the link make in predictions.
        """
        check_is_fitted(self)
        if isinstance(X, Design):
            return X.matvec(self.coef_).astype(np.result_type(X.dtype, self.coef_.dtype), copy=False)
        X = validate_data(self, X, reset=False, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32])
        return safe_sparse_dot(as_sound(X), self.coef_, dense_output=True)

    def predict_to(self, X: Any, path: Any, methods: str | Sequence[str] = "predict") -> int:
        """Write predictions to a file as the rows are read, a chunk at a time.

        Parameters
        ----------
        X : array, sparse matrix, data frame, or ChunkedData
            Such as :func:`singleindex.design.read_chunks` returns, with or without a target.
        path : str or path
            Ends in .parquet, .csv (both with pyarrow) or .npy. It is there when all is written, not before.
        methods : str or sequence of str, default="predict"
            What to write: "predict", "predict_proba", "decision_function", "index". One with several values
            per row has a column for each.

        Returns
        -------
        n_rows : int
        """
        check_is_fitted(self)
        return write_predictions(self, X, path, methods)

    def _fitted_values(self, index: FloatArray) -> FloatArray:
        """Apply the link, or each link to its column."""
        if index.ndim == 1:
            fitted: FloatArray = self.link_(index)
            return fitted
        return np.column_stack([link(index[:, k]) for k, link in enumerate(self.link_)])

    def summary(self, top: int = 20) -> Any:
        """Return a text on the fitted model: its features, its link, its steps, and how it was chosen.

        Parameters
        ----------
        top : int, default=20
            How many features to list.
        """
        check_is_fitted(self)
        return summarise(self, top)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = True
        return tags


def learns_from_streams(estimator: Any) -> bool:
    """Return whether there is a `partial_fit`: not for estimators that need all rows at once."""
    if estimator.get_params(deep=False).get("class_weight") == "balanced":
        raise AttributeError(
            "class_weight='balanced' needs all rows at once; give a dict, or sample weights, to partial_fit."
        )
    return "solver" in estimator.get_params(deep=False)


@dataclass(frozen=True, eq=False)
class Problem:
    """What a fit begins with: checked rows, one column per output, and the settings."""

    blank: SingleIndexBase
    plan: Plan
    X: Any
    targets: Targets
    weight: FloatArray | None
    groups: Any = None

    def held_out_index(self) -> FloatArray:
        """Return the index of every row under models that have not seen it, one column per output.

        At unit spread where the link is learned. NaN for rows that are never held out. A search is run once
        more for it, of a plain estimator the fits of ten folds.
        """
        return self.blank._held_out(self.X, self.targets, self.weight, self.groups)


def problem_of(
    model: SingleIndexBase, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
) -> Problem:
    """Return what a fit of this model's settings to some rows begins with; the model stays as it is."""
    blank = clone(model).set_params(verbose=0)
    X, targets, weight = blank._check_data(X, y, sample_weight)
    return Problem(blank, blank._own_plan(), X, targets, weight, groups)
