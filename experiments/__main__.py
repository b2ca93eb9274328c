"""Rerun the paper's evaluation: `python -m experiments [part …] [options]`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from . import render
from .document import as_markdown
from .run import TABLES, read_runs, run_units, write_runs
from .sections import document
from .units import Store, Unit

HERE = Path(__file__).parent
WORK = HERE / "work"
QUICK_SEEDS = 1


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
    unknown = set(options.parts) - set(TABLES) - {"render"}
    if unknown:
        parser.error(f"there is no part {sorted(unknown)[0]!r}; there are {', '.join([*TABLES, 'render'])}")
    known = {name for part in TABLES.values() for name in part.DATASETS}
    strange = set(options.datasets or ()) - known
    if strange:
        parser.error(f"there is no data set {sorted(strange)[0]!r}; there are {', '.join(sorted(known))}")
    return options


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def units_of(options: argparse.Namespace) -> list[Unit]:
    found: list[Unit] = []
    for name in [part for part in options.parts if part != "render"] or TABLES:
        part = TABLES[name]
        default = QUICK_SEEDS if options.quick else part.SEEDS
        found += part.units(options.seeds or default, options.quick)
    if options.datasets:
        found = [unit for unit in found if unit.dataset in options.datasets]
    if options.methods:
        found = [unit for unit in found if unit.method in options.methods]
    return found


def publish(work: Path, units: list[Unit]) -> None:
    """Make the finished run the stored results, and write the report of them."""
    done = Store(work).records()
    Store(render.STORED).replace(done[unit] for unit in units)
    used = {done[unit].run for unit in units}
    write_runs(render.STORED, {name: run for name, run in read_runs(work).items() if name in used})


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.parts == ["render"]:
        told(render.write(render.STORED, HERE))
        return 0
    work = WORK / ("quick" if options.quick else "full")
    units = units_of(options)
    failed = run_units(units, Store(work), options.jobs, options.keep)
    for line in failed:
        print(f"failed: {line}", file=sys.stderr)
    everything = {unit for part in TABLES.values() for unit in part.units(part.SEEDS)}
    if not failed and set(units) == everything:
        publish(work, units)
        told(render.write(render.STORED, HERE))
    else:
        told(render.write(work, work))
        results, runs = render.read(work)
        print(as_markdown(render.TITLE, document(results, runs)))
    for message in render.read(work)[0].missing():
        print(f"missing: {message}", file=sys.stderr)
    return 1 if failed else 0


def told(paths: list[Path]) -> None:
    for path in paths:
        print(f"written: {path}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
