"""Fitted pipelines of scikit-learn as recipes: what each feature is, by the fitted attributes of the steps.

Steps are followed one after the other. Until it is encoded or reaches the model, a column is a feature that
is as it comes: `missing` is then what was filled in, a number or text, and NaN is a gap still.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from .columns import NUMBER
from .recipe import TEXT, Column, Feature, Recipe

Features = list[Feature]


class Follower:
    """Follows columns through the steps of a fitted pipeline."""

    def __init__(self) -> None:
        self.known: dict[str, list[Any]] = {}

    def follow(self, step: Any, features: Features, where: str) -> Features:
        if step is None or (isinstance(step, str) and step == "passthrough"):
            return features
        if isinstance(step, str) and step == "drop":
            return []
        known = _STEPS.get(type(step))
        if known is None:
            raise cannot(where, step, "it is none of " + ", ".join(sorted(kind.__name__ for kind in _STEPS)))
        return known(self, step, features, where)

    # ------------------------------------------------------------ steps of steps

    def pipeline(self, step: Pipeline, features: Features, where: str) -> Features:
        for name, part in step.steps:
            features = self.follow(part, features, within(where, name))
        return features

    def columns(self, step: ColumnTransformer, features: Features, where: str) -> Features:
        names = vars(step).get("feature_names_in_")
        made: Features = []
        for name, part, chosen in step.transformers_:
            taken = [features[j] for j in positions(chosen, len(features), names)]
            made += self.follow(part, taken, within(where, name)) if taken else []
        return made

    def union(self, step: FeatureUnion, features: Features, where: str) -> Features:
        if step.transformer_weights:
            raise cannot(where, step, "transformer_weights are not followed")
        parts = step.transformer_list
        return [f for name, part in parts for f in self.follow(part, features, within(where, name))]

    # ------------------------------------------------------------ numbers

    def function(self, step: FunctionTransformer, features: Features, where: str) -> Features:
        if step.func is not None:
            raise cannot(where, step, "a function of one's own can only be run in Python")
        return features

    def standard(self, step: StandardScaler, features: Features, where: str) -> Features:
        return scaled(features, step.mean_ if step.with_mean else None, step.scale_)

    def robust(self, step: RobustScaler, features: Features, where: str) -> Features:
        return scaled(features, step.center_, step.scale_)

    def by_largest(self, step: MaxAbsScaler, features: Features, where: str) -> Features:
        return scaled(features, None, step.scale_)

    def by_range(self, step: MinMaxScaler, features: Features, where: str) -> Features:
        bounds = step.feature_range if step.clip else (None, None)
        return scaled(features, -step.min_ / step.scale_, 1 / step.scale_, *bounds)

    def varying(self, step: VarianceThreshold, features: Features, where: str) -> Features:
        return [features[j] for j in step.get_support(indices=True)]

    # ------------------------------------------------------------ gaps

    def imputed(self, step: SimpleImputer, features: Features, where: str) -> Features:
        if not is_gap(step.missing_values):
            raise cannot(where, step, f"it fills in for {step.missing_values!r}, not for gaps")
        fills = [plain(value) for value in step.statistics_]
        made = [without_gaps(f, fill) for f, fill in zip(features, fills, strict=True) if not is_gap(fill)]
        return made + (indicators(step.indicator_, features) if step.add_indicator else [])

    def gaps(self, step: MissingIndicator, features: Features, where: str) -> Features:
        if not is_gap(step.missing_values):
            raise cannot(where, step, f"it looks for {step.missing_values!r}, not for gaps")
        return indicators(step, features)

    # ------------------------------------------------------------ categories

    def one_hot(self, step: OneHotEncoder, features: Features, where: str) -> Features:
        rare = vars_of_rare(step, len(features))
        dropped: Any = [None] * len(features) if step.drop_idx_ is None else step.drop_idx_
        made: Features = []
        for j, feature in enumerate(features):
            categories = self.categories(step, feature, j, where)
            few = [] if rare[j] is None else [plain(value) for value in rare[j]]
            groups = [[value] for value in categories if not is_in(value, few)] + ([few] if few else [])
            left_out = None if dropped[j] is None else categories[dropped[j]]
            for group in groups:
                if left_out is not None and is_in(left_out, group):
                    continue
                pairs = [(value, float(is_in(value, group))) for value in categories]
                takes_new = group is few and step.handle_unknown in ("infrequent_if_exist", "warn")
                label = "rare" if group is few else group[0]
                coded = encoded(feature, pairs, float(takes_new), step.handle_unknown == "error")
                made.append(replace(coded, name=f"{feature.name}={label}"))
        return made

    def ordinal(self, step: OrdinalEncoder, features: Features, where: str) -> Features:
        if any(rare is not None for rare in vars_of_rare(step, len(features))):
            raise cannot(where, step, "max_categories and min_frequency are followed for OneHotEncoder only")
        made = []
        for j, feature in enumerate(features):
            categories = self.categories(step, feature, j, where)
            places = [value for value in categories if not is_gap(value)]
            pairs = [(value, float(k)) for k, value in enumerate(places)]
            if len(places) < len(categories):
                pairs.append((math.nan, float(step.encoded_missing_value)))
            refuses = step.handle_unknown == "error"
            made.append(encoded(feature, pairs, 0.0 if refuses else float(step.unknown_value), refuses))
        return made

    def categories(self, step: Any, feature: Feature, j: int, where: str) -> list[Any]:
        """Return the categories of a column that is as it comes; note where no others may be."""
        if not is_plain(feature):
            raise cannot(where, step, f"{feature.name!r} was changed by a step before it")
        values = [plain(value) for value in step.categories_[j]]
        there = [value for value in values if not is_gap(value)]
        if len({isinstance(value, str) for value in there}) > 1:
            raise cannot(where, step, f"{feature.name!r} has both text and numbers for categories")
        if step.handle_unknown == "error":
            self.known[feature.column] = there
        return values


_STEPS: dict[type, Callable[[Follower, Any, Features, str], Features]] = {
    Pipeline: Follower.pipeline, ColumnTransformer: Follower.columns, FeatureUnion: Follower.union,
    FunctionTransformer: Follower.function, StandardScaler: Follower.standard, RobustScaler: Follower.robust,
    MaxAbsScaler: Follower.by_largest, MinMaxScaler: Follower.by_range, VarianceThreshold: Follower.varying,
    SimpleImputer: Follower.imputed, MissingIndicator: Follower.gaps, OneHotEncoder: Follower.one_hot,
    OrdinalEncoder: Follower.ordinal,
}  # fmt: skip


def follow_pipeline(pipeline: Pipeline) -> Recipe:
    """Return what the steps before the last make of the columns; raise where one cannot be followed."""
    check_is_fitted(pipeline)
    names = column_names(pipeline)
    follower = Follower()
    features = [Feature(name, name, missing=math.nan) for name in names]
    for name, step in pipeline.steps[:-1]:
        features = follower.follow(step, features, name)
    texts = {f.column for f in features if any(isinstance(value, str) for value, _ in f.values or [])}
    used = {f.column for f in features}
    columns = [
        Column(name, TEXT if name in texts else NUMBER, follower.known.get(name))
        for name in names
        if name in used
    ]
    return Recipe(columns, with_own_names([finished(feature) for feature in features]))


def column_names(pipeline: Pipeline) -> list[str]:
    if not hasattr(pipeline, "n_features_in_"):
        raise ValueError("the first step of the pipeline does not tell how many columns it takes.")
    names = getattr(pipeline, "feature_names_in_", None)
    return [f"x{j}" for j in range(pipeline.n_features_in_)] if names is None else list(map(str, names))


def finished(feature: Feature) -> Feature:
    """Return a feature as the model takes it: what is a gap still has no answer."""
    if isinstance(feature.missing, str):
        raise ValueError(
            f"column {feature.column!r} is text and reaches the model as it is; encode it with OneHotEncoder."
        )
    values = None if feature.values is None else [[v, none_for_gap(to)] for v, to in feature.values]
    # What is as all the others need not be told.
    values = values and [pair for pair in values if pair[1] != feature.otherwise]
    missing, otherwise = none_for_gap(feature.missing), none_for_gap(feature.otherwise)
    return replace(feature, values=values, missing=missing, otherwise=otherwise)


def with_own_names(features: Features) -> Features:
    """Return features of different names: the second age is age (2)."""
    counts: dict[str, int] = {}
    made = []
    for feature in features:
        counts[feature.name] = counts.get(feature.name, 0) + 1
        again = f" ({counts[feature.name]})" if counts[feature.name] > 1 else ""
        made.append(replace(feature, name=feature.name + again))
    return made


# ---------------------------------------------------------------- what steps do to a feature


def scaled(
    features: Features, shifts: Any, scales: Any, low: float | None = None, high: float | None = None
) -> Features:
    """Return (feature - shift) / scale, within bounds."""
    n = len(features)
    shifts = np.zeros(n) if shifts is None else shifts
    scales = np.ones(n) if scales is None else scales
    return [
        rescaled(feature, float(shift), 1 / float(scale), low, high)
        for feature, shift, scale in zip(features, shifts, scales, strict=True)
    ]


def rescaled(
    feature: Feature, shift: float, scale: float, low: float | None = None, high: float | None = None
) -> Feature:
    step = Feature("", "", shift=shift, scale=scale, low=low, high=high)

    def after(value: Any) -> Any:
        return value if value is None else float(step.at(float(value)))

    if feature.values is not None:
        values = [(value, after(to)) for value, to in feature.values]
        return replace(
            feature, values=values, otherwise=after(feature.otherwise), missing=after(feature.missing)
        )
    # Of two bounds, one after the other, the tighter ones hold.
    lows = [b for b in (after(feature.low), low) if b is not None]
    highs = [b for b in (after(feature.high), high) if b is not None]
    return replace(
        feature,
        missing=after(feature.missing),
        shift=feature.shift + shift / feature.scale,
        scale=feature.scale * scale,
        low=max(lows, default=None),
        high=min(highs, default=None),
    )


def without_gaps(feature: Feature, fill: Any) -> Feature:
    def after(value: Any) -> Any:
        return fill if is_nan(value) else value

    values = feature.values and [(value, after(to)) for value, to in feature.values]
    return replace(feature, missing=after(feature.missing), otherwise=after(feature.otherwise), values=values)


def indicators(step: MissingIndicator, features: Features) -> Features:
    """Return features that are 1 where others are gaps."""

    def after(value: Any) -> float:
        return float(is_nan(value))

    return [
        Feature(
            f"{features[j].name} is missing", features[j].column, missing=after(features[j].missing),
            values=[(value, after(to)) for value, to in features[j].values or []],
            otherwise=after(features[j].otherwise),
        )
        for j in step.features_.tolist()
    ]  # fmt: skip


def encoded(feature: Feature, pairs: list[tuple[Any, float]], otherwise: float, refuses: bool) -> Feature:
    """Return what an encoder makes of a column: of its categories, of other values, and of gaps."""
    values = [pair for pair in pairs if not is_gap(pair[0])]
    gaps = [to for value, to in pairs if is_gap(value)]
    new = None if refuses else otherwise
    missing = gaps[0] if gaps else new
    if not gaps and not is_gap(feature.missing):
        missing = next((to for value, to in values if value == feature.missing), new)
    return replace(feature, values=values, otherwise=otherwise, missing=missing)


# ---------------------------------------------------------------- small things


def is_gap(value: Any) -> bool:
    """Tell what stands for a missing value in a table."""
    return value is None or type(value).__name__ == "NAType" or is_nan(value)


def is_nan(value: Any) -> bool:
    """Tell what a later step may fill in; None was refused by an earlier one."""
    return isinstance(value, float) and math.isnan(value)


def is_in(value: Any, group: Iterable[Any]) -> bool:
    return any(value == other or (is_gap(value) and is_gap(other)) for other in group)


def is_plain(feature: Feature) -> bool:
    return feature.values is None and (feature.shift, feature.scale) == (0.0, 1.0) and feature.low is None


def plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def none_for_gap(value: Any) -> Any:
    return None if is_gap(value) else value


def vars_of_rare(step: Any, n: int) -> list[Any]:
    """Return the infrequent categories of each column, None where there are none."""
    return list(getattr(step, "infrequent_categories_", None) or [None] * n)


def positions(chosen: Any, n: int, names: Any) -> list[int]:
    """Return which columns are meant: by number, name, slice or mask."""
    places: Any = np.arange(n)[None, :]
    if names is not None:
        import pandas

        places = pandas.DataFrame(places, columns=names)
    found = _safe_indexing(places, chosen, axis=1)
    return [int(j) for j in np.ravel(found)]


def within(where: str, name: str) -> str:
    return f"{where} → {name}" if where else name


def cannot(where: str, step: Any, why: str) -> ValueError:
    return ValueError(
        f"the step {where!r} of the pipeline, a {type(step).__name__}, cannot go along: {why}. Do it to the "
        "columns before the pipeline, or keep the pipeline with skops or joblib."
    )
