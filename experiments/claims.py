"""What the paper claims, and whether the stored results bear it out: every verdict is computed.

Each function is told of by the line of templates/claims.md or templates/limits.md that has its name; it
returns what that line is filled with, None where nothing was measured that it could be told by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from . import cost, figure, paper_figures, table1, table2, table3
from .analyse import Part, Results, Row, Standing, fit_inverse, share_falling, standing
from .classifiers import PAPER_COLUMNS, VARIANTS

HOLDS, IN_PART, FAILS, UNKNOWN = "holds", "holds in part", "does not hold", "cannot be told"
OURS = "CSI"
LITERAL = "CSI as printed"
# An AUC that is this far below a printed one, or less, counts as the same.
NEAR = 0.01
ONE_INDEX = "linear SLNN"
SPARSE_RIVALS = ("SLR", "SQH", "SLS")
OUR_GROUPS = ("CSI (5 groups)", "CSI (chosen groups)")
GROUP_RIVALS = ("Logistic", "Linear")
# The paper's comparison, and that of this library's default.
COMPLETION_PAIRS = (("CSI without effects", "LS"), ("CSI", "LS with effects"))
CORRECTED = "CSI corrected"
Told = dict[str, Any] | None


def graded(cases: Iterable[bool]) -> str:
    """Return the verdict for a claim about all of several cases."""
    cases = list(cases)
    return HOLDS if all(cases) else IN_PART if 2 * sum(cases) >= len(cases) else FAILS


def row_name(row: Row) -> str:
    return f"{row[0]} ({row[1]})"


def listed(names: Sequence[str]) -> str:
    if not names:
        return "none"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# ---------------------------------------------------------------- Table 1


def sparse_linear(results: Results) -> Told:
    part, told = Part(results, table1), []
    ours = part.gaps(OURS, SPARSE_RIVALS, "auc")
    if not ours:
        return None
    for column in (OURS, "CSI (at most d/4)", LITERAL):
        gaps = part.gaps(column, SPARSE_RIVALS, "auc").values()
        won, behind = sum(gap.value > 0 for gap in gaps), sum(gap.side < 0 for gap in gaps)
        comparisons = (
            f"{column} in {won} of {len(gaps)} comparisons, behind beyond the paired error in {behind}"
        )
        told += [comparisons] if gaps else []
    lost = [f"{rival} on {row_name(row)}" for (row, rival), gap in ours.items() if gap.value <= 0]
    return {
        "verdict": graded(gap.value > 0 for gap in ours.values()),
        "columns": "; ".join(told),
        "exceptions": f" {OURS} is not above {listed(lost)}." if lost else "",
    }


def accuracy(results: Results) -> Told:
    return margins(results, SPARSE_RIVALS, "accuracy", 2)


def slisotron(results: Results) -> Told:
    return margins(results, ["Slisotron"], "auc", 5)


def margins(results: Results, rivals: Iterable[str], figure: str, wanted: float) -> Told:
    """Say by how many points our CSI is above others, and how often by as many as are wanted."""
    found = [100 * gap.value for gap in Part(results, table1).gaps(OURS, rivals, figure).values()]
    if not found:
        return None
    wide = [margin >= wanted for margin in found]
    return {
        "verdict": graded(wide), "n": len(found), "won": sum(margin > 0 for margin in found),
        "wide": sum(wide), "least": min(found), "most": max(found), "median": np.median(found),
    }  # fmt: skip


def network(results: Results) -> Told:
    return placed(results, (OURS, "SLNN"), lambda row, place: row_name(row))


def six_columns(results: Results) -> Told:
    """Not a sentence of the paper, but what its Table 1 shows on three of six rows."""

    def told(row: Row, place: Standing) -> str:
        apart = f", {place.behind.value:.4f} behind {place.best}"
        return row_name(row) + ("" if place.kind == "best" else apart)

    return placed(results, PAPER_COLUMNS, told)


def placed(results: Results, columns: Iterable[str], told: Callable[[Row, Standing], str]) -> Told:
    """Say on which rows our CSI is the best of these columns, joint best, and behind."""
    part, found = Part(results, table1), {"best": [], "joint": [], "behind": []}
    for row in part.rows:
        means = part.means(row, "auc", columns)
        if OURS in means and len(means) > 1:
            place = standing(means, OURS)
            found[place.kind].append(told(row, place))
    counts = {f"n_{kind}": len(rows) for kind, rows in found.items()}
    n = sum(counts.values())
    if not n:
        return None
    good = [kind != "behind" for kind, rows in found.items() for _ in rows]
    return {"verdict": graded(good), "n": n, **counts, **{kind: listed(rows) for kind, rows in found.items()}}


def printed_auc(results: Results) -> Told:
    reached, short, literal = [], [], []
    for dataset, printed in ((name, paper_figures.auc(name, OURS)) for name in paper_figures.AUC):
        ours, as_printed = (best_variant(results, dataset, name) for name in (OURS, LITERAL))
        if ours:
            where = reached if ours[0] >= printed - NEAR else short
            where.append(f"{dataset} {ours[0]:.3f} ({ours[1]}) against {printed:.3f}")
        if as_printed and as_printed[0] >= printed - NEAR:
            literal.append(dataset)
    if not reached + short:
        return None
    verdict = graded([True] * len(reached) + [False] * len(short))
    return {
        "verdict": verdict,
        "reached": listed(reached),
        "short": listed(short),
        "literal": listed(literal),
    }


def best_variant(results: Results, dataset: str, method: str) -> tuple[float, str] | None:
    """Return the higher mean AUC of a method on either X, and which X that is."""
    means = {v: results.mean(table1.NAME, dataset, v, method, "auc") for v in ("tfidf", "counts")}
    return max(((mean.value, variant) for variant, mean in means.items() if mean is not None), default=None)


# ---------------------------------------------------------------- Tables 2 and 3


def group_prices(results: Results) -> Told:
    return against_baselines(results, "atp7d", "mse", -1)


def group_flags(results: Results) -> Told:
    return against_baselines(results, "flags", "f1_micro", 1)


def against_baselines(results: Results, dataset: str, figure: str, sign: int) -> Told:
    """Set each of our columns against the better one of the two baselines; sign: -1 where less is better."""
    part, gaps, told = Part(results, table2), [], []
    for row in sorted(row for row in part.rows if row[0] == dataset):
        rivals, ours = (part.means(row, figure, names) for names in (GROUP_RIVALS, OUR_GROUPS))
        if ours and rivals:
            better = max(rivals.values(), key=lambda mean: sign * mean.value)
            gaps += [mean.difference(better) for mean in ours.values()]
            means = ", ".join(f"{name} {mean.value:.3f}" for name, mean in (ours | rivals).items())
            told.append(f"{row[1]}: {means}")
    if not gaps:
        return None
    won = [sign * gap.value >= 0 for gap in gaps]
    behind = sum(sign * gap.side < 0 for gap in gaps)
    return {"verdict": graded(won), "won": sum(won), "n": len(won), "behind": behind, "rows": "; ".join(told)}


def completion(results: Results) -> Told:
    part, gaps, beats_null, told = Part(results, table3), [], 0, []
    for row in sorted(part.rows):
        means = part.means(row, "mse")
        there = [pair for pair in COMPLETION_PAIRS if {*pair, "null"} <= means.keys()]
        if there:
            gaps += [means[theirs].difference(means[ours]) for ours, theirs in there]
            beats_null += means[there[-1][0]].value < means["null"].value
            pairs = ", ".join(f"{a} {means[a].value:.4f} against {means[b].value:.4f}" for a, b in there)
            told.append(f"{row_name(row)}: {pairs}, the mean alone {means['null'].value:.4f}")
    if not gaps:
        return None
    won = [gap.value > 0 for gap in gaps]
    return {
        "verdict": graded(won), "won": sum(won), "n": len(won), "clear": sum(gap.side > 0 for gap in gaps),
        "beats_null": beats_null, "n_rows": len(told), "rows": "; ".join(told),
    }  # fmt: skip


# ---------------------------------------------------------------- figure and cost


def curves_by_dimension(results: Results, method: str, name: str) -> dict[str, list[list[float]]]:
    """Return the curves of the paper's columns, for every dimension that was run."""
    part = Part(results, figure)
    found = {dataset: part.curves((dataset, figure.INDEPENDENT), method, name) for dataset in figure.DATASETS}
    return {dataset: curves for dataset, curves in found.items() if curves}


