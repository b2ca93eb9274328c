"""How estimators take part in scikit-learn's callbacks, and leave no trace of a fit that failed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:  # pragma: no cover

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn knows no callbacks yet."""

    def with_callbacks(method: Any) -> Any:
        return method


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Make `fit` leave the estimator as it was where it fails or is interrupted."""

    @functools.wraps(fit)
    def fit_or_restore(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        before = vars(estimator).copy()
        try:
            return fit(estimator, *args, **kwargs)
        except BaseException:
            vars(estimator).clear()
            vars(estimator).update(before)
            raise

    return fit_or_restore
