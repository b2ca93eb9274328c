"""Models that take data frames as people have them: text, dates, gaps and identifiers among the numbers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..estimators import SingleIndexClassifierCV, SingleIndexRegressorCV
from ..estimators.notebook import NotebookView
from .classes import choose_class, counted_classes, recoded_weights
from .columns import Choices
from .errors import LeakWarning
from .frames import as_frame
from .leaks import leak_texts
from .notes import column_notes
from .preparation import IMPUTATIONS, Preparation, prepare, refuse_missing
from .python_words import LISTS, in_words_of_python
from .recipe import Recipe
from .written import Written


class _TableModel(NotebookView, BaseEstimator):
    """What both kinds share: the preparation of the command line, then an estimator."""

    estimator_: Any
    preparation_: Preparation | Recipe
    written_: Written | None = None  # of the table that the command line fitted
    target_name_: Any = None
    notes_: list[str]

    def __init__(
        self, estimator: Any = None, *, impute: str | None = "median", drop: Sequence[str] = (),
        keep: Sequence[str] = (), categorical: Sequence[str] = (), dates: str = "drop",
        date_order: str | None = None, max_categories: int = 50,
    ) -> None:  # fmt: skip
        self.estimator = estimator
        self.impute = impute
        self.drop = drop
        self.keep = keep
        self.categorical = categorical
        self.dates = dates
        self.date_order = date_order
        self.max_categories = max_categories

    def _default(self) -> Any:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn what each column is, how gaps are filled, and the model; warn of likely leaks.

        Parameters
        ----------
        X : pandas or polars data frame, or array, of shape (n_samples, n_columns)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            For the model; the preparation does not look at it.

        Returns
        -------
        self
        """
        if self.impute is not None and self.impute not in IMPUTATIONS:
            raise ValueError(f"impute must be None or one of {IMPUTATIONS}, got {self.impute!r}.")
        frame = as_frame(X)
        if len(frame) < 2:
            raise ValueError(
                f"n_samples={len(frame)} is too few to tell which columns vary; two are the least."
            )
        lists = {name: tuple(getattr(self, name)) for name in LISTS}
        choices = Choices(
            **lists, dates=self.dates, date_order=self.date_order, max_categories=self.max_categories
        )
        with in_words_of_python():
            preparation = prepare(frame, choices, self.impute)
            typed = preparation.typed(frame)
            if self.impute is None:
                refuse_missing(typed)
        estimator = clone(self.estimator) if self.estimator is not None else self._default()
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        notes = self._learn(estimator, preparation.encoded(typed), y, weight)
        self.preparation_ = preparation
        self.notes_ = [*notes, *column_notes(preparation)]
        self.target_name_ = getattr(y, "name", None)
        self.feature_names_in_ = np.array(frame.columns, dtype=object)
        self.n_features_in_ = frame.shape[1]
        for text in leak_texts(typed, preparation, np.asarray(y), is_classifier(self), self.target_name_):
            warnings.warn(text, LeakWarning, stacklevel=2)
        return self

    def _learn(self, estimator: Any, features: Any, y: Any, weight: dict[str, Any]) -> list[str]:
        """Fit the estimator, and return what is to be told of the target."""
        self.estimator_ = estimator.fit(features, y, **weight)
        return []

    def prepare(self, X: Any) -> Any:
        """Return the features that the estimator takes, as a data frame.

        Parameters
        ----------
        X : pandas or polars data frame, or array, of shape (n_samples, n_columns)
            Columns that were left out, or have no weight, may be absent.

        Returns
        -------
        features : pandas.DataFrame
        """
        check_is_fitted(self)
        frame = as_frame(X)
        # Columns of an array have no names to go by.
        if frame is not X and not hasattr(X, "columns") and frame.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {frame.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        if self.written_ is not None:
            frame = self.written_.read(frame, self.preparation_.number_columns)
        with in_words_of_python():
            return self.preparation_.apply(frame, self.impute is not None, needed=self._needed())

    def _needed(self) -> set[str] | None:
        coef = vars(self.estimator_).get("coef_")
        if coef is None:
            return None
        sources = self.preparation_.sources
        used = np.flatnonzero(np.asarray(coef).reshape(len(sources), -1).any(axis=1))
        return {sources[j] for j in used.tolist()}

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the features that the columns became.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : array of str
        """
        check_is_fitted(self)
        return np.array(self.preparation_.names, dtype=object)

    def summary(self, top: int = 20) -> str:
        """Return a text on the fitted model: what it predicts, and the summary of the estimator within.

        Parameters
        ----------
        top : int, default=20
            How many features to list.

        Returns
        -------
        text : str
        """
        from .fronts import taken_apart  # which puts these models together

        within: str = taken_apart(self).model.summary(top)
        return f"{self._predicted()}\n{within}"

    def _predicted(self) -> str:
        name = "the target" if self.target_name_ is None else self.target_name_
        return f"{type(self).__name__} of {name}"

    def index(self, X: Any) -> Any:
        """Return the index of each row, the weighted sum of its features.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_columns)

        Returns
        -------
        index : array
        """
        return self.estimator_.index(self.prepare(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.impute is not None
        tags.input_tags.string = True
        tags.target_tags = get_tags(self._default() if self.estimator is None else self.estimator).target_tags
        return tags


class TableRegressor(RegressorMixin, _TableModel):
    """Predict a number from the columns of a data frame as it is.

    Text becomes a feature for each value, gaps are filled in, constant columns, identifiers and dates are
    left out: what the command line does to a table, in front of a single-index model.

    Parameters
    ----------
    estimator : estimator, default=None
        What learns from the prepared columns; None for `SingleIndexRegressorCV()`.
    impute : "median", "mean", "most-frequent" or None, default="median"
        What missing numbers are filled with; text gets its most frequent value. None refuses gaps.
    drop, keep : sequences of str, default=()
        Columns to leave out, and columns to use although they look like identifiers.
    categorical : sequence of str, default=()
        Columns of numbers that are categories.
    dates : "drop" or "days", default="drop"
        Leave dates out, or take them as days since 1970.
    date_order : "day-first", "month-first" or None, default=None
        None goes by the column, and asks where it does not tell.
    max_categories : int, default=50
        Most frequent values of a text column that get a feature.

    Attributes
    ----------
    estimator_ : estimator
        Fitted to the prepared columns.
    preparation_ : Preparation or Recipe
        `columns`, `kinds`, `categories` and `fills` of those in use; `dropped` says why others are not. A
        model that was loaded from a pipeline or from JSON has the `columns` and `features` of a recipe.
    notes_ : list of str
        What was left out, and what became of columns. Of columns that nearly decide the target alone,
        which often were written down after it, `fit` warns by a `LeakWarning`.
    n_features_in_, feature_names_in_
        Of the data frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from singleindex import SingleIndexRegressor, TableRegressor
    >>> X = pd.DataFrame({"dose": [1.0, 2, 3, None, 5, 6] * 5, "site": ["Köln", "Bonn", "Köln"] * 10})
    >>> y = X["dose"].fillna(3.0) ** 2 + 9 * (X["site"] == "Bonn")
    >>> model = TableRegressor(SingleIndexRegressor()).fit(X, y)
    >>> list(model.get_feature_names_out())
    ['dose', 'site=Köln']
    >>> model.predict(X[:2]).shape
    (2,)
    """

    def _default(self) -> Any:
        return SingleIndexRegressorCV()

    def predict(self, X: Any) -> Any:
        """Predict the target of new rows.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_columns)

        Returns
        -------
        predicted : array
        """
        features = self.prepare(X)
        return self.estimator_.predict(features)


class TableClassifier(ClassifierMixin, _TableModel):
    """Classify by the columns of a data frame as it is.

    As :class:`TableRegressor`, which describes the parameters, for classes.

    Parameters
    ----------
    estimator : estimator, default=None
        What learns from the prepared columns; None for `SingleIndexClassifierCV()`.
    threshold : float, default=0.5
        Of two classes, beyond which probability of the modelled one it is predicted.
    positive : class, default=None
        Of two classes, the one whose probability is modelled. None goes by its name ("ja" beside "nein",
        "died", 1 beside 0) or else takes the rarer one, as the command line does. The columns of
        `predict_proba` are in the order of `classes_` whichever it is.
    impute, drop, keep, categorical, dates, date_order, max_categories
        As in :class:`TableRegressor`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    labels_ : array of shape (n_classes,)
        The classes in the order of the estimator's, of two the modelled one last. Where that is the first in
        order, the estimator was fitted to 0 and 1.
    estimator_, preparation_, notes_, n_features_in_, feature_names_in_
        As in :class:`TableRegressor`.

    Examples
    --------
    >>> import pandas as pd
    >>> from singleindex import SingleIndexClassifier, TableClassifier
    >>> X = pd.DataFrame({"age": [30, 40, None, 60, 70, 80] * 5, "smokes": ["ja", "nein", None] * 10})
    >>> y = ["well", "well", "well", "ill", "ill", "ill"] * 5
    >>> model = TableClassifier(SingleIndexClassifier()).fit(X, y)
    >>> model.predict(pd.DataFrame({"age": [33, 77], "smokes": ["ja", "unknown"]}))
    array(['well', 'ill'], dtype='<U4')
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        threshold: float = 0.5,
        positive: Any = None,
        impute: str | None = "median",
        drop: Sequence[str] = (),
        keep: Sequence[str] = (),
        categorical: Sequence[str] = (),
        dates: str = "drop",
        date_order: str | None = None,
        max_categories: int = 50,
    ) -> None:
        super().__init__(
            estimator, impute=impute, drop=drop, keep=keep, categorical=categorical, dates=dates,
            date_order=date_order, max_categories=max_categories,
        )  # fmt: skip
        self.threshold = threshold
        self.positive = positive

    def _default(self) -> Any:
        return SingleIndexClassifierCV()

    def _learn(self, estimator: Any, features: Any, y: Any, weight: dict[str, Any]) -> list[str]:
        pair, notes = self._pair(y)
        # Estimators model the second class in order: where it is to be the first, they get 0 and 1.
        if pair is not None and pair[0] > pair[1]:
            settings = recoded_weights(estimator, pair.tolist())
            y = (np.asarray(column_or_1d(y)) == pair[1]).astype(np.int64)
            super()._learn(estimator.set_params(**settings), features, y, weight)
            self.labels_ = pair
        else:
            super()._learn(estimator, features, y, weight)
            self.labels_ = self.estimator_.classes_
        self.classes_ = np.sort(self.labels_)
        return notes

    def _pair(self, y: Any) -> tuple[Any, list[str]]:
        """Return two classes, the one to be modelled last, and a note; None where there are not two."""
        classes, counts = counted_classes(y)
        if len(classes) == 2:
            chosen, note = choose_class(classes.tolist(), counts.tolist(), self.positive)
            return classes[[1 - chosen, chosen]], [note]
        if self.positive is not None:
            raise ValueError("positive is for a target of two classes; of several, each is modelled.")
        return None, []

    def _predicted(self) -> str:
        text = super()._predicted()
        is_pair = len(self.labels_) == 2 and not getattr(self.estimator_, "multilabel_", False)
        return f"{text}: the probability of {self.labels_[1]}" if is_pair else text

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, columns in the order of `classes_`.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_columns)

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
        """
        features = self.prepare(X)
        return self.estimator_.predict_proba(features)[:, np.argsort(self.labels_)]

    def decision_function(self, X: Any) -> Any:
        """Return what to rank by: above zero where the second of `classes_` is the likelier of two.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_columns)

        Returns
        -------
        scores : array of shape (n_samples,), or (n_samples, n_classes)
        """
        features = self.prepare(X)
        scores = self.estimator_.decision_function(features)
        if scores.ndim == 1:
            return scores if self.labels_[1] == self.classes_[1] else -scores
        return scores[:, np.argsort(self.labels_)]

    def predict(self, X: Any) -> Any:
        """Predict the class of new rows.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_columns)

        Returns
        -------
        predicted : array of shape (n_samples,)
        """
        features = self.prepare(X)
        if getattr(self.estimator_, "multilabel_", False):
            return self.estimator_.predict(features)
        probabilities = self.estimator_.predict_proba(features)
        if len(self.labels_) == 2:
            return self.labels_[(probabilities[:, 1] > self.threshold).astype(int)]
        return self.labels_[probabilities.argmax(axis=1)]
