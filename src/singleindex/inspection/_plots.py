"""Plots of fitted models. matplotlib is imported when a plot is drawn, not before."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..estimators.base import check_count
from ..solvers import Status

FloatArray = NDArray[np.float64]

# Okabe & Ito: told apart with every kind of colour vision, and in grey.
_PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_POSITIVE, _NEGATIVE = _PALETTE[:2]
_GREY = "0.45"

_MAX_POINTS = 2000  # more than these make a cloud darker, not clearer
_MIN_PER_BIN = 5
_STRIP = 0.13  # share of the height that the histogram of the index takes
_Z95 = 1.959963984540054


class _Output(NamedTuple):
    """One output of a model: its position, what it is called, its link."""

    number: int
    name: str
    link: Any


def plot_link(model, X=None, y=None, *, output=None, ax=None, bins=20):
    """Draw the link of a fitted model, and with data how well it fits.

    Parameters
    ----------
    model : fitted estimator
        A single-index regressor or classifier.
    X : array, sparse matrix or data frame of shape (n_samples, n_features), default=None
        Adds the distribution of the index.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        With X, adds the points and the mean of y in bins of the index.
    output : int or class label, default=None
        Which of several outputs or classes to draw. None draws all of them, without the points.
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
    every = _outputs(model)
    check_count("bins", bins)
    outputs = every if output is None else [_choose(model, every, output)]
    indices, targets = _read_data(model, every, X, y)
    ax = _new_axes((6.0, 4.2)) if ax is None else ax
    alone = len(outputs) == 1
    span = _span(outputs, indices)
    for colour, (k, name, link) in zip(_colours(len(outputs)), outputs, strict=True):
        label = "link" if alone else name
        _draw_curve(ax, link, span, colour, label)
        if targets is not None:
            mark = _PALETTE[1] if alone else colour
            _draw_means(ax, indices[:, k], targets[:, k], bins, mark, "bin means" if alone else None)
        if alone and targets is not None:
            _draw_cloud(ax, indices[:, k], targets[:, k])
        if alone and indices is not None:
            _draw_histogram(ax, indices[:, k])
    _label_link_axes(ax, model, outputs)
    ax.set_xlim(*span)
    if not alone or targets is not None:
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
    every = _outputs(model)
    check_count("top", top)
    outputs = every if output is None else [_choose(model, every, output)]
    coef = model.coef_.reshape(len(model.coef_), -1)[:, [o.number for o in outputs]]
    names = _feature_names(model, feature_names, len(coef))
    size = np.abs(coef).max(axis=1)
    shown = [j for j in np.argsort(-size, kind="stable")[:top] if size[j] > 0]
    ax = _new_axes((6.0, 1.0 + 0.26 * max(len(shown), 3))) if ax is None else ax
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
        With the objective. The ring marks the iterate that the model is.

    Notes
    -----
    CSI is not a descent method: the objective may rise, and the model need not be the last iterate.
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
    outputs = _outputs(model, "history_")
    several = len(outputs) > 1
    histories = model.history_ if several else [model.history_]
    best = np.atleast_1d(model.best_iter_)
    ax = _new_axes((6.0, 4.0)) if ax is None else ax
    twin = ax.twinx()
    for colour, (k, name, _) in zip(_colours(len(outputs)), outputs, strict=True):
        objective = histories[k]["objective"]
        iteration = np.arange(1, len(objective) + 1)
        ax.plot(iteration, objective, "o-", color=colour, markersize=3, label=name)
        ax.plot(
            best[k] + 1, objective[best[k]], "o", color=colour, markersize=10, fillstyle="none",
            markeredgewidth=1.5, label="_returned" if several else "returned",
        )  # fmt: skip
        change = np.where(np.isfinite(histories[k]["change"]), histories[k]["change"], np.nan)
        grey = colour if several else _GREY
        twin.plot(iteration, change, "--", color=grey, linewidth=1, label="change")
    _label_convergence_axes(ax, twin, several)
    _set_note(ax, _why_stopped(model))
    if several:
        _draw_legend(ax)
    return ax
