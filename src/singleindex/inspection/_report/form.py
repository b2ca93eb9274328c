"""The form that asks "what if": the model as numbers that a script in the page predicts by."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from ...estimators.effects import is_switch, ranking
from ...estimators.outputs import Facts
from ...fitting.plan import CERTAIN
from ...link import FIXED_LINKS, Link, ShiftedLink
from ...tables.columns import CATEGORY, DATE, NUMBER
from ...tables.preparation import Preparation

# Features that a page can hold, of them so many with a control, and of these so many not folded away.
_MOST_INPUTS, _MOST_CONTROLS, _SHOWN = 5000, 60, 12


@dataclass(frozen=True)
class Column:
    """One column of the table: its features, and what a missing value is taken as (None: it may not be)."""

    name: str
    place: int
    kind: str
    features: Sequence[int]
    fill: float | str | None
    values: Sequence[str] = ()
    date_order: str = ""


def why_no_form(facts: Facts) -> str:
    """Return why a page cannot predict as the model does, nothing where it can."""
    if not len(facts.used):
        return "No feature has a weight: every row gets the same prediction."
    if len(facts.used) > _MOST_INPUTS:
        return f"{len(facts.used):,} features are in use, too many to be filled in by hand."
    if not all(is_written_down(output.link) for output in facts.outputs):
        return "The link is a function of your own, which this page cannot compute."
    return ""


def is_written_down(link: Link) -> bool:
    """Tell a link through knots, and a known function of the index."""
    return link.knots_ is not None or (isinstance(link, ShiftedLink) and link.name in FIXED_LINKS)


def form_record(
    facts: Facts,
    X: Any,
    names: Sequence[str],
    outputs: Sequence[str],
    preparation: Any,
    about: dict[str, Any],
) -> dict[str, Any]:
    """Return the model for the script; `facts` have a background, `preparation` may be None."""
    columns = columns_of(preparation, names)
    inputs = [input_record(column, facts, X) for column in in_order(columns, facts)]
    return {
        "kind": facts.kind,
        "coupled": facts.is_coupled,
        "certain": CERTAIN,
        "columns": len(columns),
        "first": [column.name for column in columns[:8]],
        "threshold": about["threshold"],
        "classes": list(about["classes"]),
        "shown": _SHOWN,
        "controls": _MOST_CONTROLS,
        "inputs": inputs,
        "outputs": [
            {"name": name, "intercept": one.intercept, "link": link_record(one.link)}
            for name, one in zip(outputs, facts.outputs, strict=True)
        ],
    }


def as_script(record: dict[str, Any]) -> str:
    """Return JSON that cannot end the element it stands in."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def columns_of(preparation: Any, names: Sequence[str]) -> list[Column]:
    if not isinstance(preparation, Preparation):
        return [Column(name, j, NUMBER, [j], None) for j, name in enumerate(names)]
    found, start = [], 0
    parts = zip(preparation.columns, preparation.kinds, preparation.fills, strict=True)
    for place, (name, kind, fill) in enumerate(parts):
        features = range(start, start + len(preparation.names_of(name)))
        start = features.stop
        values = preparation.categories.get(name, ())
        order = preparation.date_orders.get(name, "")
        found.append(
            Column(name, place, kind, features, fill if preparation.imputed else None, values, order)
        )
    return found


def in_order(columns: list[Column], facts: Facts) -> list[Column]:
    """Return the columns with a weight, those that change the prediction most first."""
    home = {j: column.place for column in columns for j in column.features}
    return [columns[place] for place in dict.fromkeys(home[j] for j in ranking(facts))]


def input_record(column: Column, facts: Facts, X: Any) -> dict[str, Any]:
    known = facts.background
    assert known is not None
    at = {j: i for i, j in enumerate(known["feature"].tolist())}
    centre = sum(facts.coef[j] * known["mean"][at[j]] for j in column.features if j in at)
    record: dict[str, Any] = {
        "name": column.name, "place": column.place, "kind": column.kind,
        "centre": np.asarray(centre).tolist(),
    }  # fmt: skip
    if column.kind == CATEGORY:
        return record | category_record(column, facts, known, at)
    j = column.features[0]
    mean, spread, low, high = (float(known[name][at[j]]) for name in ("mean", "spread", "low", "high"))
    whole = is_switch(mean, spread, low, high) or column.kind == DATE or is_whole(X, j)
    step = 1.0 if whole else 10.0 ** np.floor(np.log10(max((high - low) / 100, 1e-300)))
    start = mean if column.fill is None else float(column.fill)
    return record | {
        "low": low, "high": high, "step": step, "start": min(max(rounded(start, step), low), high),
        "fill": column.fill, "order": column.date_order, "weights": facts.coef[j].tolist(),
    }  # fmt: skip


def category_record(column: Column, facts: Facts, known: Any, at: dict[int, int]) -> dict[str, Any]:
    """Return the values of a text column, each with its weights; of two the first has no feature."""
    values, features = list(column.values), list(column.features)
    weights = [facts.coef[j].tolist() for j in features]
    if len(values) > len(features):
        weights = [[0.0] * len(facts.outputs), *weights]
    numbers = {value: i for i, value in enumerate(values)}
    shares = [float(known["mean"][at[j]]) if j in at else 0.0 for j in features]
    likeliest = int(np.argmax(shares)) + len(values) - len(features)
    fill = None if column.fill is None else numbers.get(str(column.fill), -1)
    return {
        "values": values,
        "weights": weights,
        "fill": fill,
        "start": max(likeliest if fill is None else fill, 0),
    }


def is_whole(X: Any, j: int) -> bool:
    column = _safe_indexing(X, [j], axis=1)
    values = np.asarray(column.toarray() if hasattr(column, "toarray") else column, dtype=np.float64)
    return bool(np.all(values == np.round(values)))


def rounded(value: float, step: float) -> float:
    return float(f"{np.round(value / step) * step:.12g}")


def link_record(link: Link) -> dict[str, Any]:
    if link.knots_ is None:
        return {"type": link.name, "offset": link.offset}
    return {"x": link.knots_[:, 0].tolist(), "y": link.knots_[:, 1].tolist()}
