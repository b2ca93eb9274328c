"""What the paper claims, and whether the stored results bear it out: every verdict is computed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from . import features, paper_figures, table1, table2, table3
from .analyse import Mean, Results, fit_inverse, gain, share_falling, standing
from .classifiers import PAPER_COLUMNS, VARIANTS
from .figure import INDEPENDENT

HOLDS, IN_PART, FAILS, UNKNOWN = "holds", "holds in part", "does not hold", "cannot be told"
OURS = "CSI"
SPARSE_OURS = "CSI (at most d/4)"
SPARSE_RIVALS = ("SLR", "SQH", "SLS")
Row = tuple[str, str]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, the verdict, and the figures behind it."""

    said: str
    verdict: str
    found: str


def graded(n_true: int, n_all: int) -> str:
    """Return the verdict for a claim about all of several cases."""
    if n_all == 0:
        return UNKNOWN
    return HOLDS if n_true == n_all else IN_PART if 2 * n_true >= n_all else FAILS


def row_name(row: Row) -> str:
    return f"{row[0]} ({row[1]})"


def listed(names: list[str]) -> str:
    if not names:
        return "none"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def means_of(results: Results, table: str, row: Row, methods, figure: str) -> dict[str, Mean]:
    found = {method: results.mean(table, *row, method, figure) for method in methods}
    return {method: mean for method, mean in found.items() if mean is not None}


def table1_rows(results: Results, figure: str = "auc") -> dict[Row, dict[str, Mean]]:
    """Return the means of the paper's columns, for rows that have our CSI and something beside it."""
    rows = results.rows(table1.NAME, table1.ROWS)
    found = {row: means_of(results, table1.NAME, row, PAPER_COLUMNS, figure) for row in rows}
    return {row: means for row, means in found.items() if OURS in means and len(means) > 1}


# ---------------------------------------------------------------- Table 1


def beats_sparse_linear(results: Results) -> Claim:
    columns = (OURS, SPARSE_OURS, "CSI as printed")
    gaps = {column: found for column in columns if (found := gains_of(results, column))}
    told = [
        f"{column} in {sum(gap.value > 0 for gap in found.values())} of {len(found)} comparisons, behind "
        f"beyond the paired error in {sum(gap.side < 0 for gap in found.values())}"
        for column, found in gaps.items()
    ]
    ours = gaps.get(OURS, {})
    lost = [f"{rival} on {row_name(row)}" for (row, rival), gap in ours.items() if gap.value <= 0]
    found = f"Higher mean AUC: {'; '.join(told)}." + (f" {OURS} is not above {listed(lost)}." if lost else "")
    return Claim("CSI outperforms SLR, SQH and SLS.", graded(len(ours) - len(lost), len(ours)), found)


def gains_of(results: Results, column: str) -> dict[tuple[Row, str], Mean]:
    """Return by how much a column is above the sparse linear ones in AUC, by row and rival."""
    found = {}
    for row in results.rows(table1.NAME, table1.ROWS):
        means = means_of(results, table1.NAME, row, (column, *SPARSE_RIVALS), "auc")
        if column in means:
            found |= {(row, rival): gain(means[column], means[rival]) for rival in means if rival != column}
    return found


def level_with_l1(results: Results) -> list[Mean]:
    """Return by how much CSI is above L1-logistic regression with as many features, by set and number."""
    return [
        gain(*means.values())
        for row in results.rows(features.NAME, ())
        for name in features.NAMES
        if len(means := means_of(results, features.NAME, row, features.METHODS, f"auc at {name}")) == 2
    ]


def accuracy_margin(results: Results) -> Claim:
    rows = table1_rows(results, "accuracy")
    margins = [
        100 * (means[OURS].value - means[rival].value)
        for means in rows.values()
        for rival in SPARSE_RIVALS
        if rival in means
    ]
    if not margins:
        return Claim(
            "Its accuracy is at least 2 % above that of SLR, SQH and SLS on all data sets.",
            UNKNOWN,
            "Not run.",
        )
    enough = sum(margin >= 2 for margin in margins)
    found = (
        f"At least 2 points in {enough} of {len(margins)} comparisons; the margin runs from "
        f"{min(margins):.1f} to {max(margins):.1f} points, with a median of {np.median(margins):.1f}."
    )
    return Claim(
        "Its accuracy is at least 2 % above that of SLR, SQH and SLS on all data sets.",
        graded(enough, len(margins)), found,
    )  # fmt: skip


def beats_slisotron(results: Results) -> Claim:
    rows = {row: means for row, means in table1_rows(results).items() if "Slisotron" in means}
    margins = {row: 100 * (means[OURS].value - means["Slisotron"].value) for row, means in rows.items()}
    won = sum(margin > 0 for margin in margins.values())
    wide = sum(margin >= 5 for margin in margins.values())
    found = "Not run."
    if margins:
        found = (
            f"Higher AUC on {won} of {len(margins)} rows, by 5 points or more on {wide}; the margin runs "
            f"from {min(margins.values()):+.1f} to {max(margins.values()):+.1f} points of AUC. Here "
            "Slisotron is stopped early by the validation part, which restrains it as sparsity would."
        )
    return Claim(
        "CSI comfortably outperforms Slisotron, often by 5 to 6 %.", graded(wide, len(margins)), found
    )


