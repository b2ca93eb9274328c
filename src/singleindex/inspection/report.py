"""All there is to know about a fitted model on one page."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.base import is_classifier

from ..estimators.outputs import facts_of, search_of
from ..fitting.checks import check_count
from ._prepared import inside
from ._report.charts import score_name
from ._report.facts import NO_FEATURES, OURS, collect, output_names
from ._report.form import form_record, why_no_form
from ._report.page import build_page
from ._report.recipe import python_lines
from ._report.svg import short
from .stable import find_stable


def make_report(
    model: Any, X: Any, y: Any, *, X_test: Any = None, y_test: Any = None, sample_weight: Any = None,
    feature_names: Sequence[str] | None = None, class_names: Sequence[str] | None = None,
    target_name: str = "y", title: str | None = None, notes: Sequence[str] = (),
    warnings: Sequence[str] = (), threshold: float | None = None, costs: tuple[float, float] | None = None,
    reproduce: dict[str, str] | None = None, preparation: Any = None, stable: Sequence[str] | None = None,
    n_folds: int = 5, n_jobs: int | None = None,
) -> str:  # fmt: skip
    """Return a page on a fitted model: HTML that needs no network and no other file.

    It shows the learned link with its uncertainty over the folds, the features with their stability, a form
    that predicts as the model does, how the settings were chosen, calibration and ROC or residuals, and how
    the model does beside linear or logistic regression with L1 and L2 penalties, gradient boosting and the
    mean alone, all on the same folds.

    Parameters
    ----------
    model : fitted estimator
        A single-index regressor or classifier, plain or with a search, a `TableClassifier` or
        `TableRegressor`, or a pipeline that ends in one; of these the page tells of the prepared columns.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The rows that the model was fitted to.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Their targets.
    X_test, y_test : like X and y, default=None
        Rows that were held out from the start; scores and charts are then theirs.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of the fit.
    feature_names : sequence of str, default=None
        None takes `feature_names_in_`, and x0, x1, … where there are no names.
    class_names : sequence of str, default=None
        What to call the classes, in the order of `classes_`; None takes the classes themselves.
    target_name : str, default="y"
        What is predicted; of several outputs the names with commas between them.
    title : str, default=None
        Heading of the page.
    notes : sequence of str, default=()
        What was done to the data, one sentence each.
    warnings : sequence of str, default=()
        What a reader must know before believing the page, one sentence each; shown at its top.
    threshold : float, default=None
        Of two classes, beyond which probability of the second a row is called one of it; None is the
        model's own, or 0.5.
    costs : pair of float, default=None
        What it costs to miss a row of the second class, and to call one that is none.
    reproduce : dict of str to str, default=None
        Headings and commands that make the model again; None shows the model's own parameters.
    preparation : Preparation, default=None
        How columns of a table became the features: the page's form then asks for columns, with their
        categories and gaps. None takes that of a `TableClassifier` or `TableRegressor`; of other models the
        features are the columns.
    stable : sequence of str, default=None
        The names of the stable features where they are known; None asks halves of the rows.
    n_folds : int, default=5
        How many times the fit is done again, each time without a part of the rows.
    n_jobs : int, default=None
        Folds to run side by side.

    Returns
    -------
    html : str
        Write it to a file in UTF-8.

    Notes
    -----
    Everything about unseen rows comes from fitting the model again without each fold in turn, its search
    included: the page costs about `n_folds` times what the fit did. The score of the search itself would
    flatter where there are fewer rows than features. Columns are prepared once, before the folds: none of the
    steps that can go along looks at y. The band of the link is two standard errors by the jackknife over
    these folds.

    Examples
    --------
    >>> from singleindex import SingleIndexClassifierCV
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.inspection import make_report
    >>> X, y, w, g = make_single_index(150, 30, n_atoms=3, random_state=0)
    >>> model = SingleIndexClassifierCV(alpha=[0.1], cv=3).fit(X, y)
    >>> html = make_report(model, X, y, target_name="relapse")
    >>> html.startswith("<!DOCTYPE html>"), "src=" in html
    (True, False)
    """
    from .. import __version__

    whole, preparation = model, preparation or vars(model).get("preparation_")
    model, X, y, X_test, y_test, labels, own_threshold = inside(model, X, y, X_test, y_test)
    lines = python_lines(model, sample_weight is not None) if model is whole else repr(whole)
    reproduce = reproduce or {"In Python": lines}
    class_names = labels if class_names is None else class_names
    names = facts_of(model).names
    check_count("n_folds", n_folds)
    check_rows(len(names()), X, y, X_test, y_test)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    train, test = (X, y, weight), None if X_test is None else (X_test, np.asarray(y_test), None)
    outputs = output_names(model, target_name, class_names)
    facts = collect(model, train, test, names(feature_names), outputs, n_folds, n_jobs)
    if stable is None and (asked := find_stable(model, X, y, weight)) is not None:
        stable = [names(feature_names)[j] for j in asked.features]
    about = {
        "title": title or f"{type(model).__name__} for {target_name}",
        "target": target_name,
        "version": __version__,
        "n_rows": X.shape[0],
        "n_test": 0 if X_test is None else X_test.shape[0],
        "n_features": X.shape[1],
        "notes": list(notes),
        "warnings": [*warnings, *warnings_on(model, facts)],
        "classes": two_classes(model, class_names),
        "threshold": own_threshold if threshold is None else threshold,
        "costs": costs,
        "p_value": p_value_of(model, facts),
        "stable": None if stable is None else list(stable),
        "settings": settings_of(model),
        "technical": technical_settings(model),
        "data": data_facts(model, X, y, X_test, target_name, class_names),
        "reproduce": {**reproduce, "Versions": versions(__version__)},
    }
    why_not = why_no_form(facts.model)
    about["no_form"] = why_not
    about["form"] = (
        None if why_not else form_record(facts.model, X, names(feature_names), outputs, preparation, about)
    )
    return build_page(model, facts, about, y, y_test)


def check_rows(n_features: int, X: Any, y: Any, X_test: Any, y_test: Any) -> None:
    if X.shape[0] != len(y):
        raise ValueError(f"X has {X.shape[0]} rows and y {len(y)}; they must be the same rows.")
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test go together; pass both or neither.")
    if X.shape[1] != n_features:
        raise ValueError(f"X has {X.shape[1]} features, the model was fitted to {n_features}.")


def two_classes(model: Any, class_names: Sequence[str] | None) -> tuple[str, ...]:
    """Return what two classes are called; nothing where there are not two."""
    facts = facts_of(model)
    return tuple(map(str, class_names or facts.classes)) if facts.kind == "binary" else ()


def warnings_on(model: Any, facts: Any) -> list[str]:
    """Return what a reader must know before believing the page."""
    found = []
    for link in facts.links:
        if np.ptp(link.values) <= 1e-9 * (np.ptp(link.outcome) or 1.0):
            found.append(f"The link of {link.name} is flat: no combination of the features predicts it.")
    scores = (facts.test or facts.held_out).values
    ours, null = scores[OURS], scores[NO_FEATURES]
    measure = "Brier score" if is_classifier(model) else "RMSE"
    if not found and ours[measure] >= null[measure]:
        found.append("On rows it has not seen the model does no better than using no features at all.")
    return found


def p_value_of(model: Any, facts: Any) -> float:
    """Return the p-value that the headline goes by: that of the search, as everywhere, where there is one."""
    search = search_of(model)
    own = None if search is None else search.p_value
    return float(facts.p_value if own is None else own)


def settings_of(model: Any) -> dict[str, Any]:
    """Return what became of the search, in words of everyday."""
    search, found = search_of(model), {"features in use": len(facts_of(model).used)}
    if search is None:
        return found
    scores = search.results["mean_test_score"]
    return found | {
        "candidates compared": len(scores),
        "of them averaged": search.n_averaged,
        "compared by": f"{score_name(search, facts_of(model).kind)[0]} on rows left out",
    }


def technical_settings(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"estimator": type(model).__name__}
    params, search = model.get_params(deep=False), search_of(model)
    if "structure" in params:
        found["structure"] = "Sparse" if model.structure is None else type(model.structure).__name__
    if search is not None:
        best = search.params
        found["atoms"] = "as the folds have it" if best["n_atoms"] is None else best["n_atoms"]
        if best["alpha"]:
            found["ridge (alpha)"] = float(best["alpha"])
        if best["penalty"]:
            found["soft thresholding"] = float(best["penalty"])
        return found | {"column scale": best["scale_power"]}
    if "n_atoms" in params:  # Slisotron has no structure to limit, and no ridge
        found |= {"atoms": model.n_atoms, "ridge (alpha)": float(model.alpha)}
    return found | {"iterations": int(model.n_iter_)}


def data_facts(
    model: Any, X: Any, y: Any, X_test: Any, target: str, class_names: Sequence[str] | None
) -> dict[str, str]:
    found = {"rows learned from": f"{X.shape[0]:,}"}
    if X_test is not None:
        found["rows held out"] = f"{X_test.shape[0]:,}"
    found["features"] = f"{X.shape[1]:,}"
    if sparse.issparse(X):
        found["entries not zero"] = f"{X.nnz / (X.shape[0] * X.shape[1]):.2%}"
    y = np.asarray(y)
    if is_classifier(model) and y.ndim == 1:
        labels, counts = np.unique(y, return_counts=True)
        for label, count in zip(class_names or labels, counts, strict=True):
            found[f"{target} = {label}"] = f"{count:,} rows ({count / len(y):.0%})"
    elif not is_classifier(model) and y.ndim == 1:
        low, middle, high = np.quantile(y.astype(np.float64), [0, 0.5, 1])
        found[f"{target}: least, median, largest"] = ", ".join(map(short, (low, middle, high)))
    return found


def versions(own: str) -> str:
    return (
        f"singleindex {own}, scikit-learn {sklearn.__version__}, numpy {np.__version__}, "
        f"Python {platform.python_version()}"
    )


__all__ = ["make_report"]
