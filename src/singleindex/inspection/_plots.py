"""Plots of fitted models. matplotlib is imported when a plot is drawn, not before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from ..estimators.effects import ranking
from ..estimators.outputs import Facts, Output, facts_of
from ..fitting.checks import check_count
from ..link import Link
from ..solvers import Status
from ._layers import (
    _GREY,
    _LEGEND_COLUMNS,
    _NEGATIVE,
    _POSITIVE,
    FloatArray,
    _bin_means,
    _choose,
    _colours,
    _draw_histogram,
    _draw_legend,
    _draw_means,
    _feature_names,
    _is_binary,
    _new_axes,
    _one_column_per_class,
    _set_note,
    _shown_name,
)
from ._layers import _interval as _interval
from ._resampled import Resampled

_MAX_POINTS = 2000  # more than these make a cloud darker, not clearer


def plot_link(
    model: Any, X: Any = None, y: Any = None, *, output: Any = None, ax: Any = None, bins: int = 20,
    resampled: Resampled | None = None, level: float = 0.9,
) -> Any:  # fmt: skip
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
    resampled : Resampled, default=None
        What :func:`resample` has made of the model: adds a band for the mean of y, point by point.
    level : float, default=0.9
        Of the band.

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
    facts = facts_of(model)
    outputs = _choose(facts.outputs, output)
    indices, targets = _read_data(model, facts, X, y)
    ax = _new_axes((6.0, 4.2)) if ax is None else ax
    alone = len(outputs) == 1
    span = _span(outputs, indices)
    for colour, one in zip(_colours(len(outputs)), outputs, strict=True):
        k = one.number
        if resampled is not None:
            _draw_band(ax, resampled, one, level, colour, alone)
        _draw_curve(ax, one.link, span, colour, "link" if alone else _shown_name(one.name))
        if targets is not None and not alone:
            places, means, _ = _bin_means(indices[:, k], targets[:, k], bins)
            ax.plot(places, means, "o", color=colour, markersize=4, alpha=0.6)
    if alone and targets is not None:
        _draw_cloud(ax, indices[:, k], targets[:, k])
        _draw_means(ax, indices[:, k], targets[:, k], bins)
    _label_link_axes(ax, facts, outputs)
    if alone and indices is not None:
        _draw_histogram(ax, indices[:, k])
    ax.set_xlim(*span)
    if len(ax.get_legend_handles_labels()[0]) > 1:
        _draw_legend(ax)
    return ax


def plot_coefficients(
    model: Any, *, top: int = 20, feature_names: Sequence[str] | None = None, output: Any = None,
    ax: Any = None,
) -> Any:  # fmt: skip
    """Draw the coefficients that count most in a fitted model as bars.

    Parameters
    ----------
    model : fitted estimator
        One with `coef_`.
    top : int, default=20
        The largest number of features to show, by their effect on the prediction. Those with a
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
    same unit, or were scaled before. The order is that of what one standard deviation of the feature does to
    the prediction, as in `summary` and in the report; of models of data in blocks, by size.

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
    facts = facts_of(model)
    outputs = _choose(facts.outputs, output)
    names = _feature_names(facts, feature_names)
    coef = np.column_stack([one.weights for one in outputs])
    size = np.abs(coef).max(axis=1)
    shown = [j for j in ranking(facts) if size[j] > 0][:top]
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


