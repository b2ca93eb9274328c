"""Who takes part: every solver, where it lives, and which problems it can do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entrant:
    """A solver: its name in the results, where it lives and what it does.

    `package` is the one whose version is told, `group` its environment; `module` is a file in `peers/`,
    `solver` a class in it. `levels` says how the simplicity of w is set: by "penalty" in the units of the
    lasso, by "share" of the largest penalty, by "size", or not at all.
    """

    name: str
    package: str
    group: str
    module: str
    solver: str
    levels: str | None
    tasks: tuple[str, ...]


# Those that take seconds on the smallest problems: a quick run leaves them out.
_SLOW = {
    "scikit-learn saga", "scikit-learn SGDClassifier", "scikit-learn HistGradientBoosting", "cyanure",
    "abess", "EBM", "LightGBM",
}  # fmt: skip
_LINEAR = ("path", "single fit", "large n")


def _ours(name, solver, levels, *tasks):
    return Entrant(name, "singleindex", "own", "ours", solver, levels, tasks)


def _sklearn(name, solver, levels, *tasks, package="scikit-learn"):
    return Entrant(name, package, "own", "of_sklearn", solver, levels, tasks)


ENTRANTS = (
    _ours("singleindex soft", "Soft", "share", *_LINEAR, "cold start"),
    _ours("singleindex hard", "Hard", "size", *_LINEAR),
    _sklearn("scikit-learn liblinear", "Liblinear", "penalty", *_LINEAR, "cold start"),
    _sklearn("scikit-learn saga", "Saga", "penalty", *_LINEAR),
    _sklearn("scikit-learn LinearSVC", "LinearSvc", "penalty", *_LINEAR),
    _sklearn("scikit-learn SGDClassifier", "Sgd", "penalty", *_LINEAR),
    Entrant("skglm", "skglm", "numba", "of_skglm", "SparseLogistic", "penalty", (*_LINEAR, "cold start")),
    Entrant("celer", "celer", "celer", "of_celer", "Celer", "penalty", (*_LINEAR, "cold start")),
    Entrant("glmnet", "python-glmnet", "numpy 2", "of_glmnet", "Glmnet", "penalty", (*_LINEAR, "cold start")),
    Entrant("cyanure", "cyanure", "numpy 2", "of_cyanure", "Cyanure", "penalty", (*_LINEAR, "cold start")),
    Entrant("adelie", "adelie", "numpy 1", "of_adelie", "Adelie", "penalty", (*_LINEAR, "cold start")),
    Entrant("abess", "abess", "numpy 2", "of_abess", "Abess", "size", ("single fit",)),
    _sklearn("scikit-learn HistGradientBoosting", "GradientBoosting", None, "single fit", "large n"),
    _ours("singleindex CV", "Search", None, "search"),
    _sklearn("scikit-learn LogisticRegressionCV", "LogisticCv", None, "search"),
    _sklearn("scikit-learn L1 CV + isotonic", "CalibratedL1", None, "search"),
    Entrant("glmnet CV", "python-glmnet", "numpy 2", "of_glmnet", "Search", None, ("search",)),
    Entrant("glmnet, relaxed", "python-glmnet", "numpy 2", "of_glmnet", "RelaxedSearch", None, ("search",)),
    Entrant("skglm MCP", "skglm", "numba", "of_skglm", "McpSearch", None, ("search",)),
    Entrant("abess CV", "abess", "numpy 2", "of_abess", "AbessSearch", None, ("search",)),
    Entrant("LightGBM", "lightgbm", "trees", "of_trees", "Lightgbm", None, ("search",)),
    Entrant("EBM", "interpret-core", "trees", "of_trees", "Ebm", None, ("search",)),
    _ours("singleindex", "LipschitzIsotonic", None, "isotonic"),
    _sklearn("scipy isotonic", "ScipyIsotonic", None, "isotonic", package="scipy"),
    _sklearn("scikit-learn IsotonicRegression", "Isotonic", None, "isotonic"),
    Entrant("piqp", "piqp", "own", "of_qp", "Piqp", None, ("isotonic",)),
    Entrant("clarabel", "clarabel", "own", "of_qp", "Clarabel", None, ("isotonic",)),
    _ours("singleindex", "Groups", "size", "group"),
    Entrant("skglm", "skglm", "numba", "of_skglm", "GroupLogistic", "penalty", ("group",)),
    Entrant("adelie", "adelie", "numpy 1", "of_adelie", "AdelieGroups", "penalty", ("group",)),
    Entrant("abess", "abess", "numpy 2", "of_abess", "AbessGroups", "size", ("group",)),
    _ours("singleindex", "MultiTask", "size", "multi-task"),
    _sklearn("scikit-learn MultiTaskLasso", "MultiTask", "penalty", "multi-task"),
    Entrant("skglm", "skglm", "numba", "of_skglm", "MultiTask", "penalty", ("multi-task",)),
    Entrant("celer", "celer", "celer", "of_celer", "MultiTask", "penalty", ("multi-task",)),
    Entrant("abess", "abess", "numpy 2", "of_abess", "AbessMultiTask", "size", ("multi-task",)),
    _ours("singleindex", "Completer", None, "completion"),
    _ours("singleindex graph", "GraphCompleter", None, "completion"),
    Entrant("Surprise SVD", "scikit-surprise", "ratings", "of_ratings", "Surprise", None, ("completion",)),
    Entrant("implicit ALS", "implicit", "ratings", "of_ratings", "Implicit", None, ("completion",)),
)


def entrants_for(task: str, with_slow_ones: bool = True) -> list[Entrant]:
    return [e for e in ENTRANTS if task in e.tasks and (with_slow_ones or e.name not in _SLOW)]
