"""The report of all studies, made from the lines alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .store import Line, Store, figures_of


def write_report(head: str, studies: Iterable[Any], store: Store, first_tuning_seed: int) -> Path:
    """Write the page beside the lines, without the seeds that are for tuning."""
    lines = [line for line in store.read().values() if line.seed < first_tuning_seed]
    # Sections are one level below the heading of the page.
    below = head.partition(" ")[0]
    path = store.path.with_suffix(".md")
    path.write_text("\n".join([head, *(f"{below}#{as_section(study, lines)[2:]}" for study in studies)]))
    return path


def as_section(study: Any, lines: list[Line]) -> str:
    of_study = [line for line in lines if line.study == study.NAME]
    body = study.section(figures_of(of_study, study.NAME)) if of_study else ["Not measured yet."]
    notes = [*commit_notes(of_study), *failure_notes(of_study)]
    return "\n".join([f"## {study.TITLE}", "", study.__doc__.strip(), "", *body, "", *notes, ""])


def commit_notes(lines: list[Line]) -> list[str]:
    """Say which source our figures are of; figures of several are no comparison."""
    commits = Counter(line.commit for line in lines if line.commit)
    if not commits:
        return ["*Nothing of ours is measured yet.*"] if lines else []
    told = ", ".join(f"{commit} ({count} lines)" for commit, count in sorted(commits.items()))
    return [f"*Ours at {told}.*" if len(commits) == 1 else f"**Ours is of several commits: {told}.**"]


def failure_notes(lines: list[Line]) -> list[str]:
    failed = Counter((line.cell, line.method, line.error) for line in lines if line.error)
    return [
        f"- {cell}, {method}, {count} ×: {error}" for (cell, method, error), count in sorted(failed.items())
    ]
