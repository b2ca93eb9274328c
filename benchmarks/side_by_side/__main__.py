"""Side by side with every peer: `python -m benchmarks.side_by_side [--quick] [--only TEXT] [--render]`."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..provenance import source_commit
from .environments import GROUPS, make_environment
from .page import STORE, stored_results, write_page
from .problems import Problem, problems
from .roster import entrants_for
from .runner import LINEAR_TASKS, Effort, run_problem


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="small problems, few repeats; the page is left alone")
    add("--only", help="problems whose name holds this text; their rows replace the stored ones")
    add("--out", type=Path, help="where to write the results, in place of the stored file")
    add("--render", action="store_true", help="write the page from the stored results, measure nothing")
    options = parser.parse_args(argv)
    if options.render:
        return write_page(stored_results())
    every = problems(options.quick)
    chosen = [problem for problem in every if options.only is None or options.only in problem.name]
    if not chosen:
        names = "; ".join(problem.name for problem in every)
        parser.error(f"no problem has {options.only!r} in its name; there are: {names}")
    path = options.out or (STORE.with_name("side_by_side_quick.json") if options.quick else STORE)
    known = json.loads(path.read_text()) if options.only and path.exists() else {}
    for results in measure(chosen, options.quick):  # stored as they come: a long run may be cut short
        results = merged(known, results)
        path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    print(f"written to {path.name}")
    if path == STORE:
        write_page(results)
    return None


def measure(chosen: list[Problem], quick: bool) -> Iterator[dict[str, Any]]:
    """Yield the results so far after each problem."""
    commit = source_commit()
    effort = Effort.quick() if quick else Effort()
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
        "problems": [], "rows": [],
    }  # fmt: skip
    for number, problem in enumerate(chosen, 1):
        tell(f"[{number}/{len(chosen)}] {problem.name}")
        parts, rows = run_problem(problem, environments, effort)
        results["problems"] += [part | {"commit": commit} for part in parts]
        results["rows"] += rows
        yield results


def groups_for(chosen: list[Problem], with_slow_ones: bool) -> list[str]:
    """Return the environments of all who take part."""
    tasks = {task for p in chosen for task in (LINEAR_TASKS if p.kind == "linear" else (p.kind,))}
    needed = {entrant.group for task in tasks for entrant in entrants_for(task, with_slow_ones)}
    return [group for group in GROUPS if group in needed]


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return old results with those of the problems that were run anew."""
    again = {p["name"] for p in new["problems"]}
    return new | {
        "problems": [p for p in old.get("problems", []) if p["name"] not in again] + new["problems"],
        "rows": [r for r in old.get("rows", []) if r["problem"] not in again] + new["rows"],
    }


def machine() -> dict[str, Any]:
    """Return what the page says of the machine."""
    info = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*:\s*(.+)", info.read_text() if info.exists() else "")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": model[1] if model else platform.machine(), "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1), "system": platform.system(),
        "python": platform.python_version(),
    }  # fmt: skip


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
