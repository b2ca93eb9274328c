"""Prediction on data in blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..design import ChunkedData
from ..design.dask import is_dask, predict_lazily


def by_blocks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Make a method of prediction work on data in blocks: lazily on Dask's, chunk after chunk on files."""
    name = method.__name__

    def predict(self: Any, X: Any) -> Any:
        if isinstance(X, ChunkedData):
            return np.concatenate([method(self, _named(self, block.X)) for block in X])
        if is_dask(X):
            small = method(self, _named(self, np.zeros((1, self.n_features_in_), dtype=self.coef_.dtype)))
            return predict_lazily(self, name, X, small.shape[1] if small.ndim == 2 else None, small.dtype)
        return method(self, X)

    predict.__name__, predict.__doc__, predict.__qualname__ = name, method.__doc__, method.__qualname__
    return predict


def _named(estimator: Any, X: Any) -> Any:
    """Give rows the names of the columns that the model was fitted with."""
    if not hasattr(estimator, "feature_names_in_") or hasattr(X, "tocsr"):
        return X
    import pandas as pd

    return pd.DataFrame(X, columns=estimator.feature_names_in_, copy=False)
