"""Rows of any kind as a data frame."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_array


def as_frame(X: Any) -> Any:
    """Return rows as a pandas data frame with text for names."""
    import pandas

    if hasattr(X, "to_pandas"):  # polars, pyarrow
        X = X.to_pandas()
    if not isinstance(X, pandas.DataFrame):
        X = pandas.DataFrame(check_array(X, dtype=None, ensure_all_finite="allow-nan")).infer_objects()
        X.columns = [f"x{j}" for j in range(X.shape[1])]
    return X if all(isinstance(name, str) for name in X.columns) else X.rename(columns=str)