def level_with_network(results: Results) -> Claim:
    rows = {row: means for row, means in table1_rows(results).items() if "SLNN" in means}
    ahead, level, behind = [], [], []
    for row, means in rows.items():
        gap = means[OURS].difference(means["SLNN"])
        where = ahead if gap.value > 0 else level if -gap.value <= gap.error else behind
        where.append(row_name(row))
    found = (
        f"Mean AUC above SLNN's on {len(ahead)} of {len(rows)} rows ({listed(ahead)}); below it, but within "
        f"one standard error of the paired difference, on {len(level)} ({listed(level)}); clearly below on "
        f"{len(behind)} ({listed(behind)})."
    )
    verdict = graded(len(ahead) + len(level), len(rows))
    return Claim("CSI is comparable to SLNN and often better by a slight margin.", verdict, found)


def best_of_columns(results: Results) -> Claim:
    """Not a sentence of the paper, but what its Table 1 shows on three of six rows."""
    best, joint, behind = [], [], []
    for row, means in table1_rows(results).items():
        place = standing(means, OURS)
        where = best if place.is_best else joint if place.is_joint_best else behind
        where.append(
            row_name(row) + ("" if place.is_best else f", {place.behind.value:.4f} behind {place.best}")
        )
    n_rows = len(best) + len(joint) + len(behind)
    found = (
        f"Best on {len(best)} of {n_rows} rows ({listed(best)}); joint best, behind by no more than the "
        f"paired error, on {len(joint)} ({listed(joint)}); behind by more on {len(behind)} "
        f"({listed(behind)})."
    )
    said = "CSI is the best of the six columns on three sets, and second to SLNN on the other three."
    return Claim(said, graded(len(best) + len(joint), n_rows), found)


def reaches_printed_figures(results: Results) -> Claim:
    reached, short = [], []
    for dataset in table1.DATASETS:
        printed = paper_figures.auc(dataset, OURS)
        ours = [
            (mean.value, variant)
            for variant in ("tfidf", "counts")
            if (mean := results.mean(table1.NAME, dataset, variant, OURS, "auc")) is not None
        ]
        if not ours or printed is None:
            continue
        value, variant = max(ours)
        (reached if value >= printed - 0.01 else short).append(
            f"{dataset} {value:.3f} ({variant}) against {printed:.3f}"
        )
    found = f"Within 0.01 of the printed AUC, or above it: {listed(reached)}. Short of it: {listed(short)}."
    verdict = graded(len(reached), len(reached) + len(short))
    return Claim("The printed AUC of CSI.", verdict, found)


# ---------------------------------------------------------------- Tables 2 and 3


def beats_group_baselines(results: Results) -> list[Claim]:
    return [
        beats_baselines_on(
            results,
            "atp7d",
            "mse",
            False,
            "Group-sparse CSI predicts the prices of atp7d better than both baselines.",
        ),
        beats_baselines_on(
            results, "flags", "f1_micro", True, "It labels flags better (F1) than both baselines."
        ),
    ]


def beats_baselines_on(results: Results, dataset: str, figure: str, larger: bool, said: str) -> Claim:
    """Set each of our columns against the better one of the two baselines."""
    places, parts = [], []
    for row in (row for row in results.rows(table2.NAME, ()) if row[0] == dataset):
        rivals = means_of(results, table2.NAME, row, GROUP_RIVALS, figure)
        ours = means_of(results, table2.NAME, row, CSI_GROUPS, figure)
        if not ours or not rivals:
            continue
        places += [standing(rivals | {name: mean}, name, larger) for name, mean in ours.items()]
        told = ", ".join(f"{name} {mean.value:.3f}" for name, mean in (ours | rivals).items())
        parts.append(f"{row[1]}: {told}")
    won = sum(place.is_best for place in places)
    behind = sum(not place.is_joint_best for place in places)
    found = (
        f"Better than the better baseline in {won} of {len(places)} comparisons, behind it beyond the paired "
        f"error in {behind}. {'; '.join(parts)}."
    )
    return Claim(said, graded(won, len(places)), found)


CSI_GROUPS = ("CSI (5 groups)", "CSI (chosen groups)")
GROUP_RIVALS = ("Logistic", "Linear")
# The paper's comparison, and that of this library's default.
COMPLETION_PAIRS = (("CSI without effects", "LS"), ("CSI", "LS with effects"))


