"""The third stage, first half: what each section's template is filled with, and the pictures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks import pages
from benchmarks.charts import Band, band_panels, dot_rows

from . import classifiers, cost, features, figure, paper_figures, table1, table2, table3
from .analyse import Mean, Part, Results, Row, fit_inverse, share_falling, standing
from .baselines import neural
from .claims import COMPLETION_PAIRS, GROUP_RIVALS, OUR_GROUPS, OURS
from .units import Runs

ABSENT = "–"
Fields = dict[str, Any]


def shown(mean: Mean | None, digits: int = 3, bold: bool = False, sign: str = "") -> str:
    if mean is None or not mean.n:
        return ABSENT
    error = f" ± {mean.error:.{digits}f}" if mean.n > 1 else ""
    cell = f"{mean.value:{sign}.{digits}f}{error}"
    return f"**{cell}**" if bold else cell


def shown_gap(ours: Mean | None, theirs: Mean | None, digits: int) -> str:
    """Return a paired difference; bold beyond its standard error, whichever way."""
    if ours is None or theirs is None:
        return ABSENT
    gap = ours.difference(theirs)
    return shown(gap, digits, gap.n > 1 and gap.side != 0, "+")


def as_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(pages.as_table(head, rows, n_left=len(head)))


def cells_of(
    part: Part, row: Row, name: str, digits: int = 3, rivals: Collection[str] = (), better: Callable = max
) -> list[str]:
    """Return the means of a row; bold is the better one of `rivals`."""
    means = part.means(row, name)
    best = better((m for m in means if m in rivals), key=lambda m: means[m].value, default=None)
    return [shown(means.get(m), digits, m == best) for m in part.methods]


def gap_table(
    part: Part, rows: Iterable[Row], pairs: Iterable[tuple[str, str]], name: str, digits: int
) -> str:
    """Return differences over the same splits, a column for each pair that was measured."""
    pairs = [pair for pair in pairs if set(pair) <= set(part.methods)]
    body = [
        [*row, *(shown_gap(*(part.mean(row, m, name) for m in p), digits) for p in pairs)] for row in rows
    ]
    return as_table(["set", "variant", *(f"{ours} − {theirs}" for ours, theirs in pairs)], body)


def errors_drawn(means: dict[str, Mean]) -> dict[str, tuple[float, float]]:
    """Return how far each AUC is from one, with its standard error."""
    return {m: (1 - mean.value, float(np.nan_to_num(mean.error))) for m, mean in means.items()}


def numbers(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


# ---------------------------------------------------------------- what was run


def opening(results: Results, runs: Runs) -> Fields | None:
    if not results.records:
        return None
    titles = {name: name.replace("table", "Table ") for name in SECTIONS if name != "cost"}
    seeds = {title: results.n_seeds(name) for name, title in titles.items()}
    used = {record.run for record in results.records}
    return {
        "seeds": ", ".join(f"{title} {n}" for title, n in seeds.items() if n),
        "minutes": results.processor_minutes(),
        "runs": bullets(sorted({run_line(runs[name]) for name in used if name in runs})),
    }


def run_line(run: dict[str, Any]) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in run["packages"].items())
    source = f"Run of {run['date']}, commit {run['commit']}"
    return f"{source}: Python {run['python']} on {run['machine']}, {packages}."


# ---------------------------------------------------------------- Table 1


def sparse_recovery(part: Part) -> Fields:
    head = ["set", "X", *part.methods]
    auc = [
        [*row, *cells_of(part, row, "auc", rivals=classifiers.PAPER_COLUMNS), place_of(part, row)]
        for row in part.rows
    ]
    plain = {
        name: as_table(head, [[*row, *cells_of(part, row, name, digits)] for row in part.rows])
        for name, digits in {"accuracy": 3, "log_loss": 3, "n_features": 0, "seconds": 1}.items()
    }
    pairs = [(OURS, method) for method in part.methods if method not in (OURS, "null")]
    return plain | {
        "auc": as_table([*head, f"{OURS}, among the paper's columns"], auc),
        "gaps": gap_table(part, part.rows, pairs, "auc", 4),
        "beside_the_paper": beside_the_paper(part),
        "classifiers": classifiers,
        "neural": neural,
        "slisotron_iterations": numbers(classifiers.SLISOTRON_ITERATIONS),
        "step_sizes": numbers(classifiers.STEP_SIZES),
        "shapes": ", ".join(f"({n}, {rate:g})" for n, rate in neural.SHAPES),
        "millions": neural.MOST_WEIGHTS / 1e6,
    }


def place_of(part: Part, row: Row) -> str:
    means = part.means(row, "auc", classifiers.PAPER_COLUMNS)
    if OURS not in means or len(means) < 2:
        return ABSENT
    place = standing(means, OURS)
    apart = f"{place.behind.value:.4f} ± {place.behind.error:.4f} behind {place.best}"
    return {"best": "best", "joint": f"joint best ({apart})", "behind": apart}[place.kind]


def beside_the_paper(part: Part) -> str:
    methods = [m for m in part.methods if paper_figures.auc("link", m) is not None]

    def cell(row: Row, method: str) -> str:
        mean, printed = part.mean(row, method, "auc"), paper_figures.auc(row[0], method)
        return f"{mean.value:.3f} / {printed:.3f} / {mean.value - printed:+.3f}" if mean else ABSENT

    return as_table(["set", "X", *methods], [[*row, *(cell(row, m) for m in methods)] for row in part.rows])


def auc_picture(part: Part) -> str:
    names = [m for m in part.methods if m != "null"]
    drawn = {", ".join(row): errors_drawn(part.means(row, "auc", names)) for row in part.rows}
    return dot_rows(drawn, names, "One minus the test AUC, every method on every row")


# ---------------------------------------------------------------- AUC against the number of features


def feature_counts(part: Part) -> Fields:
    body, sides = [], []
    for row, name, means in means_by_features(part):
        used = part.means(row, f"features at {name}")
        cells = [
            f"{shown(means[m], 4)} ({used[m].value:.0f})" if m in means else ABSENT for m in features.METHODS
        ]
        body.append([row[0], name, *cells, shown_gap(means.get("CSI"), means.get("SLR"), 4)])
        if len(means) == 2:
            sides.append(means["CSI"].difference(means["SLR"]).side)
    return {
        "cells": as_table(["set", "at most", *features.METHODS, " − ".join(features.METHODS)], body),
        "above": sides.count(1),
        "below": sides.count(-1),
        "n": len(sides),
        "classifiers": classifiers,
    }


def means_by_features(part: Part) -> Iterator[tuple[Row, str, dict[str, Mean]]]:
    for row in part.rows:
        for name in features.NAMES:
            means = part.means(row, f"auc at {name}")
            if means:
                yield row, name, means


def features_picture(part: Part) -> str:
    drawn = {f"{row[0]}, {name}": errors_drawn(means) for row, name, means in means_by_features(part)}
    return dot_rows(drawn, part.methods, "One minus the test AUC against the number of features")


# ---------------------------------------------------------------- Tables 2 and 3


def groups(part: Part) -> Fields:
    rivals = {*OUR_GROUPS, *GROUP_RIVALS}
    pairs = [(ours, theirs) for ours in OUR_GROUPS for theirs in GROUP_RIVALS]
    fields: Fields = {"table2": table2}
    for name, dataset, better in (
        ("mse", "atp7d", min),
        ("mse_in_range", "atp7d", min),
        ("f1_micro", "flags", max),
        ("f1_macro", "flags", max),
    ):
        rows = [row for row in part.rows if row[0] == dataset]
        printed = paper_figures.GROUPS[dataset]
        body = [[row[1], *cells_of(part, row, name, 3, rivals, better)] for row in rows]
        body.append(["the paper", *(f"{printed[m]:.4f}" if m in printed else ABSENT for m in part.methods)])
        fields[name] = as_table(["variant", *part.methods], body)
        fields[f"{name}_gaps"] = gap_table(part, rows, pairs, name, 3)
    return fields


def matrices(part: Part) -> Fields:
    body = []
    for row in part.rows:
        sizes = [part.mean(row, part.methods[0], name) for name in ("n_test", "n_links")]
        counts = [f"{mean.value:.0f}" if mean else ABSENT for mean in sizes]
        body.append([*row, *counts, *cells_of(part, row, "mse", 4, part.methods, min)])
    for name, printed in paper_figures.COMPLETION.items():
        cells = [f"{printed[m]:.4f}" if m in printed else ABSENT for m in part.methods]
        body.append([f"the paper, {name}", "", str(printed["n_test"]), str(printed["n_links"]), *cells])
    wrong = [[*row, *cells_of(part, row, "error_rate")] for row in part.rows]
    return {
        "mse": as_table(["set", "variant", "test ratings", "links", *part.methods], body),
        "gaps": gap_table(part, part.rows, COMPLETION_PAIRS, "mse", 4),
        "error_rate": as_table(["set", "variant", *part.methods], wrong),
        "table3": table3,
    }


# ---------------------------------------------------------------- the figure, and cost


def convergence(part: Part) -> Fields:
    body = []
    for title, runs in curves_told(part):
        never, rising = share_falling(runs)
        mean = np.mean(runs, axis=0)
        least = int(np.argmin(mean))
        slope, level, r2 = fit_inverse(mean[1:])
        body.append([
            title, f"{mean[0]:.3f}", f"{mean[least]:.3f} at t = {least}", f"{mean[-1]:.3f}", f"{never:.0%}",
            f"{rising:.0%}", f"{slope:.2f}/t + {level:.3f}", f"{r2:.2f}",
        ])  # fmt: skip
    head = ["", "start", "least", "end", "runs that never rise", "steps that rise", "fit from t = 1 on", "R²"]
    return {"curves": as_table(head, body), "figure": figure, "dimensions": numbers(figure.DIMENSIONS)}


def curves_told(part: Part) -> Iterator[tuple[str, list[list[float]]]]:
    """Yield the raw distances that the paper speaks of, then all distances of directions."""
    raw = ("CSI as printed", "CSI corrected")
    wanted = [("distance", "‖w_t − w⋆‖", figure.INDEPENDENT, method) for method in raw]
    wanted += [("direction", "directions", v, method) for v in figure.VARIANTS for method in figure.METHODS]
    for name, title, variant, method in wanted:
        for dataset in figure.DATASETS:
            runs = part.curves((dataset, variant), method, name)
            if runs:
                yield f"{title}, {variant}, {method}, {dataset}", runs


def convergence_picture(part: Part) -> str:
    """Draw the distance of directions: columns of panels for the two designs, rows for the dimensions."""
    panels = []
    for row in part.rows:
        curves = []
        for k, method in enumerate(figure.METHODS):
            runs = part.curves(row, method, "direction")
            if runs:
                low, high = np.quantile(runs, (0.1, 0.9), axis=0)
                curves.append(Band(np.mean(runs, axis=0), low, high, k))
        panels.append((f"{row[1]}, {row[0]}", curves))
    return band_panels(panels, list(figure.METHODS), "Distance of the iterates from w⋆")


def costs(part: Part) -> Fields:
    def cell(means: dict[str, Mean], method: str) -> str:
        if not {method, OURS} <= means.keys():
            return ABSENT
        return f"{means[method].value:.1f} s ({means[method].value / means[OURS].value:.2f})"

    body = [[row[0], *(cell(part.means(row, "seconds"), m) for m in part.methods)] for row in part.rows]
    return {"seconds": as_table(["set", *part.methods], body)}


def cost_picture(part: Part) -> str:
    drawn = {
        row[0]: {m: (mean.value, 0.0) for m, mean in part.means(row, "seconds").items()} for row in part.rows
    }
    return dot_rows(drawn, part.methods, "Seconds of training")


# By template: the table that it shows, and what fills it.
SECTIONS = {
    "table1": (table1, sparse_recovery),
    "features": (features, feature_counts),
    "table2": (table2, groups),
    "table3": (table3, matrices),
    "figure": (figure, convergence),
    "cost": (cost, costs),
}
# By file, likewise.
PICTURES = {
    "auc": (table1, auc_picture),
    "features": (features, features_picture),
    "convergence": (figure, convergence_picture),
    "cost": (cost, cost_picture),
}
