"""Which features halves of the rows find again: what a reader of a model asks first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from .resample import resample

# Rows that are asked at most: halves of so many find whatever there is to be found.
_MOST_ROWS = 20_000


class Stable(NamedTuple):
    """The stable features, those that are found most often first, and how many of them may be false."""

    features: list[int]
    bound: float


def find_stable(model: Any, X: Any, y: Any, weight: Any = None) -> Stable | None:
    """Return which features of a model are stable, of those in use; None where that cannot be told."""
    if X.shape[0] > _MOST_ROWS:
        some = np.sort(np.random.default_rng(0).choice(X.shape[0], _MOST_ROWS, replace=False))
        X, y = _safe_indexing(X, some), _safe_indexing(y, some)
        weight = None if weight is None else weight[some]
    try:
        found = resample(model, X, y, sample_weight=weight, n_permutations=0, random_state=0)
    except ValueError:  # too few rows, or a structure whose atoms are no features
        return None
    stable = np.intersect1d(found.stable(), found.facts.used)
    order = np.argsort(-found.shares()[stable].max(axis=1), kind="stable")
    return Stable(stable[order].tolist(), found.rule().bound)
