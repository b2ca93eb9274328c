"""Times on a GPU, and the floor that they are measured against."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import numpy as np

from singleindex.design.gpu.arrays import cupy
from singleindex.link import MonotoneCurve

REPEATS = 15
GIB = 1 << 30
# The link of single iterations.
KNOTS = np.linspace(-4, 4, 400)
CURVE = MonotoneCurve(KNOTS, np.tanh(KNOTS))


def timed(call, repeats=REPEATS, warm_up=3):
    """Return the median milliseconds of a call on the device."""
    times = []
    for _ in range(warm_up + repeats):
        begin, end = cupy().cuda.Event(), cupy().cuda.Event()
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(cupy().cuda.get_elapsed_time(begin, end))
    return float(np.median(times[warm_up:]))


def once(call):
    """Return what a call returns, and its seconds by the clock, the device's work included."""
    began = time.perf_counter()
    found = call()
    cupy().cuda.Device().synchronize()
    return found, time.perf_counter() - began


def clocked(call, repeats=10):
    """Return the median seconds of a call by the clock, after one to warm up."""
    return float(np.median([once(call)[1] for _ in range(repeats + 1)][1:]))


def alternately(sweep, visits):
    """Return a call that sweeps by the next of the visits, as iterations do."""
    turns = itertools.cycle(visits)
    return lambda: sweep(next(turns))


def free_all():
    cupy().get_default_memory_pool().free_all_blocks()


# ---------------------------------------------------------------- the floor


class Reader:
    """The fastest of several ways to read device memory once."""

    def __init__(self):
        code = Path(__file__).with_name("gpu_reading.cu").read_text()
        self.load, self.copy = (
            cupy().RawKernel(code, name, options=("-std=c++17",)) for name in ("read_once", "copy_once")
        )
        self.room = 6 * 32768 + 64
        self.copy.max_dynamic_shared_size_bytes = self.room
        self.out = cupy().zeros(1, dtype=np.uint32)

    def floor(self, values, n_bytes):
        ways = [
            lambda blocks=blocks: self.load((blocks,), (512,), (values, np.int64(n_bytes // 16), self.out))
            for blocks in (264, 528, 1056, 2112)
        ]
        ways.append(
            lambda: self.copy((132,), (32,), (values, np.int64(n_bytes // 32768)), shared_mem=self.room)
        )
        return min(timed(way) for way in ways)
