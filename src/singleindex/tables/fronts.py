"""A model and what prepares its columns: put together, and taken apart again."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..estimators.outputs import is_single_index
from .models import TableClassifier, TableRegressor
from .pipelines import column_names, follow_pipeline
from .preparation import Preparation
from .recipe import Feature, Recipe

TABLES = (TableClassifier, TableRegressor)


@dataclass(frozen=True)
class Prepared:
    """A single-index model with the names of its features and classes, and what its features are made of.

    `recipe` is None for a model that takes features as they are, `width` the number of columns where these
    have no names but x0, x1, …. The model is to tell of, not to predict
    with: where there is a recipe, its classes may be names of those it was fitted to.
    """

    model: Any
    recipe: Recipe | None = None
    threshold: float = 0.5
    width: int | None = None


def taken_apart(model: Any) -> Prepared:
    """Return what is within a model for tables or a fitted pipeline; others are as they are."""
    if isinstance(model, Pipeline):
        last, recipe = model.steps[-1][1], follow_pipeline(model)
        if isinstance(last, TABLES) and recipe.features == [Feature(c, c) for c in column_names(model)]:
            return taken_apart(last)
        check_last(last)
        width = None if hasattr(model, "feature_names_in_") else model.n_features_in_
        return Prepared(named(last, recipe.names), recipe, width=width)
    if isinstance(model, TABLES):
        check_is_fitted(model)
        check_last(model.estimator_)
        recipe = recipe_of(model)
        labels = vars(model).get("labels_")
        return Prepared(
            named(model.estimator_, recipe.names, labels), recipe, getattr(model, "threshold", 0.5)
        )
    return Prepared(model)


def check_last(estimator: Any) -> None:
    if not is_single_index(estimator):
        raise TypeError(
            f"{type(estimator).__name__} cannot be exported, saved or reported on with its columns; let a "
            "fitted single-index regressor or classifier come last."
        )


def recipe_of(model: Any) -> Recipe:
    preparation: Preparation | Recipe = model.preparation_
    return preparation if isinstance(preparation, Recipe) else preparation.recipe()


def named(model: Any, names: Sequence[str], labels: Any = None) -> Any:
    """Return a model with other names of features and classes."""
    if len(names) != model.n_features_in_:
        raise ValueError(
            f"the steps make {len(names)} features, but the model was fitted to {model.n_features_in_}."
        )
    model = copy.copy(model)
    model.feature_names_in_ = np.array(names, dtype=object)
    if labels is not None and len(labels):
        model.classes_ = np.asarray(labels)
    return model


def front_of(
    model: Any, preparation: Preparation | Recipe, labels: Any = None, threshold: float = 0.5
) -> Any:
    """Return what takes data frames in front of a fitted model."""
    imputed = preparation.imputed if isinstance(preparation, Preparation) else "median"
    front = TableRegressor(model, impute=imputed)
    if "classes_" in vars(model):
        known = np.array(labels or model.classes_)  # a record has none where they are the model's
        positive = known.tolist()[1] if len(known) == 2 and not model.multilabel_ else None
        front = TableClassifier(model, threshold=threshold, positive=positive, impute=imputed)
        front.labels_ = known
        front.classes_ = np.sort(front.labels_)
    front.estimator_, front.preparation_ = model, preparation
    columns = [*dict.fromkeys(preparation.sources), *preparation.dropped]
    front.feature_names_in_, front.n_features_in_ = np.array(columns, dtype=object), len(columns)
    return front


def front_of_pipeline(pipeline: Pipeline) -> Any:
    """Return a model for tables that predicts what a fitted pipeline does."""
    apart, last = taken_apart(pipeline), pipeline.steps[-1][1]
    if isinstance(last, TABLES) or apart.recipe is None:
        return last
    front, names = front_of(apart.model, apart.recipe), column_names(pipeline)
    front.feature_names_in_, front.n_features_in_ = np.array(names, dtype=object), len(names)
    return front
