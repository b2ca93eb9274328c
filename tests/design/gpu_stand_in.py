"""What stands in for CuPy where there is no GPU: numpy's memory, and kernels that are only noted down."""

import ctypes
from types import SimpleNamespace

import numpy as np
from gpu_emulation import emulate_add_parts, emulate_visit_models


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


# ---------------------------------------------------------------- kernels that are carried out, by numpy


def at(address, shape, dtype=np.float64, strides=None):
    """Return what lies at an address as an array, None for null."""
    if not address:
        return None
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize if strides is None else shape[0] * strides[0]
    memory = (ctypes.c_char * n_bytes).from_address(int(address))
    return np.ndarray(shape, dtype, memory, strides=strides)


def column_sums(real, X, n, d, pitch, chunk, r, point, sums, squares):
    X = at(X, (n, d), real, (int(pitch), np.dtype(real).itemsize)).astype(np.float64)
    X -= 0 if point == 0 else at(point, (d,))
    n_chunks, weight = -(-n // chunk), at(r, (n,))
    for k in range(n_chunks):
        rows = slice(k * chunk, (k + 1) * chunk)
        at(sums, (n_chunks, d))[k] = weight[rows] @ X[rows]
        if squares:
            at(squares, (n_chunks, d))[k] = weight[rows] @ X[rows] ** 2


def add_parts(real, parts, count, d, out):
    at(out, (d,))[...] = emulate_add_parts(at(parts, (count, d)))


def visit_models(
    real, n_models, n, n_bins, reach, index, offset, Y, pitch, weight, fold, held, output, table, bins,
    residual,
):  # fmt: skip
    assert reach == 4.0
    per_model = [at(one, (n_models,), np.int32) for one in (held, output)]
    outputs = int(per_model[1].max()) + 1
    Y = np.stack([at(int(Y) + 8 * k * int(pitch), (n,)) for k in range(outputs)])
    index = at(index, (n_models, n), real)
    found = emulate_visit_models(
        index, at(offset, (n_models,)), Y, at(weight, (n,)), at(fold, (n,), np.int32), *per_model,
        at(table, (n_models, n_bins + 1)),
    )  # fmt: skip
    index[...] = found[0]
    at(bins, (n_models, 2, n_bins, 3))[...] += found[1]
    at(residual, (n_models,))[...] += found[2]


class ComputingStandIn(StandIn):
    """CuPy, as far as searches need it, with kernels that give what those of the device give."""

    def __init__(self):
        super().__init__()

        class RawKernel:
            def __init__(self, code, name, options=()):
                self.name, self.real = name, np.float64 if "-DSTORAGE=1" in options else np.float32

            def __call__(self, grid, block, parameters, shared_mem=0):
                if self.name == "visit_models":
                    visit_models(self.real, grid[0], *parameters)
                else:
                    {"column_sums": column_sums, "add_parts": add_parts}[self.name](self.real, *parameters)

        self.RawKernel = RawKernel
        self.cuda.runtime.memGetInfo = lambda: (1 << 40, 1 << 40)
        self.get_default_memory_pool = lambda: SimpleNamespace(free_bytes=lambda: 0)
        self.zeros = lambda shape: np.zeros(shape).view(Array)
        self.sqrt, self.where = np.sqrt, lambda *which: np.where(*which).view(Array)
