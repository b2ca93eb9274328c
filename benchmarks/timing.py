"""Timings as ratios within one run: the machine is shared, so seconds alone mean little."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np


def timed(call, clock=time.process_time):
    """Return what a call returns, and its seconds: those of the processor, to which others do not add."""
    began = clock()
    found = call()
    return found, clock() - began


def times_in_turns(calls: dict, repeats: int, clock=time.perf_counter) -> dict[str, list[float]]:
    """Return the seconds of each call; the calls take turns, after one round to warm up."""
    times = {name: [] for name in calls}
    for turn in range(repeats + 1):
        for name, call in calls.items():
            began = clock()
            call()
            if turn:
                times[name].append(clock() - began)
    return times


def median_times(calls: dict, repeats: int = 7) -> dict[str, float]:
    return {name: float(np.median(t)) for name, t in times_in_turns(calls, repeats).items()}


def least_times(calls: dict, repeats: int, clock=time.perf_counter) -> dict[str, float]:
    """Return the least seconds of each call: on a busy machine that is what repeats."""
    return {name: min(t) for name, t in times_in_turns(calls, repeats, clock).items()}


def peak_kib() -> int:
    """Return the peak of this program's memory; getrusage would count the program that started it, too."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])
