"""Which rows are held out together, so that others can be learned from and these scored."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from ..design import Design
from ..solvers.result import FloatArray
from .plan import Plan
from .record import Targets

Split = tuple[Any, Any]


class SplitWarning(UserWarning):
    """Rows are split in another way than was asked for."""


def splits_of(
    cv: Any, plan: Plan, X: Any, targets: Targets, weight: FloatArray | None, groups: Any = None
) -> list[Split]:
    """Return training and held-out rows, as `cv` says, with some weight among both.

    Folds of a classifier keep the shares of the classes. Rows of weight zero are as good as absent: a split
    in which one side has no others tells nothing.
    """
    n_folds = _folds_there_are(cv, targets.y) if plan.is_classifier else cv
    rows = np.empty((X.shape[0], 0)) if isinstance(X, Design) else X
    with np.errstate(invalid="ignore"):  # where scikit-learn tries whether huge labels are whole
        splitter = check_cv(n_folds, targets.y, classifier=plan.is_classifier)
        splits = list(splitter.split(rows, targets.y, groups))
    return splits if weight is None else _with_weight(splits, weight)


def _with_weight(splits: list[Split], weight: FloatArray) -> list[Split]:
    used = [
        (train, test)
        for train, test in splits
        if np.count_nonzero(weight[train]) > 1 and np.count_nonzero(weight[test]) > 0
    ]
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
            stacklevel=6,
        )
    return used


def _folds_there_are(cv: Any, y: Any) -> Any:
    """Return a number of folds such that one class at least has a row for each of them."""
    n_folds = 5 if cv is None else cv
    if not isinstance(n_folds, numbers.Integral) or np.ndim(y) != 1:
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