def beats_least_squares_completion(results: Results) -> Claim:
    said = "In matrix completion with a graph, CSI has a lower MSE than least squares."
    gaps, beats_null, parts = [], 0, []
    for row in results.rows(table3.NAME, ()):
        means = means_of(results, table3.NAME, row, table3.METHODS, "mse")
        there = [pair for pair in COMPLETION_PAIRS if {*pair, "null"} <= means.keys()]
        if not there:
            continue
        gaps += [gain(means[ours], means[theirs], larger_is_better=False) for ours, theirs in there]
        beats_null += means[there[-1][0]].value < means["null"].value
        told = ", ".join(f"{a} {means[a].value:.4f} against {means[b].value:.4f}" for a, b in there)
        parts.append(f"{row_name(row)}: {told}, the mean alone {means['null'].value:.4f}")
    if not parts:
        return Claim(said, UNKNOWN, "Not run.")
    won = sum(gap.value > 0 for gap in gaps)
    found = (
        f"Lower in {won} of {len(gaps)} comparisons, beyond the paired error in "
        f"{sum(gap.side > 0 for gap in gaps)}; CSI is below the mean alone on {beats_null} of {len(parts)} "
        f"rows. {'; '.join(parts)}."
    )
    return Claim(said, graded(won, len(gaps)), found)


# ---------------------------------------------------------------- figure and cost


def curves_of(
    results: Results, dataset: str, method: str, figure: str, variant: str = INDEPENDENT
) -> list[list[float]]:
    wanted = (dataset, variant, method)
    return [
        record.figures[figure]
        for record in results.of("figure")
        if (record.unit.dataset, record.unit.variant, record.unit.method) == wanted and record.figures
    ]


def falls_monotonically(results: Results) -> Claim:
    said = "The distance to w⋆ falls monotonically with the iterations."
    parts, corrected = [], []
    for method in ("CSI as printed", "CSI corrected"):
        for figure in ("distance", "direction"):
            curves = [c for d in figure_sets(results) for c in curves_of(results, d, method, figure)]
            if not curves:
                return Claim(said, UNKNOWN, "Not run.")
            never, rising = share_falling(curves)
            if method == "CSI corrected":
                corrected.append(never)
            kind = "raw distance" if figure == "distance" else "distance of directions"
            parts.append(
                f"{method}, {kind}: never rises in {never:.0%} of the runs, rises in {rising:.0%} of the "
                "steps"
            )
    verdict = HOLDS if min(corrected) == 1 else IN_PART if max(corrected) >= 0.5 else FAILS
    return Claim(said, verdict, "; ".join(parts) + ".")


def figure_sets(results: Results) -> list[str]:
    sets = {record.unit.dataset for record in results.of("figure") if record.figures}
    return sorted(sets, key=lambda name: int(name.removeprefix("d = ")))


def harder_in_higher_dimension(results: Results) -> Claim:
    said = "The problem is harder as the dimension grows."
    least = {}
    for dataset in figure_sets(results):
        curves = curves_of(results, dataset, "CSI corrected", "direction")
        if curves:
            least[dataset] = float(np.mean(curves, axis=0)[-1])
    if len(least) < 2:
        return Claim(said, UNKNOWN, "Not run.")
    values = list(least.values())
    found = "Distance of directions after the last iteration: " + ", ".join(
        f"{value:.3f} at {name}" for name, value in least.items()
    )
    rising = all(a < b for a, b in pairwise(values))
    return Claim(said, HOLDS if rising else FAILS, found + ".")


def falls_like_one_over_t(results: Results) -> Claim:
    said = "The distance falls in the shape of the conjecture, C/t + Δ."
    fits = []
    for dataset in figure_sets(results):
        curves = curves_of(results, dataset, "CSI corrected", "distance")
        if curves:
            slope, level, r2 = fit_inverse(np.mean(curves, axis=0)[1:])
            fits.append((f"{dataset}: {slope:.2f}/t + {level:.2f}, R² {r2:.2f}", slope > 0 and r2 >= 0.9))
    if not fits:
        return Claim(said, UNKNOWN, "Not run.")
    found = "Fit to the mean raw distance of corrected CSI, " + "; ".join(name for name, _ in fits)
    close = sum(good for _, good in fits)
    return Claim(said, graded(close, len(fits)), found + ". Counted as that shape from R² 0.9 on.")


def costs_less_than_network(results: Results) -> Claim:
    """Beside the search, its other settings and single fits."""
    said = "CSI needs significantly less computation than SLNN."
    pairs = [*((column, "SLNN") for column in (OURS, *VARIANTS)), ("CSI, one fit", "SLNN, one fit")]
    ratios = {}
    for row in results.rows("cost", ()):
        for ours, theirs in pairs:
            means = means_of(results, "cost", row, (ours, theirs), "seconds")
            if len(means) == 2:
                ratios[f"{ours} on {row[0]}"] = means[theirs].value / means[ours].value
    if not ratios:
        return Claim(said, UNKNOWN, "Not run.")
    found = (
        "Seconds of SLNN over those of CSI, choice of settings included but for single fits: "
        + ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items())
    )
    cheaper = sum(ratio >= 2 for ratio in ratios.values())
    return Claim(said, graded(cheaper, len(ratios)), found + ". Counted as significant from 2 on.")


def all_claims(results: Results) -> list[Claim]:
    return [
        beats_sparse_linear(results), accuracy_margin(results), beats_slisotron(results),
        level_with_network(results), best_of_columns(results), reaches_printed_figures(results),
        *beats_group_baselines(results), beats_least_squares_completion(results),
        falls_monotonically(results), harder_in_higher_dimension(results), falls_like_one_over_t(results),
        costs_less_than_network(results),
    ]  # fmt: skip
