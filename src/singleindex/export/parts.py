"""What every export needs to know of a model and of its links."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..estimators.outputs import Facts, facts_of, is_single_index
from ..link import FIXED_LINKS, Link, ShiftedLink

FloatArray = NDArray[np.float64]
# As in the classifier: the least score of a class before the scores of all are made to sum to one.
LEAST_SCORE = 1e-6


def parts_of(model: Any) -> Facts:
    """Return what a fitted single-index model consists of; raise where it cannot be exported."""
    check_is_fitted(model)
    if not is_single_index(model):
        raise TypeError(
            f"{type(model).__name__} cannot be exported; pass a fitted single-index regressor or classifier."
        )
    facts = facts_of(model)
    if not all(can_be_written(output.link) for output in facts.outputs):
        raise ValueError(
            "a model with a link function of your own cannot be exported; use link='learned' or one of "
            f"{sorted(FIXED_LINKS)}."
        )
    return facts


def can_be_written(link: Link) -> bool:
    """Tell a link through knots, constant beyond them, and a known function of index + offset."""
    known = isinstance(link, ShiftedLink) and not callable(link.name)
    return known or link.knots_ is not None


def segments(knots: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return start, value and slope of each piece; the first lies before all knots, the last beyond them."""
    x, y = knots[:, 0], knots[:, 1]
    slopes = np.diff(y) / np.diff(x)
    return np.append(x[0], x), np.append(y[0], y), np.concatenate([[0.0], slopes, [0.0]])
