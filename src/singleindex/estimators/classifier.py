"""Classification with an unknown monotone link."""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .base import SingleIndexBase
from .progress import all_or_nothing, with_callbacks

# Weight of the index in the scores of several classes: enough to break ties, too little to show.
_TIE_BREAK = 1e-9


class SingleIndexClassifier(ClassifierMixin, SingleIndexBase):
    r"""Single-index classification: :math:`P(y = 1 \mid x) = g(w \cdot x)`, g monotone and learned.

    Several classes are fitted one against the rest, each with its own w and g.

    Parameters
    ----------
    n_atoms : int or None, default=None
        How many atoms w may consist of; for the default structure, how many coefficients may differ
        from zero. None for no limit.
    structure : object, default=None
        What w may look like, see :mod:`singleindex.structures`. None means `Sparse()`.
    alpha : float, default=0.1
        Ridge penalty, the λ of the paper, on the coefficients of the scaled columns.
    lipschitz : float, default=1.0
        Largest slope of the link. It fixes the scale of w more than the shape of g: w grows until the
        link fits, unless `alpha` holds it back. Infinity gives plain isotonic regression as the link.
    column_scale : float or None, default=0.5
        Column j is divided by the power `column_scale` of its standard deviation while w is learned: 0
        not at all (but for a common factor), 1 to unit variance. None takes X as it is. `coef_` is
        always in the units of X.
    link : "learned", "identity", "logistic", "tanh" or callable, default="learned"
        A known link instead of a learned one gives structured least squares, structured logistic
        regression and the like from the same solver. `lipschitz` is then the largest slope of a callable.
    max_iter : int, default=100
        Largest number of iterations.
    tol : float, default=1e-3
        The fit ends when the index turns by less than this angle in an iteration.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with the sample weights. They move the probabilities.
    verbose : int, default=0
        Above 0, one line per iteration on standard error. scikit-learn's callbacks
        (`set_callbacks`, scikit-learn 1.9 and later) work too, a progress bar among them.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (n_features,), or (n_features, n_classes) for three classes or more
        w, in the units of X; float32 for float32 data.
    intercept_ : float, or array of shape (n_classes,)
        Puts the index at zero where the link crosses one half.
    link_ : callable, or list of callables
        From index to probability, with its corners in `link_.knots_`.
    n_iter_, best_iter_, status_, history_, n_features_in_, feature_names_in_
        As in :class:`SingleIndexRegressor`.

    Notes
    -----
    Rank by `decision_function`: it is the index, without the ties that the flat pieces of the link make
    in `predict_proba`. The probabilities are read off the link fitted to the training data. Where there
    are more features than rows the index of the training rows is too good, and they come out too close
    to 0 and 1.

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

    def __init__(
        self,
        n_atoms=None,
        *,
        structure=None,
        alpha=0.1,
        lipschitz=1.0,
        column_scale=0.5,
        link="learned",
        max_iter=100,
        tol=1e-3,
        class_weight=None,
        verbose=0,
    ):
        super().__init__(
            n_atoms, structure=structure, alpha=alpha, lipschitz=lipschitz,
            column_scale=column_scale, link=link, max_iter=max_iter, tol=tol, verbose=verbose,
        )  # fmt: skip
        self.class_weight = class_weight

    @all_or_nothing
    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Learn w and g.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        X, y = self._check_X_y(X, y, ensure_min_samples=2)
        check_classification_targets(y)
        weight = self._check_weight(sample_weight, X)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._check_classes(codes, weight)
        if self.class_weight is not None:
            by_class = compute_sample_weight(self.class_weight, y)
            weight = by_class if weight is None else weight * by_class
        columns = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        Y = np.column_stack([codes == k for k in columns]).astype(np.float64)
        results, design = self._solve_outputs(X, Y, weight)
        self._set_fitted(results, design, X.dtype)
        return self

    def _check_classes(self, codes, weight):
        present = np.unique(codes if weight is None else codes[weight > 0])
        if len(present) < 2:
            raise ValueError(
                f"y has only one class with positive weight, {self.classes_[present[0]]!r}; "
                "the classifier needs samples of at least two classes."
            )
        if len(present) < len(self.classes_):
            missing = np.setdiff1d(np.arange(len(self.classes_)), present)
            raise ValueError(
                f"class {self.classes_[missing[0]]!r} has no sample of positive weight; "
                "leave its rows out of X and y."
            )

    def _attributes(self, iterates, design, dtype):
        attributes = super()._attributes(iterates, design, dtype)
        single = len(iterates) == 1
        links = [attributes["link_"]] if single else attributes["link_"]
        intercept = np.array([-link.crossing(0.5) for link in links])
        links = [link.shift(by) for link, by in zip(links, intercept, strict=True)]
        attributes["link_"] = links[0] if single else links
        attributes["intercept_"] = float(intercept[0]) if single else intercept
        return attributes

    def decision_function(self, X):
        """Return the index Xw + intercept_, above zero where the second class is the likelier one.

        For three classes or more, of shape (n_samples, n_classes): the links' values, made comparable by
        them, with ties broken by the index; each column ranks as its index does.
        """
        index = self.index(X) + self.intercept_
        if index.ndim == 1:
            return index
        return self._fitted_values(index) + _TIE_BREAK * expit(index)

    def predict_proba(self, X):
        """Return the probability of each class, columns in the order of `classes_`."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            p = np.clip(self.link_(scores), 0, 1)
            return np.column_stack([1 - p, p])
        scores = np.clip(scores, 0, None)
        return scores / scores.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X):
        """Return the logarithm of `predict_proba`; minus infinity where a probability is zero."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X):
        """Return the likeliest class."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(int)]
        return self.classes_[np.argmax(scores, axis=1)]
