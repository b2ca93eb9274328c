"""The command line of a package of studies."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from .report import write_report
from .run import run_study, wanted_families
from .store import LINES, Store


def as_seeds(text: str) -> list[int]:
    """Read "0-9", "3" or "0,2,5-7"."""
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    return seeds


def run_command(package: str, studies: Mapping[str, Any], seeds: str, tuning: int, head: str) -> int:
    """Measure the studies named (all where none is), or write the page with `--render`; return the status."""
    lines = LINES.with_name(f"{package.rpartition('.')[2]}.jsonl")
    parser = argparse.ArgumentParser(prog=f"python -m {package}", description=run_command.__doc__)
    parser.add_argument("studies", nargs="*", metavar="study", help=f"of {', '.join(studies)}")
    parser.add_argument("--methods", nargs="+", default=[], help="ours, rivals, or families by name")
    parser.add_argument(
        "--seeds", type=as_seeds, default=as_seeds(seeds), help=f"{seeds} are for the report only"
    )
    parser.add_argument("--only", default="", help="cells whose name holds this text")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--out", type=Path, default=lines, help="the file of lines")
    parser.add_argument(
        "--render", action="store_true", help="write the report of what is there; measure nothing"
    )
    options = parser.parse_args()
    unknown = set(options.studies) - set(studies)
    if unknown:
        parser.error(f"there is no study {unknown.pop()!r}; there are {', '.join(studies)}")
    store = Store(options.out)
    if options.render:
        store.tidy()
        print(f"written to {write_report(head, studies.values(), store, tuning)}")
        return 0
    failed = 0
    for name in options.studies or studies:
        study = studies[name]
        try:
            families = wanted_families(study, options.methods)
        except ValueError as wrong:
            parser.error(str(wrong))
        chosen = [cell for cell in study.cells() if options.only in cell]
        # Every method has one thread: the seconds of all compare.
        with threadpool_limits(1):
            failed += run_study(study, families, options.seeds, chosen, store, options.jobs)
    return 1 if failed else 0
