"""Generated data with a known truth: links and w beside L1 and L2 with fine grids.

RMSE is that of the predicted against the true probability on 2000 new rows; cosine that of w, in
standardised units where columns have units of their own. Binary y, ten features with an effect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.pages import as_table

from . import ours, rivals
from .compare import as_text, mean_of, pair, passed
from .designs import cell_names, design_of, make_task
from .ours import FIXED_LINK, OURS
from .tasks import generated_figures

NAME = "cells"
TITLE = "Generated data"
FAMILIES = {
    "ours": ours.fit_default,
    "ablation": ours.fit_fixed_link,
    "L1": rivals.l1,
    "L2": rivals.l2,
}
MINE = ("ours", "ablation")
METHODS = (OURS, FIXED_LINK, "L1", "L1 + isotonic", "L2")
RIVALS = METHODS[1:]

cells = cell_names
make = make_task


def measure(family, task):
    return {name: generated_figures(task, answer) for name, answer in FAMILIES[family](task).items()}


# ---------------------------------------------------------------- the verdict


@dataclass(frozen=True)
class Verdict:
    """What the cells say against one rival.

    `worse` are cells with an RMSE higher by both 5 % and two paired standard errors, `turned` those with a
    cosine lower by two; `gain` is the mean gain of the cosine in correlated cells with n > d.
    """

    rival: str
    n_cells: int
    share_lower: float
    worse: tuple[str, ...]
    turned: tuple[str, ...]
    gain: float
    gain_error: float

    @property
    def criteria(self) -> dict[str, bool]:
        return {
            "RMSE lower in 75 %": self.share_lower >= 0.75,
            "none worse": not self.worse,
            "no cosine lower": not self.turned,
            "cosine + .01": self.gain >= 0.01,
        }


def judge(figures, rival: str) -> Verdict:
    """Hold our figures against a rival's, over the cells and seeds that both have."""
    rmse, cosine = {}, {}
    for cell, methods in figures.items():
        found = pair(methods.get(OURS, {}), methods.get(rival, {}), "rmse")
        if found is not None:
            rmse[cell] = found
            cosine[cell] = pair(methods[OURS], methods[rival], "cosine")
    worse = [cell for cell, p in rmse.items() if p.ours > 1.05 * p.rival and p.is_beyond(2)]
    gains = [cosine[cell] for cell in cosine if counts_for_gain(cell)]
    return Verdict(
        rival,
        len(rmse),
        float(np.mean([p.ours < p.rival for p in rmse.values()])) if rmse else float("nan"),
        tuple(worse),
        tuple(cell for cell, p in cosine.items() if p.is_below(2)),
        float(np.mean([p.difference for p in gains])) if gains else float("nan"),
        float(np.sqrt(np.sum([p.error**2 for p in gains])) / len(gains)) if gains else float("nan"),
    )


def counts_for_gain(cell: str) -> bool:
    design = design_of(cell)
    return design.is_correlated and design.n > design.d


# ---------------------------------------------------------------- the section


def section(figures) -> list[str]:
    verdicts = [judge(figures, rival) for rival in RIVALS]
    verdicts = [verdict for verdict in verdicts if verdict.n_cells]
    lines = ["RMSE / cosine; in bold the lowest RMSE.", ""]
    lines += as_table(
        ["X", "link", *METHODS], [cell_row(cell, figures[cell]) for cell in cells() if cell in figures]
    )
    lines += ["", "Verdict against each rival, over all cells and seeds that both have:", ""]
    head = ["rival", "cells", "RMSE lower in", "cosine gained where correlated, n > d"]
    lines += as_table(head, [verdict_row(verdict) for verdict in verdicts])
    lines.append("")
    for verdict in verdicts:
        lines += lost_lines(verdict, figures)
    return [*lines, "", *cost_lines(figures)]


def cell_row(cell: str, methods) -> list[str]:
    means = {name: mean_of(methods.get(name), "rmse") for name in METHODS}
    known = [value for value in means.values() if not np.isnan(value)]
    texts = []
    for name, rmse in means.items():
        shown = as_text(rmse)
        shown = f"**{shown}**" if known and rmse == min(known) else shown
        texts.append(f"{shown} / {as_text(mean_of(methods.get(name), 'cosine'))}")
    return [*cell.rsplit(", ", 1), *texts]


def verdict_row(verdict: Verdict) -> list[str]:
    criteria = verdict.criteria
    return [
        verdict.rival,
        str(verdict.n_cells),
        f"{verdict.share_lower:.0%}, {passed(criteria['RMSE lower in 75 %'])}",
        f"{verdict.gain:+.3f} ± {verdict.gain_error:.3f}, {passed(criteria['cosine + .01'])}",
    ]


def lost_lines(verdict: Verdict, figures) -> list[str]:
    """Name every cell that is lost, with its figures."""
    lines = []
    for title, lost, figure in (
        ("RMSE worse by 5 % and two standard errors", verdict.worse, "rmse"),
        ("cosine lower by two standard errors", verdict.turned, "cosine"),
    ):
        lines.append(f"- Against {verdict.rival}, {title}: {passed(not lost)}, {len(lost)} cells.")
        for cell in lost:
            found = pair(figures[cell][OURS], figures[cell][verdict.rival], figure)
            lines.append(
                f"  - {cell}: {found.ours:.3f} against {found.rival:.3f} (± {found.error:.3f}, "
                f"{found.n_seeds} seeds)"
            )
    return lines


def cost_lines(figures) -> list[str]:
    """Give the other figures as means over all cells."""
    rows = []
    for name in METHODS:
        per_cell = [methods[name] for methods in figures.values() if name in methods]
        if per_cell:
            means = [np.mean([mean_of(f, key) for f in per_cell]) for key in ("log_loss", "auc", "features")]
            seconds = np.median([mean_of(f, "seconds") for f in per_cell])
            rows.append(
                [name, str(len(per_cell)), *(f"{m:.4g}" for m in means), f"{seconds:.2f}"],
            )
    head = ["means over cells", "cells", "log-loss", "AUC", "features in use", "median CPU seconds"]
    return as_table(head, rows)
