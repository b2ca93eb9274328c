"""Prediction on data in blocks, and on arrays of other libraries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..design import ChunkedData
from ..design.dask import is_dask, predict_lazily
from .namespaces import check_namespace, is_foreign, predicted


def by_blocks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Make a method of prediction work on data in blocks: lazily on Dask's, chunk after chunk on files.

    And on arrays of any namespace, to which the answer is brought back if scikit-learn is told to.
    """
    name = method.__name__

    def predict(self: Any, X: Any) -> Any:
        if isinstance(X, ChunkedData):
            nameless = without_names(self, X.feature_names)
            return np.concatenate([method(nameless, block.X) for block in X])
        if is_dask(X):
            one_row = np.zeros((1, self.n_features_in_), dtype=self.coef_.dtype)
            small = method(without_names(self, None), one_row)
            return predict_lazily(self, name, X, small.shape[1] if small.ndim == 2 else None, small.dtype)
        check_is_fitted(self)
        check_namespace(self, X, name)
        return predicted(method, self, X) if is_foreign(X) else method(self, X)

    predict.__name__, predict.__doc__, predict.__qualname__ = name, method.__doc__, method.__qualname__
    return predict


def without_names(estimator: Any, names: Sequence[str] | None) -> Any:
    """Return the estimator without the names of its columns, once those of the data are known to be the same.

    Blocks of rows are plain arrays, which scikit-learn would warn of; frames of them would need pandas.
    """
    known = vars(estimator).get("feature_names_in_")
    if known is not None and names is not None and list(known) != list(names):
        raise ValueError(
            "the columns of the data are not those of the fit, in their order; use "
            "read_chunks(..., features=list(model.feature_names_in_))."
        )
    nameless = copy(estimator)
    nameless.__dict__.pop("feature_names_in_", None)
    return nameless
