"""Arrays of other libraries: on a GPU, or of a namespace that scikit-learn is told to follow.

Inside, w and the links are numpy's. On the way in, data on a GPU become a design, which stays there; other
arrays of the array API become numpy's. With `sklearn.set_config(array_api_dispatch=True)` what comes out, and
the fitted arrays, are of the namespace and on the device of X; without it they are numpy's.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import Any

import numpy as np
from sklearn import config_context, get_config
from sklearn.utils import _array_api

from ..design import Design, as_design
from ..design.gpu import is_on_gpu
from ..design.gpu.arrays import to_numpy


def is_of_others(values: Any) -> bool:
    """Tell whether values are an array of another library than numpy, on a GPU or not."""
    if isinstance(values, np.ndarray | np.generic):
        return False
    package = type(values).__module__.partition(".")[0]
    is_tensor = package == "torch" and hasattr(values, "is_cuda")
    return is_on_gpu(values) or is_tensor or hasattr(values, "__array_namespace__")


def is_foreign(values: Any) -> bool:
    """Tell whether values are an array of another library that is to be followed, or lie on a GPU."""
    return is_on_gpu(values) or (get_config()["array_api_dispatch"] and is_of_others(values))


def as_numpy(values: Any) -> Any:
    """Return a foreign array as numpy's, anything else as it is."""
    return to_numpys(values) if is_foreign(values) else values


def to_numpys(values: Any) -> Any:
    """Return an array of another library as numpy's."""
    if is_on_gpu(values):
        return to_numpy(values)
    if hasattr(values, "__array_namespace__"):
        return _array_api._convert_to_numpy(values, values.__array_namespace__())
    return values.detach().numpy()


def as_known(X: Any) -> Any:
    """Return data on a GPU as a design, those of another namespace as numpy's."""
    return as_design(X) if is_on_gpu(X) else as_numpy(X)


def follows(X: Any) -> bool:
    """Tell whether what comes out is to be of the namespace of X."""
    return get_config()["array_api_dispatch"] and is_foreign(X)


def like(X: Any, values: Any) -> Any:
    """Return an array of numbers in the namespace and on the device of X, if that is to be followed."""
    if not follows(X) or not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
        return values
    namespace, _, device = _array_api.get_namespace_and_device(X)
    return namespace.asarray(values, device=device)


def at_home() -> Any:
    """Return a context in which scikit-learn takes all arrays for numpy's, as they are then."""
    return config_context(array_api_dispatch=False) if get_config()["array_api_dispatch"] else nullcontext()


def predicted(method: Callable[..., Any], estimator: Any, X: Any) -> Any:
    """Return what a method of prediction says of foreign data, in their namespace if it is followed."""
    model, known = with_numpy(estimator), as_known(X)
    with at_home():
        values = method(model, known)
    return like(X, values)


def from_any_namespace(fit: Callable[..., Any], bring: Callable[[Any], Any] = as_known) -> Callable[..., Any]:
    """Make a `fit` take arrays of any namespace; the fitted arrays are of that of X, if it is followed.

    `bring` makes something of X that `fit` can read.
    """

    @wraps(fit)
    def fit_at_home(self: Any, X: Any, y: Any = None, *args: Any, **more: Any) -> Any:
        given = bring(X), as_numpy(y), *map(as_numpy, args)
        known = {name: as_numpy(value) for name, value in more.items()}
        with at_home():
            fitted = fit(self, *given, **known)
        for name, value in list(vars(self).items()):
            if name.endswith("_") and name != "classes_":
                vars(self)[name] = like(X, value)
        return fitted

    return fit_at_home


def with_numpy(estimator: Any) -> Any:
    """Return the estimator with fitted arrays that are numpy's, itself where they are."""
    foreign = {name: to_numpys(value) for name, value in vars(estimator).items() if is_of_others(value)}
    if not foreign:
        return estimator
    numpys = copy.copy(estimator)
    numpys.__dict__.update(foreign)
    return numpys


def check_namespace(estimator: Any, X: Any, method: str) -> None:
    """Raise where scikit-learn follows namespaces, and X is of another one than the data of the fit."""
    check = getattr(_array_api, "check_same_namespace", None)  # since scikit-learn 1.8
    if check is not None and get_config()["array_api_dispatch"] and not isinstance(X, Design):
        check(X, estimator, attribute="coef_", method=method)
