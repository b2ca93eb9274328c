"""Files of JSON lines that a run adds to as it goes, and that it can go on with after it was cut short."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config


def append_line(path: Path, content: dict[str, Any]) -> None:
    """Write a line by one call, and bring it to the disk before anything else is done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read() != b"\n":  # a crash cut the last one short
                file.write(b"\n")
        file.write(as_line(content).encode())
        file.flush()
        os.fsync(file.fileno())


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield what the lines say; one that was cut short by a crash is passed over."""
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def replace_lines(path: Path, contents: Iterable[dict[str, Any]]) -> None:
    """Make these the only lines, all at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_suffix(".new")
    whole.write_text("".join(map(as_line, contents)), encoding="utf-8")
    whole.replace(path)


def as_line(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, default=plain_number) + "\n"


def plain_number(value: Any) -> Any:
    """Turn numbers and arrays of numpy into those of Python, for JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a results file: {value!r}")


def results_of(measure: Callable[..., Any], jobs: Iterable[tuple], n_jobs: int) -> Iterator[Any]:
    """Yield what comes out of each job, as it ends; each process has one thread, so that timings compare."""
    if n_jobs == 1:
        yield from (measure(*job) for job in jobs)
        return
    with parallel_config("loky", n_jobs=n_jobs, inner_max_num_threads=1):
        yield from Parallel(return_as="generator_unordered", pre_dispatch="n_jobs + 2")(
            delayed(measure)(*job) for job in jobs
        )
