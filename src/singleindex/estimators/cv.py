"""Estimators that choose their own settings by cross-validation along warm paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..fitting.conformal import at_most, interval_at
from ..link.venn_abers import venn_abers_at
from ..solvers.result import FloatArray
from ..structures import Structure
from .base import LinkLike
from .classifier import SingleIndexClassifier
from .regressor import SingleIndexRegressor
from .searching import SearchMixin


class SingleIndexRegressorCV(SearchMixin, SingleIndexRegressor):
    """Single-index regression that chooses its own settings by cross-validation.

    Paths of models, from simple to rich, are traced on every fold for each column scale and link; held-out
    rows weigh all of them. The weighted mean of a fold is then cut to its largest atoms, by as many as
    held-out rows like. The model is the mean over the folds of what is left, without the features that few
    of the averaged models use, and its link is learned from the held-out rows.

    Parameters
    ----------
    n_atoms : sequence of int or None, default=None
        To how many atoms the averages are cut. None tries 1, 2, 3, 4, 6, 8, 11, … beside no cut, and
        averages what the folds cannot tell apart. A list is a limit: the best one of these numbers is
        taken, and w has no more atoms than it says. An empty list leaves the averages as they are.
    structure : object, default=None
        What w may look like; None means `Sparse()`.
    alpha : float, sequence of float or None, default=None
        Ridge penalties that are added along the paths. None means none, and dense candidates beside them.
    penalty : sequence of float or None, default=None
        The levels of the paths, shares of the penalty at which w is zero; None means 50 of them, down to
        0.001, with more features than rows to 0.01, and from there on to 0.001 where y is so clear that the
        last levels are best. An empty sequence has the first 50, but none of the averages uncut.
    scale_power : sequence of float or None, default=(1.0, 0.5, 0.0)
        Column scales to try: 1 brings all columns to the same spread, 0 takes them as they are. Of two that
        differ by less than a quarter in every column, the first only.
    cv : int, splitter or iterable, default=10
        How to split; groups are passed to `fit`. For files and Dask a number, which is a
        :class:`~singleindex.design.HashKFold` then, or one of the folds of :mod:`singleindex.design`, which
        hold out the same rows in memory.
    scoring : str, callable or None, default="neg_mean_squared_error" ("neg_log_loss" for the classifier)
        Any scorer of scikit-learn; None is the estimator's own `score`. For files and Dask one that bins of
        the index suffice for: "neg_log_loss", "neg_brier_score", "neg_mean_squared_error", "accuracy", "r2"
        or "roc_auc".
    rule : {"average", "best", "one_se"}, default="average"
        Average the candidates, in step with how near their held-out scores are to the best; or take the best
        one alone, or the simplest one within a standard error of it.
    refit : {"auto", "folds", "all"}, default="auto"
        "folds" takes the mean over the folds of the w that were chosen, "all" learns them once more from all
        rows. "auto" is "folds" for averages and "all" for single candidates, and where paths go on (see
        `penalty`).
    held_out_link : bool, default=True
        Fit the final link to the held-out indices of the search instead of those of the training rows.
    dense : "auto" or bool, default="auto"
        Whether candidates count that use every feature: ridges, and with fewer rows than features w with
        more atoms than half the rows. "auto" lets them in where there are two rows for each feature, or where
        they win beyond two standard errors; see `dense_`. True lets them in like all others, which is worth
        trying on text: a document may have none of a few words. False does without. There are none where
        `alpha` or `penalty` are named, or `n_atoms` of at most half the rows, nor for files and Dask.
    lipschitz, link
        As in :class:`SingleIndexRegressor`. With the learned link w is found with a straight line (the
        classifier: a logistic curve) in its place, and where there are many rows with a learned one too;
        the final link lies between the two, as far as held-out rows tell.
    max_iter, tol
        Of structures whose w is found by gradient steps, low rank and graphs among them: iterations on each
        level of a path, twice as many on its first, each of them a candidate, and when to end. Their w are
        not averaged: the best one is learned once more from all rows.
    n_jobs : int, default=None
        Folds that run side by side; the result is the same.
    verbose : int, default=0
        Above 0, one line per fold and stage on standard error. scikit-learn's callbacks work too, a progress
        bar among them.

    Attributes
    ----------
    best_params_ : dict
        scale_power, link, alpha, penalty, n_atoms, ridge and relaxation of the candidate that has most
        weight, the best of them where several have: of a path, and where averages were cut with the number
        of atoms they were cut to (None: uncut).
    best_score_ : float
        Its mean held-out score.
    cv_results_ : dict of arrays
        One entry per candidate; goes into a data frame as it is. `stage` is 1 for candidates along the
        paths and 2 for cuts of their averages. `weight` is what each counts in its stage, `mean_n_atoms`
        how many atoms it has, `relaxation` how far it is fitted anew without a penalty (0, 0.5 and 1),
        `ridge` that of a dense candidate. NaN stands for no limit and no scale.
    path_ : dict
        The path of the best candidate on all rows: n_atoms, penalty, coefs and mse of every level. Of files
        and Dask with a straight line for a link.
    stability_ : array of shape (n_features,) or (n_features, n_outputs)
        In which share of the averaged models, over all folds and by weight, each feature is in use. Folds
        share most of their rows: noise can be in all of them.
    p_value_ : float
        That of held-out rows, for the hypothesis that no feature predicts y. `summary` says "no evidence"
        from 0.05 on.
    held_out_scores_ : dict of dict
        By measure (R², RMSE, …; AUC, log-loss, Brier score, … of classes) the `score` of held-out rows, which
        had no part in w, in its weights or in its link, its standard `error`, that of the mean of y
        (`other`), and the paired `gain` over it with its `gain_error`. Rows of a group in `groups` count as
        dependent.
    calibration_ : list of dict
        What :meth:`predict_interval` needs of the held-out rows, by outputs.
    dense_ : bool
        Whether most of the weight lies with candidates that use every feature. Then w is dense because it
        predicts better so, and small weights mean little.
    n_features_ : int
        Number of features with a weight: those in 30 % of the averaged models at least.
    n_readings_ : int
        Of files, Dask and many rows on a GPU: how often the data were read. Their searches keep no single
        rows, and so have no `p_value_`, `held_out_scores_` and `calibration_`.
    coef_, link_, background_, n_iter_, history_, status_, n_features_in_, feature_names_in_
        As in :class:`SingleIndexRegressor`; the history is that of the levels of `path_`.

    Examples
    --------
    >>> from singleindex import SingleIndexRegressorCV
    >>> from singleindex.datasets import make_single_index
    >>> X, y, w, g = make_single_index(
    ...     200, 500, n_atoms=5, link="clipped", noise="gaussian", random_state=0)
    >>> model = SingleIndexRegressorCV(n_atoms=[2, 5, 10], cv=5).fit(X, y)
    >>> model.best_params_["n_atoms"], model.n_features_
    (5, 5)
    """

    def __init__(
        self, n_atoms: Sequence[int] | None = None, *, structure: Structure | None = None,
        alpha: float | Sequence[float] | None = None, penalty: Sequence[float] | None = None,
        scale_power: Sequence[float | None] = (1.0, 0.5, 0.0), cv: Any = 10,
        scoring: Any = "neg_mean_squared_error", rule: str = "average", refit: str = "auto",
        held_out_link: bool = True, dense: bool | str = "auto", lipschitz: float = 1.0,
        link: LinkLike = "learned", max_iter: int = 2, tol: float = 1e-2, n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:  # fmt: skip
        set_search_parameters(self, locals())

    def predict_interval(self, X: Any, level: float = 0.9) -> FloatArray:
        """Return intervals in which y of new rows lies, by the residuals of rows that were held out.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        level : float, default=0.9
            The share of new rows, like those of the fit, whose y the intervals are to cover.

        Returns
        -------
        interval : array of shape (n_samples, 2), or (n_samples, n_outputs, 2)
            The lower and the upper end. Infinite where `level` asks for more than so few rows can tell: 0.9
            needs 19 of them.

        Notes
        -----
        Conformal, as CV+: every row was held out once, and predicted by models, weights and a link that have
        not seen it. An interval has the same quantiles of such residuals on both sides of the prediction, in
        units of how far residuals spread near the row's index. The level holds on average over rows, not at
        each index; models of folds have fewer rows than the model, so that intervals are rather too wide.

        Examples
        --------
        >>> from singleindex import SingleIndexRegressorCV
        >>> from singleindex.datasets import make_single_index
        >>> X, y, w, g = make_single_index(
        ...     300, 20, n_atoms=3, link="clipped", noise="gaussian", random_state=0)
        >>> low, high = SingleIndexRegressorCV(cv=5).fit(X[:200], y[:200]).predict_interval(X[200:]).T
        >>> bool(80 <= ((low <= y[200:]) & (y[200:] <= high)).sum() <= 98)
        True
        """
        check_level(level)
        parts, index = calibration_of(self), np.asarray(self.index(X))
        fitted = self._fitted_values(index)
        ends = [
            interval_at(part, one, of_output, level)
            for part, one, of_output in zip(parts, _columns(index), _columns(fitted), strict=True)
        ]
        return ends[0] if index.ndim == 1 else np.stack(ends, axis=1)


class SingleIndexClassifierCV(SearchMixin, SingleIndexClassifier):
    """Single-index classification that chooses its own settings by cross-validation.

    The probabilities come from a link fitted to rows that were held out, so they are not over-confident where
    there are more features than rows; no further calibration is needed.

    Parameters
    ----------
    n_atoms : sequence of int or None, default=None
        To how many atoms the averages are cut. None tries 1, 2, 3, 4, 6, 8, 11, … beside no cut, and
        averages what the folds cannot tell apart. Of a list the best number is taken, and is a limit for w.
        An empty list leaves the averages as they are.
    structure : object, default=None
        What w may look like; None means `Sparse()`.
    alpha : float, sequence of float or None, default=None
        Ridge penalties that are added along the paths. None means none, and dense candidates beside them.
    penalty : sequence of float or None, default=None
        The levels of the paths, shares of the penalty at which w is zero; None means 50 of them, down to
        0.001, with more features than rows to 0.01. An empty sequence has no averages uncut.
    scale_power : sequence of float or None, default=(1.0, 0.5, 0.0)
        Column scales to try: 1 brings all columns to the same spread, 0 takes them as they are.
    cv : int, splitter or iterable, default=10
        How to split, by classes where it is a number; groups are passed to `fit`. For files and Dask a
        number, or one of the folds of :mod:`singleindex.design`.
    scoring : str, callable or None, default="neg_log_loss"
        Any scorer of scikit-learn; None is accuracy. For files and Dask "neg_log_loss", "neg_brier_score",
        "accuracy" or "roc_auc".
    rule : {"average", "best", "one_se"}, default="average"
        Average the candidates, in step with how near their held-out scores are to the best; or take the best
        one alone, or the simplest one within a standard error of it.
    refit : {"auto", "folds", "all"}, default="auto"
        "folds" takes the mean over the folds of the w that were chosen, "all" learns them once more from all
        rows. "auto" is "folds" for averages and "all" for single candidates.
    held_out_link : bool, default=True
        Fit the final link to the held-out indices of the search instead of those of the training rows.
    dense : "auto" or bool, default="auto"
        Whether candidates count that use every feature: where there are two rows for each of them or they win
        beyond two standard errors, always, or never. On text True is worth trying.
    lipschitz : float, default=1.0
        Largest slope of the link, which fixes the scale of w.
    link : "learned", "identity", "logistic", "tanh" or callable, default="learned"
        With the learned link w is found with a logistic curve in its place, and where there are many rows
        with a learned one too; the final link lies between the two, as far as held-out rows tell.
    max_iter : int, default=2
        Of structures whose w is found by gradient steps: iterations on each level of a path.
    tol : float, default=1e-2
        When these iterations end: where the index turns by less than this angle.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with the sample weights. They move the probabilities.
    n_jobs : int, default=None
        Folds that run side by side; the result is the same.
    verbose : int, default=0
        Above 0, one line per fold and stage on standard error.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (n_features,), or (n_features, n_classes or n_labels)
        w, in the units of X. Of two classes that of the second.
    intercept_ : float, or array of shape (n_classes,)
        Puts the index at zero where the link crosses one half.
    link_ : callable, or list of callables
        From index to probability, with its corners in `link_.knots_`.
    best_params_, best_score_ : dict and float
        Settings of the candidate that has most weight, and its mean held-out score.
    cv_results_, path_ : dict of arrays
        What was tried, an entry for each candidate; and the path of the best one on all rows.
    stability_ : array of the shape of `coef_`
        In which share of the averaged models, by weight, each feature is in use.
    p_value_ : float
        That of held-out rows, for the hypothesis that no feature predicts y.
    held_out_scores_ : dict of dict
        By measure the `score` of held-out rows, its `error`, that of the shares of the classes alone
        (`other`), and the paired `gain` over it with its `gain_error`.
    calibration_ : list of dict
        What :meth:`predict_proba_range` and :meth:`predict_set` need of the held-out rows.
    dense_ : bool
        Whether most of the weight lies with candidates that use every feature.
    n_features_ : int
        Number of features with a weight: those in 30 % of the averaged models at least.
    coupled_, multilabel_ : bool
        Of three classes or more, whether they were learned as one problem, with probabilities in proportion
        to the odds of the links' values, because held-out rows were for it; otherwise each was learned
        against the rest, and the links' values are divided by their sum. Whether y had several columns.
    background_, history_, n_iter_, status_, n_features_in_, feature_names_in_
        What was kept of the training rows for `explain` and effects; how the fit went along `path_` and
        ended; the number and names of the features.

    Examples
    --------
    >>> from singleindex import SingleIndexClassifierCV
    >>> from singleindex.datasets import make_single_index
    >>> X, y, w, g = make_single_index(400, 500, n_atoms=5, link="clipped", random_state=0)
    >>> model = SingleIndexClassifierCV().fit(X, y)
    >>> len(set(model.coef_.nonzero()[0]) & set(w.nonzero()[0]))
    5
    >>> model.predict_proba(X).shape
    (400, 2)
    """

    def __init__(
        self, n_atoms: Sequence[int] | None = None, *, structure: Structure | None = None,
        alpha: float | Sequence[float] | None = None, penalty: Sequence[float] | None = None,
        scale_power: Sequence[float | None] = (1.0, 0.5, 0.0), cv: Any = 10, scoring: Any = "neg_log_loss",
        rule: str = "average", refit: str = "auto", held_out_link: bool = True, dense: bool | str = "auto",
        lipschitz: float = 1.0, link: LinkLike = "learned", max_iter: int = 2, tol: float = 1e-2,
        class_weight: Any = None, n_jobs: int | None = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        set_search_parameters(self, locals())

    def predict_proba_range(self, X: Any) -> FloatArray:
        """Return two probabilities for every row, those of Venn and Abers, of which one is to be calibrated.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        range : array of shape (n_samples, 2)
            The lower and the upper probability of the second class. Of more classes or labels, of shape
            (n_samples, n_classes, 2), each against all others.

        Notes
        -----
        The row is added to those that were held out, as one of the class and as one that is not; isotonic
        regression on the index then gives two probabilities. How far they are apart tells how much one row
        can change, which is much where few rows were held out nearby. They are no interval of a level, and
        `predict_proba` need not lie between them: its link is smoother.

        References
        ----------
        Vovk, Petej & Fedorova (2015), Large-scale probabilistic predictors with and without guarantees of
        validity, NeurIPS.

        Examples
        --------
        >>> from singleindex import SingleIndexClassifierCV
        >>> from singleindex.datasets import make_single_index
        >>> X, y, w, g = make_single_index(200, 20, n_atoms=3, random_state=0)
        >>> low, high = SingleIndexClassifierCV(cv=5).fit(X, y).predict_proba_range(X).T
        >>> bool((low <= high).all())
        True
        """
        parts = calibration_of(self)
        of_classes = len(parts) > 1 and not self.multilabel_
        index = np.asarray(self.predict_proba(X) if of_classes else self.index(X))
        ranges = [venn_abers_at(part, one) for part, one in zip(parts, _columns(index), strict=True)]
        return ranges[0] if index.ndim == 1 else np.stack(ranges, axis=1)

    def predict_set(self, X: Any, level: float = 0.9) -> NDArray[np.bool_]:
        """Return for every row classes among which its own is to be, in a share of `level` of new rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        level : float, default=0.9
            The share of new rows, like those of the fit, whose class the sets are to hold.

        Returns
        -------
        members : array of bool of shape (n_samples, n_classes)
            Columns in the order of `classes_`; the likeliest class is always in.

        Notes
        -----
        Conformal: a class is in the set unless it is held less probable than all but a share 1 − `level` of
        held-out rows held what came true. The level is one on average over rows and classes.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from singleindex import SingleIndexClassifierCV
        >>> X, y = load_iris(return_X_y=True)
        >>> bool(SingleIndexClassifierCV(cv=5).fit(X, y).predict_set(X).sum(axis=1).mean() < 1.3)
        True
        """
        check_level(level)
        part = calibration_of(self)[0]
        if self.multilabel_:
            raise ValueError("predict_set is for classes; of several labels see predict_proba_range.")
        probability = np.asarray(self.predict_proba(X))
        members: NDArray[np.bool_] = 1 - probability <= at_most(part, level) + 1e-12
        members[np.arange(len(members)), probability.argmax(axis=1)] = True
        return members


def check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level must be a share between 0 and 1, such as 0.9, got {level!r}.")


def calibration_of(model: Any) -> list[dict[str, FloatArray]]:
    """Return what held-out rows say of each output."""
    check_is_fitted(model)
    found: list[dict[str, FloatArray]] | None = vars(model).get("calibration_")
    if found is None:
        raise ValueError(
            "the model has kept no held-out rows: it was fitted to files, to Dask or to many rows on a GPU, "
            "or by an earlier version; fit it again, to an array of numpy, a sample of the rows if need be."
        )
    return found


def _columns(values: FloatArray) -> list[FloatArray]:
    return [values] if values.ndim == 1 else list(values.T)


def set_search_parameters(estimator: Any, values: dict[str, Any]) -> None:
    for name, value in values.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)
