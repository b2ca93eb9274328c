"""How searches over blocks are told: the section of the report, and the page on where it ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from .pages import replace_measured

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


def report(known):
    return [*many_lines(known), "", *search_lines(known), "", *cluster_lines(known), "", *model_lines(known)]


def many_lines(known):
    return [
        "| data | 50 sweeps, s | one sweep of 50 models, s | ratio |",
        "| --- | --: | --: | --: |",
        *(
            f"| {one['data']} | {50 * one['one_s']:.1f} | {one['many_s']:.2f} | {one['ratio']:.1f} |"
            for one in known["many_models"]
        ),
    ]


def search_lines(known):
    one = known["search_beside_fit"]
    fit, search = one["fit"], one["search"]
    bound = f" within {one['limit'] / 1e9:.0f} GB of address space" if one["limit"] else ""
    return [
        f"A search over 5 folds × 10 levels × 2 scales and both links on a file of {one['file_gb']:.1f} GB "
        f"({one['rows']:,} × {one['columns']}){bound}, beside one fit (`SingleIndexClassifier(10)`):",
        "",
        "| | readings | seconds | processor's seconds | peak, MiB |",
        "| --- | --: | --: | --: | --: |",
        *(
            f"| {name} | {line['readings']} | {line['seconds']:.0f} | {line['cpu']:.0f} | "
            f"{line['peak_mib']:.0f} |"
            for name, line in (("fit", fit), ("search", search))
        ),
        f"| ratio | {search['readings'] / fit['readings']:.1f} | {search['seconds'] / fit['seconds']:.1f} | "
        f"{search['cpu'] / fit['cpu']:.1f} | {search['peak_mib'] / fit['peak_mib']:.1f} |",
        "",
        "| rows of 20 columns | file, MiB | peak of a search, MiB |",
        "| --: | --: | --: |",
        *(f"| {m['rows']:,} | {m['file_mib']:,.0f} | {m['peak_mib']:.0f} |" for m in known["memory"]),
    ]


def cluster_lines(known):
    own, other = known["cluster"], known["beside_dask_ml"]
    lines = [
        "| workers | rows | seconds | readings |",
        "| --: | --: | --: | --: |",
        *(
            f"| {one['workers']} | {one['rows']:,} × {one['columns']} | {one['seconds']:.1f} | "
            f"{one['readings']} |"
            for one in own["lines"]
        ),
        "",
        f"A block sends {own['bytes_per_block'] / 1e6:.1f} MB per reading for {own['models']} models, "
        "whatever its rows.",
        "",
        f"Beside dask-ml on the same two workers, {other['rows']:,} × {other['columns']}, 10 levels × 5 "
        "folds:",
        "",
        "| | seconds | AUC | log-loss |",
        "| --- | --: | --: | --: |",
        f"| `SingleIndexClassifierCV` | {other['ours_s']:.1f} | {other['ours_auc']:.4f} | "
        f"{other['ours_loss']:.4f} |",
    ]
    if "why_not" in other:
        return [*lines, f"| dask-ml | {other['why_not']} | | |"]
    return [
        *lines,
        f"| dask-ml {other['version']}: `LogisticRegression` (L1, ADMM), `GridSearchCV` | "
        f"{other['theirs_s']:.1f} | {other['theirs_auc']:.4f} | {other['theirs_loss']:.4f} |",
    ]


def model_lines(known):
    model = cost_model(known["rates"])
    return [
        "Seconds per row of a reading, on one core, fitted to sweeps of 25 to 400 columns (10 to 100 "
        "entries) and 5 to 200 models:",
        "",
        *(
            f"- {kind}: {describe(model[kind]['coef'])}; off by {100 * model[kind]['largest_error']:.0f} % "
            "at the most."
            for kind in ("dense", "sparse")
        ),
        "",
        f"What a search of {READINGS} readings would take, each machine with {CORES} such cores, a disk of "
        f"{DISK / 1e9:.0f} GB/s and a network of as much, {BLOCKS} blocks a core:",
        "",
        "| data | size | machines | reading the disk | work | network | in all |",
        "| --- | --: | --: | --: | --: | --: | --: |",
        *(line for target in TARGETS for line in target_lines(model, *target)),
    ]


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


def describe(coef):
    a, b, c, e = (1e9 * x for x in coef)
    return f"{a:.0f} ns + {b:.2f} ns × width + {c:.1f} ns × models + {e:.3f} ns × width × models"


def target_lines(model, name, kind, rows, columns, width, row_bytes, models):
    a, b, c, e = model[kind]["coef"]
    per_row = a + b * width + c * models + e * width * models
    if kind == "dense":
        per_row += 2 * e * width**2 / READINGS  # once, the products of all columns
    used = min(columns, 1800)
    sent = 8 * models * (used + 6 * N_BINS)
    for machines in MACHINES:
        disk = READINGS * rows * row_bytes / (machines * DISK)
        work = READINGS * rows * per_row / (machines * CORES)
        # Eight blocks at a time are added on the way; each machine sends and takes its own.
        network = READINGS * sent * CORES * BLOCKS / NETWORK
        yield (
            f"| {name} | {rows * row_bytes / 1e12:.1f} TB | {machines} | {hours(disk)} | {hours(work)} | "
            f"{hours(network)} | {hours(max(disk, work) + network)} |"
        )


def hours(seconds):
    return (
        f"{seconds / 3600:.1f} h"
        if seconds >= 3600
        else f"{seconds / 60:.1f} min"
        if seconds >= 60
        else f"{seconds:.0f} s"
    )


def write_page(known):
    replace_measured(PAGE, BEGIN, report(known))
