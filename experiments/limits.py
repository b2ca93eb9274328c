"""What of the paper could not be had again, as far as the results tell."""

from __future__ import annotations

from . import paper_figures, table1, table2, table3
from .analyse import Results
from .claims import OURS, means_of
from .classifiers import METHODS
from .document import Block, bullets, heading
from .notes import NOTES


def limits(results: Results) -> list[Block]:
    items = [
        *NOTES["limits"],
        *sparsity(results),
        *mac_win(results),
        *ticket_prices(results),
        *epinions(results),
    ]
    blocks: list[Block] = [heading("What could not be reproduced, and why"), bullets(items)]
    missing = [f"{', '.join(parts)}: {message}" for message, parts in results.missing().items()]
    if missing:
        blocks += ["Not run for want of data:", bullets(missing)]
    return blocks


def mac_win(results: Results) -> list[str]:
    """Say how far the paper's mac-win row is from what any method reaches on the data we have."""
    means = means_of(results, table1.NAME, ("mac-win", "tfidf"), METHODS, "auc")
    means.pop("null", None)
    if not means:
        return []
    least = min(means, key=lambda method: means[method].value)
    printed = max(paper_figures.AUC["mac-win"])
    if means[least].value <= printed + 0.05:
        return []
    return [
        f"mac-win: every figure that the paper prints is at most {printed:.3f}; here the lowest, that of "
        f"{least}, is {means[least].value:.3f}, on data of the same n and d. The paper's figures cannot come "
        "from these data with these labels; rows and labels out of step would explain them."
    ]


def sparsity(results: Results) -> list[str]:
    """Say how sparse the chosen w is, where the paper's grid ends at a quarter of the features."""
    shares = {}
    for row in results.rows(table1.NAME, table1.ROWS):
        ours = results.mean(table1.NAME, *row, OURS, "n_features")
        # The network uses every feature there is.
        every = results.mean(table1.NAME, *row, "SLNN", "n_features")
        if ours and every:
            shares[row] = ours.value / every.value
    if not shares:
        return []
    dense = sum(share > 0.25 for share in shares.values())
    return [
        "Sparsity: the paper tries at most a quarter of the features. The folds of this library's search "
        f"prefer more on {dense} of {len(shares)} rows: CSI uses {min(shares.values()):.0%} to "
        f"{max(shares.values()):.0%} of the features there, in part because it averages the w of folds and "
        "of candidates."
    ]


def ticket_prices(results: Results) -> list[str]:
    """Say whether any method comes near the paper's MSE, on either scale of y."""
    printed, least = paper_figures.GROUPS["atp7d"]["CSI"], {}
    for figure, scale in (("mse", "standardised"), ("mse_in_range", "scaled to [-1, 1]")):
        found = [
            mean.value
            for variant in table2.ATP_VARIANTS
            for mean in means_of(
                results, table2.NAME, ("atp7d", variant), table2.NUMBER_METHODS, figure
            ).values()
        ]
        if found:
            least[scale] = min(found)
    if len(least) < 2:
        return []
    told = [
        f"with y {scale} the lowest mean MSE of any method here is {value:.4f}, "
        + ("below the printed figure" if value < printed else "above the printed figure")
        for scale, value in least.items()
    ]
    return [f"atp7d: the paper prints an MSE of {printed} and not how y was scaled; {', and '.join(told)}."]


def epinions(results: Results) -> list[str]:
    """Say how the sizes of our cut compare with the paper's."""
    printed = paper_figures.COMPLETION["Epinions"]
    counts = {
        name: results.mean(table3.NAME, *table3.ROWS[0], "null", name) for name in ("n_test", "n_links")
    }
    if None in counts.values():
        return []
    n_test, n_links = (round(counts[name].value) for name in ("n_test", "n_links"))
    return [
        f"Epinions: the paper has {printed['n_test']} test ratings and {printed['n_links']} links; the same "
        f"recipe on the complete published set leaves {n_test} test ratings and {n_links} links "
        f"({2 * n_links} if each counts for both of its ends). Which part of the ratings the paper used is "
        "not said."
    ]
