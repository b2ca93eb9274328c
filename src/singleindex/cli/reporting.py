"""The report page of a model file."""

from __future__ import annotations

from typing import Any

from .data import Rows
from .model_file import ModelFile
from .recipe import python_lines


def page_for(file: ModelFile, train: Rows, test: Rows | None, title: str | None = None, jobs: int = 1) -> str:
    """Return the page on a model, its training rows and those held out."""
    from ..inspection import make_report

    target = ", ".join(file.targets) or "y"
    return make_report(
        file.model,
        train.X,
        train.y,
        X_test=None if test is None else test.X,
        y_test=None if test is None else test.y,
        sample_weight=train.weight,
        feature_names=file.preparation.names,
        target_name=target,
        class_names=file.class_names if file.facts.kind == "binary" else None,
        title=title or f"{target} in {file.record.get('data', 'a table')}",
        notes=file.record.get("notes", []),
        warnings=file.record.get("warnings", []),
        threshold=file.threshold.value,
        costs=file.threshold.costs,
        reproduce=commands(file),
        preparation=file.preparation,
        stable=(file.record.get("stable") or {}).get("features"),
        n_jobs=jobs,
    )


def commands(file: ModelFile) -> dict[str, str] | None:
    record: dict[str, Any] = file.record
    if not record:
        return None
    return {
        "On the command line": record["command"],
        "In Python": python_lines(file),
        "Training rows": f"{record['n_rows']} rows, fingerprint {record['fingerprint']}",
    }
