"""The section on the figure: how far the iterates are from w⋆."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.charts import Band, band_panels

from . import figure
from .analyse import Results, fit_inverse, share_falling
from .claims import curves_of, figure_sets
from .document import Block, Picture, captioned_table, heading
from .notes import NOTES


def convergence(results: Results) -> list[Block]:
    sets = figure_sets(results)
    blocks: list[Block] = [heading("Figure: distance of the iterates from w⋆")]
    if not sets:
        return [*blocks, "Not run."]
    picture = convergence_picture(results, sets)
    return [*blocks, *NOTES["figure"], picture, curve_table(results, sets)]


def convergence_picture(results: Results, sets) -> Picture:
    """Draw the distance of directions: columns of panels for the two designs, rows for the dimensions."""
    panels = []
    for dataset in sets:
        for variant in figure.VARIANTS:
            curves = []
            for k, method in enumerate(figure.METHODS):
                runs = np.array(curves_of(results, dataset, method, "direction", variant))
                if len(runs):
                    low, high = np.quantile(runs, (0.1, 0.9), axis=0)
                    curves.append(Band(runs.mean(axis=0), low, high, k))
            if curves:
                panels.append((f"{variant}, {dataset}", curves))
    return Picture(
        "convergence",
        "Distance of directions, ‖w_t/‖w_t‖ − w⋆/‖w⋆‖‖, against the iteration t: means over seeds, and bands "
        "from the tenth to the ninetieth percentile.",
        band_panels(panels, list(figure.METHODS), "Distance of the iterates from w⋆"),
    )


def curve_rows(results: Results, sets) -> Iterator[tuple[str, list[list[float]]]]:
    """Yield the raw distances that the paper speaks of, then all distances of directions."""
    raw = ("CSI as printed", "CSI corrected")
    wanted = [("distance", "‖w_t − w⋆‖", figure.INDEPENDENT, method) for method in raw]
    wanted += [("direction", "directions", v, method) for v in figure.VARIANTS for method in figure.METHODS]
    for name, title, variant, method in wanted:
        for dataset in sets:
            runs = curves_of(results, dataset, method, name, variant)
            if runs:
                yield f"{title}, {variant}, {method}, {dataset}", runs


def curve_table(results: Results, sets) -> str:
    body = []
    for title, runs in curve_rows(results, sets):
        never, rising = share_falling(runs)
        mean = np.mean(runs, axis=0)
        least = int(np.argmin(mean))
        slope, level, r2 = fit_inverse(mean[1:])
        body.append([
            title, f"{mean[0]:.3f}", f"{mean[least]:.3f} at t = {least}", f"{mean[-1]:.3f}", f"{never:.0%}",
            f"{rising:.0%}", f"{slope:.2f}/t + {level:.3f}", f"{r2:.2f}",
        ])  # fmt: skip
    head = ["", "start", "least", "end", "runs that never rise", "steps that rise", "fit from t = 1 on", "R²"]
    return captioned_table(
        "What is and what is not monotone, and the conjecture's C/t + Δ fitted to the mean", head, body
    )
