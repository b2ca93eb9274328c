"""Estimators that choose their own settings by cross-validation along warm paths."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.metrics import check_scoring

from ..fitting.blocks import IN_MEMORY, is_in_blocks
from ..fitting.scoring import Scoring
from ..fitting.search import SearchSettings, search
from ..solvers.result import FloatArray
from ..structures import Structure
from .base import PLANNED, LinkLike, SingleIndexBase
from .callbacks import all_or_nothing, with_callbacks
from .classifier import SingleIndexClassifier
from .regressor import SingleIndexRegressor

# What a search chooses, or does in its own way.
_SEARCHED = ("n_atoms", "alpha", "penalty", "scale_power", "shared_link", "link_cv", "solver")


class SearchMixin(SingleIndexBase):
    """Searches in place of solving once; everything else is the plain estimator."""

    @all_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose the settings on held-out rows, then learn w and g from all.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            Used in fitting, and in the scores where scikit-learn's scorer takes weights.
        groups : array-like of shape (n_samples,), default=None
            For splitters that keep groups together.

        Returns
        -------
        self
        """
        if is_in_blocks(X):
            raise ValueError(IN_MEMORY.format(type(self).__name__))
        X, targets, weight = self._check_data(X, y, sample_weight)
        settings = SearchSettings(
            self.n_atoms, self.alpha, self.penalty, self.scale_power, self.cv, self.rule, self.refit,
            self.held_out_link, self.n_jobs,
        )  # fmt: skip
        settings.check()
        plan = self._plan(tuple(name for name in PLANNED if name not in _SEARCHED))
        teller = self._teller(X, targets.y)
        self._copy(search(plan, settings, self._scoring(), X, targets, weight, groups, teller), X.dtype)
        return self

    def _scoring(self) -> Scoring:
        # Of several classes one against the rest, the probabilities have yet to be made to sum to one.
        classes = vars(self).get("classes_", ())
        is_apart = len(classes) <= 2 or self.multilabel_
        return Scoring(self.scoring, check_scoring(self, scoring=self.scoring), self._at_index, is_apart)

    def _at_index(self, index: FloatArray, links: list[Any]) -> Any:
        """Return an estimator whose index is known already, for scorers that ask it to predict."""
        known = index[:, 0] if index.shape[1] == 1 else index
        frozen = copy.copy(self)
        frozen.__dict__.update(self._attributes(np.zeros((self.n_features_in_, len(links))), links))
        frozen.__dict__["index"] = lambda X: known
        return frozen


