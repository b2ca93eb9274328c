"""A fitted model in a notebook: a sentence, the curve and the features in use, small enough for a cell."""

from __future__ import annotations

from html import escape
from importlib import resources
from typing import Any

import numpy as np

from ..estimators.effects import effects_of, ranking
from ..estimators.headline import headline
from ..estimators.outputs import Facts, Output, facts_of, is_single_index
from ..link import Link
from ._report.charts import draw_curve
from ._report.svg import short

_MOST_CURVES, _MOST_FEATURES = 3, 10


def html_view(model: Any) -> str:
    """Return HTML on a fitted single-index model, be columns prepared in front of it or not; else nothing."""
    model = vars(model).get("estimator_", model)
    if not is_single_index(model):
        return ""
    facts = facts_of(model)
    curves = "".join(curve_of(facts, output) for output in facts.outputs[:_MOST_CURVES])
    style = (resources.files(__package__) / "notebook.css").read_text(encoding="utf-8")
    return (
        f'<div class="singleindex-view"><style>{style}</style><p>{escape(headline(facts))}.</p>'
        f'<div class="curves">{curves}</div>{feature_table(facts)}</div>'
    )


def curve_of(facts: Facts, output: Output) -> str:
    several = len(facts.outputs) > 1
    name = output.name if several else "the model"
    what = "prediction" if facts.kind == "regression" else "probability"
    label = f"{what}, {output.name}" if several or facts.kind == "binary" else what
    return draw_curve(output.link, index_of(facts, output), label).render(f"The learned link of {name}.")


def index_of(facts: Facts, output: Output) -> np.ndarray:
    """Return the index of some rows of the fit, or where the curve begins and ends."""
    if facts.background is not None:
        index: np.ndarray = facts.background["index"][:, output.number] + output.intercept
        return index
    return ends_of(output.link)


def ends_of(link: Link) -> np.ndarray:
    return np.array([-1.0, 1.0]) if link.knots_ is None else np.asarray(link.knots_[[0, -1], 0])


def feature_table(facts: Facts) -> str:
    names, order = facts.names(), ranking(facts)
    if not order:
        return ""
    effects = {one.feature: one for one in effects_of(facts)} if len(facts.outputs) == 1 else {}
    heads = "".join(
        f"<th>weight{f', {escape(output.name)}' if len(facts.outputs) > 1 else ''}</th>"
        for output in facts.outputs[:_MOST_CURVES]
    )
    rows = []
    for j in order[:_MOST_FEATURES]:
        weights = "".join(f"<td>{short(weight)}</td>" for weight in facts.coef[j, :_MOST_CURVES])
        words = f"<td>{escape(effects[j].in_words(facts.kind))}</td>" if effects else ""
        rows.append(f"<tr><th>{escape(names[j])}</th>{weights}{words}</tr>")
    left = len(order) - len(rows)
    more = f"<p>and {left:,} more features of smaller effect</p>" if left else ""
    return (
        f"<table><thead><tr><th>feature</th>{heads}{'<th>for example</th>' if effects else ''}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>{more}"
    )
