"""The waterfall of one row: from the mean row to its prediction, one contribution after another."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..fitting.checks import check_count
from ._layers import _GREY, _NEGATIVE, _POSITIVE, _new_axes, _set_note, _shorten, _shown_name
from .explanation import Explanation, Step


def plot_explanation(
    explanation: Explanation, row: int = 0, *, top: int = 10, output: Any = None, ax: Any = None
) -> Any:
    """Draw how the features of a row make its index and its prediction.

    Parameters
    ----------
    explanation : Explanation
        What :func:`explain` returned.
    row : int, default=0
        Which of its rows.
    top : int, default=10
        The largest number of features to show, those of the largest contributions; the others are summed.
    output : int or class label, default=None
        Which of several outputs or classes.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Notes
    -----
    A bar is the part of the index that a feature adds, w times the distance of its value from the mean of the
    fit; it begins where the one above it ends. Beside it stands the prediction after it. A name with "!" has
    a value beyond all of those that the model was fitted to.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from singleindex import SingleIndexRegressorCV
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.inspection import explain, plot_explanation
    >>> X, y, w, g = make_single_index(150, 30, n_atoms=5, noise="gaussian", random_state=0)
    >>> model = SingleIndexRegressorCV(cv=3).fit(X, y)
    >>> ax = plot_explanation(explain(model, X[:1]), ax=Figure().subplots())
    >>> ax.get_xlabel()
    'index'
    """
    check_count("top", top)
    steps = explanation.steps(row, output)
    k = explanation.position(output)
    one, base = explanation.facts.outputs[k], float(np.atleast_1d(explanation.base)[k])
    shown = _with_the_rest(steps, top)
    start = base + one.intercept
    ends = start + np.cumsum([0.0, *(step.contribution for step in shown)])
    outside = set(explanation.outside_names(row))
    ax = _new_axes((7.0, 1.6 + 0.32 * max(3, len(shown)))) if ax is None else ax
    for i, step in enumerate(shown):
        colour = _POSITIVE if step.contribution >= 0 else _NEGATIVE
        ax.barh(i, step.contribution, left=ends[i], color=colour, height=0.62, zorder=3)
        ax.plot([ends[i + 1]] * 2, [i - 0.31, min(i + 1.31, len(shown) - 0.69)], color=_GREY, linewidth=0.8)
    names = [_label(step, step.name in outside) for step in shown]
    ax.set_yticks(range(len(shown)), names, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    room = 0.03 * (np.ptp(ends) or 1.0)
    ax.set_xlim(ends.min() - room, ends.max() + room)
    ax.axvline(start, color=_GREY, linestyle="--", linewidth=0.8, zorder=1)
    ax.set_xlabel("index" if explanation.facts.kind == "regression" else "index + intercept")
    ax.spines[["top", "right", "left"]].set_visible(False)
    _write_predictions(ax, shown, explanation.facts.kind)
    _set_note(ax, _note(explanation, row, k, steps))
    return ax


def _with_the_rest(steps: list[Step], top: int) -> list[Step]:
    """Return the first steps, and all others as one."""
    if len(steps) <= top:
        return steps
    rest = steps[top:]
    total = sum(step.contribution for step in rest)
    summed = Step(f"{len(rest)} others", np.nan, total, rest[0].before, rest[-1].after)
    return [*steps[:top], summed]


def _label(step: Step, is_outside: bool) -> str:
    value = "" if np.isnan(step.value) else f" = {step.value:.4g}"
    return f"{_shorten(step.name, 36)}{value}{' !' if is_outside else ''}"


def _write_predictions(ax: Any, steps: list[Step], kind: str) -> None:
    """Write the prediction after each step in a column at the right."""
    if not steps:
        return
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    for i, step in enumerate(steps):
        ax.annotate(
            _value(step.after, kind), (1.0, i), xytext=(6, 0), va="center", fontsize="small",
            color="0.25", annotation_clip=False, **place,
        )  # fmt: skip
    ax.annotate(
        "prediction", (1.0, -0.6), xytext=(6, 3), va="bottom", fontsize="small", color=_GREY,
        annotation_clip=False, **place,
    )  # fmt: skip


def _value(value: float, kind: str) -> str:
    return f"{value:#.4g}".rstrip(".") if kind == "regression" else f"{100 * value:.1f} %"


def _note(explanation: Explanation, row: int, k: int, steps: list[Step]) -> str:
    facts = explanation.facts
    last = float(np.atleast_1d(explanation.prediction[row])[k])
    first = steps[0].before if steps else last
    is_named = facts.kind != "regression" or len(facts.outputs) > 1
    name = f" of {_shown_name(facts.outputs[k].name)}" if is_named else ""
    kind = "prediction" if facts.kind == "regression" else "probability"
    return f"{kind}{name}: mean row {_value(first, facts.kind)}, this row {_value(last, facts.kind)}"
