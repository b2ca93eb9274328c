"""Failures on purpose: the tests of the harness show that each of them is found."""

import os
import signal
import time

import numpy as np

from .registry import Case, target


@target("planted-error")
def raise_error(case: Case) -> None:
    {}["missing"]


@target("planted-empty-message")
def raise_without_words(case: Case) -> None:
    raise ValueError


@target("planted-warning")
def lose_numbers(case: Case) -> None:
    np.array([1e308]) * np.array([10.0])


@target("planted-wrong-answer")
def answer_wrongly(case: Case) -> None:
    case.need_finite([np.nan], "prediction")


@target("planted-refusal")
def refuse_sound_input(case: Case) -> None:
    raise ValueError("no reason")


@target("planted-crash")
def crash(case: Case) -> None:
    """Crash in every second case, so that there is one to go on with."""
    case.say("about to crash")
    if case.folder.name.endswith("1"):
        os.kill(os.getpid(), signal.SIGSEGV)


@target("planted-hang")
def hang(case: Case) -> None:
    time.sleep(600)


@target("planted-memory")
def exhaust_memory(case: Case) -> None:
    np.ones(1 << 32, dtype=np.uint8)


@target("planted-sound")
def work(case: Case) -> None:
    """Nothing is wrong here: fine and refused in turn."""
    case.spoilt("on purpose")
    if case.chance(0.5):
        raise ValueError("a documented error with words")
