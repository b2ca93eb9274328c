"""Solvers that live in environments of their own, as `benchmarks.side_by_side` installs and talks to them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.side_by_side.environments import make_environment
from benchmarks.side_by_side.problems import write_arrays
from benchmarks.side_by_side.session import Failed, Session

_sessions: dict[str, Session] = {}


def ask_peer(group: str, module: str, solver: str, levels, limit_s: float = 600.0, **arrays):
    """Let a solver of `peers/` fit the arrays; return the arrays it answers with.

    Raises
    ------
    Failed
        With the reason: it is not installed, took too long, or gave up.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_arrays(folder, arrays)
        session = _session_of(group)
        try:
            session.ask("load", limit_s, module=module, solver=solver, folder=name, levels=list(levels))
            session.ask("fit", limit_s)
            session.ask("answer", limit_s, path=str(folder / "answer.npz"))
        except Failed:
            # It may have been ended: the next order gets a new one.
            _sessions.pop(group).end()
            raise
        with np.load(folder / "answer.npz") as answer:
            return dict(answer)


def _session_of(group: str) -> Session:
    if group not in _sessions:
        environment = make_environment(group)
        if environment.python is None:
            raise Failed(environment.error or "is not installed")
        _sessions[group] = Session(environment.python)
    return _sessions[group]


def end_sessions() -> None:
    while _sessions:
        _sessions.popitem()[1].end()
