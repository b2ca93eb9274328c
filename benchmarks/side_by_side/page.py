"""The page of the documents that shows a result file: text, tables and charts, no figure typed by hand.

`python -m benchmarks.side_by_side.page` writes it anew from the stored results.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..charts import COUNTS, Curve, Dot, curve_chart, dot_chart, duration, scaled, three_digits
from ..pages import as_table, replace_measured
from ..provenance import commits_text
from .rows import HIGHER_IS_BETTER, OURS, Results, Row, gain, is_ours, quality, quartiles, why_not

ROOT = Path(__file__).parents[2]
STORE = ROOT / "benchmarks" / "results" / "side_by_side.json"
PAGE = ROOT / "docs" / "benchmarks.md"
IMAGES = ROOT / "docs" / "images" / "benchmarks"
BEGIN = "<!-- measured -->"

TASKS = {
    "isotonic": "Isotonic regression",
    "single fit": "A single fit",
    "path": "A path of fits",
    "search": "A search for settings",
    "group": "Groups of columns",
    "multi-task": "Several outputs",
    "completion": "Matrix completion",
    "large n": "Many rows",
    "cold start": "Cold start",
}
SECONDS_OF = {"cold start": "Seconds are from the start of the process to its first prediction."}
# Title, whether more (↑) or less (↓) is better, and how the figure is written.
MEASURES = {
    "auc": ("AUC", "↑", ".4f"),
    "log_loss": ("log-loss", "↓", ".4f"),
    "features": ("features", "", ".0f"),
    "brier": ("Brier", "↓", ".4f"),
    "rmse": ("RMSE", "↓", ".4g"),
    "mse": ("MSE", "↓", ".4g"),
    "suboptimality": ("suboptimality", "↓", ".1e"),
    "certificate": ("certificate", "↓", ".1e"),
    "link_rmse": ("link RMSE", "↓", ".4f"),
    "cosine": ("cosine", "↑", ".4f"),
}
AGAINST = {
    "n": "number of rows",
    "d": "number of columns",
    "entries": "number of entries",
    "n_atoms": "number of atoms",
}
# A peer's answer counts as better beyond these: a difference of scores, a share of an error.
BETTER_HIGHER, BETTER_LOWER = 0.001, 0.01
MOST_FIGURES = 3  # beside a chart; the table has all
SHORT = {"suboptimality": "subopt.", "certificate": "certif."}
NOTHING = "–"


def as_lines(results: Results) -> list[str]:
    """Return what the page says of these results, as lines of Markdown."""
    parts = (setting_lines, failure_lines, problems_lines, scaling_lines, losing_lines)
    return [line for part in parts for line in [*part(results), ""]][:-1]


def write_page(results: Results, page: Path = PAGE, images: Path = IMAGES) -> None:
    """Write the measured part of the page, and its charts in place of those there were."""
    replace_measured(page, BEGIN, as_lines(results))
    images.mkdir(parents=True, exist_ok=True)
    drawn = as_charts(results)
    for path in images.glob("*.svg"):
        if path.name not in drawn:
            path.unlink()
    for name, text in drawn.items():
        (images / name).write_text(text, encoding="utf-8")


def as_charts(results: Results) -> dict[str, str]:
    """Return every chart of the page, as SVG by the name of its file."""
    drawn = {}
    for problem in problems_of(results):
        rows = rows_of(results, problem)
        measures = measures_of(rows)[:MOST_FIGURES]
        dots = [
            Dot(row["solver"], quartiles(row), [measure_text(row, m) for m in measures], is_ours(row))
            for row in rows
        ]
        heads = [SHORT.get(m, title_of(m)) for m in measures]
        drawn[chart_name(problem["name"])] = dot_chart(dots, heads, dot_alt(rows))
    for against, found in curves_of(results).items():
        curves = [Curve(curve_text(one), one["sizes"], one["seconds"], is_ours(one)) for one in found]
        label = AGAINST[against]
        drawn[chart_name(f"scaling-{against}")] = curve_chart(curves, label, curve_alt(against, found))
    return drawn


# ---------------------------------------------------------------- what is in the results


def problems_of(results: Results) -> list[dict[str, Any]]:
    """Return the problems in the order of their tasks."""
    order = list(TASKS)
    return sorted(results["problems"], key=lambda one: order.index(one["task"]))


def rows_of(results: Results, problem: dict[str, Any]) -> list[Row]:
    """Return the rows of a problem, the fastest first, those without a time last."""
    rows = [row for row in results["rows"] if row["problem"] == problem["name"]]
    return sorted(rows, key=lambda row: (quartiles(row) or (0, math.inf))[1])


def fastest_of_ours(rows: Iterable[Row]) -> Row | None:
    """Return the row all peers are held against, in speed and in quality, so that neither can be picked."""
    return next((row for row in rows if is_ours(row) and quartiles(row)), None)


def measures_of(rows: Iterable[Row]) -> list[str]:
    found = {measure for row in rows for measure in quality(row)}
    return [m for m in MEASURES if m in found]


def curves_of(results: Results) -> dict[str, list[dict[str, Any]]]:
    """Return the scaling curves by what they are drawn against."""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in results["scaling"]:
        found.setdefault(one["against"], []).append(one)
    return found


# ---------------------------------------------------------------- how things are written


def title_of(measure: str) -> str:
    return MEASURES[measure][0]


def measure_text(row: Row, measure: str) -> str:
    value = quality(row).get(measure)
    return NOTHING if value is None else format(value, MEASURES[measure][2])


def quality_text(row: Row) -> str:
    return ", ".join(f"{title_of(m)} {measure_text(row, m)}" for m in measures_of([row])) or NOTHING


def verbatim(text: object, most: int = 300) -> str:
    """Return the text as code on one line, so that nothing in it is taken for Markdown."""
    line = " ".join(str(text).split()).replace("`", "'")
    return f"`{line if len(line) <= most else line[:most] + ' …'}`"


def name_of(row: Row) -> str:
    return f"**{row['solver']}**" if is_ours(row) else str(row["solver"])


def chart_name(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.") + ".svg"


def picture(name: str, alt: str) -> str:
    return f"![{re.sub(r'[][]', '', alt)}](images/benchmarks/{chart_name(name)})"


# ---------------------------------------------------------------- where it was measured, what failed


def setting_lines(results: Results) -> list[str]:
    machine = results["machine"]
    commits = {one["commit"] for one in results["problems"] if one.get("commit")}
    rows = ((one["group"], packages_text(one)) for one in results["environments"])
    return [
        f"Measured on {results['date']}, threads per solver: {results['threads']}. The machine: "
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']:.1f} GiB of memory, "
        f"{machine['system']}, Python {machine['python']}. {commits_text(commits)}",
        "",
        "Peers that cannot be installed together are run in environments of their own:",
        "",
        *as_table(["environment", "packages"], rows, 2),
    ]


def packages_text(environment: dict[str, Any]) -> str:
    packages = [f"{name} {version}" for name, version in sorted(environment["packages"].items())]
    return ", ".join([*packages, *(["**failed**, see below"] if environment["error"] else [])]) or NOTHING


def failure_lines(results: Results) -> list[str]:
    """List each environment that could not be made and each reason for which a solver gave no time."""
    lines = [
        f"- Environment {one['group']}: {verbatim(one['error'])}"
        for one in results["environments"]
        if one["error"]
    ]
    failed: dict[tuple[str, str], list[str]] = {}
    for row in results["rows"]:
        if reason := why_not(row):
            failed.setdefault((row["solver"], reason), []).append(row["problem"])
    lines += [f"- {who} on {', '.join(where)}: {verbatim(why)}" for (who, why), where in failed.items()]
    return ["## What did not run", "", *(lines or ["Everything ran."])]


# ---------------------------------------------------------------- the problems


def problems_lines(results: Results) -> list[str]:
    lines: list[str] = []
    task = None
    for problem in problems_of(results):
        if problem["task"] != task:
            task = problem["task"]
            lines += [f"## {TASKS[task]}", ""]
        lines += [*problem_lines(problem, rows_of(results, problem)), ""]
    return lines[:-1]


def problem_lines(problem: dict[str, Any], rows: list[Row]) -> list[str]:
    ours = fastest_of_ours(rows)
    against = f"*Ours* is {ours['solver']}, our fastest." if ours else "No solver of ours gave a time."
    measures = measures_of(rows)
    head = ["solver", "version", "formulation", "median, s", "quartiles, s"]
    head += ["their time ÷ ours", "peak memory ÷ data"]
    head += [f"{title_of(m)} {MEASURES[m][1]}".strip() for m in measures]
    cells = [problem_cells(row, ours, problem["data_bytes"], measures) for row in rows]
    settings = [f"- {row['solver']}: {verbatim(settings_text(row), 1000)}" for row in rows]
    said = (problem["text"], size_text(problem), SECONDS_OF.get(problem["task"]), against)
    return [
        f"### {problem['name']}",
        "",
        " ".join(part for part in said if part),
        "",
        *as_table(head, cells, 3),
        "",
        picture(problem["name"], dot_alt(rows)),
        "",
        "<details><summary>Settings</summary>",
        "",
        *settings,
        "",
        "</details>",
    ]


def problem_cells(row: Row, ours: Row | None, data_bytes: float, measures: list[str]) -> list[str]:
    times, base = quartiles(row), quartiles(ours) if ours else None
    peak = row["peak_bytes"]
    return [
        name_of(row),
        str(row["version"] or NOTHING),
        str(row["formulation"] or NOTHING),
        three_digits(times[1]) if times else "failed",
        f"{three_digits(times[0])}–{three_digits(times[2])}" if times else NOTHING,
        three_digits(times[1] / base[1]) if times and base else NOTHING,
        f"{peak / data_bytes:.1f}" if peak is not None else NOTHING,
        *(measure_text(row, measure) for measure in measures),
    ]


def size_text(problem: dict[str, Any]) -> str:
    size, unit = scaled(problem["data_bytes"], COUNTS)
    return (
        f"n = {problem['n']:,}, d = {problem['d']:,}, {problem['entries']:,} entries, "
        f"{three_digits(size)}{unit or ' '}B."
    )


def settings_text(row: Row) -> str:
    return ", ".join(f"{k}={v}" for k, v in row["settings"].items()) or "defaults"


def dot_alt(rows: Iterable[Row]) -> str:
    times = [(row["solver"], quartiles(row)) for row in rows]
    told = ", ".join(f"{who} {duration(found[1])}" if found else f"{who} failed" for who, found in times)
    return f"Median times on a logarithmic axis, fastest first: {told}."


# ---------------------------------------------------------------- scaling


def scaling_lines(results: Results) -> list[str]:
    lines = [
        "## How time grows",
        "",
        "Exponents are slopes of straight lines fitted to the logarithms: 1 is linear.",
    ]
    for against, curves in curves_of(results).items():
        rows = [
            (
                f"**{one['solver']}**" if is_ours(one) else one["solver"],
                one["task"],
                f"{min(one['sizes']):,} – {max(one['sizes']):,}",
                exponent_text(one),
            )
            for one in curves
        ]
        lines += ["", f"### Against the {AGAINST[against]}", ""]
        lines += [*as_table(["solver", "task", against, "exponent"], rows, 2), ""]
        lines += [picture(f"scaling-{against}", curve_alt(against, curves))]
    return lines if len(lines) > 3 else ["## How time grows", "", "Not measured in this run."]


def exponent_text(curve: dict[str, Any]) -> str:
    return f"{curve['exponent']:.2f}"


def curve_text(curve: dict[str, Any]) -> str:
    return f"{curve['solver']}, {curve['task']}: {curve['against']}^{exponent_text(curve)}"


def curve_alt(against: str, curves: Iterable[dict[str, Any]]) -> str:
    told = "; ".join(curve_text(one) for one in curves)
    return f"Seconds against the {AGAINST[against]}, both axes logarithmic. Growth: {told}."


# ---------------------------------------------------------------- where it does not win


def duels(results: Results) -> Iterator[tuple[Row, Row]]:
    """Yield each peer's row that has a time with the row of ours it is held against."""
    for problem in problems_of(results):
        rows = rows_of(results, problem)
        ours = fastest_of_ours(rows)
        for row in rows:
            if ours and quartiles(row) and not is_ours(row):
                yield row, ours


