"""The child process: runs cases of one target, and tells its parent of each before and after."""

import faulthandler
import json
import os
import shutil
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .registry import MODULES, PLANTED, load_targets, run_case


@dataclass(frozen=True)
class Work:
    """What a child is to do: cases from `first` on, until they or the seconds are used up."""

    target: str
    seed: int
    first: int
    folder: str
    memory: int
    cases: int | None = None
    seconds: float | None = None

    def as_text(self) -> str:
        return json.dumps(asdict(self))


def main(text: str) -> None:
    work = Work(**json.loads(text))
    # The parent listens to standard output; whatever else would be printed there goes to the log.
    report = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    faulthandler.enable()
    load_targets([PLANTED] if work.target.startswith(PLANTED) else MODULES)
    limit_memory(work.memory)
    started, number = time.monotonic(), work.first
    while not is_over(work, number, time.monotonic() - started):
        tell(report, start=number)
        told = run_in_folder(work, number)
        tell(report, case=number, **told)
        number += 1
        if "MemoryError" in told["kind"]:
            break  # what was taken may not have been given back


def is_over(work: Work, number: int, elapsed: float) -> bool:
    if work.cases is not None and number >= work.first + work.cases:
        return True
    return work.seconds is not None and elapsed > work.seconds


def tell(report: Any, **message: Any) -> None:
    print(json.dumps(message), file=report)


def run_in_folder(work: Work, number: int) -> dict[str, str]:
    """Run a case in a folder of its own, which stays where it is a finding."""
    folder = Path(work.folder) / f"{work.target}-{work.seed}-{number}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.chdir(folder)
    outcome = run_case(work.target, work.seed, number, folder)
    os.chdir(work.folder)
    if outcome.is_finding:
        (folder / "finding.txt").write_text(
            f"{outcome.message}\n\n{outcome.details}", errors="backslashreplace"
        )
    else:
        shutil.rmtree(folder)
    message = outcome.message.replace(str(folder), ".")[:300]
    return {"kind": outcome.kind, "place": outcome.place, "message": message}


def limit_memory(extra: int) -> None:
    """Let the process take this much address space beyond what it has now."""
    import resource  # not on every system

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + extra
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    main(sys.argv[1])
