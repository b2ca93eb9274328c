"""The report as one HTML page that needs nothing but itself."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from html import escape
from importlib import resources
from typing import Any

from sklearn.base import is_classifier

from ...estimators.headline import has_evidence, headline
from ...estimators.outputs import facts_of
from .charts import draw_link, draw_place, draw_search
from .facts import NO_FEATURES, OURS, Facts, Feature
from .form import as_script
from .markup import figure, scrolling, section, tile_text
from .quality import HEADLINE, best_rival, quality_section
from .svg import short

_MOST_FEATURES = 200
# Outputs whose features have a table that is not folded away.
_MOST_TABLES = 6


def file_text(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


def build_page(model: Any, facts: Facts, about: dict[str, Any], y: Any, y_test: Any) -> str:
    """Return the page. `about` holds what the facts do not: title, target, notes, how to reproduce."""
    sections = [
        answer_section(model, facts, about),
        link_section(model, facts, about),
        feature_section(facts, about),
        form_section(facts, about),
        quality_section(model, facts, about, y, y_test),
        search_section(model, about),
        data_section(facts, about),
        reproduce_section(about),
    ]
    today, page = datetime.date.today(), file_text("template.html")
    parts = {
        "TITLE": escape(about["title"]),
        "STYLE": file_text("report.css"),
        "SCRIPT": file_text("report.js") + file_text("form.js"),
        "BODY": "\n".join(sections),
        "FOOT": f"singleindex {escape(about['version'])}, {today.day} {today:%B %Y}",
    }
    return filled_in(page, parts)


def filled_in(template: str, parts: dict[str, str]) -> str:
    # In one pass: what is put in is not searched for places itself.
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template)


# ---------------------------------------------------------------- the answer


def answer_section(model: Any, facts: Facts, about: dict[str, Any]) -> str:
    n_used, scores = len(facts.features), facts.test or facts.held_out
    measure = HEADLINE[is_classifier(model)]
    lead = escape(headline(facts_of(model), about["target"], about["p_value"], about["stable"]))
    where = f"{about['n_test']:,} held-out rows" if facts.test else "rows left out of the fit in turn"
    tiles = [
        ("rows", f"{about['n_rows']:,}"),
        ("features", f"{about['n_features']:,}"),
        ("in use", f"{n_used:,}"),
        *([] if about["stable"] is None else [("stable", f"{len(about['stable']):,}")]),
    ]
    tiles += [
        (f"{measure}, {name}", tile_text(found[measure], scores.errors[name].get(measure)))
        for name, found in scores.values.items()
        if measure in found and name in (OURS, best_rival(scores, measure), NO_FEATURES)
    ]
    cells = "".join(f"<div><dt>{escape(name)}</dt><dd>{value}</dd></div>" for name, value in tiles)
    return (
        f'<section id="answer"><h1>{escape(about["title"])}</h1><p class="lead">{lead}.</p>'
        f'<dl class="tiles">{cells}</dl><p class="small">Scores are those of {where}.</p>'
        f"{warning_box(about)}</section>"
    )


def warning_box(about: dict[str, Any]) -> str:
    if not about["warnings"]:
        return ""
    items = "".join(f"<p>{escape(text)}</p>" for text in about["warnings"])
    return f'<div class="warning" role="note">{items}</div>'


def link_section(model: Any, facts: Facts, about: dict[str, Any]) -> str:
    intro = (
        "<p>All that the model knows of a row is its <em>index</em>, the weighted sum of its features. "
        f"The curve tells what {escape(about['target'])} to expect at each index; its shape was learned, "
        "only that it rises was given. Where it is flat, the index makes no difference.</p>"
    )
    drawn = [draw_link(link, about["target"], is_classifier(model)) for link in facts.links]
    if len(drawn) > 1:
        drawn = [d._replace(title=link.name) for d, link in zip(drawn, facts.links, strict=True)]
    tables = "".join(link_table(link, is_classifier(model)) for link in facts.links)
    kind = "wide" if len(drawn) == 1 else "grid"
    return section(
        "link",
        "What shape has the response?",
        f'{intro}<div class="{kind}">{"".join(map(figure, drawn))}</div>{tables}',
    )


def link_table(link: Any, probability: bool) -> str:
    """Return the curve as numbers, for those who cannot see it or want to copy it."""
    numbers = range(0, len(link.grid), max(1, len(link.grid) // 12))
    rows = "".join(
        f"<tr><td>{short(link.grid[i])}</td><td>{short(link.values[i])}</td>"
        f"<td>{short(link.band_low[i])} to {short(link.band_high[i])}</td></tr>"
        for i in numbers
    )
    what = "probability" if probability else "mean"
    return (
        f"<details><summary>The curve of {escape(link.name)} as numbers</summary>"
        "<div class='scroll' tabindex='0' role='region' aria-label='Points of the curve'><table><thead><tr>"
        f"<th scope='col'>index</th><th scope='col'>{what}</th><th scope='col'>band</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div></details>"
    )


# ---------------------------------------------------------------- features


_STABLE = (
    " <em>Stable</em> are features that random halves of the rows find again and again: of these, one at "
    "most is expected to be there by chance, and the others are not to be relied on."
)
_IN_MODELS = (
    " <em>In models</em> tells in what share of the averaged models the feature was used; noise can be in "
    "all of them."
)


def feature_section(facts: Facts, about: dict[str, Any]) -> str:
    if not facts.features:
        return section("features", "Which features matter?", "<p>None has a weight.</p>")
    doubt = ""
    if not has_evidence(about["p_value"]):
        doubt = "<p>None, as far as these rows tell: what follows is what such a fit finds in noise.</p>"
    tables = [feature_table(facts, k, about["stable"]) for k in range(len(facts.outputs))]
    body = "".join(tables[:_MOST_TABLES])
    if len(tables) > _MOST_TABLES:
        body += f"<details><summary>More</summary>{''.join(tables[_MOST_TABLES:])}</details>"
    intro = (
        "<p><em>Effect</em> is by how much the prediction changes, on average over the rows and all else "
        "alike, when the feature goes up by one standard deviation (<em>sd</em>); <em>for "
        "example</em> is what a round step makes of the mean prediction; <em>weight</em> is by how much the "
        "index moves per unit of the feature."
        + ("" if about["stable"] is None else _STABLE)
        + ("" if facts.features[0].stability is None else _IN_MODELS)
        + "</p>"
    )
    return section("features", "Which features matter?", doubt + intro + body)


def feature_table(facts: Facts, k: int, stable: list[str] | None) -> str:
    """Return the features with a weight for one output, those that change its prediction most first."""
    name, several = facts.outputs[k], len(facts.outputs) > 1
    used = [one for one in facts.features if one.weights[k]] if several else facts.features
    title = f"<h3>{escape(name)}</h3>" if several else ""
    if not used:
        return f"{title}<p>No feature has a weight.</p>"
    shown = sorted(used, key=lambda one: -abs(one.effects[k]))[:_MOST_FEATURES] if several else used
    shown = shown[:_MOST_FEATURES]
    largest = max(abs(one.effects[k]) for one in shown) or 1.0
    columns = [("feature", "text"), ("effect", "number"), ("for example", "text"), ("weight", "number")]
    columns += [] if stable is None else [("stable", "text")]
    columns += [] if shown[0].stability is None else [("in models", "number")]
    columns += [("mean ± sd", "number")]
    rows = "".join(feature_row(one, k, largest, stable) for one in shown)
    more = ""
    if len(used) > len(shown):
        more = f"<p class='small'>{len(used) - len(shown):,} more features have smaller effects.</p>"
    table = (
        "<table class='sortable'>"
        f"<caption class='hidden'>Features with a weight for {escape(name)}</caption>"
        f"<thead><tr>{''.join(head(*one) for one in columns)}</tr></thead><tbody>{rows}</tbody></table>"
    )
    return title + scrolling(f"Features of {name}", table) + more


def head(name: str, kind: str) -> str:
    return (
        f'<th scope="col" aria-sort="none" class="{kind}"><button type="button">{escape(name)}</button></th>'
    )


def feature_row(feature: Feature, k: int, largest: float, stable: list[str] | None) -> str:
    weight, effect, words = feature.weights[k], feature.effects[k], feature.words[k]
    width = 50 * abs(effect) / largest
    side = f"left:50%;width:{width:.1f}%" if effect >= 0 else f"right:50%;width:{width:.1f}%"
    sign = "up" if effect >= 0 else "down"
    cells = [
        f'<th scope="row" title="{escape(feature.name)}">{escape(feature.name)}</th>',
        f'<td data-value="{effect!r}"><span class="bar"><i class="{sign}" style="{side}"></i></span>'
        f"<span>{short(effect)}</span></td>",
        f"<td>{escape(words)}</td>",
        f'<td data-value="{weight!r}">{short(weight)}</td>',
    ]
    if stable is not None:
        cells.append(f"<td>{'yes' if feature.name in stable else '–'}</td>")
    if feature.stability is not None:
        cells.append(f'<td data-value="{feature.stability!r}">{feature.stability:.0%}</td>')
    about = f"{short(feature.mean)} ± {short(feature.spread)}"
    cells.append(f'<td data-value="{feature.mean!r}">{about}</td>')
    return f"<tr>{''.join(cells)}</tr>"


# ---------------------------------------------------------------- what if


def form_section(facts: Facts, about: dict[str, Any]) -> str:
    """Return the form with the model beside it; the script makes the controls."""
    if not about["form"]:
        return section("whatif", "What if?", f"<p>{about['no_form']}</p>")
    known, what = facts.model, "probability" if facts.model.kind != "regression" else "prediction"
    assert known.background is not None
    charts = "".join(
        place_figure(draw_place(one.link, known.background["index"][:, k] + one.intercept, name, what), name)
        for k, (one, name) in enumerate(zip(known.outputs, facts.outputs, strict=True))
    )
    together = ""
    if known.kind == "multiclass":
        together = " Probabilities are the values of the curves, made to sum to one over the classes."
        if known.is_coupled:
            together = " Probabilities are the odds of the curves' values, made to sum to one."
    parts = {
        "INTRO": "Change the values of a row, and see where it comes to lie on the curve and what the model "
        f"makes of it. It tells how the model would answer, not what would happen.{together}",
        "WHAT": what,
        "CHARTS": charts,
        "MODEL": as_script(about["form"]),
    }
    return section("whatif", "What if?", filled_in(file_text("form.html"), parts))


def place_figure(svg: str, name: str) -> str:
    return f'<figure class="place"><h3>{escape(name)}</h3>{svg}<p class="reading"></p></figure>'


# ---------------------------------------------------------------- the rest


def search_section(model: Any, about: dict[str, Any]) -> str:
    drawn = draw_search(model)
    plain = facts_list([(name, describe(value)) for name, value in about["settings"].items()])
    terms = facts_list([(name, describe(value)) for name, value in about["technical"].items()])
    chart = f'<div class="wide">{figure(drawn)}</div>' if drawn is not None else ""
    fold = f"<details><summary>In technical terms</summary>{terms}{chart}</details>"
    return section("search", "The chosen model", plain + fold)


def describe(value: Any) -> str:
    if value is None:
        return "no limit"
    return short(value) if isinstance(value, float) else str(value)


def facts_list(pairs: Iterable[tuple[str, str]]) -> str:
    items = "".join(
        f"<div><dt>{escape(str(name))}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs
    )
    return f'<dl class="facts">{items}</dl>'


def data_section(facts: Facts, about: dict[str, Any]) -> str:
    pairs = facts_list(about["data"].items())
    notes = "".join(f"<li>{escape(note)}</li>" for note in about["notes"])
    return section(
        "data", "The data", pairs + (f"<h3>What was done to it</h3><ul>{notes}</ul>" if notes else "")
    )


def reproduce_section(about: dict[str, Any]) -> str:
    blocks = "".join(
        f"<h3>{escape(title)}</h3><pre tabindex='0'><code>{escape(text)}</code></pre>"
        for title, text in about["reproduce"].items()
    )
    return section("reproduce", "How to reproduce it", blocks)
