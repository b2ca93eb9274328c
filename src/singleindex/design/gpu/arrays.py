"""Which arrays lie on a GPU, and how they become designs."""

from __future__ import annotations

import importlib
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .base import GpuDesign

NEEDS_CUPY = (
    'Data on a GPU need CuPy; install it with `pip install "singleindex[gpu]"`, or the CuPy that goes with '
    "your CUDA (cupy-cuda12x, cupy-cuda13x)."
)


def is_on_gpu(X: Any) -> bool:
    """Tell whether X lies on a GPU: an array or matrix of CuPy, or a tensor of PyTorch on a CUDA device."""
    package = type(X).__module__.partition(".")[0]
    if package in ("cupy", "cupyx"):
        return True
    return package == "torch" and hasattr(X, "is_cuda") and bool(X.is_cuda)


def as_gpu_design(X: Any) -> GpuDesign:
    """Wrap data that lie on a GPU. Dense data are read in place, unless their rows lie apart."""
    cp = cupy()
    if type(X).__module__.startswith("cupyx"):
        from .csr import GpuCsrDesign

        return GpuCsrDesign(X)
    from .dense import GpuDenseDesign

    if type(X).__module__.partition(".")[0] != "torch":
        return GpuDenseDesign(X, str(X.dtype))
    torch = sys.modules["torch"]
    X, storage = X.detach(), str(X.dtype).removeprefix("torch.")
    # DLPack has bfloat16, but not every CuPy: its bits go as whole numbers.
    return GpuDenseDesign(cp.from_dlpack(X.view(torch.int16) if storage == "bfloat16" else X), storage)


def on_gpu(X: Any, *, chunk_bytes: int = 1 << 29) -> GpuDesign:
    """Return data in the memory of this machine as data on the GPU, to be passed as X to an estimator.

    They are copied there if there is room for them. If not, they stay where they are and every iteration
    sends them through the GPU, in chunks of about `chunk_bytes`; copies and arithmetic overlap, so that an
    iteration takes as long as the bus does.

    Parameters
    ----------
    X : array of shape (n_samples, n_features), or CSR matrix
        float32, float64 or float16; a memory map as well.
    chunk_bytes : int, default=2**29
        The size of a chunk. Three of them are kept on the GPU.

    Returns
    -------
    design : Design
    """
    from .stream import GpuStreamedDesign

    cp = cupy()
    if not hasattr(X, "shape") or len(X.shape) != 2:
        raise ValueError("X must be an array or a CSR matrix of two dimensions; use np.asarray(X).")
    if hasattr(X, "indptr"):
        check_room(X.data.nbytes * 3 + X.indices.nbytes, "the sparse matrix and its sorted copy")
        return as_gpu_design(importlib.import_module("cupyx.scipy.sparse").csr_matrix(X.tocsr()))
    free, _ = cp.cuda.runtime.memGetInfo()
    free += cp.get_default_memory_pool().free_bytes()
    if X.nbytes + 64 * X.shape[0] + (64 << 20) < 0.9 * free:
        return as_gpu_design(cp.asarray(X))
    return GpuStreamedDesign(np.asarray(X) if isinstance(X, np.memmap) else X, chunk_bytes)


@cache
def cupy() -> Any:
    """Import CuPy and look for a device, or say what is missing."""
    try:
        cp: Any = importlib.import_module("cupy")
    except ImportError as error:
        raise ImportError(NEEDS_CUPY) from error
    try:
        found = cp.cuda.runtime.getDeviceCount()
    except cp.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(
            f"CuPy finds no GPU ({error}); install NVIDIA's driver, or pass X as a numpy array."
        ) from error
    if found == 0:
        raise RuntimeError("CuPy finds no GPU; install NVIDIA's driver, or pass X as a numpy array.")
    return cp


def check_room(n_bytes: int, what: str) -> None:
    """Raise where the device has no room for so many bytes."""
    cp = cupy()
    free, total = cp.cuda.runtime.memGetInfo()
    free += cp.get_default_memory_pool().free_bytes()
    if n_bytes > free:
        raise MemoryError(
            f"{what} need {n_bytes / 2**30:.1f} GiB of the GPU's memory, and {free / 2**30:.1f} of "
            f"{total / 2**30:.1f} GiB are free; free some, or leave X in the memory of the machine and pass "
            "singleindex.design.on_gpu(X), which sends it in chunks."
        )


def to_numpy(values: Any) -> Any:
    """Return an array that lies on a GPU as numpy's; anything else as it is."""
    if not is_on_gpu(values):
        return values
    if type(values).__module__.partition(".")[0] == "torch":
        return values.detach().cpu().numpy()
    return values.get()
