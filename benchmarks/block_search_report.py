"""How searches over blocks are told: the section of the report, and the page on where it ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from .pages import as_table, replace_measured

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
    rows = [
        [one["data"], f"{50 * one['one_s']:.1f}", f"{one['many_s']:.2f}", f"{one['ratio']:.1f}"]
        for one in known["many_models"]
    ]
    return as_table(["data", "50 sweeps, s", "one sweep of 50 models, s", "ratio"], rows)


def search_lines(known):
    one = known["search_beside_fit"]
    bound = f" within {one['limit'] / 1e9:.0f} GB of address space" if one["limit"] else ""
    names = ("readings", "seconds", "cpu", "peak_mib")
    rows = [[kind, *(f"{one[kind][name]:.0f}" for name in names)] for kind in ("fit", "search")]
    rows.append(["ratio", *(f"{one['search'][name] / one['fit'][name]:.1f}" for name in names)])
    peaks = [[f"{m['rows']:,}", f"{m['file_mib']:,.0f}", f"{m['peak_mib']:.0f}"] for m in known["memory"]]
    return [
        f"A search over 5 folds × 10 levels × 2 scales and both links on a file of {one['file_gb']:.1f} GB "
        f"({one['rows']:,} × {one['columns']}){bound}, beside one fit (`SingleIndexClassifier(10)`):",
        "",
        *as_table(["", "readings", "seconds", "processor's seconds", "peak, MiB"], rows),
        "",
        *as_table(["rows of 20 columns", "file, MiB", "peak of a search, MiB"], peaks, 0),
    ]


def cluster_lines(known):
    own, other = known["cluster"], known["beside_dask_ml"]
    workers = [
        [one["workers"], f"{one['rows']:,} × {one['columns']}", f"{one['seconds']:.1f}", one["readings"]]
        for one in own["lines"]
    ]
    rows = [["`SingleIndexClassifierCV`", *scores_text(other, "ours")]]
    if "why_not" in other:
        rows.append(["dask-ml", other["why_not"], "", ""])
    else:
        name = f"dask-ml {other['version']}: `LogisticRegression` (L1, ADMM), `GridSearchCV`"
        rows.append([name, *scores_text(other, "theirs")])
    return [
        *as_table(["workers", "rows", "seconds", "readings"], workers, 0),
        "",
        f"A block sends {own['bytes_per_block'] / 1e6:.1f} MB per reading for {own['models']} models, "
        "whatever its rows.",
        "",
        f"Beside dask-ml on the same two workers, {other['rows']:,} × {other['columns']}, 10 levels × 5 "
        "folds:",
        "",
        *as_table(["", "seconds", "AUC", "log-loss"], rows),
    ]


def scores_text(one, who):
    return f"{one[f'{who}_s']:.1f}", f"{one[f'{who}_auc']:.4f}", f"{one[f'{who}_loss']:.4f}"


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
        *as_table(
            ["data", "size", "machines", "reading the disk", "work", "network", "in all"],
            (row for target in TARGETS for row in target_rows(model, *target)),
        ),
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


def target_rows(model, name, kind, rows, columns, width, row_bytes, models):
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
        times = [hours(seconds) for seconds in (disk, work, network, max(disk, work) + network)]
        yield [name, f"{rows * row_bytes / 1e12:.1f} TB", machines, *times]


def hours(seconds):
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.0f} s"


def write_page(known):
    replace_measured(PAGE, BEGIN, report(known))