def monotone(results: Results) -> Told:
    told, corrected = [], []
    for method in (LITERAL, CORRECTED):
        for name, kind in (("distance", "raw distance"), ("direction", "distance of directions")):
            curves = [c for found in curves_by_dimension(results, method, name).values() for c in found]
            if not curves:
                return None
            never, rising = share_falling(curves)
            corrected += [never] if method == CORRECTED else []
            shares = f"never rises in {never:.0%} of the runs, rises in {rising:.0%} of the steps"
            told.append(f"{method}, {kind}: {shares}")
    verdict = HOLDS if min(corrected) == 1 else IN_PART if max(corrected) >= 0.5 else FAILS
    return {"verdict": verdict, "curves": "; ".join(told)}


def dimension(results: Results) -> Told:
    curves = curves_by_dimension(results, CORRECTED, "direction")
    ends = {dataset: float(np.mean(found, axis=0)[-1]) for dataset, found in curves.items()}
    if len(ends) < 2:
        return None
    rising = all(a < b for a, b in pairwise(ends.values()))
    told = ", ".join(f"{value:.3f} at {dataset}" for dataset, value in ends.items())
    return {"verdict": HOLDS if rising else FAILS, "ends": told}


def one_over_t(results: Results) -> Told:
    close, told = [], []
    for dataset, curves in curves_by_dimension(results, CORRECTED, "distance").items():
        slope, level, r2 = fit_inverse(np.mean(curves, axis=0)[1:])
        close.append(slope > 0 and r2 >= 0.9)
        told.append(f"{dataset}: {slope:.2f}/t + {level:.2f}, R² {r2:.2f}")
    return {"verdict": graded(close), "fits": "; ".join(told)} if told else None


