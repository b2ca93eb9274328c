"""Data on a GPU: nothing of CuPy is imported before an array arrives that lies there."""

from .arrays import as_gpu_design, is_on_gpu, on_gpu

__all__ = ["as_gpu_design", "is_on_gpu", "on_gpu"]
