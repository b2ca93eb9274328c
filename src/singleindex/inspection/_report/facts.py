"""What the report tells, as numbers: the link and its band, the features, the scores beside others'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ...estimators.effects import effects_of
from ...estimators.outputs import Facts as ModelFacts
from ...estimators.outputs import facts_of, outputs_of
from ...fitting.background import background_of
from ...fitting.cross_fit import spread_of
from ...link import Link
from ..scores import (
    Predictions,
    best_of,
    evidence,
    null_predictions,
    outcomes,
    predictions_of,
    score_all,
    score_errors,
)
from .baselines import Rivals, make_rivals
from .folds import Folds, full_index, make_folds

# What the model, and the mean alone, are called beside others.
OURS, NO_FEATURES = "singleindex", "no features"
_GRID = 400
_STANDARD_ERRORS = 2.0


@dataclass(frozen=True)
class LinkFacts:
    """The link of one output over the index, with the rows at the index they got unseen."""

    name: str
    grid: np.ndarray
    values: np.ndarray
    band_low: np.ndarray
    band_high: np.ndarray
    index: np.ndarray
    outcome: np.ndarray


@dataclass(frozen=True)
class Feature:
    """One feature with a weight: per output the weight, what one standard deviation does, and in words."""

    name: str
    weights: list[float]
    effects: list[float]
    words: list[str]
    stability: float | None
    mean: float
    spread: float


@dataclass(frozen=True)
class Scores:
    """Scores of the model and of others on the same rows, by name and measure.

    `errors` are standard errors, of measures that have one; `best` names who is better than all others beyond
    the error of the difference, by measure, where one is. `gains` tell by how much the model is better than
    each of the others, with the standard errors of these differences on the same rows.
    """

    values: dict[str, dict[str, float]]
    errors: dict[str, dict[str, float]]
    best: dict[str, str]
    gains: dict[str, dict[str, tuple[float, float]]]


@dataclass(frozen=True)
class Facts:
    """All of it; `p_value` is that of the rows left out in turn, of the hypothesis that nothing predicts.

    `model` is what the fitted model is, with a background in any case.
    """

    outputs: list[str]
    folds: Folds
    links: list[LinkFacts]
    features: list[Feature]
    rivals: Rivals
    held_out: Scores
    test: Scores | None
    test_predictions: Predictions | None
    p_value: float
    model: ModelFacts


def collect(
    model: Any, train: Any, test: Any, names: list[str], outputs: list[str], n_folds: int, n_jobs: Any
) -> Facts:
    """Compute what the page shows. `train` and `test` are (X, y, weight); test may be None."""
    X, y, weight = train
    folds = make_folds(model, X, y, weight, n_folds, n_jobs)
    rivals = make_rivals(model, folds.splits, train, test)
    predicted = None if test is None else predictions_of(model, test[0])
    null = null_in_turn(model, y, weight, folds)
    known = with_background(model, X, weight)
    return Facts(
        outputs=outputs,
        folds=folds,
        links=[link_facts(model, X, y, weight, folds, k, name) for k, name in enumerate(outputs)],
        features=feature_facts(known, names),
        rivals=rivals,
        held_out=scores_of(
            model, y, folds.predictions, {one.name: one.held_out for one in rivals.found}, null
        ),
        test=None
        if test is None or predicted is None
        else scores_of(
            model, test[1], predicted, {one.name: one.test for one in rivals.found},
            null_predictions(model, y, len(test[1]), weight),
        ),
        test_predictions=predicted,
        p_value=evidence(model, folds.predictions, null, y),
        model=known,
    )  # fmt: skip


def output_names(model: Any, target: str, class_names: Sequence[str] | None = None) -> list[str]:
    facts = facts_of(model)
    if facts.kind in ("binary", "multiclass"):
        labels = list(class_names or facts.classes)[-len(facts.outputs) :]
        return [f"{target} = {label}" for label in labels]
    if len(facts.outputs) == 1:
        return [target]
    names = target.split(", ")
    return names if len(names) == len(facts.outputs) else [f"{target} {o.number}" for o in facts.outputs]


# ---------------------------------------------------------------- the link


def link_facts(model: Any, X: Any, y: Any, weight: Any, folds: Folds, k: int, name: str) -> LinkFacts:
    mean, spread = spread_of(full_index(model, X)[:, k], weight)
    link = outputs_of(model)[k].link
    # What the folds call one is one standard deviation of the index here.
    unseen = mean + spread * folds.index[:, k]
    low, high = np.quantile(unseen, [0.002, 0.998])
    grid = np.unique(np.concatenate([np.linspace(low, high, _GRID), corners(link, low, high)]))
    values = np.asarray(link(grid))
    below, above = values, values
    if spread > 0:
        error = jackknife_error([fold.curve(k, (grid - mean) / spread) for fold in folds.models])
        below, above = values - _STANDARD_ERRORS * error, values + _STANDARD_ERRORS * error
        if is_classifier(model):
            below, above = np.clip(below, 0, 1), np.clip(above, 0, 1)
    return LinkFacts(name, grid, values, below, above, unseen, outcomes(model, y)[:, k])


def corners(link: Link, low: float, high: float) -> np.ndarray:
    if link.knots_ is None:
        return np.empty(0)
    x: np.ndarray = link.knots_[:, 0]
    return x[(x > low) & (x < high)]


def jackknife_error(curves: list[np.ndarray]) -> np.ndarray:
    """Return the standard error of a curve, from curves that each lack the rows of one fold."""
    stack, n = np.array(curves), len(curves)
    error: np.ndarray = np.sqrt((n - 1) / n * np.sum((stack - stack.mean(axis=0)) ** 2, axis=0))
    return error


# ---------------------------------------------------------------- the features


def with_background(model: Any, X: Any, weight: Any) -> ModelFacts:
    facts = facts_of(model)
    if facts.background is not None:
        return facts
    # It was fitted to data in blocks, or by an earlier version.
    return replace(facts, background=background_of(facts.coef, X, weight))


def feature_facts(facts: ModelFacts, names: list[str]) -> list[Feature]:
    """Return the features with a weight, those that change the prediction most first."""
    known, stability, kind = facts.background, facts.stability, facts.kind
    assert known is not None
    place = {j: i for i, j in enumerate(known["feature"].tolist())}
    found = []
    for effect in effects_of(facts):
        j = effect.feature
        found.append(
            Feature(
                name=names[j],
                weights=facts.coef[j].tolist(),
                effects=effect.size.tolist(),
                words=[effect.in_words(kind, k) for k in range(len(facts.outputs))],
                stability=None if stability is None else float(stability[j]),
                mean=float(known["mean"][place[j]]),
                spread=float(known["spread"][place[j]]),
            )
        )
    return found


# ---------------------------------------------------------------- the scores


def null_in_turn(model: Any, y: Any, weight: Any, folds: Folds) -> Predictions:
    """Return what only knows the mean of the rows that are not left out."""
    null = np.empty_like(folds.predictions.value)
    for train, test in folds.splits:
        fold_weight = None if weight is None else weight[train]
        null[test] = null_predictions(model, np.asarray(y)[train], len(test), fold_weight).value
    return Predictions(null, np.zeros_like(null))


def scores_of(
    model: Any, y: Any, ours: Predictions, beside: dict[str, Predictions | None], null: Predictions
) -> Scores:
    others = {name: one for name, one in beside.items() if one is not None} | {NO_FEATURES: null}
    contestants = {OURS: ours} | others
    errors = {name: score_errors(model, one, null, y) for name, one in contestants.items()}
    gains = {name: score_errors(model, ours, one, y) for name, one in others.items()}
    return Scores(
        {name: score_all(one, y, model) for name, one in contestants.items()},
        {name: {measure: one["error"] for measure, one in found.items()} for name, found in errors.items()},
        best_of(model, contestants, y),
        {
            name: {m: (one["gain"], one["gain_error"]) for m, one in found.items() if "gain" in one}
            for name, found in gains.items()
        },
    )
