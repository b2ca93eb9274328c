"""A solver's process, as the runner talks to it."""

from __future__ import annotations

import json
import os
import select
import subprocess
from pathlib import Path
from typing import Any

WORKER = Path(__file__).with_name("peers") / "worker.py"
# Every solver has one thread, whatever it is built on.
_THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR")


def one_thread() -> dict[str, str]:
    """Return the variables of a process that has one thread."""
    return os.environ | {f"{name}_NUM_THREADS": "1" for name in _THREADS}


class Failed(Exception):
    """A solver that could not do what it was asked to; the message says why."""


class Session:
    """A process with one solver in it, in the solver's own environment."""

    def __init__(self, python: str) -> None:
        environment = one_thread()
        environment.pop("PYTHONPATH", None)
        self.process = subprocess.Popen(
            [python, str(WORKER)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
        )  # fmt: skip

    def ask(self, do: str, limit_s: float, **order: Any) -> dict[str, Any]:
        """Return the answer to an order; a solver that takes too long is ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        line = json.dumps({"do": do, **order}).encode() + b"\n"
        try:
            self.process.stdin.write(line)
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):  # it ended by itself, or was ended here
            raise Failed(f"the process ended with code {self.process.wait()}") from None
        ready, _, _ = select.select([self.process.stdout], [], [], limit_s)
        if not ready:
            self.end()
            raise Failed(f"timed out after {limit_s:.0f} s")
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"the process ended with code {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
