"""Side by side with every peer: `python -m benchmarks.side_by_side [--quick] [--only TEXT]`."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..provenance import source_commit
from .environments import GROUPS, make_environment
from .page import write_page
from .problems import Problem, problems
from .roster import entrants_for
from .runner import LINEAR_TASKS, Effort, run_problem
from .scaling import measure_scaling

STORE = Path(__file__).parents[1] / "results" / "side_by_side.json"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="small problems, few repeats; the page is left alone"
    )
    parser.add_argument(
        "--only", help="problems whose name holds this text; their rows replace the stored ones"
    )
    parser.add_argument("--out", type=Path, help="where to write the results, in place of the stored file")
    options = parser.parse_args(argv)
    names = [problem.name for problem in problems(options.quick)]
    if options.only not in (None, "scaling") and not any(options.only in name for name in names):
        parser.error(f"no problem has {options.only!r} in its name; there are: {'; '.join(names)}; scaling")
    path = options.out or (STORE.with_name("side_by_side_quick.json") if options.quick else STORE)
    known = json.loads(path.read_text()) if options.only and path.exists() else None
    for results in measure(options.quick, options.only):  # stored as they come: a long run may be cut short
        results = results if known is None else merged(known, results)
        path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    print(f"written to {path.name}")
    if path == STORE:
        write_page(results)


def measure(quick: bool, only: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield the results so far after each problem, and at the end those with the scaling curves."""
    commit = source_commit()
    effort = Effort.quick() if quick else Effort()
    chosen = [p for p in problems(quick) if only is None or only in p.name]
    environments = {}
    for group in groups_for(chosen, effort.with_slow_ones):
        tell(f"environment {group}")
        environments[group] = make_environment(group)
        if environments[group].error is not None:
            tell(f"  {environments[group].error}")
    results: dict[str, Any] = {
        "date": str(datetime.date.today()), "quick": quick, "threads": 1, "machine": machine(),
        "environments": [
            {"group": e.group, "packages": e.packages, "error": e.error} for e in environments.values()
        ],
        "problems": [], "rows": [], "scaling": [],
    }  # fmt: skip
    for number, problem in enumerate(chosen, 1):
        tell(f"[{number}/{len(chosen)}] {problem.name}")
        parts, rows = run_problem(problem, environments, effort)
        results["problems"] += [part | {"commit": commit} for part in parts]
        results["rows"] += rows
        yield results
    if only is None or only == "scaling":
        yield results | {"scaling": measure_scaling(quick)}


def groups_for(chosen: list[Problem], with_slow_ones: bool) -> list[str]:
    """Return the environments of all who take part."""
    tasks = {task for p in chosen for task in (LINEAR_TASKS if p.kind == "linear" else (p.kind,))}
    needed = {entrant.group for task in tasks for entrant in entrants_for(task, with_slow_ones)}
    return [group for group in GROUPS if group in needed]


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return old results with those of the problems that were run anew."""
    again = {p["name"] for p in new["problems"]}
    kept = [p for p in old["problems"] if p["name"] not in again]
    return new | {
        "problems": kept + new["problems"],
        "rows": [r for r in old["rows"] if r["problem"] not in again] + new["rows"],
        "scaling": new["scaling"] or old["scaling"],
    }


def machine() -> dict[str, Any]:
    """Return what the page says of the machine."""
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as info:
            processor = next(line.split(":", 1)[1].strip() for line in info if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {
        "processor": processor, "cores": os.cpu_count(), "memory_gib": round(pages / 2**30, 1),
        "system": platform.system(), "python": platform.python_version(),
    }  # fmt: skip


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
