"""A solver's process: its answers come back, its failures are told, and it is gone afterwards."""

import os
import sys
import time

import numpy as np
import pytest

from benchmarks.side_by_side.problems import write_arrays
from benchmarks.side_by_side.session import Failed, Session


@pytest.fixture
def load(peers, tmp_path):
    """Return a function that starts a process with a made-up solver in it."""
    folder = tmp_path / "data"
    write_arrays(folder, {"x": np.arange(5.0)})
    sessions = []

    def start(solver):
        sessions.append(Session(sys.executable))
        told = sessions[-1].ask("load", 30, module="fakes", solver=solver, folder=str(folder), levels=[1, 2])
        assert told == {"formulation": "none", "tolerances": [0.1, None]}
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


@pytest.mark.parametrize("solver", ["Quiet", "Loud"])
def test_a_solver_reads_the_data_and_answers_whatever_it_prints(load, tmp_path, solver):
    session = load(solver)
    for _ in range(3):
        assert 0 <= session.ask("fit", 30, tolerance=0.1)["seconds"] < 1
    answer = answer_of(session, tmp_path)
    assert answer.keys() == {"x", "levels"}  # what is None is left out
    np.testing.assert_array_equal(answer["x"], np.arange(5.0))
    np.testing.assert_array_equal(answer["levels"], [1, 2])


def test_an_error_comes_back_with_its_message_and_the_process_goes_on(load, tmp_path):
    session = load("Failing")
    for _ in range(2):
        with pytest.raises(Failed, match=r"^ArithmeticError: singular$"):
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


def test_a_process_that_ends_is_told(load):
    session = load("Leaving")
    for _ in range(2):
        with pytest.raises(Failed, match="the process ended with code 3"):
            session.ask("fit", 30)


def test_every_solver_has_one_thread(load, monkeypatch, tmp_path):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setenv("PYTHONPATH", "/somewhere/else")
    told = {name: str(value) for name, value in answer_of(load("Surroundings"), tmp_path).items()}
    assert told.pop("path") == "none"
    assert {f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")} <= told.keys()
    assert set(told.values()) == {"1"}


@pytest.mark.parametrize(("solver", "needed"), [("Large", 200e6), ("Quiet", 0)])
def test_the_rise_is_what_a_fit_needs_at_most(load, solver, needed):
    session = load(solver)
    session.ask("fit", 30)  # what the fit before has kept must not hide what this one needs
    for _ in range(2):
        assert session.ask("memory", 30)["rise"] == pytest.approx(needed, rel=0.1, abs=5e6)
