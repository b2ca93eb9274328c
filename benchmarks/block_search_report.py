"""How searches over blocks are told: the section of the report, and the page on where it ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from .pages import fill, rows

PAGE = Path(__file__).parents[1] / "docs" / "where_it_ends.md"
BEGIN = "<!-- measured, by benchmarks/block_search.py -->"
# What is extrapolated to: name, kind, rows, columns, entries of a row, bytes of a row, models of a reading.
TARGETS = (
    ("10⁹ × 100 dense", "dense", 1e9, 100, 100, 800, 250),
    ("10⁹ × 10⁴ dense, the search on 1800 of the columns", "dense", 1e9, 10_000, 1800, 80_000, 250),
    ("10⁸ sparse rows of 100 entries, on 1800 of 10⁶ columns", "sparse", 1e8, 10**6, 30, 1200, 250),
)
# Readings of a search, bytes per second of a disk and of a network, and blocks per worker and reading.
READINGS, DISK, NETWORK, BLOCKS, N_BINS = 10, 1e9, 1e9, 8, 1024
MACHINES, CORES = (1, 10, 100), 2
MEASURED = "| {} | {readings:.0f} | {seconds:.0f} | {cpu:.0f} | {peak_mib:.0f} |"
RATIOS = "| ratio | {readings:.1f} | {seconds:.1f} | {cpu:.1f} | {peak_mib:.1f} |"
THEIRS = "dask-ml {version}: `LogisticRegression` (L1, ADMM, 50 iterations at most), `GridSearchCV`"


def report(known):
    model, own, limit = cost_model(known["rates"]), known["cluster"], known["search_beside_fit"]["limit"]
    many = [one | {"fifty_s": 50 * one["one_s"]} for one in known["many_models"]]
    return fill(
        "block_search",
        known,
        many=rows("| {data} | {fifty_s:.1f} | {many_s:.2f} | {ratio:.1f} |", many),
        bound=f" within {limit / 1e9:.0f} GB of address space" if limit else "",
        search=search_rows(**known["search_beside_fit"]),
        memory=rows("| {rows:,} | {file_mib:,.0f} | {peak_mib:.0f} |", known["memory"]),
        workers=rows("| {workers} | {rows:,} × {columns} | {seconds:.1f} | {readings} |", own["lines"]),
        megabytes=own["bytes_per_block"] / 1e6,
        dask=dask_rows(known["beside_dask_ml"]),
        widths=[extent(known["rates"], "width", kind) for kind in ("dense", "sparse")],
        models=extent(known["rates"], "models", "dense"),
        costs="\n".join(f"- {kind}: {describe(**model[kind])}" for kind in ("dense", "sparse")),
        targets="\n".join(row for target in TARGETS for row in target_rows(model, *target)),
        **{"readings": READINGS, "cores": CORES, "disk": DISK / 1e9, "blocks": BLOCKS},
    )


def search_rows(fit, search, **_):
    ratios = {name: search[name] / fit[name] for name in ("readings", "seconds", "cpu", "peak_mib")}
    both = MEASURED.format("fit", **fit), MEASURED.format("search", **search)
    return "\n".join([*both, RATIOS.format(**ratios)])


def dask_rows(one):
    ours = "| `SingleIndexClassifierCV` | {ours_s:.1f} | {ours_auc:.4f} | {ours_loss:.4f} |"
    theirs = f"| {THEIRS} | {{theirs_s:.1f}} | {{theirs_auc:.4f}} | {{theirs_loss:.4f}} |"
    if "why_not" in one:
        theirs = "| dask-ml | {why_not} |  |  |"
    return f"{ours}\n{theirs}".format(**one)


def extent(lines, name, kind):
    """Return from where to where a figure goes."""
    found = [one[name] for one in lines if one["kind"] == kind]
    return f"{min(found)} to {max(found)}"


def cost_model(lines):
    """Fit seconds per row = a + b width + c models + e width × models, none of them below zero."""
    fitted = {}
    for kind in ("dense", "sparse"):
        own = [one for one in lines if one["kind"] == kind]
        parts = np.array([[1, one["width"], one["models"], one["width"] * one["models"]] for one in own])
        seconds = np.array([one["s_per_row"] for one in own])
        # Shares of the error count alike, small times and large ones.
        coef, _ = nnls(parts / seconds[:, None], np.ones(len(seconds)))
        off = np.abs(parts @ coef / seconds - 1)
        fitted[kind] = {"coef": coef.tolist(), "largest_error": float(off.max())}
    return fitted


def describe(coef, largest_error):
    a, b, c, e = (1e9 * x for x in coef)
    terms = f"{a:.0f} ns + {b:.2f} ns × width + {c:.1f} ns × models + {e:.3f} ns × width × models"
    return f"{terms}; off by {100 * largest_error:.0f} % at the most."


def target_rows(model, name, kind, n_rows, columns, width, row_bytes, models):
    a, b, c, e = model[kind]["coef"]
    per_row = a + b * width + c * models + e * width * models
    if kind == "dense":
        per_row += 2 * e * width**2 / READINGS  # once, the products of all columns
    used = min(columns, 1800)
    sent = 8 * models * (used + 6 * N_BINS)
    for machines in MACHINES:
        disk = READINGS * n_rows * row_bytes / (machines * DISK)
        work = READINGS * n_rows * per_row / (machines * CORES)
        # Eight blocks at a time are added on the way; each machine sends and takes its own.
        network = READINGS * sent * CORES * BLOCKS / NETWORK
        times = [hours(seconds) for seconds in (disk, work, network, max(disk, work) + network)]
        yield f"| {name} | {n_rows * row_bytes / 1e12:.1f} TB | {machines} | {' | '.join(times)} |"


def hours(seconds):
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.0f} s"
