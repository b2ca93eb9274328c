"""Timings as ratios within one run: the machine is shared, so seconds alone mean little."""

from __future__ import annotations

import time

import numpy as np


def median_times(calls: dict, repeats: int = 7) -> dict[str, float]:
    """Return the median seconds of each call; the calls take turns, after one round to warm up."""
    times = {name: [] for name in calls}
    for turn in range(repeats + 1):
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            if turn:
                times[name].append(time.perf_counter() - began)
    return {name: float(np.median(t)) for name, t in times.items()}
