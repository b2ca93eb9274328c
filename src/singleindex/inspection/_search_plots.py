"""Plots of a search: its scores, its path, and whether the probabilities it leads to are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..estimators.outputs import Search, facts_of
from ..fitting.checks import check_count
from ._layers import (
    _GREY,
    _PALETTE,
    FloatArray,
    _bin_means,
    _colours,
    _draw_histogram,
    _draw_legend_and_note,
    _draw_means,
    _label_lines,
    _new_axes,
    _one_column_per_class,
    _position,
    _set_log_axis,
    _set_note,
    _shown_name,
)
from ._path_views import searched, unit_coefs, view_of
from ._search_curves import Curve, Curves, curves_of, words_on_choice

_MAX_LINES = 500  # more than these grey lines are a grey area
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)))
_MOST_MARKERS = 20  # on a line; more are a thick line


def plot_cv_curve(model: Any, *, ax: Any = None) -> Any:
    """Draw the held-out score of a search against the number of atoms.

    Parameters
    ----------
    model : fitted estimator
        One that chose its own settings, such as SingleIndexRegressorCV.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Notes ----- One line for the averages of a search that were cut, one each for those that were fitted
    anew on what was left, half the way and all of it, and a point for the average as it is, at its mean
    number of atoms over the folds. Bars are one standard error of the mean score; the folds share most of
    their training rows, so that the bars are too short rather than too long. Black dots are what the model
    is an average of, the ring has most weight. The paths that were averaged in the first place are grey.
    Where nothing was cut they are shown in their stead, one line for each column scale, link and ridge,
    with the best candidate of every level.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from singleindex import SingleIndexRegressorCV
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.inspection import plot_cv_curve
    >>> X, y, w, g = make_single_index(150, 30, n_atoms=5, noise="gaussian", random_state=0)
    >>> model = SingleIndexRegressorCV(cv=3).fit(X, y)
    >>> ax = plot_cv_curve(model, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'number of atoms (mean over folds)'
    """
    search = searched(model)
    curves = curves_of(search)
    counts, scores = curves.results["mean_n_atoms"], curves.results["mean_test_score"]
    ax = _new_axes((7.2, 4.2)) if ax is None else ax
    _draw_behind(ax, curves)
    colours = _colours(1 + max(curve.colour for curve in curves.shown))
    for curve in curves.shown:
        _draw_scores(ax, curves, curve, colours[curve.colour])
    rings = []
    if curves.behind and len(curves.averaged) > 1:
        rings += ax.plot(
            counts[curves.averaged], scores[curves.averaged], "o", color="black", markersize=3, zorder=6,
            label="averaged",
        )  # fmt: skip
    rings += ax.plot(
        counts[curves.chosen], scores[curves.chosen], "o", color="black", markersize=11, markeredgewidth=1.5,
        fillstyle="none", zorder=6, label="most weight" if len(curves.averaged) > 1 else "chosen",
    )  # fmt: skip
    _set_log_axis(ax, counts[curves.rows])
    ax.set_xlabel("number of atoms (mean over folds)")
    ax.set_ylabel(f"held-out {_score_name(search, facts_of(model).kind)}")
    ax.spines[["top", "right"]].set_visible(False)
    _draw_legend_and_note(
        ax, f"{words_on_choice(search, curves)}\nbars: ± 1 standard error", [*ax.containers, *rings]
    )
    return ax


def plot_coefficient_path(
    model: Any, *, top: int = 10, feature_names: Sequence[str] | None = None, output: Any = None,
    ax: Any = None,
) -> Any:  # fmt: skip
    """Draw how the coefficients come in along a path: the chosen one of a search, or one traced alone.

    Parameters
    ----------
    model : fitted estimator or SingleIndexPath
        One that chose its own settings, such as SingleIndexRegressorCV, or what `single_index_path` returns.
    top : int, default=10
        The largest number of features to name: those of the largest coefficients at the chosen level, or at
        the richest one of a path that was traced alone.
    feature_names : sequence of str, default=None
        None takes `feature_names_in_`, and x0, x1, … where there are no names.
    output : int or class label, default=None
        Which of several outputs or classes to draw. None draws the size of each feature's coefficients
        over all of them.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Notes ----- Models get richer to the right. Each level's w is divided by its norm, since its length is
    determined only together with the slope of the link. The path is that of the best candidate, on all
    rows; the model is an average of many candidates unless `rule` says otherwise. The other features are
    grey, at most 500 of them, the largest.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from singleindex import SingleIndexRegressorCV
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.inspection import plot_coefficient_path
    >>> X, y, w, g = make_single_index(150, 30, n_atoms=5, noise="gaussian", random_state=0)
    >>> model = SingleIndexRegressorCV(cv=3).fit(X, y)
    >>> ax = plot_coefficient_path(model, top=3, ax=Figure().subplots())
    >>> len(ax.texts)
    3
    >>> from singleindex import single_index_path
    >>> ax = plot_coefficient_path(single_index_path(X, y, n_atoms=[20, 5, 1]), ax=Figure().subplots())
    >>> ax.get_xlabel()
    'number of atoms'
    """
    check_count("top", top)
    view = view_of(model, feature_names)
    coefs, what = unit_coefs(view, output)
    soft, places, level = view.is_soft, view.places, view.level
    order = np.argsort(-places if soft else places, kind="stable")
    shown = _largest(np.abs(coefs[level]), top)
    ax = _new_axes((6.8, 4.4)) if ax is None else ax
    _draw_others(ax, places[order], np.delete(coefs, shown, axis=1)[order])
    lines = _draw_named(ax, places[order], coefs[order][:, shown], [view.names[j] for j in shown])
    ax.axhline(0, color="0.2", linewidth=0.8, zorder=2)
    if view.is_chosen:
        ax.axvline(places[level], color=_GREY, linestyle="--", linewidth=1, zorder=1)
    _set_log_axis(ax, places)
    if soft:
        ax.set_xlim(*sorted(ax.get_xlim(), reverse=True))
    ax.set_xlabel("penalty (share of the one at which w is zero)" if soft else "number of atoms")
    ax.set_ylabel(what)
    ax.spines[["top", "right"]].set_visible(False)
    used = np.count_nonzero(coefs[level])
    where = "the chosen level (dashed line)" if view.is_chosen else "the right edge"
    _set_note(ax, f"{len(shown)} of {used} features at {where} are named")
    _label_lines(ax, lines)
    return ax


def plot_reliability(
    model: Any, X: Any, y: Any, *, bins: int = 10, output: Any = None, ax: Any = None
) -> Any:
    """Draw how often what a classifier predicts comes true: a reliability diagram.

    Parameters
    ----------
    model : fitted classifier
        Any that has `predict_proba`, those of scikit-learn among them.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Rows that the model was not fitted to; those it was fitted to flatter it.
    y : array-like of shape (n_samples,) or (n_samples, n_labels)
        Their classes, or 0 and 1 for each of several labels.
    bins : int, default=10
        The largest number of bins. They hold equally many points, five at least.
    output : class or number of the label, default=None
        Which of several classes or labels to draw. None draws all, without intervals.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Notes
    -----
    A point is the share of the class against the mean predicted probability in a bin; bars are Wilson's 95 %
    intervals. Where they miss the diagonal, the probabilities are off. The strip at the bottom is the
    distribution of the predicted probabilities. Equal probabilities stay in one bin, so that there are fewer
    bins where the link is flat.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from singleindex import SingleIndexClassifier
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.inspection import plot_reliability
    >>> X, y, w, g = make_single_index(400, 20, n_atoms=5, random_state=0)
    >>> model = SingleIndexClassifier(n_atoms=5).fit(X[:200], y[:200])
    >>> ax = plot_reliability(model, X[200:], y[200:], ax=Figure().subplots())
    >>> ax.get_ylabel()
    'share of class 1'
    """
    check_count("bins", bins)
    names, predicted, happened = _predictions(model, X, y, output)
    ax = _new_axes((5.0, 5.0)) if ax is None else ax
    ax.plot([0, 1], [0, 1], "--", color=_GREY, linewidth=1, zorder=1, label="calibrated")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=np.linspace(0, 1, 6), yticks=np.linspace(0, 1, 6))
    note, what = f"{len(predicted)} rows", f"the {names[0].split()[0]}"
    if len(names) == 1:
        _draw_means(ax, predicted[:, 0], happened[:, 0], bins)
        _draw_histogram(ax, predicted[:, 0])
        note += f", Brier score {np.mean((predicted - happened) ** 2):.3f}"
        what = names[0]
    else:
        for p, happens, colour, name in zip(
            predicted.T, happened.T, _colours(len(names)), names, strict=True
        ):
            places, means, _ = _bin_means(p, happens, bins)
            ax.plot(places, means, "o-", color=colour, markersize=4, linewidth=1.2, label=name)
    ax.set_xlabel(f"predicted probability of {what}")
    ax.set_ylabel(f"share of {what}")
    ax.spines[["top", "right"]].set_visible(False)
    _draw_legend_and_note(ax, note)
    return ax


# ---------------------------------------------------------------- what a search tells


def _score_name(search: Search, kind: str) -> str:
    if search.scoring is None:
        return "R²" if kind == "regression" else "accuracy"
    return search.scoring if isinstance(search.scoring, str) else "score"


# ---------------------------------------------------------------- what a path tells


def _largest(size: FloatArray, top: int) -> list[int]:
    return [int(j) for j in np.argsort(-size, kind="stable")[:top] if size[j] > 0]


# ---------------------------------------------------------------- what a classifier predicts


def _predictions(model: Any, X: Any, y: Any, wanted: Any) -> tuple[list[str], FloatArray, FloatArray]:
    """Return the names of the wanted classes, their probability in each row, and 1 where it was them."""
    check_is_fitted(model)
    if not hasattr(model, "predict_proba"):
        raise TypeError(f"{type(model).__name__} has no predict_proba; pass a classifier that has one.")
    predicted = model.predict_proba(X)
    y = y.toarray() if sparse.issparse(y) else np.asarray(y)
    if y.ndim == 2 and y.shape[1] > 1:
        if isinstance(predicted, list):  # as forests and neighbours tell it
            predicted = np.column_stack([p[:, -1] for p in predicted])
        labels, happened = list(range(y.shape[1])), y.astype(np.float64)
        names = [f"label {label}" for label in labels]
    else:
        labels, happened = _one_column_per_class(model.classes_, column_or_1d(y))
        predicted = predicted[:, -len(labels) :]
        names = [_shown_name(f"class {label}") for label in labels]
    if happened.shape != predicted.shape:
        raise ValueError(f"y must be of shape {predicted.shape}, as the predictions, got {happened.shape}.")
    keep = list(range(len(labels))) if wanted is None else [_position(labels, wanted)]
    return [names[k] for k in keep], predicted[:, keep], happened[:, keep]


# ---------------------------------------------------------------- layers


def _draw_behind(ax: Any, curves: Curves) -> None:
    """Draw what was averaged, in grey, where it lies within the picture of the others."""
    counts, scores = curves.results["mean_n_atoms"], curves.results["mean_test_score"]
    for curve in curves.behind:
        ax.plot(counts[curve.rows], scores[curve.rows], color="0.8", linewidth=1, zorder=1)
    rows = curves.rows
    ends = np.concatenate([scores[rows] - curves.error[rows], scores[rows] + curves.error[rows]])
    pad = 0.05 * np.ptp(ends) or 0.1
    ax.set_ylim(np.min(ends) - pad, np.max(ends) + pad)


def _draw_scores(ax: Any, curves: Curves, curve: Curve, colour: Any) -> None:
    results, rows = curves.results, curve.rows
    marker = ("s" if curve.is_dashed else "o") if len(rows) <= _MOST_MARKERS else None
    ax.errorbar(
        results["mean_n_atoms"][rows], results["mean_test_score"][rows], yerr=curves.error[rows],
        markersize=4, linewidth=1.4, elinewidth=1, color=colour, marker=marker, label=curve.label,
        linestyle="--" if curve.is_dashed else "-", errorevery=1 + len(rows) // _MOST_MARKERS,
    )  # fmt: skip


def _draw_others(ax: Any, places: FloatArray, coefs: FloatArray) -> None:
    from matplotlib.collections import LineCollection

    shown = _largest(np.abs(coefs).max(axis=0), _MAX_LINES)
    lines = [np.column_stack([places, coefs[:, j]]) for j in shown]
    ax.add_collection(
        LineCollection(lines, colors="0.75", linewidths=0.6, zorder=1, rasterized=len(lines) > 100)
    )


def _draw_named(ax: Any, places: FloatArray, coefs: FloatArray, names: list[str]) -> list[Any]:
    """Draw one line per column, and return the lines: the colours first, then again with dashes."""
    lines = []
    for i, name in enumerate(names):
        dashes, colour = divmod(i, len(_PALETTE))
        style = {"color": _PALETTE[colour], "linestyle": _DASHES[dashes % len(_DASHES)], "zorder": 3}
        lines += ax.plot(places, coefs[:, i], label=name, **style)
    return lines
