"""Models that take data frames as people have them: text, dates, gaps and identifiers among the numbers."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, check_is_fitted

from ..estimators import SingleIndexClassifierCV, SingleIndexRegressorCV
from ..estimators.notebook import NotebookView
from .columns import Choices
from .errors import TableError
from .preparation import IMPUTATIONS, Preparation, prepare
from .recipe import Recipe
from .written import Written

_LISTS = ("drop", "keep", "categorical")


class _TableModel(NotebookView, BaseEstimator):
    """What both kinds share: the preparation of the command line, then an estimator."""

    estimator_: Any
    preparation_: Preparation | Recipe
    # Of a model of the command line: how its table was written.
    written_: Written | None = None

    def __init__(
        self,
        estimator: Any = None,
        *,
        impute: str | None = "median",
        drop: Sequence[str] = (),
        keep: Sequence[str] = (),
        categorical: Sequence[str] = (),
        dates: str = "drop",
        date_order: str | None = None,
        max_categories: int = 50,
    ) -> None:
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
        """Learn what each column is, how gaps are filled, and the model.

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
        lists = {name: tuple(getattr(self, name)) for name in _LISTS}
        choices = Choices(
            **lists, dates=self.dates, date_order=self.date_order, max_categories=self.max_categories
        )
        with in_words_of_python():
            preparation = prepare(frame, choices, self.impute)
            features = preparation.apply(frame, self.impute is not None)
        estimator = clone(self.estimator) if self.estimator is not None else self._default()
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = estimator.fit(features, y, **weight)
        self.preparation_ = preparation
        self.feature_names_in_ = np.array(frame.columns, dtype=object)
        self.n_features_in_ = frame.shape[1]
        return self

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

    def index(self, X: Any) -> Any:
        """Return the index of each row, the weighted sum of its features.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_columns)

        Returns
        -------
        index : array
        """
        features = self.prepare(X)
        return self.estimator_.index(features)

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
    n_features_in_, feature_names_in_
        Of the data frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from singleindex import SingleIndexRegressor, TableRegressor
    >>> X = pd.DataFrame({"dose": [1.0, 2, 3, None, 5, 6] * 5, "site": ["Köln", "Bonn", "Köln"] * 10})
    >>> model = TableRegressor(SingleIndexRegressor()).fit(X, X["dose"].fillna(3.0) ** 2)
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
    impute, drop, keep, categorical, dates, date_order, max_categories
        As in :class:`TableRegressor`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    labels_ : array of shape (n_classes,)
        The classes in the order of the estimator's, of two the modelled one last.
    estimator_, preparation_, n_features_in_, feature_names_in_
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

    def _default(self) -> Any:
        return SingleIndexClassifierCV()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn what each column is, how gaps are filled, and the model.

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
        super().fit(X, y, sample_weight)
        self.labels_ = self.estimator_.classes_
        self.classes_ = np.sort(self.labels_)
        return self

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


def as_frame(X: Any) -> Any:
    """Return rows as a pandas data frame with text for names."""
    import pandas

    if hasattr(X, "to_pandas"):  # polars, pyarrow
        X = X.to_pandas()
    if not isinstance(X, pandas.DataFrame):
        X = pandas.DataFrame(check_array(X, dtype=None, ensure_all_finite="allow-nan")).infer_objects()
        X.columns = [f"x{j}" for j in range(X.shape[1])]
    return X if all(isinstance(name, str) for name in X.columns) else X.rename(columns=str)


@contextlib.contextmanager
def in_words_of_python() -> Iterator[None]:
    """Let errors on tables name parameters in place of options."""
    try:
        yield
    except TableError as error:
        raise TableError(python_words(str(error))) from None


def python_words(text: str) -> str:
    """Return a message with options such as --drop 'x' as parameters, drop=['x']."""
    text = re.sub(r"--na ('[^']*'|\S+)", r"X.replace(\1, None)", text)
    text = text.replace("--decimal ,", "numbers with a decimal point")
    lists = "|".join(_LISTS)
    text = re.sub(rf"--({lists}) ('[^']*'|\w+)", lambda m: f"{m[1]}=[{as_literal(m[2])}]", text)
    return re.sub(r"--([a-z-]+) ([\w-]+)", lambda m: f"{m[1].replace('-', '_')}={as_literal(m[2])}", text)


def as_literal(value: str) -> str:
    return value if value.startswith("'") else f'"{value}"'
