"""Plots of a search: its scores, its path, and whether the probabilities it leads to are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..estimators.outputs import Facts, Search, facts_of, search_of
from ..fitting.checks import check_count
from ._layers import (
    _GREY,
    _PALETTE,
    FloatArray,
    _bin_means,
    _choose,
    _colours,
    _draw_histogram,
    _draw_legend_and_note,
    _draw_means,
    _feature_names,
    _label_lines,
    _new_axes,
    _one_column_per_class,
    _position,
    _set_log_axis,
    _set_note,
    _shown_name,
)

_MAX_LINES = 500  # more than these grey lines are a grey area
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)))
_PATH = ("scale_power", "alpha", "soft")
_LEVEL = ("n_atoms", "penalty")
Path = tuple[Any, ...]  # the values of _PATH


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

    Notes
    -----
    One line per path: column scale, ridge, and hard or soft thresholding. A point is the best iteration of
    a level, at its mean number of atoms over the folds; bars are one standard error of the mean score. The
    folds share most of their training rows, so that the bars are too short rather than too long. The ring is
    the candidate that was chosen, which need not be the best of its level under `rule="one_se"`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from singleindex import SingleIndexRegressorCV
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.inspection import plot_cv_curve
    >>> X, y, w, g = make_single_index(150, 30, n_atoms=5, noise="gaussian", random_state=0)
    >>> model = SingleIndexRegressorCV(alpha=[0.1], cv=3).fit(X, y)
    >>> ax = plot_cv_curve(model, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'number of atoms (mean over folds)'
    """
    search = _searched(model)
    results = _readable(search.results)
    error = _standard_errors(results)
    paths = _best_of_levels(results)
    ax = _new_axes((7.2, 4.2)) if ax is None else ax
    for style, (path, rows) in zip(_path_styles(list(paths)), paths.items(), strict=True):
        rows = sorted(rows, key=lambda i: results["mean_n_atoms"][i])
        _draw_scores(ax, results, error, rows, {**style, "label": _path_label(path, list(paths))})
    chosen = _chosen_row(search, results)
    (ring,) = ax.plot(
        results["mean_n_atoms"][chosen], results["mean_test_score"][chosen], "o", color="black",
        markersize=11, markeredgewidth=1.5, fillstyle="none", zorder=6, label="chosen",
    )  # fmt: skip
    _set_log_axis(ax, np.concatenate([results["mean_n_atoms"][rows] for rows in paths.values()]))
    ax.set_xlabel("number of atoms (mean over folds)")
    ax.set_ylabel(f"held-out {_score_name(search, facts_of(model).kind)}")
    ax.spines[["top", "right"]].set_visible(False)
    _draw_legend_and_note(
        ax, f"{_settings_in_words(search)}\nbars: ± 1 standard error", [*ax.containers, ring]
    )
    return ax


def plot_coefficient_path(
    model: Any, *, top: int = 10, feature_names: Sequence[str] | None = None, output: Any = None,
    ax: Any = None,
) -> Any:  # fmt: skip
    """Draw how the coefficients come in along the chosen path of a search.

    Parameters
    ----------
    model : fitted estimator
        One that chose its own settings, such as SingleIndexRegressorCV.
    top : int, default=10
        The largest number of features to name: those of the largest coefficients at the chosen level.
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

    Notes
    -----
    Models get richer to the right. Each level's w is divided by its norm, since its length is determined
    only together with the slope of the link. The path is that of all rows, at the last iteration of each
    level; the model may be an earlier iteration or, with `refit="average"`, a mean over the folds. The other
    features are grey, at most 500 of them, the largest.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from singleindex import SingleIndexRegressorCV
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.inspection import plot_coefficient_path
    >>> X, y, w, g = make_single_index(150, 30, n_atoms=5, noise="gaussian", random_state=0)
    >>> model = SingleIndexRegressorCV(alpha=[0.1], cv=3).fit(X, y)
    >>> ax = plot_coefficient_path(model, top=3, ax=Figure().subplots())
    >>> len(ax.texts)
    3
    """
    check_count("top", top)
    search, facts = _searched(model), facts_of(model)
    path = _readable(search.path)
    coefs, what = _unit_coefs(facts, path["coefs"], output)
    names = _feature_names(facts, feature_names)
    soft = path["soft"][0]
    places = np.array(path["penalty"] if soft else path["n_atoms"], dtype=np.float64)
    order = np.argsort(-places if soft else places, kind="stable")
    level = _chosen_level(search, path)
    shown = _largest(np.abs(coefs[level]), top)
    ax = _new_axes((6.8, 4.4)) if ax is None else ax
    _draw_others(ax, places[order], np.delete(coefs, shown, axis=1)[order])
    lines = _draw_named(ax, places[order], coefs[order][:, shown], [names[j] for j in shown])
    ax.axhline(0, color="0.2", linewidth=0.8, zorder=2)
    ax.axvline(places[level], color=_GREY, linestyle="--", linewidth=1, zorder=1)
    _set_log_axis(ax, places)
    if soft:
        ax.set_xlim(*sorted(ax.get_xlim(), reverse=True))
    ax.set_xlabel("penalty (share of the one at which w is zero)" if soft else "number of atoms")
    ax.set_ylabel(what)
    ax.spines[["top", "right"]].set_visible(False)
    used = np.count_nonzero(coefs[level])
    _set_note(ax, f"{len(shown)} of {used} features at the chosen level (dashed line) are named")
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


