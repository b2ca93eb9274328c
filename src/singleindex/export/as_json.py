"""A fitted model as JSON: small, documented, for programs that are not in Python."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .. import SingleIndexClassifier, SingleIndexRegressor
from ..estimators.outputs import Facts, Output
from ..link import FIXED_LINKS, MonotoneCurve, ShiftedLink
from ..tables.fronts import front_of, taken_apart
from ..tables.recipe import recipe_from
from .parts import parts_of

FORMAT = "singleindex-model"
VERSION = 1
KINDS = ("regression", "binary", "multiclass", "multilabel")


def to_json(model: Any, *, indent: int | None = None, preparation: dict[str, Any] | None = None) -> str:
    """Return a fitted model as JSON.

    Parameters
    ----------
    model : fitted estimator
        A single-index regressor or classifier, plain or with a search, a `TableClassifier` or
        `TableRegressor`, or a pipeline; how columns become features is then under "preparation".
    indent : int, default=None
        As in :func:`json.dumps`.
    preparation : dict, default=None
        Kept as it is under "preparation" beside what the model itself tells of it.

    Returns
    -------
    text : str

    Notes
    -----
    The members and how to predict from them are described in the documentation, under "The JSON format".
    What fitting left behind, such as the history, is not in it; `save` keeps all.

    Examples
    --------
    >>> from singleindex import SingleIndexRegressor
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.export import from_json, to_json
    >>> X, y, w, g = make_single_index(100, 20, n_atoms=2, noise="gaussian", random_state=0)
    >>> model = SingleIndexRegressor(n_atoms=2).fit(X, y)
    >>> text = to_json(model)
    >>> abs(from_json(text).predict(X) - model.predict(X)).max() < 1e-12
    np.True_
    """
    apart = taken_apart(model)
    parts = parts_of(apart.model)
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "kind": parts.kind,
        "n_features": len(parts.coef),
        "feature_names": parts.feature_names,
        "classes": parts.classes,
        "coupled": parts.is_coupled,
        "outputs": [output_record(output, parts) for output in parts.outputs],
    }
    if apart.recipe is not None:
        threshold = {"threshold": apart.threshold} if parts.kind == "binary" else {}
        preparation = {**(preparation or {}), **apart.recipe.as_record(), **threshold}
    if preparation is not None:
        document["preparation"] = preparation
    return json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False)


def output_record(output: Output, parts: Facts) -> dict[str, Any]:
    name = str(output.label)
    if parts.kind == "regression":
        name = f"y{output.number}" if len(parts.outputs) > 1 else "y"
    used, knots = np.flatnonzero(output.weights), output.link.knots_
    link: dict[str, Any] = {"type": output.link.name, "offset": output.link.offset}
    if knots is not None:
        link = {"type": "piecewise-linear", "x": knots[:, 0].tolist(), "y": knots[:, 1].tolist()}
    return {
        "name": name,
        "features": used.tolist(),
        "weights": output.weights[used].tolist(),
        "intercept": output.intercept,
        "link": link,
    }


def from_json(text: str) -> Any:
    """Return a model that predicts as the one that :func:`to_json` wrote.

    Parameters
    ----------
    text : str

    Returns
    -------
    model : SingleIndexRegressor or SingleIndexClassifier
        With `coef_`, `link_`, `classes_` and `intercept_`; its parameters are the defaults. Where the text
        has a preparation, a `TableRegressor` or `TableClassifier` in front of it.

    Raises
    ------
    ValueError
        Where the text is something else, or of a newer version.
    """
    document = json.loads(text)
    check_document(document)
    model = plain_model(document)
    if "features" not in document.get("preparation", {}):
        return model
    record = document["preparation"]
    recipe = recipe_from(record)
    recipe.check(document["n_features"])
    return front_of(model, recipe, threshold=record.get("threshold", 0.5))


def plain_model(document: dict[str, Any]) -> Any:
    outputs = document["outputs"]
    coef = np.zeros((document["n_features"], len(outputs)))
    for k, output in enumerate(outputs):
        coef[output["features"], k] = output["weights"]
    single = len(outputs) == 1
    links = [read_link(output["link"]) for output in outputs]
    model = SingleIndexRegressor() if document["kind"] == "regression" else SingleIndexClassifier()
    model.coef_ = coef[:, 0].copy() if single else coef
    model.link_ = links[0] if single else links
    model.n_features_in_, model.n_iter_, model.status_ = document["n_features"], 0, "CHOSEN"
    if document["feature_names"] is not None:
        model.feature_names_in_ = np.array(document["feature_names"], dtype=object)
    if document["kind"] != "regression":
        intercepts = np.array([output["intercept"] for output in outputs])
        model.classes_ = np.array(document["classes"])
        model.multilabel_ = document["kind"] == "multilabel"
        model.coupled_ = document.get("coupled", False) is True
        model.intercept_ = float(intercepts[0]) if single else intercepts
    return model


def check_document(document: Any) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError("this is no model by singleindex.export.to_json.")
    if not isinstance(document["version"], int) or document["version"] > VERSION:
        raise ValueError(
            f"the model has version {document['version']} of the format, this one reads up to {VERSION}; "
            "upgrade with pip install -U singleindex."
        )
    if document["kind"] not in KINDS:
        raise ValueError(f"the kind of model must be one of {KINDS}, got {document['kind']!r}.")


def read_link(record: dict[str, Any]) -> Any:
    if record["type"] == "piecewise-linear":
        return MonotoneCurve(record["x"], record["y"])
    if record["type"] not in FIXED_LINKS:
        raise ValueError(f"there is no link {record['type']!r} in this version.")
    return ShiftedLink(record["type"], record["offset"])
