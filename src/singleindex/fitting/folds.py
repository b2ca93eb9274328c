"""Which rows are held out together."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from ..design import Design
from .plan import Plan
from .record import Targets

Split = tuple[Any, Any]


def splits_of(cv: Any, plan: Plan, X: Any, targets: Targets, groups: Any = None) -> list[Split]:
    """Return training and test rows of each split; folds of a classifier keep the shares of the classes."""
    splitter = check_cv(cv, targets.y, classifier=plan.is_classifier)
    rows = np.empty((X.shape[0], 0)) if isinstance(X, Design) else X
    return list(splitter.split(rows, targets.y, groups))