def losing_lines(results: Results) -> list[str]:
    """List every peer that is faster, every one whose answer is better, every problem ours failed on."""
    held = list(duels(results))
    slower = [(peer, ours) for peer, ours in held if quartiles(peer)[1] < quartiles(ours)[1]]
    worse = [(peer, ours) for peer, ours in held if better_measures(peer, ours)]
    return [
        "## Where it does not win",
        "",
        f"Of {len(held)} comparisons of a peer with the fastest of ours on the same problem, the peer was "
        f"faster in {len(slower)}, and its answer was better in {len(worse)}: a score (AUC, cosine) higher "
        f"by more than {BETTER_HIGHER:g}, or an error (log-loss, Brier, RMSE, MSE, link RMSE) lower by more "
        f"than {100 * BETTER_LOWER:g} %.",
        "",
        *(faster_lines(slower) if slower else ["No peer was faster."]),
        "",
        *(better_lines(worse) if worse else ["No peer's answer was better."]),
        *absent_lines(results),
    ]


def faster_lines(pairs: Iterable[tuple[Row, Row]]) -> list[str]:
    head = ["problem", "peer", "ours", "quality of the peer", "quality of ours", "our time ÷ the peer's"]
    rows = (
        [*named(peer, ours), quality_text(peer), quality_text(ours), time_ratio(ours, peer)]
        for peer, ours in pairs
    )
    return as_table(head, rows, 5)


