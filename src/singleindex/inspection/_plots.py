"""Plots of fitted models. matplotlib is imported when a plot is drawn, not before."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import column_or_1d

from ..fitting.checks import check_count
from ..solvers import Status
from ._layers import (
    _GREY,
    _LEGEND_COLUMNS,
    _NEGATIVE,
    _POSITIVE,
    FloatArray,
    _bin_means,
    _choose,
    _classes,
    _colours,
    _draw_histogram,
    _draw_legend,
    _draw_means,
    _feature_names,
    _is_binary,
    _new_axes,
    _Output,
    _outputs,
    _set_note,
)
from ._layers import _interval as _interval

_MAX_POINTS = 2000  # more than these make a cloud darker, not clearer


def plot_link(model, X=None, y=None, *, output=None, ax=None, bins=20):
    """Draw the link of a fitted model, and with data how well it fits.

    Parameters
    ----------
    model : fitted estimator
        A single-index regressor, classifier or completer.
    X : array, sparse matrix or data frame of shape (n_samples, n_features), default=None
        Adds the distribution of the index. For a completer, pairs as in its `predict`.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        With X, adds the points, and the means of y in bins of the index.
    output : int or class label, default=None
        Which of several outputs or classes to draw. None draws all, with the means alone as data.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    bins : int, default=20
        The largest number of bins. They hold equally many points, five at least.

    Returns
    -------
    ax : matplotlib Axes

    Notes
    -----
    The line is dotted where the link is constant because no training data lies there. Bars are
    95 % intervals of the bin's mean, for y of two values those of Wilson. Of more than 2000 points
    a fixed random choice of 2000 is shown; the means are those of all. Rows that the model was
    fitted to flatter it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from singleindex import SingleIndexClassifier
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.inspection import plot_link
    >>> X, y, w, g = make_single_index(400, 20, n_atoms=5, random_state=0)
    >>> model = SingleIndexClassifier(n_atoms=5).fit(X, y)
    >>> ax = plot_link(model, X, y, ax=Figure().subplots())
    >>> ax.get_ylabel()
    'probability of class 1'
    """
    check_count("bins", bins)
    every = _outputs(model)
    outputs = _choose(model, every, output)
    indices, targets = _read_data(model, every, X, y)
    ax = _new_axes((6.0, 4.2)) if ax is None else ax
    alone = len(outputs) == 1
    span = _span(outputs, indices)
    for colour, (k, name, link) in zip(_colours(len(outputs)), outputs, strict=True):
        _draw_curve(ax, link, span, colour, "link" if alone else name)
        if targets is not None and not alone:
            places, means, _ = _bin_means(indices[:, k], targets[:, k], bins)
            ax.plot(places, means, "o", color=colour, markersize=4, alpha=0.6)
    if alone and targets is not None:
        _draw_cloud(ax, indices[:, k], targets[:, k])
        _draw_means(ax, indices[:, k], targets[:, k], bins)
    _label_link_axes(ax, model, outputs)
    if alone and indices is not None:
        _draw_histogram(ax, indices[:, k])
    ax.set_xlim(*span)
    if len(ax.get_legend_handles_labels()[0]) > 1:
        _draw_legend(ax)
    return ax


def plot_coefficients(model, *, top=20, feature_names=None, output=None, ax=None):
    """Draw the largest coefficients of a fitted model as bars.

    Parameters
    ----------
    model : fitted estimator
        One with `coef_`.
    top : int, default=20
        The largest number of features to show, by the size of their coefficient. Those with a
        coefficient of zero are left out.
    feature_names : sequence of str, default=None
        None takes `feature_names_in_`, and x0, x1, … where there are no names.
    output : int or class label, default=None
        Which of several outputs or classes to draw. None draws all of them side by side.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Notes
    -----
    A coefficient is per unit of its feature: sizes can be compared where the features have the
    same unit, or were scaled before.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from singleindex import SingleIndexRegressor
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.inspection import plot_coefficients
    >>> X, y, w, g = make_single_index(300, 50, n_atoms=5, noise="gaussian", random_state=0)
    >>> model = SingleIndexRegressor(n_atoms=5).fit(X, y)
    >>> len(plot_coefficients(model, top=3, ax=Figure().subplots()).patches)
    3
    """
    check_count("top", top)
    outputs = _choose(model, _outputs(model), output)
    coef = model.coef_.reshape(len(model.coef_), -1)[:, [o.number for o in outputs]]
    names = _feature_names(model, feature_names, len(coef))
    size = np.abs(coef).max(axis=1)
    shown = [j for j in np.argsort(-size, kind="stable")[:top] if size[j] > 0]
    if ax is None:
        rows = max(3.0, len(shown) * max(1.0, 0.5 * len(outputs)))
        ax = _new_axes((6.0, 1.0 + 0.26 * rows))
    _draw_bars(ax, coef[shown], outputs)
    ax.set_yticks(range(len(shown)), [names[j] for j in shown], parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    ax.axvline(0, color="0.2", linewidth=0.8)
    ax.set_xlabel("coefficient: change of the index per unit of the feature")
    ax.spines[["top", "right", "left"]].set_visible(False)
    _set_note(ax, f"{len(shown)} of {np.count_nonzero(size)} features with a non-zero coefficient")
    if len(outputs) > 1:
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return ax


def plot_convergence(model, *, ax=None):
    """Draw how the objective and the direction of the index went while the model was fitted.

    Parameters
    ----------
    model : fitted estimator
        One with `history_`.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure. The change is drawn on a twin of it.

    Returns
    -------
    ax : matplotlib Axes
        With the objective. The ring marks the iterate that is kept; w gets its final length after it.

    Notes
    -----
    CSI is not a descent method: the objective may rise, and the model need not be the last one.
    An axis is logarithmic where its values span more than a factor of ten.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from singleindex import SingleIndexRegressor
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.inspection import plot_convergence
    >>> X, y, w, g = make_single_index(300, 50, n_atoms=5, noise="gaussian", random_state=0)
    >>> ax = plot_convergence(SingleIndexRegressor(5).fit(X, y), ax=Figure().subplots())
    >>> ax.get_xlabel()
    'iteration'
    """
    outputs = _outputs(model)
    # Outputs that were fitted together share one history.
    several = isinstance(model.history_, list)
    histories = model.history_ if several else [model.history_]
    labels = [output.name for output in outputs] if several else ["objective"]
    best = np.atleast_1d(model.best_iter_)
    ax = _new_axes((6.0, 4.2)) if ax is None else ax
    twin = ax.twinx()
    for colour, label, history, kept in zip(_colours(len(labels)), labels, histories, best, strict=True):
        objective, change = history["objective"], history["change"]
        iteration = np.arange(1, len(objective) + 1)
        ax.plot(iteration, objective, "o-", color=colour, markersize=3, label=label)
        (ring,) = ax.plot(kept + 1, objective[kept], "o", color=colour, markersize=10, fillstyle="none")
        known = np.isfinite(change)
        grey = colour if several else _GREY
        (dashes,) = twin.plot(iteration[known], change[known], "--", color=grey, linewidth=1)
    ring.set_label("returned")
    dashes.set_label("change")
    _label_convergence_axes(ax, twin)
    handles = [*ax.get_legend_handles_labels()[0], dashes]
    _draw_legend(ax, handles, beside=False)
    _set_note(ax, _why_stopped(model), pad=8 + 18 * -(-len(handles) // _LEGEND_COLUMNS))
    return ax


# ---------------------------------------------------------------- what is drawn


def _read_data(model, outputs: list[_Output], X, y) -> tuple[Any, Any]:
    """Return the indices and the targets, one column per output; None for what is not given."""
    if X is None:
        if y is not None:
            raise ValueError("y was given without X; pass both, or neither.")
        return None, None
    index = model.index(X)
    if is_classifier(model):
        index = index + model.intercept_
    indices = index.reshape(len(index), -1)
    return indices, None if y is None else _targets(model, outputs, y, len(index))


def _targets(model, outputs: list[_Output], y, n_samples: int) -> FloatArray:
    classes = _classes(model, len(outputs))
    if classes is None:
        targets = np.asarray(y, dtype=np.float64)
        targets = targets.reshape(len(targets), -1)
    else:
        labels = column_or_1d(y)
        unknown = ~np.isin(labels, model.classes_)
        if unknown.any():
            raise ValueError(f"y holds the class {labels[unknown][0]!r}, which the model was not fitted to.")
        targets = np.column_stack([labels == label for label in classes]).astype(np.float64)
    if targets.shape != (n_samples, len(outputs)):
        raise ValueError(
            f"y must have {n_samples} rows, as X, and {len(outputs)} columns, got {targets.shape}."
        )
    return targets


def _why_stopped(model) -> str:
    """Return why the solver stopped, in a sentence, or how often for which reason."""
    if isinstance(model.status_, str):
        status = model.status_
        reason = Status[status].value
        return f"{status} after {model.n_iter_} iterations:\n{reason}"
    counts = Counter(model.status_)
    return ", ".join(f"{status}: {n} outputs" for status, n in counts.items())


# ---------------------------------------------------------------- axes


def _label_link_axes(ax, model, outputs: list[_Output]) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    if is_classifier(model):
        ax.axhline(0.5, color="0.6", linewidth=0.8, zorder=0.5)
        ax.set_xlabel(r"index $w \cdot x$ + intercept (decision function)")
        name = outputs[0].name if len(outputs) == 1 else "the class"
        ax.set_ylabel(f"probability of {name}")
        ax.set_yticks(np.linspace(0, 1, 6))
    elif hasattr(model, "row_effects_"):
        ax.set_xlabel("index: effects of row and column, and their factors")
        ax.set_ylabel("prediction, in units of y")
    else:
        ax.set_xlabel(r"index $w \cdot x$")
        ax.set_ylabel(r"prediction $g(w \cdot x)$, in units of y")


def _label_convergence_axes(ax, twin) -> None:
    ax.set_xlabel("iteration")
    ax.set_ylabel("objective (penalised training error)")
    twin.set_ylabel("change of direction (sine of the angle)", color=_GREY)
    twin.tick_params(axis="y", which="both", colors=_GREY)
    ax.xaxis.get_major_locator().set_params(integer=True)
    for axes in (ax, twin):
        axes.spines["top"].set_visible(False)
        values = np.concatenate([line.get_ydata() for line in axes.lines])
        if len(values) and values.min() > 0 and values.max() > 10 * values.min():
            axes.set_yscale("log")
    # The objective is drawn over the change, not under it.
    ax.set_zorder(twin.get_zorder() + 1)
    ax.patch.set_visible(False)


# ---------------------------------------------------------------- layers


def _span(outputs: list[_Output], indices) -> tuple[float, float]:
    """Return the range of the index to draw: all knots and data, and a margin on both sides."""
    ends = [] if indices is None else [indices[:, k] for k, _, _ in outputs]
    ends += [link.knots_[:, 0] for _, _, link in outputs if link.knots_ is not None]
    # A known link bends everywhere; without data, show where it rises most.
    ends = ends or [np.array([-4.0, 4.0]) - link.offset for _, _, link in outputs]
    low, high = min(float(e.min()) for e in ends), max(float(e.max()) for e in ends)
    margin = 0.08 * (high - low) or 1.0
    return low - margin, high + margin


def _draw_curve(ax, link, span: tuple[float, float], colour, label: str) -> None:
    if link.knots_ is None:
        grid = np.linspace(*span, 400)
        ax.plot(grid, link(grid), color=colour, linewidth=2, label=label, zorder=4)
        return
    knots, values = link.knots_.T
    ax.plot(knots, values, color=colour, linewidth=2, label=label, zorder=4)
    for end, knot in zip(span, knots[[0, -1]], strict=True):
        ax.plot([end, knot], link([end, knot]), ":", color=colour, linewidth=2, zorder=4)


def _draw_cloud(ax, index, target) -> None:
    rng = np.random.default_rng(0)
    n, label = len(index), "data"
    if n > _MAX_POINTS:
        keep = rng.choice(n, _MAX_POINTS, replace=False)
        index, target, label = index[keep], target[keep], f"data ({_MAX_POINTS} of {n})"
    if _is_binary(target):
        target = target + rng.uniform(-0.04, 0.04, len(target))
    ax.scatter(
        index, target, s=8, color=_GREY, alpha=0.35, linewidths=0, label=label, zorder=2,
        rasterized=len(index) > 500,
    )  # fmt: skip


def _draw_bars(ax, coef, outputs: list[_Output]) -> None:
    height = 0.75 / len(outputs)
    several = len(outputs) > 1
    for i, (colour, output) in enumerate(zip(_colours(len(outputs)), outputs, strict=True)):
        at = np.arange(len(coef)) + (i - (len(outputs) - 1) / 2) * height
        colours = colour if several else np.where(coef[:, i] > 0, _POSITIVE, _NEGATIVE)
        ax.barh(at, coef[:, i], height, color=colours, label=output.name)
