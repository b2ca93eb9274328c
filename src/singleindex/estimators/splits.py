"""Splits of rows that can be learned from and scored."""

from __future__ import annotations

import numbers
import warnings

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv


class SplitWarning(UserWarning):
    """Rows are split in another way than was asked for."""


def make_splits(estimator, cv, X, y, weight, groups=None):
    """Return training and held-out rows, as `cv` says, with some weight among both.

    Rows of weight zero are as good as absent, so a split in which all of one side are tells nothing.
    """
    n_folds = _folds_there_are(estimator, cv, y)
    with np.errstate(invalid="ignore"):  # where scikit-learn tries whether huge labels are whole
        splits = list(check_cv(n_folds, y, classifier=is_classifier(estimator)).split(X, y, groups))
    if weight is None:
        return splits
    count = lambda rows: np.count_nonzero(weight[rows])  # noqa: E731
    used = [(train, test) for train, test in splits if count(train) > 1 and count(test) > 0]
    if not used:
        raise ValueError(
            f"None of the {len(splits)} splits of cv has rows of positive weight, two to learn from and one "
            "to score; mix the rows, as with cv=KFold(5, shuffle=True, random_state=0), or use fewer folds."
        )
    if len(used) < len(splits):
        warnings.warn(
            f"{len(splits) - len(used)} of the {len(splits)} splits of cv lack rows of positive weight to "
            "learn from or to score; they are left out.",
            SplitWarning,
            stacklevel=5,
        )
    return used


def _folds_there_are(estimator, cv, y):
    """Return a number of folds such that one class at least has a row for each of them."""
    n_folds = 5 if cv is None else cv
    if not (is_classifier(estimator) and isinstance(n_folds, numbers.Integral) and np.ndim(y) == 1):
        return cv
    most = int(np.unique(y, return_counts=True)[1].max())
    if most >= n_folds:
        return cv
    if most < 2:
        raise ValueError(
            "Every class of y has one row, so that none can be learned and held out as well; give more rows."
        )
    warnings.warn(
        f"No class of y has {n_folds} rows; {most} folds are used in place of {n_folds}.",
        SplitWarning,
        stacklevel=6,
    )
    return most
