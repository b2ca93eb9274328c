"""The kernels: compiled when they are first needed, kept by CuPy for the next time."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import cupy
from .shape import MOST_SHARED, Shape, storage_options

# Without contraction of multiply and add: then numpy can follow the sums bit by bit.
_OPTIONS = ("-std=c++17", "--fmad=false")
_HOPPER = 90


@lru_cache(maxsize=256)
def kernel(name: str, files: tuple[str, ...], options: tuple[str, ...], device: int) -> Any:
    """Return a compiled kernel; `device` is the one it is loaded on."""
    folder = Path(__file__).parent
    code = "\n".join((folder / file).read_text(encoding="utf-8") for file in files)
    return cupy().RawKernel(code, name, options=_OPTIONS + options)


def on_this_device(name: str, files: tuple[str, ...], options: tuple[str, ...] = ()) -> Any:
    return kernel(name, files, options, this_device())


def this_device() -> int:
    return int(cupy().cuda.runtime.getDevice())


def sweep_kernel(shape: Shape) -> Any:
    return _sweep_kernel(shape, this_device())


@lru_cache(maxsize=64)
def _sweep_kernel(shape: Shape, device: int) -> Any:
    found = kernel("sweep", ("numbers.cuh", "link.cuh", "sweep.cu"), shape.options(), device)
    # The most for all, since widths share kernels.
    found.max_dynamic_shared_size_bytes = MOST_SHARED
    return found


def plain_kernel(name: str, storage: str, vec: int, wide: bool = False) -> Any:
    return on_this_device(name, ("numbers.cuh", "plain.cu"), storage_options(storage, vec, wide))


def row_kernel(name: str) -> Any:
    return on_this_device(name, ("numbers.cuh", "whole.cuh", "rows.cu"), storage_options("float64", 1))


def many_kernel(name: str, storage: str) -> Any:
    return on_this_device(name, ("numbers.cuh", "whole.cuh", "many.cu"), storage_options(storage, 1))


def link_kernel(name: str, storage: str) -> Any:
    return on_this_device(name, ("numbers.cuh", "link.cuh", "link.cu"), storage_options(storage, 1))


def csr_kernel(name: str, storage: str) -> Any:
    return on_this_device(name, ("numbers.cuh", "csr.cu"), storage_options(storage, 1))


def has_bulk_copies() -> bool:
    """Tell whether this device has what the sweep's kernel is made of; older ones get two products."""
    return int(cupy().cuda.Device().compute_capability) >= _HOPPER


@lru_cache
def n_multiprocessors(device: int) -> int:
    return int(cupy().cuda.runtime.getDeviceProperties(device)["multiProcessorCount"])


def n_blocks() -> int:
    """Return how many blocks fill this device, one for each multiprocessor."""
    return n_multiprocessors(this_device())


def address(values: Any) -> Any:
    """Return where an array begins, as kernels take it; null for none."""
    return np.uint64(0 if values is None else values.data.ptr)


def add_parts(parts: Any, out: Any = None) -> Any:
    """Return the sum of the rows of a matrix in double, in a fixed order."""
    count, d = parts.shape
    out = cupy().empty(d) if out is None else out
    row_kernel("add_parts")(
        (-(-d // 32),), (1024,), (address(parts), np.int32(count), np.int64(d), address(out))
    )
    return out
