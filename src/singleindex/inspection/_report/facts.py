"""What the report tells, as numbers: the link and its band, the features, the scores beside others'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing

from ...estimators.outputs import facts_of, outputs_of
from ...fitting.cross_fit import spread_of
from ...fitting.ratings import is_frame
from ...link import Link
from ..scores import Predictions, null_predictions, outcomes, predictions_of, score_all
from .baselines import Baseline, make_baseline
from .folds import Folds, full_index, make_folds

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
    """One feature with a weight: per output the weight and what one standard deviation of it does."""

    name: str
    weights: list[float]
    effects: list[float]
    stability: float | None
    mean: float
    spread: float


@dataclass(frozen=True)
class Facts:
    """All of it."""

    outputs: list[str]
    folds: Folds
    links: list[LinkFacts]
    features: list[Feature]
    baseline: Baseline
    held_out: dict[str, dict[str, float]]
    test: dict[str, dict[str, float]]
    test_predictions: Predictions | None


def collect(
    model: Any, train: Any, test: Any, names: list[str], outputs: list[str], n_folds: int, n_jobs: Any
) -> Facts:
    """Compute what the page shows. `train` and `test` are (X, y, weight); test may be None."""
    X, y, weight = train
    folds = make_folds(model, X, y, weight, n_folds, n_jobs)
    baseline = make_baseline(model, folds.splits, train, test)
    predicted = None if test is None else predictions_of(model, test[0])
    return Facts(
        outputs=outputs,
        folds=folds,
        links=[link_facts(model, X, y, weight, folds, k, name) for k, name in enumerate(outputs)],
        features=feature_facts(model, X, names),
        baseline=baseline,
        held_out=held_out_scores(model, y, weight, folds, baseline),
        test={}
        if test is None or predicted is None
        else test_scores(model, train, test, predicted, baseline),
        test_predictions=predicted,
    )


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


def feature_facts(model: Any, X: Any, names: list[str]) -> list[Feature]:
    """Return the features with a weight, those that move the index most first."""
    facts = facts_of(model)
    coef, used = facts.coef, facts.used
    means, spreads = moments(X, used)
    means = np.where(np.abs(means) < 1e-10 * spreads, 0.0, means)  # of centred columns, but for rounding
    stability = facts.stability
    found = []
    for j, mean, spread in zip(used.tolist(), means, spreads, strict=True):
        share = None if stability is None else float(stability[j])
        found.append(
            Feature(
                names[j], coef[j].tolist(), (coef[j] * spread).tolist(), share, float(mean), float(spread)
            )
        )
    return sorted(found, key=lambda feature: -max(map(abs, feature.effects)))


def moments(X: Any, used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if sparse.issparse(X):
        part = X.tocsc()[:, used]
        mean = np.asarray(part.mean(axis=0)).ravel()
        square = np.asarray(part.multiply(part).mean(axis=0)).ravel()
        return mean, np.sqrt(np.maximum(square - mean**2, 0))
    part = np.asarray(_safe_indexing(X, used, axis=1), dtype=np.float64 if is_frame(X) else None)
    return part.mean(axis=0), part.std(axis=0)


# ---------------------------------------------------------------- the scores


def held_out_scores(model: Any, y: Any, weight: Any, folds: Folds, baseline: Baseline) -> dict[str, Any]:
    null = np.empty_like(folds.predictions.value)
    for train, test in folds.splits:
        fold_weight = None if weight is None else weight[train]
        null[test] = null_predictions(model, np.asarray(y)[train], len(test), fold_weight).value
    return {
        "singleindex": score_all(folds.predictions, y, model),
        baseline.name: score_all(baseline.held_out, y, model),
        "no features": score_all(Predictions(null, np.zeros_like(null)), y, model),
    }


def test_scores(
    model: Any, train: Any, test: Any, predicted: Predictions, baseline: Baseline
) -> dict[str, Any]:
    y = test[1]
    found = {"singleindex": score_all(predicted, y, model)}
    if baseline.test is not None:
        found[baseline.name] = score_all(baseline.test, y, model)
    found["no features"] = score_all(null_predictions(model, train[1], len(y), train[2]), y, model)
    return found
