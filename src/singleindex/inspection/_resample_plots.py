"""Plots of what a resample tells: effects with their intervals, and how often features are chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..fitting.checks import check_count
from ._intervals import Intervals
from ._layers import _GREY, _NEGATIVE, _POSITIVE, _colours, _new_axes, _set_note, _shorten, _shown_name
from ._resampled import Resampled


def plot_effects(
    resampled: Resampled, *, level: float = 0.9, top: int = 20, units: Any = None, output: Any = None,
    ax: Any = None,
) -> Any:  # fmt: skip
    """Draw the average change of the prediction for each feature, with its interval.

    Parameters
    ----------
    resampled : Resampled
        As :func:`resample` returns it.
    level : float, default=0.9
        Of the intervals.
    top : int, default=20
        The largest number of features to show: the stable ones first, then by size.
    units : dict, default=None
        By how much features are changed, see :meth:`Resampled.effects`.
    output : int or class label, default=None
        Which of several outputs or classes; None draws all of them.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
        Stable features are filled, the others open; small grey lines are the model's own effects, which are
        drawn towards zero.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from singleindex import SingleIndexClassifier
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.inspection import plot_effects, resample
    >>> X, y, w, g = make_single_index(300, 20, n_atoms=3, link="clipped", random_state=0)
    >>> model = SingleIndexClassifier(n_atoms=3).fit(X, y)
    >>> resampled = resample(model, X, y, 20, random_state=0, n_permutations=0)
    >>> len(plot_effects(resampled, top=5, ax=Figure().subplots()).get_yticks())
    5
    """
    check_count("top", top)
    effects = resampled.effects(level, units, output)
    shown = _largest(effects, top)
    outputs = list(dict.fromkeys(effects.output))
    ax = _new_axes((6.4, 1.2 + 0.3 * max(3, len(shown)))) if ax is None else ax
    colours = dict(zip(outputs, _colours(max(len(outputs), 2)), strict=False))
    for number, name in enumerate(outputs):
        part = effects.take([one == name for one in effects.output])
        place = {
            int(j): i + (number - (len(outputs) - 1) / 2) * 0.7 / len(outputs) for i, j in enumerate(shown)
        }
        part = part.take([int(j) in place for j in part.feature])
        _draw_intervals(ax, part, [place[int(j)] for j in part.feature], colours[name] if number else None)
    first = {int(j): i for i, j in reversed(list(enumerate(effects.feature)))}
    labels = [f"{_shorten(effects.name[first[j]], 32)}\n{effects.change[first[j]]}" for j in shown]
    ax.set_yticks(range(len(shown)), labels, parse_math=False, fontsize="small")
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    ax.axvline(0, color="0.2", linewidth=0.8)
    ax.set_xlabel(f"average change of the prediction, {level:.0%} intervals")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    _set_note(ax, f"{len(shown)} of {len(first)} features; filled: stable")
    if len(outputs) > 1:
        from matplotlib.lines import Line2D

        known = [_POSITIVE, *(colours[name] for name in outputs[1:])]
        handles = [
            Line2D([], [], marker="o", color=colour, label=_shown_name(name))
            for colour, name in zip(known, outputs, strict=True)
        ]
        ax.legend(handles=handles, frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return ax


def _largest(effects: Intervals, top: int) -> list[int]:
    """Return the features to show: stable ones before others, the larger before the smaller."""
    order = np.lexsort((-np.abs(effects.estimate), ~effects.stable))
    return list(dict.fromkeys(int(j) for j in effects.feature[order]))[:top]


def _draw_intervals(ax: Any, part: Intervals, places: list[float], colour: Any) -> None:
    for i, place in enumerate(places):
        own = colour or _POSITIVE
        ax.plot([part.low[i], part.high[i]], [place, place], color=own, linewidth=1.6, solid_capstyle="butt")
        face = own if part.stable[i] else "white"
        ax.plot(part.estimate[i], place, "o", color=own, markerfacecolor=face, markersize=6, zorder=3)
        ax.plot(part.in_model[i], place, "|", color=_GREY, markersize=9, zorder=4)


def plot_selection(
    resampled: Resampled,
    *,
    max_false: float = 1.0,
    top: int = 20,
    assumption: str = "unimodal",
    ax: Any = None,
) -> Any:
    """Draw in which share of the halves each feature is chosen, and from which share on it is stable.

    Parameters
    ----------
    resampled : Resampled
        As :func:`resample` returns it.
    max_false : float, default=1.0
        How many false features are expected at most among the stable ones.
    top : int, default=20
        The largest number of features to show; the stable ones are all shown.
    assumption : {"unimodal", "none", "r-concave"}, default="unimodal"
        See :meth:`Resampled.stable`.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from singleindex import SingleIndexClassifier
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.inspection import plot_selection, resample
    >>> X, y, w, g = make_single_index(300, 20, n_atoms=3, link="clipped", random_state=0)
    >>> model = SingleIndexClassifier(n_atoms=3).fit(X, y)
    >>> resampled = resample(model, X, y, 20, random_state=0, n_permutations=0)
    >>> plot_selection(resampled, top=5, ax=Figure().subplots()).get_xlabel()
    'share of the halves that choose the feature'
    """
    check_count("top", top)
    rule, stable = resampled.rule(max_false, assumption), resampled.stable(max_false, assumption)
    shares = resampled.shares(max_false, assumption).max(axis=1)
    order = np.argsort(-shares, kind="stable")
    shown = order[: max(top, len(stable))]
    shown = shown[shares[shown] > 0]
    ax = _new_axes((6.4, 1.2 + 0.26 * max(3, len(shown)))) if ax is None else ax
    colours = [_POSITIVE if j in stable else "0.75" for j in shown]
    ax.barh(range(len(shown)), shares[shown], 0.7, color=colours)
    names = [_shorten(resampled.feature_names[j], 48) for j in shown]
    ax.set_yticks(range(len(shown)), names, parse_math=False)
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    ax.set_xlim(0, 1)
    if rule.share <= 1:
        ax.axvline(rule.share, color=_NEGATIVE, linewidth=1.2, linestyle="--")
    ax.axvline(rule.n_chosen / len(shares), color=_GREY, linewidth=0.8, linestyle=":")
    ax.set_xlabel("share of the halves that choose the feature")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    told = f"{len(stable)} stable, at most {rule.bound:.2g} false expected (right of the dashes)"
    _set_note(ax, told if rule.share <= 1 else "no share bounds false ones as asked: none is stable")
    return ax
