"""Measure the studies named (all where none is), then write the report with `--render`."""

from __future__ import annotations

import argparse
from pathlib import Path

from threadpoolctl import threadpool_limits

from . import cells, frontier, real, searches, speed, tables
from .report import write_report
from .run import run_study, wanted_families
from .store import LINES, Store

STUDIES = {study.NAME: study for study in (cells, tables, frontier, searches, speed, real)}


def as_seeds(text: str) -> list[int]:
    """Read "0-9", "3" or "0,2,5-7"."""
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    return seeds


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact_steps", description=__doc__)
    parser.add_argument("studies", nargs="*", metavar="study", help=f"of {', '.join(STUDIES)}")
    parser.add_argument("--methods", nargs="+", default=[], help="ours, rivals, or families by name")
    parser.add_argument("--seeds", type=as_seeds, default=as_seeds("0-9"), help="0-9 are for the report only")
    parser.add_argument("--only", default="", help="cells whose name holds this text")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--out", type=Path, default=LINES, help="the file of lines")
    parser.add_argument(
        "--render", action="store_true", help="write the report of what is there; measure nothing"
    )
    options = parser.parse_args()
    unknown = set(options.studies) - set(STUDIES)
    if unknown:
        parser.error(f"there is no study {unknown.pop()!r}; there are {', '.join(STUDIES)}")
    store = Store(options.out)
    if options.render:
        store.tidy()
        print(f"written to {write_report(STUDIES.values(), store)}")
        return 0
    failed = 0
    for name in options.studies or STUDIES:
        study = STUDIES[name]
        try:
            families = wanted_families(study, options.methods)
        except ValueError as wrong:
            parser.error(str(wrong))
        chosen = [cell for cell in study.cells() if options.only in cell]
        # Every method has one thread: the seconds of all compare.
        with threadpool_limits(1):
            failed += run_study(study, families, options.seeds, chosen, store, options.jobs)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
