"""A solver's process: its answers come back, its failures are told, and it is gone afterwards."""

import os
import sys
import time

import numpy as np
import pytest

from benchmarks.side_by_side.problems import write_arrays
from benchmarks.side_by_side.session import _THREADS, Failed, Session

FAKES = """
    import os, subprocess, sys, time
    import numpy as np

    class Quiet:
        formulation, tolerances = "none", (0.1, None)
        def __init__(self, task):
            self.task = task
        def forget(self):
            self.kept = None
        def fit(self, tolerance):
            self.tolerance = tolerance
        def answer(self):
            return {name: np.asarray(self.task[name]) for name in ("x", "levels")} | {"left": None}

    class Loud(Quiet):
        def fit(self, tolerance):
            print('{"seconds": -1}', flush=True)
            os.write(1, b"not an answer\\n")
            subprocess.run(["echo", "nor this"], check=True)
            sys.stderr.write("x" * 300_000)

    class Angry(Quiet):
        def fit(self, tolerance):
            raise RuntimeError("no luck\\nand more of it")

    class Leaving(Quiet):
        def fit(self, tolerance):
            os._exit(3)

    class Slow(Quiet):
        def fit(self, tolerance):
            time.sleep(60)

    class Large(Quiet):
        def fit(self, tolerance):
            self.kept = np.ones(25_000_000)

    class Threads(Quiet):
        def answer(self):
            names = [name for name in os.environ if name.endswith("_NUM_THREADS")]
            told = {name: np.array(os.environ[name]) for name in names}
            return told | {"path": np.array(os.environ.get("PYTHONPATH", "none"))}
"""


@pytest.fixture
def load(peers, tmp_path):
    """Return a function that starts a process with a made-up solver in it."""
    peers(FAKES)
    write_arrays(tmp_path / "data", {"x": np.arange(5.0)})
    sessions = []

    def start(solver):
        sessions.append(Session(sys.executable))
        sessions[-1].ask(
            "load", 30, module="fakes", solver=solver, folder=str(tmp_path / "data"), levels=[2.0]
        )
        return sessions[-1]

    yield start
    for session in sessions:
        session.end()
        assert is_gone(session)


def is_gone(session):
    try:
        os.kill(session.process.pid, 0)
    except ProcessLookupError:
        return session.process.returncode is not None
    return False


def answer_of(session, tmp_path):
    path = tmp_path / "answer.npz"
    session.ask("answer", 30, path=str(path))
    with np.load(path) as stored:
        return dict(stored)


def test_a_solver_reads_the_data_and_answers(load, tmp_path):
    with load("Quiet") as session:
        told = session.ask(
            "load", 30, module="fakes", solver="Quiet", folder=str(tmp_path / "data"), levels=[1, 2]
        )
        assert told == {"formulation": "none", "tolerances": [0.1, None]}
        assert 0 <= session.ask("fit", 30, tolerance=0.1)["seconds"] < 1
        answer = answer_of(session, tmp_path)
        assert answer.keys() == {"x", "levels"}  # what is None is left out
        np.testing.assert_array_equal(answer["x"], np.arange(5.0))
        np.testing.assert_array_equal(answer["levels"], [1, 2])
    assert is_gone(session)


def test_an_error_comes_back_with_its_message_and_the_process_goes_on(load, tmp_path):
    session = load("Angry")
    for _ in range(2):
        with pytest.raises(Failed, match=r"^RuntimeError: no luck$"):
            session.ask("fit", 30)
    assert answer_of(session, tmp_path).keys() == {"x", "levels"}


def test_a_solver_that_takes_too_long_is_ended(load):
    session = load("Slow")
    began = time.perf_counter()
    with pytest.raises(Failed, match="timed out after 1 s"):
        session.ask("fit", 0.7)
    assert 0.7 <= time.perf_counter() - began < 5
    assert is_gone(session)
    with pytest.raises(Failed, match="ended with code -9"):
        session.ask("fit", 0.7)


def test_what_a_solver_prints_is_no_answer(load, tmp_path):
    session = load("Loud")
    for _ in range(3):
        assert session.ask("fit", 30)["seconds"] >= 0
    assert answer_of(session, tmp_path).keys() == {"x", "levels"}


def test_a_process_that_ends_is_told(load):
    session = load("Leaving")
    with pytest.raises(Failed, match="the process ended with code 3"):
        session.ask("fit", 30)
    with pytest.raises(Failed, match="the process ended with code 3"):
        session.ask("fit", 30)


def test_every_solver_has_one_thread(load, monkeypatch, tmp_path):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setenv("PYTHONPATH", "/somewhere/else")
    told = answer_of(load("Threads"), tmp_path)
    assert str(told.pop("path")) == "none"
    assert {name.removesuffix("_NUM_THREADS") for name in told} >= {*_THREADS}
    assert {"OMP", "OPENBLAS", "MKL", "NUMBA"} <= {*_THREADS}
    assert {str(value) for value in told.values()} == {"1"}


# ---------------------------------------------------------------- memory


def test_the_rise_is_what_a_fit_needs_at_most(load):
    session = load("Large")
    session.ask("fit", 30)  # what the fit before has kept must not hide what this one needs
    for _ in range(2):
        assert session.ask("memory", 30)["rise"] == pytest.approx(200e6, rel=0.1)


def test_a_fit_that_needs_nothing_rises_little(load):
    session = load("Quiet")
    session.ask("fit", 30)
    assert abs(session.ask("memory", 30)["rise"]) < 5e6
