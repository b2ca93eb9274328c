"""Classification with an unknown monotone link."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..design.blocks import Target
from ..design.survey import TargetSurvey
from ..fitting.plan import CERTAIN, make_fitter
from ..fitting.record import Targets
from ..solvers.result import FloatArray
from ..structures import Structure
from .base import LinkLike, SingleIndexBase, SolverLike, learns_from_streams
from .by_blocks import by_blocks
from .callbacks import all_or_nothing

# Weight of the index in the scores of several classes: enough to break ties, too little to show.
_TIE_BREAK = 1e-9
# Labels that are whole numbers and have a range and sizes below these are counted, not sorted.
_FEW, _NEAR = 20, 1 << 40


class SingleIndexClassifier(ClassifierMixin, SingleIndexBase):
    r"""Single-index classification: :math:`P(y = 1 \mid x) = g(w \cdot x)`, g monotone and learned.

    Several classes are fitted one against the rest, and several labels (y of shape (n_samples, n_labels) with
    entries 0 and 1) each by itself, every one with its own w and g; with `structure=RowSparse()` they
    share their features.

    Parameters
    ----------
    n_atoms : int or None, default=None
        How many atoms w may consist of; for the default structure, how many coefficients may differ
        from zero. None for no limit.
    structure : object, default=None
        What w may look like, see :mod:`singleindex.structures`. None means `Sparse()`.
    alpha : float, default=0.1
        Ridge penalty, the λ of the paper, on the coefficients of the scaled columns.
    penalty : float, default=0.0
        Soft thresholding in place of, or beside, the limit `n_atoms`: the weight of the structure's atomic
        norm (L1, group, nuclear), as a share of the least weight at which w is zero.
    lipschitz : float, default=1.0
        Largest slope of the link, which fixes the scale of w. Without a ridge another value gives the same
        model, w divided by it; with one, it acts as `alpha` divided by it. Infinity gives plain isotonic
        regression as the link.
    scale_power : float or None, default=0.5
        Column j is divided by the power `scale_power` of its standard deviation while w is learned: 0
        not at all (but for a common factor), 1 to unit variance. None takes X as it is. `coef_` is
        always in the units of X.
    link : "learned", "identity", "logistic", "tanh" or callable, default="learned"
        A known link instead of a learned one gives structured least squares, structured logistic
        regression and the like from the same solver. `lipschitz` is then the largest slope of a callable.
    shared_link : bool, default=False
        With several labels or classes, learn one link for all of them, each behind an offset of its own.
    link_cv : int, splitter or None, default=None
        Fit the final link to held-out rows: w is learned once more for each split, without its test rows, and
        the link from their index. In-sample the index of the training rows looks better than it is, and the
        link is too steep, when there are many features; this one is not. Costs one fit per split.
    max_iter : int, default=100
        Largest number of iterations.
    tol : float, default=1e-2
        The fit ends when the index turns by less than this angle in an iteration; with a known link, when it
        changes by less than this share. With a `penalty` it also ends when the objective changes by less
        than the share `tol` squared.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with the sample weights. They move the probabilities.
    solver : "auto", "exact", "two-pass", "one-pass", "stochastic" or settings, default="auto"
        How w is found: :class:`~singleindex.solvers.ExactSteps`, each of them a penalised regression, for
        which correlated columns are no harder than others; :class:`~singleindex.solvers.TwoPass`, plain CSI;
        :class:`~singleindex.solvers.OnePass`, which reads the data once per iteration and sums rows into bins
        for the link; or :class:`~singleindex.solvers.Stochastic`, which steps on batches of rows. By default
        one pass for files, Dask and data in memory of 50 000 rows or more (10 000 for dense data of at least
        20 rows for each column), two passes for others; with exact steps where the columns that say most
        about y are correlated. Of data in blocks these need at most 4096 columns.
    verbose : int, default=0
        Above 0, one line per iteration on standard error. scikit-learn's callbacks
        (`set_callbacks`, scikit-learn 1.9 and later) work too, a progress bar among them.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    multilabel_ : bool
        Whether y had several columns of 0 and 1.
    coef_ : array of shape (n_features,), or (n_features, n_classes or n_labels)
        w, in the units of X; float32 for float32 data.
    intercept_ : float, or array of shape (n_classes,)
        Puts the index at zero where the link crosses one half.
    link_ : callable, or list of callables
        From index to probability, with its corners in `link_.knots_`.
    n_features_, background_, n_iter_, best_iter_, status_, history_, n_features_in_, feature_names_in_
        As in :class:`SingleIndexRegressor`.

    Notes
    -----
    Rank by `decision_function`: it is the index, without the ties that the flat pieces of the link make
    in `predict_proba`. The probabilities are read off the link fitted to the training data. Where there
    are more features than rows the index of the training rows is too good, and they come out too close
    to 0 and 1; `link_cv=5` mends that.

    Examples
    --------
    >>> from singleindex import SingleIndexClassifier
    >>> from singleindex.datasets import make_single_index
    >>> X, y, w, g = make_single_index(400, 1000, n_atoms=5, link="ramp", random_state=0)
    >>> model = SingleIndexClassifier(n_atoms=5).fit(X, y)
    >>> len(set(model.coef_.nonzero()[0]) & set(w.nonzero()[0]))
    5
    >>> model.predict_proba(X).shape
    (400, 2)
    """

    # Of three classes or more: whether probabilities are in proportion to the odds of the links' values, not
    # to the values themselves. A search may find that they are.
    coupled_: bool = False

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
        class_weight: Any = None,
        solver: SolverLike = "auto",
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_atoms, structure=structure, alpha=alpha, penalty=penalty, lipschitz=lipschitz,
            scale_power=scale_power, link=link, shared_link=shared_link, link_cv=link_cv, max_iter=max_iter,
            tol=tol, solver=solver, verbose=verbose,
        )  # fmt: skip
        self.class_weight = class_weight

    def _check_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Targets, FloatArray | None]:
        X, y = self._check_X_y(X, y, multi_output=True, ensure_min_samples=2)
        classes = few_classes(y)
        kind = "multiclass" if classes is not None else check_kind(y)
        weight = self._check_weight(sample_weight, X)
        self.multilabel_ = kind == "multilabel-indicator"
        if not self.multilabel_:
            y = column_or_1d(y, warn=True)
            self.classes_ = np.unique(y) if classes is None else classes
        else:
            self.classes_ = np.arange(y.shape[1])
        if self.class_weight is not None:
            by_class = self._weight_of_classes(y, weight)
            weight = self._check_weight(by_class if weight is None else weight * by_class, X)
        Y = self._check_labels(y, weight) if self.multilabel_ else self._one_column_per_class(y, weight)
        return X, Targets(y, Y, np.ones(Y.shape[1])), weight

    @available_if(learns_from_streams)
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows that follow those of the calls before, by the stochastic solver.

        How a stream is cut into calls does not change the result, nor does saving the estimator and loading
        it in between. After a `fit` with the stochastic solver the stream goes on from there; after any other
        `fit` it begins anew.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
        classes : array-like of shape (n_classes,), default=None
            All classes there are; needed in the first call, as no call needs to show all of them, unless a
            fit before knew them. For several labels it is not needed.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        is_first = not hasattr(self, "stream_")
        X, y = self._check_X_y(X, y, multi_output=True, reset=is_first)
        weight = self._check_some_weight(sample_weight, X)
        self._begin_stream(y, classes, is_first)
        if self.multilabel_:
            Y = np.asarray(y.todense() if sparse.issparse(y) else y, dtype=np.float64)
            return self._go_on(X, Y, weight)
        y = column_or_1d(y, warn=True)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"y holds {unknown[0]!r}, which is not among classes={self.classes_.tolist()}.")
        if self.class_weight is not None:
            by_class = compute_sample_weight(self.class_weight, y)
            weight = by_class if weight is None else weight * by_class
        columns = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        codes = np.searchsorted(self.classes_, y)
        return self._go_on(X, np.column_stack([codes == k for k in columns]).astype(np.float64), weight)

    def _begin_stream(self, y: Any, classes: Any, is_first: bool) -> None:
        """Settle the classes in the first call, and that they are the same in later ones."""
        if is_first:
            self.multilabel_ = np.ndim(y) == 2 and y.shape[1] > 1
            if self.multilabel_:
                self.classes_ = np.arange(y.shape[1])
                return
            if classes is None:
                classes = getattr(self, "classes_", None)  # those of a fit before
            if classes is None:
                raise ValueError("classes must be given in the first call of partial_fit, as classes=[...].")
            self.classes_ = np.unique(classes)
            if len(self.classes_) < 2:
                raise ValueError(f"the classifier needs at least two classes, got classes={classes}.")
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes={classes} are not those of the first call, {self.classes_.tolist()}.")

    def _read_targets(self, facts: TargetSurvey) -> tuple[list[Target], FloatArray]:
        self.multilabel_ = facts.is_matrix
        if facts.is_matrix:
            if not ((facts.low == 0) & (facts.high == 1)).all():
                raise ValueError("y with several columns must hold 0 and 1, and each column both of them.")
            if self.class_weight is not None:
                raise ValueError("class_weight with several labels needs data in memory; leave it out.")
            self.classes_ = np.arange(facts.n_outputs)
            return [Target(column=k) for k in range(facts.n_outputs)], np.ones(facts.n_outputs)
        if facts.labels is None:
            raise ValueError(
                f"y holds more than {facts.MOST_LABELS} different values; a classifier needs classes. For "
                "numbers "
                "use SingleIndexRegressor."
            )
        self.classes_ = facts.labels
        self._check_classes(np.arange(len(facts.labels)), facts.label_weight)
        factors = self._factors_of_classes(facts.label_weight)
        columns = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        return [Target(self.classes_, k, factors=factors) for k in columns], np.ones(len(columns))

    def _factors_of_classes(self, totals: Any) -> Any:
        """Return the weight of each class, None where all are 1."""
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            return totals.sum() / (len(totals) * totals)
        return compute_sample_weight(self.class_weight, self.classes_)

    def _weight_of_classes(self, y: Any, weight: FloatArray | None) -> Any:
        """Return a weight per row; "balanced" counts classes by sample weight, as repeated rows would."""
        if self.multilabel_ or self.class_weight != "balanced":
            return compute_sample_weight(self.class_weight, y)
        codes = codes_of(self.classes_, y)
        self._check_classes(codes, weight)
        totals = np.bincount(codes, weights=weight)
        return (totals.sum() / (len(totals) * totals))[codes]

    def _check_labels(self, y: Any, weight: FloatArray | None) -> FloatArray:
        Y = np.asarray(y.todense() if sparse.issparse(y) else y, dtype=np.float64)
        used = Y if weight is None else Y[weight > 0]
        constant = np.flatnonzero((used == used[:1]).all(axis=0))
        if len(constant):
            raise ValueError(
                f"label {constant[0]} is {used[0, constant[0]]:g} in every row of positive weight, one "
                "class only; leave this column out of y."
            )
        return Y

    def _one_column_per_class(self, y: Any, weight: FloatArray | None) -> FloatArray:
        codes = codes_of(self.classes_, y)
        self._check_classes(codes, weight)
        columns = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        return np.column_stack([codes == k for k in columns]).astype(np.float64)

    def _check_classes(self, codes: Any, weight: FloatArray | None) -> None:
        present = np.flatnonzero(np.bincount(codes if weight is None else codes[weight > 0]))
        if len(present) < 2:
            raise ValueError(
                f"y has only one class with positive weight, {self.classes_[present[0]]}; "
                "the classifier needs samples of at least two classes."
            )
        if len(present) < len(self.classes_):
            missing = np.setdiff1d(np.arange(len(self.classes_)), present)
            raise ValueError(
                f"class {self.classes_[missing[0]]} has no sample of positive weight; "
                "leave its rows out of X and y."
            )

    def _attributes(self, coef: FloatArray, links: list[Any]) -> dict[str, Any]:
        if make_fitter(self.link, self.lipschitz).is_learned:
            links = [link.clip(CERTAIN, 1 - CERTAIN) for link in links]
        intercept = np.array([-link.crossing(0.5) for link in links])
        links = [link.shift(by) for link, by in zip(links, intercept, strict=True)]
        attributes = super()._attributes(coef, links)
        attributes["intercept_"] = float(intercept[0]) if len(links) == 1 else intercept
        return attributes

    @by_blocks
    def decision_function(self, X: Any) -> Any:
        """Return the index `Xw + intercept_`, above zero where the second class is the likelier one.

        (Where the link stays on one side of one half, zero lies well outside of the training rows.)

        For several labels, one such column each. For three classes or more, of shape (n_samples,
        n_classes): the links' values, made comparable by them, with ties broken by the index; each
        column ranks as its index does.
        """
        index = self.index(X) + self.intercept_
        if index.ndim == 1 or self.multilabel_:
            return self._with_clear_sign(index)
        return np.clip(self._fitted_values(index), CERTAIN, 1) + _TIE_BREAK * expit(index)

    def _with_clear_sign(self, index: Any) -> Any:
        """Let rounding at zero not contradict the probability."""
        at_zero = np.abs(index) <= 1e-12 * (1 + np.abs(self.intercept_))
        if at_zero.any():
            likelier = self._fitted_values(index) > 0.5
            index = np.where(at_zero & ~likelier, np.minimum(index, 0), index)
            index = np.where(at_zero & likelier, np.maximum(index, np.finfo(index.dtype).tiny), index)
        return index

    @by_blocks
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, columns in the order of `classes_`.

        For several labels, of shape (n_samples, n_labels): the probability that each label is 1.
        """
        if self.coupled_:
            p = np.clip(self._fitted_values(self.index(X) + self.intercept_), CERTAIN, 1 - CERTAIN)
            odds = p / (1 - p)
            return odds / odds.sum(axis=1, keepdims=True)
        scores = self.decision_function(X)
        if scores.ndim == 1:
            p = np.clip(self.link_(scores), 0, 1)
            return np.column_stack([1 - p, p])
        if self.multilabel_:
            return np.clip(self._fitted_values(scores), 0, 1)
        return scores / scores.sum(axis=1, keepdims=True)

    @by_blocks
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @by_blocks
    def predict(self, X: Any) -> Any:
        """Return the likeliest class; for several labels 0 or 1 for each of them."""
        check_is_fitted(self)
        if self.multilabel_:
            return (self.predict_proba(X) > 0.5).astype(int)
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def check_kind(y: Any) -> str:
    """Return what scikit-learn takes y for, or raise where these are no classes."""
    with np.errstate(invalid="ignore"):  # where it tries whether huge numbers are whole
        kind: str = type_of_target(y, input_name="y")
        if kind not in ("binary", "multiclass", "multilabel-indicator"):
            check_classification_targets(y)  # it knows what to say of the others
    return kind


def codes_of(classes: Any, y: Any) -> Any:
    """Return the number of the class of every row, all of which are known; of two by a glance."""
    return (y == classes[1]).astype(np.intp) if len(classes) == 2 else np.searchsorted(classes, y)


def few_classes(y: Any) -> Any:
    """Return the classes of whole numbers that lie close together, sorted; None for any other y.

    By counting: where there are many rows, sorting them takes longer than an iteration on a GPU.
    """
    if not (isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "iub" and len(y)):
        return None
    low, high = int(y.min()), int(y.max())
    if high - low >= _FEW or abs(low) > _NEAR:
        return None
    there = np.flatnonzero(np.bincount(y.astype(np.intp, copy=False) - low))
    return (there + low).astype(y.dtype)