def network_cost(results: Results) -> Told:
    """Beside the search, its other settings and single fits."""
    pairs = [*((column, "SLNN") for column in (OURS, *VARIANTS)), ("CSI, one fit", "SLNN, one fit")]
    part, ratios = Part(results, cost), {}
    for row in sorted(part.rows):
        means = part.means(row, "seconds")
        for ours, theirs in pairs:
            if {ours, theirs} <= means.keys():
                ratios[f"{ours} on {row[0]}"] = means[theirs].value / means[ours].value
    if not ratios:
        return None
    told = ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items())
    return {"verdict": graded(ratio >= 2 for ratio in ratios.values()), "ratios": told}


# ---------------------------------------------------------------- what could not be had again


def hidden_layer(results: Results) -> Told:
    """How much of SLNN's lead, where it has one, a network that is one index has as well."""
    part, told, shares = Part(results, table1), [], []
    for row in part.rows:
        means = part.means(row, "auc", (OURS, "SLNN", ONE_INDEX))
        if len(means) == 3:
            lead, kept = (means[name].difference(means[OURS]) for name in ("SLNN", ONE_INDEX))
            if lead.side > 0:
                told.append(f"{kept.value:+.4f} ± {kept.error:.4f} of {lead.value:+.4f} on {row_name(row)}")
                shares.append(kept.value / lead.value)
    if not told:
        return None
    if min(shares) >= 0.5:
        verdict = "one index would do, and it is w that another way of learning finds better there"
    elif max(shares) >= 0.5:
        verdict = "it is the hidden layer on some of them, not on all"
    else:
        verdict = "it is the hidden layer that one index lacks there"
    return {"leads": listed(told), "verdict": verdict}


def sparsity(results: Results) -> Told:
    """How sparse the chosen w is, where the paper's grid ends at a quarter of the features."""
    part = Part(results, table1)
    # The network uses every feature there is.
    means = [part.means(row, "n_features", (OURS, "SLNN")) for row in part.rows]
    shares = [both[OURS].value / both["SLNN"].value for both in means if len(both) == 2]
    if not shares:
        return None
    dense = sum(share > 0.25 for share in shares)
    return {"dense": dense, "n": len(shares), "least": min(shares), "most": max(shares)}


def mac_win(results: Results) -> Told:
    """How far the paper's mac-win row is from what any method reaches on the data we have."""
    means = Part(results, table1).means(("mac-win", "tfidf"), "auc")
    means.pop("null", None)
    printed = max(paper_figures.AUC["mac-win"])
    method = min(means, key=lambda method: means[method].value, default=None)
    if method is None or means[method].value <= printed + 0.05:
        return None
    return {"printed": printed, "method": method, "least": means[method].value}


def ticket_prices(results: Results) -> Told:
    """Whether any method comes near the paper's MSE, on either scale of y."""
    part, printed, told = Part(results, table2), paper_figures.GROUPS["atp7d"]["CSI (5 groups)"], []
    for name, scale in (("mse", "standardised"), ("mse_in_range", "scaled to [-1, 1]")):
        found = [
            mean.value for row in part.rows if row[0] == "atp7d" for mean in part.means(row, name).values()
        ]
        if not found:
            return None
        where = "below" if min(found) < printed else "above"
        told.append(
            f"with y {scale} the lowest mean MSE of any method here is {min(found):.4f}, {where} the printed "
            "figure"
        )
    return {"printed": printed, "scales": ", and ".join(told)}


def epinions(results: Results) -> Told:
    """How the sizes of our cut compare with the paper's."""
    part = Part(results, table3)
    counts = [part.mean(table3.ROWS[0], "null", name) for name in ("n_test", "n_links")]
    if None in counts:
        return None
    n_test, n_links = (round(mean.value) for mean in counts)
    printed = paper_figures.COMPLETION["Epinions"]
    return {"printed": printed, "n_test": n_test, "n_links": n_links, "n_ends": 2 * n_links}
