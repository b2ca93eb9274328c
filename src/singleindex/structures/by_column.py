"""Numbers for the columns of X: one for each, or for some of them by position or name."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from .base import FloatArray, Structure


def as_stored(values: Any) -> Any:
    """Return a tuple in place of an array, a dict in place of a series: they compare, and go into files.

    What holds no numbers is returned as it is, for `check` to refuse.
    """
    try:
        if isinstance(values, Mapping) or hasattr(values, "items"):
            return {_as_key(key): float(value) for key, value in values.items()}
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return values
    return tuple(array.tolist()) if values is not None and array.ndim == 1 else values


def _as_key(key: Any) -> Any:
    if isinstance(key, str):
        return str(key)
    return int(key) if isinstance(key, np.integer) else key


def as_hashable(values: Any) -> Hashable:
    return frozenset(values.items()) if isinstance(values, dict) else values


def at_positions(values: Any, feature_names: Sequence[str] | None, what: str) -> Any:
    """Return the same numbers with positions in place of column names."""
    if not isinstance(values, dict) or not any(isinstance(key, str) for key in values):
        return values
    if feature_names is None:
        raise ValueError(
            f"{what} are given by column names, but X has none; pass a data frame, or positions such as "
            f"{what}={{0: 1}}."
        )
    position = {name: j for j, name in enumerate(feature_names)}
    found = {}
    for key, value in values.items():
        if isinstance(key, str) and key not in position:
            some = ", ".join(repr(str(name)) for name in list(feature_names)[:5])
            raise ValueError(f"{what} name a column that X does not have: {key!r}; it has {some}, …")
        found[position.get(key, key)] = value
    if len(found) < len(values):
        raise ValueError(f"{what} name a column twice, by name and by position; leave one of them out.")
    return found


def expanded(values: Any, n_features: int, default: float, what: str) -> FloatArray:
    """Return one number for every column; those that were not named have the default."""
    if isinstance(values, dict):
        array = np.full(n_features, default)
        for key, value in values.items():
            if type(key) is not int or not 0 <= key < n_features:
                raise ValueError(f"{what} name column {key!r}, but X has columns 0 to {n_features - 1}.")
            array[key] = value
        return array
    if not isinstance(values, tuple):
        raise ValueError(
            f"{what} must be one number for each column, or a dict of those columns that are not like the "
            f"others, such as {what}={{'age': 0}}; got {values!r}."
        )
    if len(values) != n_features:
        raise ValueError(
            f"{what} has {len(values)} numbers, and X has {n_features} columns; give one for each, or a dict "
            "of those columns that are not like the others."
        )
    return np.array(values)


def check_factors(factors: FloatArray, what: str, each: str = "column") -> FloatArray:
    """Return factors of penalties, or raise."""
    wrong = np.flatnonzero(~(factors >= 0))
    if len(wrong):
        raise ValueError(
            f"{what} must be numbers of at least 0, where 0 is never penalised and infinity left out; "
            f"got {factors[wrong[0]]:g} for {each} {wrong[0]}."
        )
    if len(factors) and not is_chosen(factors).any():
        raise ValueError(
            f"{what} leave no {each} to choose, all of them are 0 or infinite; give 1 to those that may "
            "come and go."
        )
    return factors


def check_signs(signs: FloatArray) -> FloatArray:
    wrong = np.flatnonzero(~np.isin(signs, (-1, 0, 1)))
    if len(wrong):
        raise ValueError(
            "signs must be 1 for coefficients that are not negative, -1 for those that are not positive and "
            f"0 for any; got {signs[wrong[0]]:g} for column {wrong[0]}."
        )
    return signs


def is_chosen(factors: FloatArray) -> Any:
    """Tell which atoms come and go: those that are neither always there nor left out."""
    return (factors > 0) & np.isfinite(factors)


def remembered(
    structure: Structure, name: str, n_features: int, make: Callable[[], FloatArray]
) -> FloatArray:
    """Return an array that belongs to a structure, made once."""
    cached: FloatArray | None = structure.__dict__.get(name)
    if cached is None or len(cached) != n_features:
        cached = make()
        cached.flags.writeable = False
        object.__setattr__(structure, name, cached)
    return cached
