"""The section on how well the model predicts, and how others do on the same rows."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from sklearn.base import is_classifier

from ..scores import HIGHER_IS_BETTER, outcomes
from .charts import draw_quality
from .facts import NO_FEATURES, OURS, Facts, Scores
from .markup import figure, heads, score_text, scrolling, section, with_error
from .svg import short
from .thresholds import draw_costs, threshold_part

# By whether there are classes: what is told first, and what the table of all contestants goes by.
HEADLINE = {True: "AUC", False: "R²"}
_BOARD = {True: "log-loss", False: "RMSE"}
_INTERVAL = 1.96
_BEYOND_ERROR = 2.0


def best_rival(scores: Scores, measure: str) -> str:
    """Return the name of the best of the others by a measure."""
    sign = 1 if HIGHER_IS_BETTER[measure] else -1
    others = {name: found for name, found in scores.values.items() if name not in (OURS, NO_FEATURES)}
    return max(others, key=lambda name: sign * others[name].get(measure, -math.inf), default="")


def quality_section(model: Any, facts: Facts, about: dict[str, Any], y: Any, y_test: Any) -> str:
    body = who_takes_part(facts)
    measure, n_folds = _BOARD[is_classifier(model)], len(facts.folds.splits)
    if facts.test:
        body += score_part(facts.test, "Rows held out from the start", measure)
    body += score_part(facts.held_out, "Rows left out of the fit in turn", measure)
    body += (
        f"<p class='small'>Rows left out in turn: the whole fit, with the choice of its settings, was done "
        f"{n_folds} more times, each time without a part of the rows, which were then predicted; so were the "
        "fits of the others, without the same rows. These models had fewer rows to learn from than the one "
        "on this page.</p>"
    )
    if facts.test:
        body += difference_in_words(facts.test, facts.held_out, measure, about, n_folds)
    return section("quality", "How well does it predict?", body + charts_part(model, facts, about, y, y_test))


def who_takes_part(facts: Facts) -> str:
    names = " and ".join(one.name for one in facts.rivals.found if one.name.startswith("L"))
    boosting = any(one.name == "gradient boosting" for one in facts.rivals.found)
    absent = "".join(
        f" {escape(name).capitalize()} is not there: {escape(why)}."
        for name, why in facts.rivals.left_out.items()
    )
    return (
        f"<p>Beside it stand {names} with many penalties in the scale of the data, "
        f"{'gradient boosting of trees, ' if boosting else ''}and what uses no features at all: the mean of "
        "the training rows. All of them were fitted without the rows they are scored on, their settings "
        f"chosen inside.{absent} ↑ higher is better, ↓ lower is better; ± is one standard error. Marked is "
        "what is better than all others by more than two standard errors of the difference, which rows in "
        "common make smaller than those of scores.</p>"
    )


# ---------------------------------------------------------------- tables


def score_part(scores: Scores, caption: str, measure: str) -> str:
    """Return all contestants by one measure, and folded away by all measures."""
    return (
        f"<h3>{escape(caption)}</h3>{leaderboard(scores, caption, measure)}"
        f"<details><summary>All measures</summary>{score_table(scores, caption)}</details>"
    )


def leaderboard(scores: Scores, caption: str, measure: str) -> str:
    """Return the contestants, the best first, with how far the model is ahead of each."""
    sign = 1 if HIGHER_IS_BETTER[measure] else -1
    order = sorted(scores.values, key=lambda name: -sign * scores.values[name][measure])
    rows = "".join(
        f'<tr><th scope="row">{f"<strong>{OURS}</strong>" if name == OURS else escape(name)}</th>'
        f"{score_cell(scores, name, measure)}<td>{gain_text(scores, name, measure)}</td></tr>"
        for name in order
    )
    table = (
        f'<table class="scores board"><caption class="hidden">{escape(caption)}, by {measure}</caption>'
        f'<thead><tr><th scope="col">model</th><th scope="col">{measure} {arrow(measure)}</th>'
        f"{heads([f'{OURS} better by (95 % interval)'])}</tr></thead><tbody>{rows}</tbody></table>"
    )
    return scrolling(f"{caption}, by {measure}", table)


def gain_text(scores: Scores, name: str, measure: str) -> str:
    if name == OURS:
        return ""
    gain, error = scores.gains[name].get(measure, (math.nan, 0.0))
    if math.isnan(gain):
        return "–"
    if not error:
        return score_text(gain)
    digits = int(min(max(1 - math.floor(math.log10(error)), 0), 4))
    low, high = gain - _INTERVAL * error, gain + _INTERVAL * error
    text = f"{gain:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"
    return text.replace("-", "−")


def arrow(measure: str) -> str:
    mark, words = ("↑", "higher is better") if HIGHER_IS_BETTER[measure] else ("↓", "lower is better")
    return f'<span class="small" title="{words}" aria-label="{words}" role="img">{mark}</span>'


def score_table(scores: Scores, caption: str) -> str:
    rows = []
    for measure in next(iter(scores.values.values())):
        cells = "".join(score_cell(scores, name, measure) for name in scores.values)
        rows.append(f'<tr><th scope="row">{measure} {arrow(measure)}</th>{cells}</tr>')
    table = (
        f'<table class="scores"><caption class="hidden">{escape(caption)}, all measures</caption>'
        f'<thead><tr><th scope="col">measure</th>{heads(scores.values)}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
    return scrolling(f"{caption}, all measures", table)


def score_cell(scores: Scores, name: str, measure: str) -> str:
    value = scores.values[name].get(measure)
    if value is None:
        return "<td>–</td>"
    best = " class=best" if scores.best.get(measure) == name else ""
    return f"<td{best}>{with_error(value, scores.errors[name].get(measure))}</td>"


def difference_in_words(
    test: Scores, held_out: Scores, measure: str, about: dict[str, Any], n_folds: int
) -> str:
    """Return why the two tables are not the same, and whether chance explains by how much they are not."""
    first, second = (one.values[OURS].get(measure, math.nan) for one in (test, held_out))
    errors = [one.errors[OURS].get(measure, 0.0) for one in (test, held_out)]
    gap, error = abs(first - second), math.hypot(*errors)
    chance = (
        "chance alone can make such a difference" if gap <= _BEYOND_ERROR * error
        else "that is more than chance explains: the rows differ in kind, or one of the two holds odd ones"
    )  # fmt: skip
    return (
        f"<p class='small'>The two tables tell of different rows. The first: {about['n_test']:,} rows that "
        "nothing was learned from, predicted by the model on this page. The second: the "
        f"{about['n_rows']:,} rows that it was learned from, each predicted by one of {n_folds} models "
        f"without it. The {measure} of {OURS} differs by {short(gap, 2)}, with a standard error of "
        f"{short(error, 2)}: {chance}.</p>"
    )


# ---------------------------------------------------------------- charts


def charts_part(model: Any, facts: Facts, about: dict[str, Any], y: Any, y_test: Any) -> str:
    predictions, happened = facts.folds.predictions, outcomes(model, y)
    beside: Any = [(one.name, one.held_out) for one in facts.rivals.found]
    where = "rows left out of the fit in turn"
    if facts.test_predictions is not None:
        predictions, happened = facts.test_predictions, outcomes(model, y_test)
        beside = [(one.name, one.test) for one in facts.rivals.found]
        where = "the rows held out from the start"
    drawn = draw_quality(model, predictions, happened, beside, facts.outputs)
    decision = ""
    if about["classes"]:
        p, cases, said = predictions.value[:, 0], happened[:, 0], (about["threshold"], about["costs"])
        drawn.append(draw_costs(p, cases, *said, facts.outputs[0]))
        decision = threshold_part(p, cases, *said, about["classes"])
    charts = "".join(map(figure, drawn))
    return f"<p>The charts show {where}.</p><div class='grid'>{charts}</div>{decision}"
