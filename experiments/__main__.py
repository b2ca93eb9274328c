"""Rerun the paper's evaluation: `python -m experiments [part …] [options]`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from . import render
from .run import TABLES, run_units, units_of
from .units import Store, Unit

HERE = Path(__file__).parent
WORK = HERE / "work"
QUICK_SEEDS = 1
DATASETS = sorted({dataset for part in TABLES.values() for dataset, _ in part.ROWS})


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Rerun the paper's tables and figure. A run that was stopped goes on where it was; what "
        "was measured before the code changed is measured anew.",
    )
    parser.add_argument(
        "parts", nargs="*", metavar="part",
        help=f"of {', '.join(TABLES)}; or `render`, for the report of the stored results alone; default: all",
    )  # fmt: skip
    parser.add_argument("--datasets", type=names, help="only these, with commas between")
    parser.add_argument("--methods", type=names, help="only these columns, with commas between")
    parser.add_argument("--seeds", type=int, help="number of splits; default: as many as the report has")
    parser.add_argument(
        "--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes (default: 2)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="few splits, less than five minutes; apart from the rest"
    )
    parser.add_argument("--keep", action="store_true", help="keep units of other commits, too")
    options = parser.parse_args(arguments)
    for kind, given, known in (
        ("part", options.parts, [*TABLES, "render"]),
        ("data set", options.datasets or (), DATASETS),
    ):
        for name in set(given) - set(known):
            parser.error(f"there is no {kind} {name!r}; there are {', '.join(known)}")
    return options


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def chosen_units(options: argparse.Namespace) -> list[Unit]:
    found: list[Unit] = []
    for name in [part for part in options.parts if part != "render"] or TABLES:
        part = TABLES[name]
        default = QUICK_SEEDS if options.quick else part.SEEDS
        found += units_of(part, options.seeds or default, options.quick)
    if options.datasets:
        found = [unit for unit in found if unit.dataset in options.datasets]
    if options.methods:
        found = [unit for unit in found if unit.method in options.methods]
    return found


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.parts == ["render"]:
        tell("written", render.write(render.STORED, HERE))
        return 0
    work = Store(WORK / ("quick" if options.quick else "full"))
    units = chosen_units(options)
    failed = run_units(units, work, options.jobs, options.keep)
    tell("failed", failed)
    everything = {unit for part in TABLES.values() for unit in units_of(part, part.SEEDS)}
    if not failed and set(units) == everything:
        done = work.records()
        Store(render.STORED).replace((done[unit] for unit in units), work.runs())
        tell("written", render.write(render.STORED, HERE))
    else:
        tell("written", render.write(work.folder, work.folder))
        print((work.folder / "RESULTS.md").read_text(encoding="utf-8"))
    tell("missing", render.read(work.folder)[0].missing())
    return 1 if failed else 0


def tell(what: str, things: Iterable[object]) -> None:
    for thing in things:
        print(f"{what}: {thing}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