def _searched(model: Any) -> Search:
    check_is_fitted(model)
    search = search_of(model)
    if search is None or not search.path:
        raise ValueError(
            f"{type(model).__name__} has not searched for its settings; pass a fitted "
            "SingleIndexRegressorCV or SingleIndexClassifierCV."
        )
    return search


def _readable(record: dict[str, Any]) -> dict[str, Any]:
    """Return what a search recorded, with None, not NaN, for settings that are None, and which are soft."""
    settings = {"n_atoms", "scale_power"} & record.keys()
    # NaN alone differs from itself.
    given = {s: np.array([v if v == v else None for v in record[s]], dtype=object) for s in settings}
    return record | given | {"soft": [limit is None for limit in given["n_atoms"]]}


def _standard_errors(results: dict[str, Any]) -> FloatArray:
    n_folds = sum(name.startswith("split") and name.endswith("_test_score") for name in results)
    # std_test_score divides by the number of folds; the standard error needs one less.
    error: FloatArray = results["std_test_score"] / np.sqrt(max(n_folds - 1, 1))
    return error


def _best_of_levels(results: dict[str, Any]) -> dict[Path, list[int]]:
    """Return, by path, the numbers of the candidates that are the best iteration of their level."""
    best: dict[Path, dict[tuple[Any, ...], int]] = {}
    score = results["mean_test_score"]
    for i in np.flatnonzero(np.isfinite(score)).tolist():
        levels = best.setdefault(tuple(results[name][i] for name in _PATH), {})
        level = tuple(results[name][i] for name in _LEVEL)
        if level not in levels or score[i] > score[levels[level]]:
            levels[level] = i
    return {path: list(levels.values()) for path, levels in best.items()}


def _chosen_row(search: Search, results: dict[str, Any]) -> int:
    same = np.ones(len(results["alpha"]), dtype=bool)
    for name in ("scale_power", "alpha", *_LEVEL, "iteration"):
        same &= np.array([value == search.params[name] for value in results[name]])
    return int(np.flatnonzero(same)[0])


def _chosen_level(search: Search, path: dict[str, Any]) -> int:
    wanted = tuple(search.params[name] for name in _LEVEL)
    return list(zip(*(path[name] for name in _LEVEL), strict=True)).index(wanted)


def _score_name(search: Search, kind: str) -> str:
    if search.scoring is None:
        return "R²" if kind == "regression" else "accuracy"
    return search.scoring if isinstance(search.scoring, str) else "score"


def _settings_in_words(search: Search) -> str:
    best = search.params
    level = f"penalty={best['penalty']:.3g}" if best["n_atoms"] is None else f"n_atoms={best['n_atoms']}"
    return f"chosen: {level}, alpha={best['alpha']:g}, iteration {best['iteration']}: {search.score:.4g}"


# ---------------------------------------------------------------- what a path tells


def _unit_coefs(facts: Facts, coefs: FloatArray, wanted: Any) -> tuple[FloatArray, str]:
    """Return the coefficients of each level divided by their norm, and what to call them."""
    outputs = _choose(facts.outputs, wanted)
    coefs = coefs.reshape(*coefs.shape[:2], -1)[:, :, [o.number for o in outputs]].astype(np.float64)
    norms = np.linalg.norm(coefs, axis=1, keepdims=True)
    coefs = np.divide(coefs, norms, out=np.zeros_like(coefs), where=norms > 0)
    if len(outputs) > 1:
        return np.linalg.norm(coefs, axis=2) / np.sqrt(len(outputs)), "size of the coefficients / norm of w"
    of = "" if len(facts.outputs) == 1 else f" of {_shown_name(outputs[0].name)}"
    return coefs[:, :, 0], f"coefficient{of} / norm of w"


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


def _path_styles(paths: list[Path]) -> list[dict[str, Any]]:
    """Return a style per path: one colour for a ridge and a column scale, dashes for soft thresholding."""
    pairs = list(dict.fromkeys(path[:2] for path in paths))
    colours = dict(zip(pairs, _colours(len(pairs)), strict=True))
    return [
        {"color": colours[scale, alpha], "linestyle": "--" if soft else "-", "marker": "s" if soft else "o"}
        for scale, alpha, soft in paths
    ]


def _path_label(path: Path, paths: list[Path]) -> str:
    """Return what tells a path from the others."""
    scale, alpha, soft = path
    parts = [f"alpha={alpha:g}", "soft" if soft else "hard"]
    if len({other[0] for other in paths}) > 1:
        parts.insert(0, f"scale={scale}")
    return ", ".join(parts)


def _draw_scores(ax: Any, results: dict[str, Any], error: FloatArray, rows: list[int], style: Any) -> None:
    ax.errorbar(
        results["mean_n_atoms"][rows], results["mean_test_score"][rows], yerr=error[rows], markersize=4,
        linewidth=1.4, elinewidth=1, **style,
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
