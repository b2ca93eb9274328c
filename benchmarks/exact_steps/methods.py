"""The methods of the studies: ours by default settings, the ablation with a fixed link, and the rivals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from benchmarks.timing import timed
from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV

from . import rivals
from .tasks import Answer, Task, task_figures

OURS = "singleindex"
FIXED_LINK = "singleindex, fixed link"


def fit_default(task: Task) -> dict[str, Answer]:
    return {OURS: fit_search(task)}


def fit_fixed_link(task: Task) -> dict[str, Answer]:
    link = "identity" if task.is_numeric else "logistic"
    return {FIXED_LINK: fit_search(task, link=link)}


def fit_search(task: Task, **settings) -> Answer:
    estimator = SingleIndexRegressorCV if task.is_numeric else SingleIndexClassifierCV
    model, seconds = timed(lambda: estimator(**settings).fit(task.X, task.y))
    if task.is_numeric:
        return Answer(model.predict, model.predict, model.coef_, seconds)
    is_binary = np.ndim(task.y) == 1 and len(model.classes_) == 2

    def predict(X):
        return model.predict_proba(X)[:, 1] if is_binary else model.predict_proba(X)

    return Answer(predict, model.decision_function, model.coef_, seconds)


def fit_searches(settings: Mapping[str, dict], task: Task, **common) -> dict[str, Answer]:
    """Return a search for each of several settings, by their names."""
    return {name: fit_search(task, **common, **own) for name, own in settings.items()}


FITS = {"ours": fit_default, "ablation": fit_fixed_link, "L1": rivals.l1, "L2": rivals.l2}


def families(*names: str) -> dict[str, Callable[[Task], dict[str, dict[str, float]]]]:
    """Return the methods of these names, each as what turns a task into figures."""
    return {name: partial(measure, FITS[name]) for name in names}


def measure(fit, task: Task) -> dict[str, dict[str, float]]:
    return {name: task_figures(task, answer) for name, answer in fit(task).items()}