class SingleIndexRegressorCV(SearchMixin, SingleIndexRegressor):
    """Single-index regression that chooses its own settings by cross-validation.

    Parameters
    ----------
    n_atoms : sequence of int or None, default=None
        Numbers of atoms to try. None means the paper's fractions of the atoms there are, d/4 to d/1024, all,
        half, and small counts. An empty sequence leaves hard thresholding out.
    structure : object, default=None
        What w may look like; None means `Sparse()`.
    alpha : float or sequence of float, default=(0.1,)
        Ridge penalties to try.
    penalty : sequence of float or None, default=None
        Soft thresholding levels to try, shares from 0 to 1; None means eight of them, where the structure has
        soft thresholding. An empty sequence leaves it out.
    scale_power : sequence of float or None, default=(0.5, 0.0)
        Column scales to try. Of two that differ by less than a quarter in every column, the first only.
    cv : int, splitter or iterable, default=5
        How to split; groups are passed to `fit`.
    scoring : str, callable or None, default="neg_mean_squared_error" ("neg_brier_score" for the classifier)
        Any scorer of scikit-learn; None is the estimator's own `score`.
    rule : {"best", "one_se"}, default="best"
        Take the best mean score, or the simplest candidate within one standard error of it.
    refit : {"auto", "all", "average"}, default="auto"
        "all" learns w once more from all rows. "average" takes the mean of the folds' w, each at unit spread
        of its index, over all candidates within one standard error of the best: steadier where there are few
        rows, at the price of more features. "auto" averages below 150 rows.
    held_out_link : bool, default=True
        Fit the final link to the held-out indices of the search instead of those of the training rows.
    lipschitz, link, tol
        As in :class:`SingleIndexRegressor`.
    max_iter : int, default=2
        Iterations on each level of a path, twice as many on its first. Every one of them is a candidate.
    n_jobs : int, default=None
        Folds that run side by side; the result is the same.
    verbose : int, default=0
        Above 0, one line per fold and path on standard error. scikit-learn's callbacks work too, a progress
        bar among them.

    Attributes
    ----------
    best_params_ : dict
        scale_power, alpha, n_atoms, penalty and iteration of the chosen candidate.
    best_score_ : float
        Its mean held-out score.
    cv_results_ : dict of arrays
        One entry per candidate; goes into a data frame as it is. NaN stands for no limit and no scale.
    path_ : dict
        The chosen path on all rows: n_atoms, penalty, coefs and mse of every iterate, by level.
    stability_ : array of shape (n_features,) or (n_features, n_outputs)
        In which share of the folds each feature was used.
    coef_, link_, n_iter_, history_, status_, n_features_in_, feature_names_in_
        As in :class:`SingleIndexRegressor`.

    Examples
    --------
    >>> from singleindex import SingleIndexRegressorCV
    >>> from singleindex.datasets import make_single_index
    >>> X, y, w, g = make_single_index(
    ...     200, 500, n_atoms=5, link="clipped", noise="gaussian", random_state=0)
    >>> model = SingleIndexRegressorCV(n_atoms=[2, 5, 10], penalty=[], alpha=[0.1]).fit(X, y)
    >>> model.best_params_["n_atoms"]
    5
    """

    def __init__(
        self, n_atoms: Sequence[int] | None = None, *, structure: Structure | None = None,
        alpha: float | Sequence[float] | None = None, penalty: Sequence[float] | None = None,
        scale_power: Sequence[float | None] = (1.0, 0.5, 0.0), cv: Any = 10,
        scoring: Any = "neg_mean_squared_error", rule: str = "average", refit: str = "auto",
        held_out_link: bool = True, lipschitz: float = 1.0, link: LinkLike = "learned", max_iter: int = 2,
        tol: float = 1e-2, n_jobs: int | None = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        set_search_parameters(self, locals())


class SingleIndexClassifierCV(SearchMixin, SingleIndexClassifier):
    """Single-index classification that chooses its own settings by cross-validation.

    The probabilities come from a link fitted to rows that were held out, so they are not over-confident where
    there are more features than rows; no further calibration is needed.

    Parameters
    ----------
    n_atoms, structure, alpha, penalty, scale_power, cv, rule, refit, held_out_link
        As in :class:`SingleIndexRegressorCV`.
    lipschitz, link, max_iter, tol, n_jobs, verbose
        As in :class:`SingleIndexRegressorCV`.
    scoring : str, callable or None, default="neg_brier_score"
        Any scorer of scikit-learn; None is accuracy.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with the sample weights. They move the probabilities.

    Attributes
    ----------
    best_params_, best_score_, cv_results_, path_, stability_
        As in :class:`SingleIndexRegressorCV`.
    classes_, coef_, intercept_, link_, n_iter_, history_, status_, n_features_in_, feature_names_in_
        As in :class:`SingleIndexClassifier`.

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
        rule: str = "average", refit: str = "auto", held_out_link: bool = True, lipschitz: float = 1.0,
        link: LinkLike = "learned", max_iter: int = 2, tol: float = 1e-2, class_weight: Any = None,
        n_jobs: int | None = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        set_search_parameters(self, locals())


def set_search_parameters(estimator: Any, values: dict[str, Any]) -> None:
    for name, value in values.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)
