"""Our own methods: default settings, and the ablation with a logistic link throughout."""

from __future__ import annotations

import time

import numpy as np

from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV

from .tasks import Answer, Task

OURS = "singleindex"
FIXED_LINK = "singleindex, fixed link"


def fit_default(task: Task) -> dict[str, Answer]:
    return {OURS: fit_search(task)}


def fit_fixed_link(task: Task) -> dict[str, Answer]:
    link = "identity" if task.is_numeric else "logistic"
    return {FIXED_LINK: fit_search(task, link=link)}


def fit_at_most(task: Task, n_features: int) -> Answer:
    """Fit with a limit on the features in use."""
    return fit_search(task, n_atoms=[n_features], penalty=[])


def fit_search(task: Task, **settings) -> Answer:
    estimator = SingleIndexRegressorCV if task.is_numeric else SingleIndexClassifierCV
    began = time.process_time()
    model = estimator(**settings).fit(task.X, task.y)
    seconds = time.process_time() - began
    if task.is_numeric:
        return Answer(model.predict, model.predict, model.coef_, seconds)
    is_binary = np.ndim(task.y) == 1 and len(model.classes_) == 2
    return Answer(
        lambda X: model.predict_proba(X)[:, 1] if is_binary else model.predict_proba(X),
        model.decision_function,
        model.coef_,
        seconds,
    )
