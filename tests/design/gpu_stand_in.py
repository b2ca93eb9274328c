"""What stands in for CuPy where there is no GPU: numpy's memory, and kernels that are only noted down."""

import ctypes
from types import SimpleNamespace

import numpy as np


class Memory:
    def __init__(self, array):
        self.ptr = array.ctypes.data

    def copy_from_host_async(self, host, n_bytes, stream):
        ctypes.memmove(self.ptr, host, n_bytes)

    def copy_to_host_async(self, host, n_bytes, stream):
        ctypes.memmove(host, self.ptr, n_bytes)


class Device:
    compute_capability = "90"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


class Array(np.ndarray):
    data = property(Memory)
    device = property(lambda self: Device())

    def get(self):
        return np.array(self)


Array.__module__ = "cupy"


class Graph:
    def __init__(self, calls):
        self.n_launched, self.kernels = 0, calls

    def launch(self, stream):
        self.n_launched += 1


class StandIn(SimpleNamespace):
    """CuPy, as far as iterations need it; `calls` has the names of the kernels that were asked for."""

    def __init__(self):
        calls = []

        class Stream:
            def __init__(self, non_blocking=False):
                pass

            def __enter__(self):
                return self

            def __exit__(self, *error):
                pass

            def synchronize(self):
                pass

            def begin_capture(self):
                calls.clear()

            def end_capture(self):
                return Graph(calls.copy())

        class RawKernel:
            def __init__(self, code, name, options=()):
                self.name = name

            def __call__(self, grid, block, parameters, shared_mem=0):
                calls.append(self.name)

        runtime = SimpleNamespace(
            getDeviceCount=lambda: 1, getDevice=lambda: 0, CUDARuntimeError=RuntimeError,
            getDeviceProperties=lambda device: {"multiProcessorCount": 4},
        )  # fmt: skip
        cuda = SimpleNamespace(
            runtime=runtime, Device=Device, Stream=Stream, get_current_stream=Stream,
            alloc_pinned_memory=bytearray,
        )  # fmt: skip
        super().__init__(
            calls=calls, cuda=cuda, RawKernel=RawKernel,
            empty=lambda shape, dtype=np.float64: np.zeros(shape, dtype).view(Array),
            asarray=lambda values, dtype=None: np.array(values, dtype).view(Array),
        )  # fmt: skip
