"""One view of a fitted model, for all that tell of one: summary, plots, report, exports, command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..link import Link
from ..solvers.result import FloatArray
from .namespaces import with_numpy


@dataclass(frozen=True)
class Output:
    """One output of a fitted model, which says link(x · weights + intercept).

    It is chosen by its `label`: the class that it stands for, or its number. `weights` is empty for a
    completer, whose index is made of effects and factors. `history` and `best_iter` are None for a model that
    was not fitted here, `stability` without a search. Outputs that were fitted together share one history.
    """

    number: int
    label: Any
    name: str
    weights: FloatArray
    intercept: float
    link: Link
    status: str
    history: Mapping[str, FloatArray] | None
    best_iter: int | None
    stability: FloatArray | None


@dataclass(frozen=True)
class Search:
    """What a search tried and chose.

    `path` is empty for a completer, which goes along none; `is_dense` where candidates that use nearly every
    feature have most of the weight. `held_out` are the scores of held-out rows with their errors, and
    `p_value` is that of the hypothesis that the features do not predict; empty and None where they are not
    known.
    """

    params: dict[str, Any]
    score: float
    results: dict[str, Any]
    scoring: Any
    path: dict[str, Any]
    is_dense: bool
    held_out: dict[str, dict[str, float]]
    p_value: float | None

    @property
    def n_averaged(self) -> int:
        """How many candidates of its last stage the model is an average of."""
        weight, stage = self.results.get("weight"), self.results.get("stage")
        if weight is None:
            return 1
        last = slice(None) if stage is None else stage == np.max(stage)
        return max(1, int(np.count_nonzero(weight[last])))


@dataclass(frozen=True)
class Facts:
    """What a fitted model is; `kind` is "regression", "binary", "multiclass" or "multilabel".

    `classes` is empty for regression, `feature_names` None where the features have no names, `search` None
    where the settings were given, `background` None where nothing was kept of the rows of the fit.
    `is_coupled` says that probabilities of classes are in proportion to the odds of the links' values.
    """

    estimator: str
    kind: str
    classes: list[Any]
    outputs: list[Output]
    feature_names: list[str] | None
    search: Search | None
    is_coupled: bool = False
    background: Mapping[str, Any] | None = None

    @property
    def coef(self) -> FloatArray:
        """The weights, of shape (n_features, n_outputs)."""
        coef = np.column_stack([output.weights for output in self.outputs])
        if not len(coef):
            raise TypeError(
                f"{self.estimator} has no weights of features; pass a fitted single-index model that has, "
                "such as SingleIndexRegressor."
            )
        return coef

    @property
    def used(self) -> NDArray[np.intp]:
        """The numbers of the features with a weight."""
        return np.flatnonzero(self.coef.any(axis=1))

    @property
    def stability(self) -> FloatArray | None:
        """In which share of the folds each feature was used, for any output; None without folds."""
        shares = [output.stability for output in self.outputs if output.stability is not None]
        return np.max(shares, axis=0) if shares else None

    @property
    def fits(self) -> list[Output]:
        """One output for each fit: all, or the first where they were fitted together."""
        together = all(output.history is self.outputs[0].history for output in self.outputs)
        return self.outputs[:1] if together else self.outputs

    def names(self, given: Sequence[Any] | None = None) -> list[str]:
        """Return the names of the features: those given, those of the fit, or x0, x1, …."""
        n_features = len(self.coef)
        names = self.feature_names if given is None else [str(name) for name in given]
        if names is None:
            return [f"x{j}" for j in range(n_features)]
        if len(names) != n_features:
            raise ValueError(f"feature_names must have {n_features} names, got {len(names)}.")
        return names


def outputs_of(model: Any) -> list[Output]:
    """Return the outputs of a fitted model; of two classes there is one, the second."""
    return facts_of(model).outputs


def facts_of(model: Any) -> Facts:
    """Return what a fitted model is; raise where it has no link."""
    check_is_fitted(model)
    known = vars(with_numpy(model))
    if "link_" not in known:
        raise TypeError(
            f"{type(model).__name__} has no link; pass a fitted single-index model, "
            "such as SingleIndexRegressor."
        )
    n_outputs = len(known["link_"]) if isinstance(known["link_"], list) else 1
    kind = kind_of(known)
    classes: list[Any] = known["classes_"].tolist() if kind != "regression" else []
    labels = {"binary": classes[1:], "multiclass": classes}.get(kind, list(range(n_outputs)))
    what = {"regression": "output", "multilabel": "label"}.get(kind, "class")
    parts = zip(  # in the order of the fields of Output
        range(n_outputs),
        labels,
        [f"{what} {label}" for label in labels],
        _columns(known.get("coef_", np.empty((0, n_outputs))), n_outputs),
        np.broadcast_to(known.get("intercept_", 0.0), n_outputs).tolist(),
        *(_each(known.get(name), n_outputs) for name in ("link_", "status_", "history_", "best_iter_")),
        _columns(known.get("stability_"), n_outputs),
        strict=True,
    )
    names = known.get("feature_names_in_")
    return Facts(
        estimator=type(model).__name__,
        kind=kind,
        classes=classes,
        outputs=[Output(*part) for part in parts],
        feature_names=None if names is None else [str(name) for name in names],
        search=search_of(model),
        is_coupled=kind == "multiclass" and bool(model.coupled_),
        background=known.get("background_"),
    )


def search_of(model: Any) -> Search | None:
    """Return what a search of ours found, None where there was none."""
    known = vars(model)
    if not {"link_", "best_params_"} <= known.keys():
        return None
    return Search(
        params=known["best_params_"],
        score=float(known["best_score_"]),
        results=known["cv_results_"],
        scoring=known.get("scoring", "neg_mean_squared_error"),  # all that completers are chosen by
        path=known.get("path_", {}),
        is_dense=known.get("dense_", False),
        held_out=known.get("held_out_scores_", {}),
        p_value=known.get("p_value_"),
    )


def is_single_index(model: Any) -> bool:
    """Tell a fitted model that has weights of features and a link."""
    return "coef_" in vars(model) and "link_" in vars(model)


def kind_of(known: Mapping[str, Any]) -> str:
    """Return what an estimator of these attributes predicts, as `Facts.kind` has it."""
    if "classes_" not in known:
        return "regression"
    if known["multilabel_"]:
        return "multilabel"
    return "binary" if len(known["classes_"]) == 2 else "multiclass"


def _each(value: Any, n_outputs: int) -> list[Any]:
    """Return what is said of each output; what is no list is said of all of them."""
    return value if isinstance(value, list) else [value] * n_outputs


def _columns(values: Any, n_outputs: int) -> list[Any]:
    """Return one column per output, None for each where there are no values."""
    if values is None:
        return [None] * n_outputs
    return list(np.asarray(values, dtype=np.float64).reshape(-1, n_outputs).T)
