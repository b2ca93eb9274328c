"""The parent: children that run cases in turn, and what becomes of those that crash or hang."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .registry import REFUSED
from .worker import Work

ROOT = Path(__file__).resolve().parents[2]
KEPT = 3  # folders per finding: further cases of the same are counted only
_FRAME = re.compile(r'File ".*?/singleindex/([^"]+)", line (\d+) in (\S+)')


@dataclass(frozen=True)
class Limits:
    """What a child may take."""

    seconds_per_case: float = 30.0
    seconds_to_start: float = 180.0
    memory: int = 1 << 29
    turn: float = 60.0  # seconds of one child, where time is what ends the run


@dataclass
class Finding:
    """All cases of one target that ended alike, in the same place."""

    kind: str
    place: str
    message: str
    cases: list[int] = field(default_factory=list)


@dataclass
class Tally:
    """What became of the cases of one target."""

    n_cases: int = 0
    n_refused: int = 0
    n_by_accident: int = 0
    findings: dict[tuple[str, str], Finding] = field(default_factory=dict)
    refusals: dict[str, int] = field(default_factory=dict)


@dataclass
class Ended:
    """How far a child came: whether it began, which case it was at, and whether it fell silent."""

    started: bool = False
    running: int | None = None
    silent: bool = False


class Run:
    """Runs targets in children, one at a time; `tallies` holds what was found."""

    def __init__(self, names: list[str], seed: int, folder: Path, limits: Limits | None = None) -> None:
        self.names, self.seed, self.folder = names, seed, folder.resolve()
        self.limits = limits or Limits()
        self.next = dict.fromkeys(names, 0)
        self.tallies = {name: Tally() for name in names}
        self.folder.mkdir(parents=True, exist_ok=True)

    def for_seconds(self, seconds: float) -> None:
        """Give each target its turn, again and again, all the same time."""
        end = time.monotonic() + seconds
        rounds = max(1, round(seconds / (self.limits.turn * len(self.names))))
        turns = self.names * rounds
        for number, name in enumerate(turns):
            share = (end - time.monotonic()) / (len(turns) - number)
            # A child takes some time to start, and to make what its cases begin with.
            self._run_child(self._work(name, seconds=max(0.7 * share, 1.0)))

    def for_cases(self, cases: int, first: int = 0) -> None:
        """Run so many cases of each target."""
        for name in self.names:
            self.next[name] = first
            while self.next[name] < first + cases:
                self._run_child(self._work(name, cases=first + cases - self.next[name]))

    def _work(self, name: str, **until: Any) -> Work:
        return Work(name, self.seed, self.next[name], str(self.folder), self.limits.memory, **until)

    # ------------------------------------------------------------ one child

    def _run_child(self, work: Work) -> None:
        """Run one child to its end, whatever that is."""
        log = self.folder / f"{work.target}.log"
        ended = Ended()
        with open(log, "wb") as stderr, start(work, stderr) as child:
            for message in self._messages(child, ended):
                ended.started = True
                ended.running = message.get("start")
                if "kind" in message:
                    self._note(work.target, message)
            code = child.wait()
        if not ended.started:
            raise RuntimeError(f"the child process did not start:\n{log.read_text(errors='replace')[-4000:]}")
        if ended.running is not None:
            kind = "hang" if ended.silent else f"killed by {signal_name(code)}"
            self._note_end(work, ended.running, kind, log)

    def _note_end(self, work: Work, case: int, kind: str, log: Path) -> None:
        """Note a case that its child has not survived; run it alone first, if others came before it."""
        told = {"case": case, "kind": kind, "place": place_in(log), "message": "see the log"}
        written = log.read_bytes()
        if case > work.first:
            n_before = self.tallies[work.target].n_cases
            self._run_child(replace(work, first=case, cases=1, seconds=None))
            found = self.tallies[work.target].findings.values()
            if any(case in finding.cases for finding in found):
                return
            # Alone it is sound: some case before it has left the memory in disorder.
            self.tallies[work.target].n_cases = n_before
            told |= {"kind": f"{kind} after other cases", "message": f"cases from {work.first} on"}
        folder = self.folder / f"{work.target}-{self.seed}-{case}"
        folder.mkdir(exist_ok=True)
        (folder / "child.log").write_bytes(written)
        self._note(work.target, told)

    def _messages(self, child: subprocess.Popen[bytes], ended: Ended) -> Iterator[dict[str, Any]]:
        """Yield what the child tells; end it where it is silent for too long."""
        assert child.stdout is not None
        limit, rest = self.limits.seconds_to_start, b""
        while True:
            ready, _, _ = select.select([child.stdout], [], [], limit)
            if not ready:
                ended.silent = True
                child.send_signal(signal.SIGABRT)  # on which it writes down where it is
                return
            read = os.read(child.stdout.fileno(), 1 << 16)
            if not read:
                return
            *lines, rest = (rest + read).split(b"\n")
            yield from map(json.loads, lines)
            limit = self.limits.seconds_per_case

    # ------------------------------------------------------------ what was found

    def _note(self, name: str, message: dict[str, Any]) -> None:
        tally = self.tallies[name]
        tally.n_cases += 1
        self.next[name] = message["case"] + 1
        if message["kind"] == "fine":
            return
        if message["kind"] in REFUSED:
            tally.n_refused += 1
            tally.n_by_accident += message["kind"] == REFUSED[1]
            told = f"{message['kind']} at {message['place']}: {message['message']}"
            tally.refusals[told] = tally.refusals.get(told, 0) + 1
            return
        key = message["kind"], message["place"]
        finding = tally.findings.setdefault(key, Finding(*key, message["message"]))
        finding.cases.append(message["case"])
        if len(finding.cases) > KEPT:
            shutil.rmtree(self.folder / f"{name}-{self.seed}-{message['case']}", ignore_errors=True)

    @property
    def n_findings(self) -> int:
        return sum(len(tally.findings) for tally in self.tallies.values())


def start(work: Work, stderr: Any) -> subprocess.Popen[bytes]:
    # Two threads, so that code with threads is run as such; they sleep while they wait, for other tests run
    # beside them. Nothing that reserves memory it does not use.
    environment = os.environ | {
        "OMP_NUM_THREADS": "2",
        "OMP_WAIT_POLICY": "PASSIVE",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
    }
    command = [sys.executable, "-m", "tests.fuzz.worker", work.as_text()]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=stderr, env=environment)


def signal_name(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def place_in(log: Path) -> str:
    """Return the innermost line of the library that faulthandler wrote down."""
    found = _FRAME.search(log.read_text(errors="replace"))
    return "{}:{} {}".format(*found.groups()) if found else ""
