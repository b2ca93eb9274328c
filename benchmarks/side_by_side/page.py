"""The page of the documents that shows a result file: the text of a template and tables, no figure typed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..pages import as_table, fill, replace_measured, three_digits
from ..provenance import ROOT, commits_text

STORE = ROOT / "benchmarks" / "results" / "side_by_side.json"
PAGE = ROOT / "docs" / "benchmarks.md"
BEGIN = "<!-- measured -->"
OURS = "singleindex"

# In the order of the page: the whole job first.
TASKS = {
    "search": "A search for settings",
    "path": "A path of fits",
    "single fit": "A single fit",
    "large n": "Many rows",
    "cold start": "Cold start",
    "group": "Groups of columns",
    "multi-task": "Several outputs",
    "completion": "Matrix completion",
    "isotonic": "Isotonic regression",
}
NOTES = {
    "cold start": "Seconds are from the start of the process to its first prediction.",
    "isotonic": "RMSE is the distance from the Lipschitz solution, which has a certificate; scipy and "
    "scikit-learn solve the problem without the bound on the slope.",
}
# Title, whether more (↑) or less (↓) is better, and how the figure is written.
MEASURES = {
    "auc": ("AUC", "↑", ".4f"),
    "log_loss": ("log-loss", "↓", ".4f"),
    "features": ("features", "", ".0f"),
    "brier": ("Brier", "↓", ".4f"),
    "rmse": ("RMSE", "↓", ".4g"),
    "suboptimality": ("suboptimality", "↓", ".1e"),
    "link_rmse": ("link RMSE", "↓", ".4f"),
    "cosine": ("cosine", "↑", ".4f"),
}
# A peer's answer counts as better beyond these: a difference of scores, a share of an error.
BETTER_SCORE, BETTER_ERROR = 0.001, 0.01
NOTHING = "–"

Row = dict[str, Any]
Results = dict[str, Any]


def write_page(results: Results, page: Path = PAGE) -> None:
    replace_measured(page, BEGIN, as_lines(results))


def stored_results() -> Results:
    results: Results = json.loads(STORE.read_text(encoding="utf-8"))
    return results


def as_lines(results: Results) -> list[str]:
    """Return what the page says of these results."""
    compared = [(peer, ours, better_in(peer, ours)) for peer, ours in duels(results)]
    environments = ((one["group"], packages_text(one)) for one in results["environments"])
    return fill(
        "side_by_side",
        results | results["machine"],
        commits=commits_text(one["commit"] for one in results["problems"] if one.get("commit")),
        environments="\n".join(as_table(["environment", "packages"], environments, 2)),
        failures="\n".join(failure_lines(results)) or "Everything ran.",
        problems="\n\n".join(problem_texts(results)),
        n_compared=len(compared),
        n_faster=sum("time" in better for _, _, better in compared),
        n_lighter=sum(is_lighter(peer, ours) for peer, ours, _ in compared),
        n_weighed=sum(peer["peak_bytes"] is not None for peer, _, _ in compared),
        n_better=sum(better not in ([], ["time"]) for _, _, better in compared),
        better_score=BETTER_SCORE,
        better_error=100 * BETTER_ERROR,
        losses="\n".join(loss_lines(compared)),
    )


# ---------------------------------------------------------------- what is in the results


def problems_of(results: Results) -> Iterator[tuple[dict[str, Any], list[Row], Row | None]]:
    """Yield each problem in the order of its task, its rows from the fastest on, and the fastest of ours.

    All peers are held against that one, in speed and in quality, so that neither can be picked.
    """
    order = list(TASKS)
    for problem in sorted(results["problems"], key=lambda one: order.index(one["task"])):
        rows = [row for row in results["rows"] if row["problem"] == problem["name"]]
        rows.sort(key=lambda row: median(row) or math.inf)
        yield problem, rows, next((row for row in rows if is_ours(row) and median(row)), None)


def is_ours(row: Row) -> bool:
    return bool(row["package"] == OURS)


def quartiles(row: Row) -> list[float] | None:
    """Return lower quartile, median and upper quartile of the seconds; None for a row without an answer."""
    if row["error"] or not row["seconds"]:
        return None
    return [float(value) for value in np.quantile(row["seconds"], [0.25, 0.5, 0.75])]


def median(row: Row) -> float | None:
    found = quartiles(row)
    return None if found is None else found[1]


def quality(row: Row) -> dict[str, float]:
    """Return the figures of an answer, in the order of the page."""
    known = row["quality"]
    return {name: known[name] for name in MEASURES if math.isfinite(known.get(name, math.nan))}


# ---------------------------------------------------------------- how things are written


def measure_text(row: Row, measure: str) -> str:
    value = quality(row).get(measure)
    return NOTHING if value is None else format(value, MEASURES[measure][2])


def quality_text(row: Row | None) -> str:
    measures = quality(row) if row else ()
    return ", ".join(f"{MEASURES[m][0]} {measure_text(row, m)}" for m in measures) or NOTHING


def ratio_text(row: Row, ours: Row | None) -> str:
    return three_digits(median(row) / median(ours)) if ours and median(row) else NOTHING


def verbatim(text: str, most: int = 300) -> str:
    """Return the text as code on one line, so that nothing in it is taken for Markdown."""
    line = " ".join(text.split()).replace("`", "'")
    return f"`{line if len(line) <= most else line[:most] + ' …'}`"


def packages_text(environment: dict[str, Any]) -> str:
    packages = [f"{name} {version}" for name, version in sorted(environment["packages"].items())]
    return ", ".join(packages) or "**failed**, see above"


def size_text(problem: dict[str, Any]) -> str:
    size = three_digits(problem["data_bytes"] / 1e6)
    return f"n = {problem['n']:,}, d = {problem['d']:,}, {problem['entries']:,} entries, {size} MB."


def settings_text(rows: Iterable[Row]) -> str:
    """Return the settings of a problem's solvers on one line."""
    told = [
        f"{row['solver']} `{', '.join(f'{name}={value:.4g}' for name, value in row['settings'].items())}`"
        for row in rows
        if row["settings"]
    ]
    return "Settings: " + "; ".join([*told, "the others their defaults" if told else "defaults"]) + "."


