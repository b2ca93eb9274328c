"""The charts of the report, each with a text that says what is to be seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import precision_recall_curve, roc_curve

from ...estimators.outputs import Search, facts_of
from ...link import Link
from .._layers import _bin_means
from .._search_curves import curves_of
from .._search_plots import _score_name
from ..scores import Predictions
from .facts import LinkFacts, corners
from .svg import Chart, padded, short

_MAX_POINTS = 1200
_SERIES = ("one", "two", "three", "four", "five", "six")
_CURVE_POINTS = 400


class Drawn(NamedTuple):
    """A chart: what it is called, the SVG, what its layers mean, and what to know about it."""

    title: str
    svg: str
    legend: list[tuple[str, str]]
    note: str


def some(n: int) -> np.ndarray:
    """Return the numbers of the rows to show; the same ones every time."""
    every = np.arange(n)
    return (
        every
        if n <= _MAX_POINTS
        else np.sort(np.random.default_rng(0).choice(every, _MAX_POINTS, replace=False))
    )


def draw_link(facts: LinkFacts, target: str, probability: bool) -> Drawn:
    """Draw the learned curve over the rows at the index that they got without having been learned from."""
    y_label = f"probability of {facts.name}" if probability else target
    y = facts.outcome
    span = float(np.ptp(y)) or 1.0
    jitter = np.random.default_rng(0).uniform(-0.03, 0.03, len(y)) * span if probability else np.zeros(len(y))
    # A few far rows must not squeeze the others.
    x_range = padded(np.concatenate([np.quantile(facts.index, [0.002, 0.998]), facts.grid]), 0.02)
    low, high = padded(np.concatenate([y, facts.band_low, facts.band_high]), 0.05)
    chart = Chart(x_range, (low - 0.12 * (high - low), high), "index w · x", y_label)
    chart.lowest_tick = low
    chart.strip(facts.index)
    shown = some(len(y))
    shown = shown[(facts.index[shown] >= x_range[0]) & (facts.index[shown] <= x_range[1])]
    chart.dots(facts.index[shown], (y + jitter)[shown], "cloud")
    chart.area(facts.grid, facts.band_low, facts.band_high, "one")
    places, means, (below, above) = _bin_means(facts.index, y, 12)
    below, above = np.maximum(below, low), np.minimum(above, high)
    inside = (places >= x_range[0]) & (places <= x_range[1])
    chart.whiskers(places[inside], below[inside], above[inside], "two")
    titles = [
        f"index {short(a)}: mean {short(b)}" for a, b in zip(places[inside], means[inside], strict=True)
    ]
    chart.dots(places[inside], means[inside], "two", 4.2, titles)
    chart.line(facts.grid, facts.values, "one")
    step = max(1, len(facts.grid) // 60)
    labels = [f"index {short(a)} → {short(b)}" for a, b in zip(facts.grid, facts.values, strict=True)]
    chart.follow(facts.grid[::step], facts.values[::step], labels[::step])
    legend = [
        ("line one", "learned link"), ("area one", "± 2 standard errors, over the folds"),
        ("dot two", "means of rows, 95 % interval"),
        ("dot cloud", "rows, at the index of a model without them"),
    ]  # fmt: skip
    return Drawn("The learned link", chart.render(link_in_words(facts, y_label)), legend, "")


def draw_place(link: Link, index: np.ndarray, name: str, y_label: str) -> str:
    """Draw a link with a mark that a script moves along it."""
    chart = draw_curve(link, index, y_label)
    chart.marker("two")
    return chart.render(f"The learned link of {name}, with a mark where the row of the form lies.")


def draw_curve(link: Link, index: np.ndarray, y_label: str) -> Chart:
    """Draw a link over all of an index, and somewhat beyond."""
    low, high = padded(index, 0.15)
    grid = np.unique(np.concatenate([np.linspace(low, high, _CURVE_POINTS), corners(link, low, high)]))
    values = np.asarray(link(grid))
    chart = Chart((low, high), padded(values, 0.06), "index w · x", y_label, height=300.0)
    chart.strip(index)
    chart.line(grid, values, "one")
    return chart


def link_in_words(facts: LinkFacts, what: str) -> str:
    values, grid = facts.values, facts.grid
    rise = values[-1] - values[0]
    if not rise > 0:
        return f"Line chart: {what} is {short(values[0])} at every index."
    at = [float(np.interp(values[0] + share * rise, values, grid)) for share in (0.1, 0.5, 0.9)]
    return (
        f"Line chart: {what} rises from {short(values[0])} to {short(values[-1])} as the index goes from "
        f"{short(grid[0])} to {short(grid[-1])}; a tenth of the rise is reached at {short(at[0])}, half at "
        f"{short(at[1])}, nine tenths at {short(at[2])}."
    )


def draw_search(model: Any) -> Drawn | None:
    """Draw the held-out score against the number of atoms, a line for each kind of candidate."""
    facts = facts_of(model)
    if facts.search is None:
        return None
    curves = curves_of(facts.search)
    name, sign = score_name(facts.search, facts.kind)
    counts = np.maximum(curves.results["mean_n_atoms"], 0.8)
    scores, error, rows = sign * curves.results["mean_test_score"], curves.error, curves.rows
    y_range = padded(np.concatenate([scores[rows] - error[rows], scores[rows] + error[rows]]))
    x_range = (counts[rows].min() / 1.15, counts[rows].max() * 1.15)
    chart = Chart(x_range, y_range, "features or groups in use", f"held-out {name}", log_x=True)
    legend = []
    for curve in curves.shown:
        kind, how = _SERIES[curve.colour % len(_SERIES)], " soft" if curve.is_dashed else ""
        titles = [
            f"{short(counts[i], 3)} in use: {short(scores[i])} ± {short(error[i], 2)}" for i in curve.rows
        ]
        chart.line(counts[curve.rows], scores[curve.rows], kind + how)
        chart.dots(counts[curve.rows], scores[curve.rows], kind, 3, titles)
        legend.append((f"line {kind}{how}", curve.label))
    chosen, n = curves.chosen, len(curves.averaged)
    at, bar = [counts[chosen]], error[chosen]
    chart.whiskers(at, [scores[chosen] - bar], [scores[chosen] + bar], "text")
    what = f"most weight of {n} that are averaged" if n > 1 else "chosen"
    chart.ring(counts[chosen], scores[chosen], f"{what}: {short(scores[chosen])} ± {short(bar, 2)}")
    legend.append(("ring", f"{what}, ± one standard error"))
    text = (
        f"Line chart of the held-out {name} against the number of features in use, {len(curves.shown)} lines;"
        f" the candidate of most weight uses {short(counts[chosen], 3)} and has {short(scores[chosen])}."
    )
    better = "Higher" if sign > 0 else "Lower"
    note = f"{better} is better. The best of many candidates looks better here than it is on new rows."
    return Drawn("How it was chosen", chart.render(text), legend, note)


def score_name(search: Search, kind: str) -> tuple[str, int]:
    """Return what to call the score, and -1 where it is a loss with its sign turned."""
    name = _score_name(search, kind)
    if name.startswith("neg_"):
        return name[4:].replace("_", " ").replace("brier", "Brier").replace("log loss", "log-loss"), -1
    return name.replace("_", " "), 1


def draw_calibration(predicted: np.ndarray, happened: np.ndarray, name: str) -> Drawn:
    """Draw how often what was predicted came true."""
    chart = Chart((-0.03, 1.03), (-0.16, 1.04), f"predicted probability of {name}", f"share of {name}")
    chart.lowest_tick = 0.0
    chart.strip(predicted)
    chart.line([0, 1], [0, 1], "muted dashed")
    places, means, (low, high) = _bin_means(predicted, happened, 10)
    chart.whiskers(places, low, high, "two")
    titles = [f"predicted {a:.3f}, came true {b:.3f}" for a, b in zip(places, means, strict=True)]
    chart.dots(places, means, "two", 4.2, titles)
    off = int(np.sum((places < low) | (places > high)))
    gap = float(np.max(np.abs(means - places)))
    text = (
        f"Reliability diagram of {len(means)} groups of rows; the share that came true differs from the "
        f"predicted probability by at most {gap:.2f}; {off} of the intervals miss it."
    )
    legend = [("dot two", "rows of like probability, 95 % interval"), ("line muted dashed", "calibrated")]
    return Drawn(
        "Calibration",
        chart.render(text),
        legend,
        "Dots on the dashed line: the probabilities can be trusted.",
    )


def draw_roc(series: list[tuple[str, np.ndarray, np.ndarray]]) -> Drawn:
    """Draw the ROC curves of (name, happened, rank)."""
    chart = Chart((-0.02, 1.02), (-0.02, 1.02), "false positive rate", "true positive rate")
    chart.line([0, 1], [0, 1], "muted dashed")
    legend, words = [], []
    for k, (name, happened, rank) in enumerate(series):
        fpr, tpr, _ = roc_curve(happened, rank)
        area = float(np.trapezoid(tpr, fpr))
        chart.line(fpr, tpr, _SERIES[k % len(_SERIES)])
        legend.append((f"line {_SERIES[k % len(_SERIES)]}", f"{name}, area {area:.3f}"))
        words.append(f"{name} has an area of {area:.3f}")
        if k == 0:
            labels = [
                f"false positives {a:.0%}, true positives {b:.0%}" for a, b in zip(fpr, tpr, strict=True)
            ]
            step = max(1, len(fpr) // 60)
            chart.follow(fpr[::step], tpr[::step], labels[::step])
    return Drawn("ROC curve", chart.render(f"ROC curves: {'; '.join(words)}."), legend, "")


def draw_precision_recall(series: list[tuple[str, np.ndarray, np.ndarray]]) -> Drawn:
    chart = Chart((-0.02, 1.02), (-0.02, 1.04), "recall", "precision")
    legend, words = [], []
    for k, (name, happened, rank) in enumerate(series):
        precision, recall, _ = precision_recall_curve(happened, rank)
        area = float(-np.sum(np.diff(recall) * precision[:-1]))
        chart.line(recall, precision, _SERIES[k % len(_SERIES)])
        legend.append((f"line {_SERIES[k % len(_SERIES)]}", f"{name}, average {area:.3f}"))
        words.append(f"{name} has an average precision of {area:.3f}")
    share = float(series[0][1].mean())
    if len(series) == 1 or all(abs(float(h.mean()) - share) < 1e-12 for _, h, _ in series):
        chart.line([0, 1], [share, share], "muted dashed")
        legend.append(("line muted dashed", f"by chance, {share:.3f}"))
    return Drawn(
        "Precision and recall", chart.render(f"Precision-recall curves: {'; '.join(words)}."), legend, ""
    )


def draw_fit(predictions: Predictions, y: np.ndarray, k: int, name: str) -> Drawn:
    """Draw what happened against what was predicted."""
    value, outcome = predictions.value[:, k], y[:, k]
    bounds = padded(np.concatenate([value, outcome]))
    chart = Chart(bounds, bounds, f"predicted {name}", name)
    chart.line(bounds, bounds, "muted dashed")
    shown = some(len(value))
    chart.dots(value[shown], outcome[shown], "cloud")
    places, means, (low, high) = _bin_means(value, outcome, 12)
    chart.whiskers(places, np.maximum(low, bounds[0]), np.minimum(high, bounds[1]), "two")
    titles = [f"predicted {short(a)}, mean {short(b)}" for a, b in zip(places, means, strict=True)]
    chart.dots(places, means, "two", 4.2, titles)
    gap = float(np.max(np.abs(means - places)))
    text = (
        f"Scatter plot of {name} against its prediction; means of like predictions are off by at most "
        f"{short(gap)}."
    )
    legend = [("dot two", "means of like predictions"), ("dot cloud", "rows"), ("line muted dashed", "equal")]
    return Drawn(
        "Predicted and observed", chart.render(text), legend, "Dots on the dashed line: right on average."
    )


def draw_residuals(predictions: Predictions, y: np.ndarray, k: int, name: str) -> Drawn:
    value, residual = predictions.value[:, k], y[:, k] - predictions.value[:, k]
    chart = Chart(padded(value), padded(residual), f"predicted {name}", "observed − predicted")
    chart.line(padded(value), (0, 0), "muted dashed")
    shown = some(len(value))
    chart.dots(value[shown], residual[shown], "cloud")
    order = np.argsort(value, kind="stable")
    parts = [part for part in np.array_split(order, min(10, max(1, len(order) // 10))) if len(part)]
    middle = [float(np.median(value[part])) for part in parts]
    low, high = ([float(np.quantile(residual[part], q)) for part in parts] for q in (0.1, 0.9))
    if len(parts) > 1:
        chart.area(middle, low, high, "one")
    spread = [b - a for a, b in zip(low, high, strict=True)]
    text = (
        f"Scatter plot of residuals against predictions; eight in ten lie within a band {short(spread[0])} "
        f"wide at the lowest and {short(spread[-1])} wide at the highest predictions."
    )
    legend = [("dot cloud", "rows"), ("area one", "eight in ten rows")]
    return Drawn(
        "Residuals", chart.render(text), legend, "A funnel means that the spread depends on the prediction."
    )


def draw_quality(
    model: Any,
    predictions: Predictions,
    y: np.ndarray,
    beside: list[tuple[str, Predictions]],
    names: list[str],
) -> list[Drawn]:
    """Return the charts on held-out rows that suit the kind of model; `beside` are others by name."""
    if not is_classifier(model):
        return [
            titled(draw(predictions, y, k, name), names, k)
            for k, name in enumerate(names[:4])
            for draw in (draw_fit, draw_residuals)
        ]
    drawn = [
        titled(draw_calibration(predictions.value[:, k], y[:, k], name), names, k)
        for k, name in enumerate(names[:6])
    ]
    mixed = [k for k in range(y.shape[1]) if 0 < y[:, k].mean() < 1][:6]
    series = [(names[k] if len(names) > 1 else "singleindex", y[:, k], predictions.rank[:, k]) for k in mixed]
    if len(names) == len(mixed) == 1:
        series += [(label, y[:, 0], other.rank[:, 0]) for label, other in beside]
    if series:
        drawn += [draw_roc(series), draw_precision_recall(series)]
    return drawn


def titled(drawn: Drawn, names: list[str], k: int) -> Drawn:
    """Return a chart whose title says of which output it is, where there are several."""
    return drawn if len(names) == 1 else drawn._replace(title=f"{drawn.title}: {names[k]}")