def plot_convergence(model: Any, *, ax: Any = None) -> Any:
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
    fits = facts_of(model).fits
    several = len(fits) > 1
    ax = _new_axes((6.0, 4.2)) if ax is None else ax
    twin = ax.twinx()
    for colour, fit in zip(_colours(len(fits)), fits, strict=True):
        objective, change, kept = _history(fit)
        iteration = np.arange(1, len(objective) + 1)
        label = _shown_name(fit.name) if several else "objective"
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
    _set_note(ax, _why_stopped(fits, model.n_iter_), pad=8 + 18 * -(-len(handles) // _LEGEND_COLUMNS))
    return ax


# ---------------------------------------------------------------- what is drawn


def _read_data(model: Any, facts: Facts, X: Any, y: Any) -> tuple[Any, Any]:
    """Return the indices and the targets, one column per output; None for what is not given."""
    if X is None:
        if y is not None:
            raise ValueError("y was given without X; pass both, or neither.")
        return None, None
    index = model.index(X)
    if facts.kind != "regression":
        index = index + model.intercept_
    indices = index.reshape(len(index), -1)
    return indices, None if y is None else _targets(facts, y, len(index))


def _targets(facts: Facts, y: Any, n_samples: int) -> FloatArray:
    if facts.kind in ("regression", "multilabel"):
        targets = np.asarray(y, dtype=np.float64)
        targets = targets.reshape(len(targets), -1)
    else:
        _, targets = _one_column_per_class(facts.classes, column_or_1d(y))
    if targets.shape != (n_samples, len(facts.outputs)):
        raise ValueError(
            f"y must have {n_samples} rows, as X, and {len(facts.outputs)} columns, got {targets.shape}."
        )
    return targets


def _history(fit: Output) -> tuple[FloatArray, FloatArray, int]:
    """Return objective and change in each iteration, and which one was kept."""
    if fit.history is None or fit.best_iter is None:
        raise ValueError("the model has no history: it was not fitted here; pass one that was.")
    return fit.history["objective"], fit.history["change"], fit.best_iter


def _why_stopped(fits: list[Output], n_iter: int) -> str:
    """Return why the solver stopped, in a sentence, or how often for which reason."""
    if len(fits) == 1:
        return f"{fits[0].status} after {n_iter} iterations:\n{Status[fits[0].status].value}"
    counts = Counter(fit.status for fit in fits)
    return ", ".join(f"{status}: {n} outputs" for status, n in counts.items())


# ---------------------------------------------------------------- axes


def _label_link_axes(ax: Any, facts: Facts, outputs: list[Output]) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    if facts.kind != "regression":
        ax.axhline(0.5, color="0.6", linewidth=0.8, zorder=0.5)
        ax.set_xlabel(r"index $w \cdot x$ + intercept (decision function)")
        name = _shown_name(outputs[0].name) if len(outputs) == 1 else "the class"
        ax.set_ylabel(f"probability of {name}")
        ax.set_yticks(np.linspace(0, 1, 6))
    elif not len(outputs[0].weights):
        ax.set_xlabel("index: effects of row and column, and their factors")
        ax.set_ylabel("prediction, in units of y")
    else:
        ax.set_xlabel(r"index $w \cdot x$")
        ax.set_ylabel(r"prediction $g(w \cdot x)$, in units of y")


def _label_convergence_axes(ax: Any, twin: Any) -> None:
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


def _span(outputs: list[Output], indices: Any) -> tuple[float, float]:
    """Return the range of the index to draw: all knots and data, and a margin on both sides."""
    ends = [] if indices is None else [indices[:, output.number] for output in outputs]
    ends += [output.link.knots_[:, 0] for output in outputs if output.link.knots_ is not None]
    # A known link bends everywhere; without data, show where it rises most.
    ends = ends or [np.array([-4.0, 4.0]) - output.link.offset for output in outputs]
    low, high = min(float(e.min()) for e in ends), max(float(e.max()) for e in ends)
    margin = 0.08 * (high - low) or 1.0
    return low - margin, high + margin


def _draw_curve(ax: Any, link: Link, span: tuple[float, float], colour: Any, label: str) -> None:
    if link.knots_ is None:
        grid = np.linspace(*span, 400)
        ax.plot(grid, link(grid), color=colour, linewidth=2, label=label, zorder=4)
        return
    knots, values = link.knots_.T
    ax.plot(knots, values, color=colour, linewidth=2, label=label, zorder=4)
    for end, knot in zip(span, knots[[0, -1]], strict=True):
        ax.plot([end, knot], link([end, knot]), ":", color=colour, linewidth=2, zorder=4)


def _draw_band(ax: Any, resampled: Resampled, one: Output, level: float, colour: Any, alone: bool) -> None:
    """Draw the limits of the mean where there are rows."""
    index, _ = resampled.link_rows(one.label)
    grid = np.linspace(index.min(), index.max(), 300)
    low, high = resampled.link_band(grid, level, one.label)
    label = f"{level:.0%} band" if alone else None
    ax.fill_between(grid, low, high, color=colour, alpha=0.18, linewidth=0, label=label, zorder=1.5)


def _draw_cloud(ax: Any, index: FloatArray, target: FloatArray) -> None:
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


def _draw_bars(ax: Any, coef: FloatArray, outputs: list[Output]) -> None:
    height = 0.75 / len(outputs)
    several = len(outputs) > 1
    for i, (colour, output) in enumerate(zip(_colours(len(outputs)), outputs, strict=True)):
        at = np.arange(len(coef)) + (i - (len(outputs) - 1) / 2) * height
        colours = colour if several else np.where(coef[:, i] > 0, _POSITIVE, _NEGATIVE)
        ax.barh(at, coef[:, i], height, color=colours, label=_shown_name(output.name))