def better_lines(pairs: Iterable[tuple[Row, Row]]) -> list[str]:
    head = ["problem", "peer", "ours", "measure", "the peer's", "ours", "the peer's time ÷ ours"]
    rows = (
        [*named(peer, ours), title_of(m), measure_text(peer, m), measure_text(ours, m),
         time_ratio(peer, ours)]
        for peer, ours in pairs
        for m in better_measures(peer, ours)
    )  # fmt: skip
    return as_table(head, rows, 4)


def named(peer: Row, ours: Row) -> list[str]:
    return [peer["problem"], peer["solver"], ours["solver"]]


def time_ratio(one: Row, other: Row) -> str:
    return three_digits(quartiles(one)[1] / quartiles(other)[1])


def better_measures(peer: Row, ours: Row) -> list[str]:
    theirs, own = quality(peer), quality(ours)
    least = {m: BETTER_HIGHER if m in HIGHER_IS_BETTER else BETTER_LOWER for m in theirs}
    return [m for m in measures_of([peer]) if m in own and gain(m, own[m], theirs[m]) > least[m]]


def absent_lines(results: Results) -> list[str]:
    """Name the problems on which peers gave a time and ours did not."""
    names = []
    for problem in problems_of(results):
        rows = rows_of(results, problem)
        if fastest_of_ours(rows) is None and any(quartiles(row) for row in rows):
            names.append(problem["name"])
    return ["", f"Peers gave a time and {OURS} gave none on: {', '.join(names)}."] if names else []


if __name__ == "__main__":
    write_page(json.loads(STORE.read_text(encoding="utf-8")))
