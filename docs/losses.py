"""What is lost, and to whom: from the stored results of the studies, with the reason where it is known.

Lost is a cell in which a rival is better by more than two standard errors of the paired difference.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[1]
if str(ROOT) not in sys.path:  # where the site is built, the studies are not installed
    sys.path.insert(0, str(ROOT))

from benchmarks.exact_steps.compare import Paired, pair  # noqa: E402
from benchmarks.exact_steps.store import Line, Store, figures_of  # noqa: E402
from benchmarks.pages import as_table  # noqa: E402
from experiments import features, render  # noqa: E402
from experiments.analyse import Mean, Results  # noqa: E402

# Figures that are judged, their names, and whether more is better.
MEASURES = {
    "rmse": ("RMSE", False),
    "log_loss": ("log-loss", False),
    "brier": ("Brier score", False),
    "auc": ("AUC", True),
    "r2": ("R²", True),
    **{f"auc at {k}": (f"AUC, at most {k} features", True) for k in (5, 10, 20, 50, 100, 300, 1000)},
}
RESULTS = ROOT / "benchmarks" / "results"


@dataclass(frozen=True)
class Study:
    """Where the lines of a study are, which method is ours, and by what it is judged."""

    title: str
    file: str
    name: str
    ours: str
    measures: Mapping[str, tuple[str, bool]]


STUDIES = (
    Study("Generated data", "exact_steps.jsonl", "cells", "singleindex", MEASURES),
    Study("Generated numbers", "exact_steps.jsonl", "numbers", "singleindex", MEASURES),
    Study("Tables in raw units", "exact_steps.jsonl", "tables", "singleindex", MEASURES),
    Study("Real data that nothing was tuned on", "exact_steps.jsonl", "real", "singleindex", MEASURES),
    Study("Few rows", "exact_steps.jsonl", "few rows", "singleindex", {"auc": ("AUC", True)}),
    Study("Probabilities on text", "exact_steps.jsonl", "probabilities", "singleindex", MEASURES),
    Study("AUC with few features", "exact_steps.jsonl", "frontier", "singleindex", MEASURES),
    Study(
        "The time of a search, by the processor",
        "exact_steps.jsonl",
        "time",
        "singleindex",
        {"seconds": ("seconds", False)},
    ),
    Study(
        "Prediction intervals at the same level: their width",
        "intervals.jsonl",
        "prediction",
        "predict_interval",
        {"width": ("width", False)},
    ),
    Study(
        "Features that matter found stable, one false one expected at most",
        "uncertainty.jsonl",
        "coverage",
        "singleindex",
        {"true": ("number found", True)},
    ),
)
WORDS = {f"auc at {k}": (f"AUC, at most {k} features", True) for k in features.NAMES}
SCORES = {"auc": ("AUC", True), "log_loss": ("log-loss", False)}
LIKES = {
    "mse": ("MSE", False),
    "mse_in_range": ("MSE, prices from −1 to 1", False),
    "f1_micro": ("F1 (micro)", True),
    "f1_macro": ("F1 (macro)", True),
}
PAPER = (
    Study("Table 1 of the paper, by `dense=True`", "table1.jsonl", "table1", "CSI", SCORES),
    Study("Table 1 of the paper, by default settings", "table1.jsonl", "table1", "CSI (default)", SCORES),
    Study("AUC with few words, on the splits of Table 1", "features.jsonl", "features", "CSI", WORDS),
    Study("Table 2 of the paper", "table2.jsonl", "table2", "CSI (chosen groups)", LIKES),
    Study("Table 2 of the paper, with its five groups", "table2.jsonl", "table2", "CSI (5 groups)", LIKES),
    Study("Table 3 of the paper", "table3.jsonl", "table3", "CSI", LIKES),
)
# The first that a cell's name, or a rival's, contains is the reason; none is given where none is known.
REASONS = {
    "cubic": "likely: the link is nearly flat where most rows are, hardly anything can be learned, and a "
    "more careful guess is nearer",
    "factors": "likely: few common factors and fewer rows than columns; dense weights on the factors predict "
    "as well as a sparse w learned from so few",
    "wine": "likely: few rows, and nearly every column says something, which suits a dense w",
    "random forest": "likely: interactions and turns, which one rising index does not have",
    "knockoffs": "likely: the bound for halves is far from what they do, so that fewer are named than one "
    "false one would allow; how many false ones each names is in the table",
    "SLNN": "likely: another dense w, by gradient steps that are stopped early; the paper's evaluation says "
    "how much of its lead over CSI the same network keeps without its hidden layer",
    "glmnet": "likely: three column scales, two links and ridges are tried where it has one path",
}


@dataclass(frozen=True)
class Loss:
    """A cell in which a rival is better beyond two paired standard errors."""

    cell: str
    rival: str
    figure: str
    found: Paired

    @property
    def reason(self) -> str:
        place = f"{self.cell}, {self.rival}"
        return next((text for word, text in REASONS.items() if word in place), "not known")


def is_lost(found: Paired | None, larger_is_better: bool) -> bool:
    if found is None:
        return False
    return found.is_below(2) if larger_is_better else found.is_beyond(2)


# ---------------------------------------------------------------- the studies of the search


def losses_of_study(lines: Iterable[Line], study: Study) -> Iterator[tuple[Loss, bool]]:
    """Yield every comparison of a study as if it were lost, and whether it is."""
    of_family = {line.method: line.family for line in lines if line.study == study.name}
    own = {"ablation", of_family.get(study.ours)}
    for cell, methods in sorted(figures_of(lines, study.name).items()):
        for rival, theirs in sorted(methods.items()):
            if of_family[rival] in own:
                continue
            for name, (label, larger) in study.measures.items():
                found = pair(methods.get(study.ours), theirs, name)
                if found is not None:
                    yield Loss(cell, rival, label, found), is_lost(found, larger)


# ---------------------------------------------------------------- the paper's tables


def paired_means(ours: Mean, theirs: Mean) -> Paired:
    gap = ours.difference(theirs)
    shared = gap.values
    mean = sum(ours.values[seed] for seed in shared) / len(shared)
    return Paired(mean, mean - gap.value, gap.error, gap.n)


def losses_of_paper(results: Results, study: Study) -> Iterator[tuple[Loss, bool]]:
    """Yield the same for a table of the paper, against every method that is none of ours."""
    units = [record.unit for record in results.of(study.name)]
    rows = sorted({(unit.dataset, unit.variant) for unit in units})
    rivals = sorted({unit.method for unit in units if not unit.method.startswith("CSI")})
    for (dataset, variant), rival, (name, told) in product(rows, rivals, study.measures.items()):
        means = [results.mean(study.name, dataset, variant, who, name) for who in (study.ours, rival)]
        if None not in means:
            found, (label, larger) = paired_means(*means), told
            yield Loss(f"{dataset}, {variant}", rival, label, found), is_lost(found, larger)


# ---------------------------------------------------------------- the page


def section(title: str, judged: list[tuple[Loss, bool]]) -> list[str]:
    """Return how many comparisons there are, and which of them are lost: both figures, and the reason."""
    lost = [loss for loss, is_one in judged if is_one]
    lines = [f"### {title}", "", f"{len(lost)} of {len(judged)} comparisons are lost.", ""]
    if not lost:
        return lines
    rows = [
        [
            loss.cell,
            loss.rival,
            loss.figure,
            f"{loss.found.ours:.4g}",
            f"{loss.found.rival:.4g}",
            f"{loss.found.error:.2g} ({loss.found.n_seeds})",
            loss.reason,
        ]
        for loss in lost
    ]
    head = ["data", "rival", "figure", "ours", "the rival's", "error of the difference (draws)", "reason"]
    return [*lines, *as_table(head, rows), ""]


def as_page(studies: Iterable[tuple[Study, list[Line]]], results: Results) -> str:
    parts = [(study.title, list(losses_of_study(lines, study))) for study, lines in studies]
    parts += [(study.title, list(losses_of_paper(results, study))) for study in PAPER]
    return "\n".join(line for title, judged in parts if judged for line in section(title, judged))


def losses_text() -> str:
    """Return the lists of what is lost, from the stored results."""
    results, _ = render.read(render.STORED)
    return as_page([(study, list(Store(RESULTS / study.file).read().values())) for study in STUDIES], results)
