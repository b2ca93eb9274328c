"""From prepared rows and options to a fitted estimator and its scores."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

from .data import Data, Rows
from .decisions import Threshold, check_threshold, confusion_of, parse_class_weight
from .messages import CliError
from .structures import make_structure


@dataclass(frozen=True)
class FitOptions:
    """What the user said about the model."""

    structure: str = "sparse"
    groups: str | None = None
    shape: str | None = None
    never_penalise: tuple[str, ...] = ()
    sign: tuple[str, ...] = ()
    n_atoms: list[int] | None = None
    folds: int = 10
    scoring: str | None = None
    rule: str = "average"
    average: bool = False
    jobs: int = 1
    class_weight: tuple[str, ...] = ()
    threshold: Threshold | None = None


@dataclass(frozen=True)
class Fitting:
    """A fitted model, what was noted on the way, and its scores on held-out rows."""

    model: Any
    notes: list[str]
    test_scores: dict[str, float]
    null_scores: dict[str, float]
    confusion: dict[str, int] | None
    test_errors: dict[str, dict[str, float]]
    stable: dict[str, Any] | None = None


def plan_fit(data: Data, options: FitOptions, verbose: bool) -> tuple[Any, list[str]]:
    """Return the estimator to fit, and notes on it; what cannot work is an error before any work is done."""
    check_threshold(options.threshold, len(data.target.classes) == 2, bool(options.class_weight))
    structure, notes = make_structure(options, data)
    folds, note = possible_folds(data, options.folds)
    notes += [note] if note else []
    if options.scoring is not None:
        check_scoring(options.scoring, data.target.task)
    return make_estimator(data, options, structure, folds, verbose), notes


def check_scoring(name: str, task: str) -> None:
    """Refuse scores that scikit-learn does not have, and those of the other kind of problem."""
    from sklearn.metrics import get_scorer, get_scorer_names

    if name not in get_scorer_names():
        raise CliError(f"there is no score {name!r}; use one of scikit-learn's, such as roc_auc or r2")
    of_numbers = get_scorer(name)._score_func.__module__.endswith("_regression")
    if of_numbers != (task == "regression"):
        suits = "neg_mean_squared_error or r2" if task == "regression" else "neg_log_loss or roc_auc"
        raise CliError(f"the score {name!r} is not for {task}; use one such as {suits}")


def run_fit(model: Any, data: Data, options: FitOptions, notes: list[str]) -> Fitting:
    from ..fitting.cross_fit import IndexNotIdentifiedWarning
    from ..fitting.folds import SplitWarning

    with warnings.catch_warnings():
        for kind in (IndexNotIdentifiedWarning, SplitWarning):
            warnings.simplefilter("always", kind)
        model.fit(data.train.X, data.train.y, data.train.weight)
    # What the model remembers goes into the file; how chatty it was does not belong there.
    model.set_params(verbose=0, n_jobs=None)
    stable = stable_record(model, data)
    if data.test is None:
        return Fitting(model, notes, {}, {}, None, {}, stable)
    scored = with_scores(model, notes, data.seen, data.test, options.threshold or Threshold())
    return replace(scored, stable=stable)


def stable_record(model: Any, data: Data) -> dict[str, Any] | None:
    """Return the names of the features that halves of the rows find again, and how many may be false."""
    from ..inspection.stable import find_stable

    found = find_stable(model, data.seen.X, data.seen.y, data.seen.weight)
    if found is None:
        return None
    names = data.preparation.names
    return {"features": [names[j] for j in found.features], "bound": found.bound}


def make_estimator(data: Data, options: FitOptions, structure: Any, folds: int, verbose: bool) -> Any:
    from .. import SingleIndexClassifierCV, SingleIndexRegressorCV

    classes = data.target.task == "classification"
    settings: dict[str, Any] = {
        "n_atoms": options.n_atoms, "structure": structure, "rule": options.rule, "cv": folds,
        "refit": "folds" if options.average else "auto", "n_jobs": options.jobs, "verbose": int(verbose),
    }  # fmt: skip
    if options.scoring is not None:
        settings["scoring"] = options.scoring
    weight = parse_class_weight(options.class_weight, data.target.classes, data.target.is_coded)
    if classes:
        settings["class_weight"] = weight
    kind = SingleIndexClassifierCV if classes else SingleIndexRegressorCV
    return kind(**settings)


def possible_folds(data: Data, folds: int) -> tuple[int, str]:
    """Return how many folds the smallest class allows."""
    if not data.target.classes:
        if data.train.n < 2 * folds:
            if data.train.n < 4:
                raise CliError(f"{data.train.n} rows to learn from are too few; four are the least")
            return 2, f"only {data.train.n} rows: 2 folds in place of {folds}"
        return folds, ""
    counts = data.class_counts
    rare = min(counts, key=lambda label: counts[label])
    least = counts[rare]
    if least < 2:
        raise CliError(
            f"class {rare} has a single row to learn from; leave it out, or join it with another class"
        )
    if least < folds:
        return least, f"class {rare} has {least} rows: {least} folds in place of {folds}"
    return folds, ""


def with_scores(model: Any, notes: list[str], train: Rows, test: Rows, threshold: Threshold) -> Fitting:
    """Return the model with its scores on the rows that were kept back, and those of the null model."""
    from ..inspection.scores import null_predictions, predictions_of, score_all, score_errors

    predicted, null = predictions_of(model, test.X), null_predictions(model, train.y, test.n, train.weight)
    return Fitting(
        model,
        notes,
        test_scores=score_all(predicted, test.y, model),
        null_scores=score_all(null, test.y, model),
        confusion=confusion_of(model, predicted.value, test.y, threshold),
        test_errors=score_errors(model, predicted, null, test.y),
    )
