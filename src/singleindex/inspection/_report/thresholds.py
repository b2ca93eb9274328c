"""The part of the report on yes and no: what a threshold finds, misses and costs."""

from __future__ import annotations

from html import escape

import numpy as np

from ..thresholds import Confusion, confusion_at, threshold_for
from .charts import Drawn
from .svg import Chart, short

# What a missed case costs in false alarms, where nobody has said.
_RATIOS = (1.0, 5.0, 20.0)
_POINTS = 120
_ROUND = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_DEAREST = 1.5


def draw_costs(
    p: np.ndarray, happened: np.ndarray, threshold: float, costs: tuple[float, float] | None, name: str
) -> Drawn:
    """Draw the cost of each threshold beside that of one answer for all, a line for each ratio of costs."""
    given = [] if costs is None else [costs[0] / costs[1]]
    ratios = given + [ratio for ratio in _RATIOS if ratio not in given]
    grid = np.linspace(0, min(1.0, 1.05 * max(float(p.max()), threshold)), _POINTS)
    tables = [confusion_at(t, p, happened) for t in grid]
    chart = Chart(
        (0, grid[-1]),
        (0, _DEAREST),
        f"threshold: {name} beyond this probability",
        "cost, 1: one answer for all",
    )
    chart.line((0, grid[-1]), (1, 1), "muted dashed")
    chart.line((threshold, threshold), (0, _DEAREST), "muted")
    legend, words = [], []
    for kind, ratio in zip(("one", "two", "three", "four"), ratios, strict=False):
        cost = np.array(
            [table.cost(ratio, 1) / (table.cost_without_model(ratio, 1) or 1) for table in tables]
        )
        shown = np.minimum(cost, _DEAREST)
        chart.line(grid, shown, kind)
        best = threshold_for(ratio, 1)
        if best <= grid[-1]:
            chart.dots([best], [float(np.interp(best, grid, shown))], kind, 4.2)
        said = f"a missed one costs {ratio:g} false alarm{'' if ratio == 1 else 's'}"
        legend.append((f"line {kind}", said))
        words.append(f"where {said}, the cost at {best:.2g} is {np.interp(best, grid, cost):.0%}")
        if not chart.cursor:
            labels = [f"threshold {t:.3g}: {in_words(table)}" for t, table in zip(grid, tables, strict=True)]
            chart.follow(grid[::2], shown[::2], labels[::2])
    legend.append(("line muted", f"the threshold in use, {threshold:.3g}"))
    legend.append(("line muted dashed", "one answer for all, the cheaper one"))
    text = f"Line chart of what a threshold costs, as a share of one answer for all: {'; '.join(words)}."
    note = "Below 1 the model saves something. Dots: the threshold that the costs call for."
    return Drawn("What a threshold costs", chart.render(text), legend, note)


def in_words(table: Confusion) -> str:
    return f"{table.found:,} of {table.n_cases:,} found, {table.false_alarms:,} false alarms"


def threshold_part(
    p: np.ndarray, happened: np.ndarray, threshold: float, costs: tuple[float, float] | None,
    classes: tuple[str, str],
) -> str:  # fmt: skip
    """Return the tables of a classifier of two classes: at its threshold, and at others."""
    no, yes = map(escape, classes)
    table = confusion_at(threshold, p, happened)
    said = ""
    if costs is not None:
        cost, without = table.cost(*costs), table.cost_without_model(*costs)
        said = (
            f" The costs add up to {short(cost)}; with one answer for all rows it would be {short(without)}."
        )
    heads = "".join(f"<th scope='col'>{head}</th>" for head in ("", f"said {no}", f"said {yes}"))
    lines = ((no, table.true_negatives, table.false_alarms), (yes, table.missed, table.found))
    rows = "".join(
        f"<tr><th scope='row'>in truth {truth}</th><td>{said_no:,}</td><td>{said_yes:,}</td></tr>"
        for truth, said_no, said_yes in lines
    )
    return (
        f"<h3>Yes or no</h3><p>A row is called {yes} where its probability is above {threshold:.3g}: "
        f"{in_words(table)}.{said}</p>"
        '<div class="scroll" tabindex="0" role="region" aria-label="Said and true"><table class="scores">'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{other_thresholds(p, happened)}"
    )


def other_thresholds(p: np.ndarray, happened: np.ndarray) -> str:
    rows = []
    for threshold in (t for t in _ROUND if t < p.max()):
        table = confusion_at(threshold, p, happened)
        right = f"{table.found / table.n_called:.0%}" if table.n_called else "–"
        rows.append(
            f"<tr><th scope='row'>{threshold:g}</th><td>{table.n_called:,}</td><td>{table.found:,}</td>"
            f"<td>{table.missed:,}</td><td>{table.false_alarms:,}</td><td>{right}</td></tr>"
        )
    heads = "".join(
        f"<th scope='col'>{name}</th>"
        for name in ("threshold", "called", "found", "missed", "false alarms", "right of those called")
    )
    return (
        "<details><summary>Other thresholds</summary><div class='scroll' tabindex='0' role='region' "
        f"aria-label='Other thresholds'><table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody>"
        "</table></div></details>"
    )
