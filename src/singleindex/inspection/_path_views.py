"""What is to be drawn of a path: that of a search, or one that was traced alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimators import SingleIndexPath
from ..estimators.outputs import Search, facts_of, search_of
from ._layers import FloatArray, _feature_names, _position, _shorten, _shown_name
from ._search_curves import chosen_level, readable


class PathView(NamedTuple):
    """Coefficients of shape (levels, features, outputs), where they lie, and what to call them.

    `level` is the one whose features are named: the chosen one, or the richest where nobody chose.
    """

    coefs: FloatArray
    places: FloatArray
    is_soft: bool
    level: int
    is_chosen: bool
    names: list[str]
    labels: list[Any]
    output_names: list[str]


def view_of(model: Any, feature_names: Sequence[str] | None) -> PathView:
    if isinstance(model, SingleIndexPath):
        return _traced(model, feature_names)
    search, facts = searched(model), facts_of(model)
    path = readable(search.path)
    is_soft = path["kind"][0] == "soft"
    return PathView(
        coefs=_with_outputs(path["coefs"]),
        places=np.array(path["penalty"] if is_soft else path["n_atoms"], dtype=np.float64),
        is_soft=is_soft,
        level=chosen_level(search, path, facts.outputs[0].best_iter),
        is_chosen=True,
        names=_feature_names(facts, feature_names),
        labels=[output.label for output in facts.outputs],
        output_names=[output.name for output in facts.outputs],
    )


def searched(model: Any) -> Search:
    check_is_fitted(model)
    search = search_of(model)
    if search is None or not search.path:
        raise ValueError(
            f"{type(model).__name__} has not searched for its settings; pass a fitted "
            "SingleIndexRegressorCV or SingleIndexClassifierCV."
        )
    return search


def _traced(path: SingleIndexPath, feature_names: Sequence[str] | None) -> PathView:
    is_soft = path.n_atoms is None
    places = np.asarray(path.penalty if is_soft else path.n_atoms, dtype=np.float64)
    coefs = _with_outputs(path.coefs)
    names = path.feature_names if feature_names is None else [str(name) for name in feature_names]
    names = [f"x{j}" for j in range(coefs.shape[1])] if names is None else names
    if len(names) != coefs.shape[1]:
        raise ValueError(f"feature_names must have {coefs.shape[1]} names, got {len(names)}.")
    labels = list(range(coefs.shape[2]))
    return PathView(
        coefs=coefs,
        places=places,
        is_soft=is_soft,
        level=int(np.argmin(places) if is_soft else np.argmax(places)),
        is_chosen=False,
        names=[_shorten(name, 48) for name in names],
        labels=labels,
        output_names=[f"output {label}" for label in labels],
    )


def _with_outputs(coefs: Any) -> FloatArray:
    coefs = np.asarray(coefs, dtype=np.float64)
    every: FloatArray = coefs.reshape(*coefs.shape[:2], -1)
    return every


def unit_coefs(view: PathView, wanted: Any) -> tuple[FloatArray, str]:
    """Return the coefficients of each level divided by their norm, and what to call them."""
    every = range(len(view.labels))
    chosen = list(every) if wanted is None else [_position(view.labels, wanted)]
    coefs = view.coefs[:, :, chosen]
    norms = np.linalg.norm(coefs, axis=1, keepdims=True)
    coefs = np.divide(coefs, norms, out=np.zeros_like(coefs), where=norms > 0)
    if len(chosen) > 1:
        return np.linalg.norm(coefs, axis=2) / np.sqrt(len(chosen)), "size of the coefficients / norm of w"
    of = "" if len(every) == 1 else f" of {_shown_name(view.output_names[chosen[0]])}"
    return coefs[:, :, 0], f"coefficient{of} / norm of w"
