"""The command line of a package of studies: measure what has no line yet, or write the page of what has.

A study is a module with NAME, TITLE, CELLS, `n_draws(cell, family)`, `make(cell, seed)`, FAMILIES (each turns
a task into figures by method), MINE (the families that each commit of the library is measured with) and
`section(figures)`.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.lines import results_of
from benchmarks.provenance import source_commit

from .elsewhere import end_sessions
from .store import LINES, Line, Store, figures_of


def run_command(package: str, studies: Iterable[Any], tuning: int, head: str) -> int:
    """Measure the studies named (all where none is), or write the page with `--render`; return the status."""
    by_name = {study.NAME: study for study in studies}
    lines = LINES.with_name(f"{package.rpartition('.')[2]}.jsonl")
    parser = argparse.ArgumentParser(prog=f"python -m {package}", description=run_command.__doc__)
    parser.add_argument("studies", nargs="*", metavar="study", help=f"of {', '.join(by_name)}")
    parser.add_argument("--methods", nargs="+", default=[], help="ours, rivals, or families by name")
    parser.add_argument("--seeds", type=as_seeds, help="in place of those of the report")
    parser.add_argument("--only", default="", help="cells whose name holds this text")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--out", type=Path, default=lines, help="the file of lines")
    parser.add_argument("--render", action="store_true", help="write the page of what is there, no more")
    options = parser.parse_args()
    chosen = [by_name.get(name) for name in options.studies or by_name]
    if None in chosen:
        parser.error(f"there are the studies {', '.join(by_name)}")
    store = Store(options.out)
    if options.render:
        store.tidy()
        print(f"written to {write_report(head, by_name.values(), store, tuning)}")
        return 0
    failed = 0
    for study in chosen:
        families = wanted_families(study, options.methods)
        cells = [cell for cell in study.CELLS if options.only in cell]
        # Every method has one thread: the seconds of all compare.
        with threadpool_limits(1):
            failed += run_study(study, families, cells, store, options.seeds, options.jobs)
    return 1 if failed else 0


def as_seeds(text: str) -> list[int]:
    """Read "0-9", "3" or "0,2,5-7"."""
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    return seeds


# ---------------------------------------------------------------- measuring


def wanted_families(study: Any, names: list[str]) -> list[str]:
    """Return the families of a study that are meant by "ours", "rivals", their own names, or by nothing."""
    called = {family: {family, "ours" if family in study.MINE else "rivals"} for family in study.FAMILIES}
    chosen = [family for family in called if not names or called[family] & set(names)]
    if not chosen:
        raise SystemExit(f"the study {study.NAME} has ours, rivals, {', '.join(study.FAMILIES)}")
    return chosen


def run_study(
    study: Any,
    families: list[str],
    cells: Iterable[str],
    store: Store,
    seeds: list[int] | None = None,
    n_jobs: int = 1,
) -> int:
    """Measure, cell by cell, what the store has not; return how many failed."""
    commit = source_commit()
    missing = missing_draws(study, families, cells, seeds, store.measured(commit))
    jobs = [(study, cell, seed, lacking, commit) for (seed, cell), lacking in missing.items()]
    print(f"{study.NAME}: {len(jobs)} draws to do", file=sys.stderr)
    failed = 0
    for count, lines in enumerate(results_of(measure_cell, jobs, n_jobs), start=1):
        for line in lines:
            store.append(line)
            failed += bool(line.error)
        told = ", ".join(line.method + (f" FAILED: {line.error}" if line.error else "") for line in lines)
        where = f"{lines[0].cell} seed {lines[0].seed}"
        print(f"{study.NAME} {count}/{len(jobs)} {where}: {told}", file=sys.stderr)
    end_sessions()
    return failed


def missing_draws(
    study: Any, families: list[str], cells: Iterable[str], seeds: list[int] | None, done: set
) -> dict[tuple[int, str], list[str]]:
    """Return the families to measure by seed and cell, those of the first seeds first.

    Without `seeds` these are the draws of the report.
    """
    missing = defaultdict(list)
    for cell, family in product(cells, families):
        for seed in range(study.n_draws(cell, family)) if seeds is None else seeds:
            if (study.NAME, cell, seed, family) not in done:
                missing[seed, cell].append(family)
    return dict(sorted(missing.items(), key=lambda item: item[0][0]))


def measure_cell(study: Any, cell: str, seed: int, families: list[str], commit: str) -> list[Line]:
    """Make the task of a cell once, and let each family have it."""
    warnings.simplefilter("ignore")
    task, lines = study.make(cell, seed), []
    for family in families:
        stamp = commit if family in study.MINE else ""
        try:
            measured, error = study.FAMILIES[family](task), ""
        except Exception as failure:  # the other methods are worth having
            measured, error = {family: {}}, f"{type(failure).__name__}: {failure}".splitlines()[0][:200]
        for method, figures in measured.items():
            lines.append(Line(study.NAME, cell, seed, method, family, figures, stamp, error))
    return lines


# ---------------------------------------------------------------- the page


def write_report(head: str, studies: Iterable[Any], store: Store, first_tuning_seed: int) -> Path:
    """Write the page beside the lines."""
    path = store.path.with_suffix(".md")
    path.write_text(report_text(head, studies, store, first_tuning_seed))
    return path


def report_text(head: str, studies: Iterable[Any], store: Store, first_tuning_seed: int) -> str:
    """Return the page of what is stored, without the seeds that are for tuning."""
    lines = [line for line in store.read().values() if line.seed < first_tuning_seed]
    # Sections are one level below the heading of the page.
    level = head.partition(" ")[0] + "#"
    return "\n".join([head, *(as_section(study, level, lines) for study in studies)])


def as_section(study: Any, level: str, lines: list[Line]) -> str:
    own = [line for line in lines if line.study == study.NAME]
    body = study.section(figures_of(own, study.NAME)) if own else ["Not measured yet."]
    failed = Counter((line.cell, line.method, line.error) for line in own if line.error)
    failures = [f"- {cell}, {method}, {n} ×: {error}" for (cell, method, error), n in sorted(failed.items())]
    notes = [*([commit_note(own)] if own else []), *failures]
    return "\n".join([f"{level} {study.TITLE}", "", study.__doc__.strip(), "", *body, "", *notes, ""])


def commit_note(lines: list[Line]) -> str:
    """Say which source our figures are of; figures of several are no comparison."""
    commits = Counter(line.commit for line in lines if line.commit)
    told = ", ".join(f"{commit} ({count} lines)" for commit, count in sorted(commits.items()))
    if len(commits) > 1:
        return f"**Ours is of several commits: {told}.**"
    return f"*Ours at {told}.*" if told else "*Nothing of ours is measured yet.*"