# ---------------------------------------------------------------- the parts of the page


def failure_lines(results: Results) -> list[str]:
    """List each environment that could not be made and each reason for which a solver gave no time."""
    lines = [
        f"- Environment {one['group']}: {verbatim(one['error'])}"
        for one in results["environments"]
        if one["error"]
    ]
    failed: dict[tuple[str, str], list[str]] = {}
    for row in results["rows"]:
        if not median(row):
            reason = row["error"] or "no time was taken"
            failed.setdefault((row["solver"], reason), []).append(row["problem"])
    return lines + [f"- {who} on {'; '.join(where)}: {verbatim(why)}" for (who, why), where in failed.items()]


def problem_texts(results: Results) -> Iterator[str]:
    task = None
    for problem, rows, ours in problems_of(results):
        if problem["task"] != task:
            task = problem["task"]
            yield "\n\n".join([f"## {TASKS[task]}", *([NOTES[task]] if task in NOTES else [])])
        against = f"*Ours* is {ours['solver']}, our fastest." if ours else "No solver of ours gave a time."
        yield f"### {problem['name']}"
        yield f"{problem['text']} {size_text(problem)} {against}"
        yield "\n".join(problem_table(problem, rows, ours))
        if task != "search":  # the page tells those of all searches at once
            yield settings_text(rows)


def problem_table(problem: dict[str, Any], rows: list[Row], ours: Row | None) -> list[str]:
    measures = [m for m in MEASURES if any(m in quality(row) for row in rows)]
    head = ["solver", "median, s", "their time ÷ ours"]
    head += [" ".join(MEASURES[m][:2]).strip() for m in measures]
    head += ["quartiles, s", "peak memory ÷ data", "formulation"]
    return as_table(head, (row_cells(row, ours, problem["data_bytes"], measures) for row in rows))


def row_cells(row: Row, ours: Row | None, data_bytes: float, measures: list[str]) -> list[str]:
    times = [three_digits(value) for value in quartiles(row) or ()]
    return [
        f"**{row['solver']}**" if is_ours(row) else row["solver"],
        times[1] if times else "failed",
        ratio_text(row, ours),
        *(measure_text(row, measure) for measure in measures),
        f"{times[0]}–{times[2]}" if times else NOTHING,
        NOTHING if row["peak_bytes"] is None else f"{row['peak_bytes'] / data_bytes:.1f}",
        row["formulation"] or NOTHING,
    ]


# ---------------------------------------------------------------- where it does not win


def duels(results: Results) -> Iterator[tuple[Row, Row | None]]:
    """Yield each peer's row that has a time, with the row of ours it is held against."""
    for _, rows, ours in problems_of(results):
        yield from ((row, ours) for row in rows if median(row) and not is_ours(row))


def better_in(peer: Row, ours: Row | None) -> list[str]:
    """Return what a peer is better in; where ours gave no answer, that it gave one."""
    if ours is None:
        return ["an answer"]
    theirs, own = quality(peer), quality(ours)
    faster = ["time"] if median(peer) < median(ours) else []
    return faster + [MEASURES[m][0] for m in theirs if m in own and is_better(m, theirs[m], own[m])]


def is_lighter(peer: Row, ours: Row | None) -> bool:
    if ours is None or None in (peer["peak_bytes"], ours["peak_bytes"]):
        return False
    return bool(peer["peak_bytes"] < ours["peak_bytes"])


def is_better(measure: str, theirs: float, own: float) -> bool:
    _, direction, _ = MEASURES[measure]
    if direction == "↑":
        return theirs - own > BETTER_SCORE
    return direction == "↓" and own - theirs > BETTER_ERROR * own


def loss_lines(compared: Iterable[tuple[Row, Row | None, list[str]]]) -> list[str]:
    """List every peer that is faster or whose answer is better."""
    head = ["problem", "peer", "ours", "the peer is better in", "the peer's answer", "our answer"]
    rows = [
        [peer["problem"], peer["solver"], ours["solver"] if ours else "none", ", ".join(better),
         quality_text(peer), quality_text(ours), ratio_text(peer, ours)]
        for peer, ours, better in compared
        if better
    ]  # fmt: skip
    return as_table([*head, "the peer's time ÷ ours"], rows, 6) if rows else ["Nowhere."]
