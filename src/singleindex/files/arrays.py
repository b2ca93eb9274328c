"""Arrays in files, checked before memory is taken for them and before their numbers lead anywhere."""

from __future__ import annotations

import io
import math
import numbers
import zipfile
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .limits import check_archive

_MAX_HEADER = 1000  # ours have 118 bytes; what follows is parsed, so keep it short


def read_array(file: IO[bytes], size: int) -> NDArray[Any]:
    """Read an array in the `.npy` format, `size` bytes with its header."""
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("it is not a .npy file of version 1.0")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file, max_header_size=_MAX_HEADER)
    # Texts without a letter take no room: there could be any number of them.
    if dtype.hasobject or not dtype.itemsize:
        raise ValueError(f"it holds neither numbers nor text, but {dtype}")
    # Checked before numpy allocates what the header claims.
    if math.prod(shape) * dtype.itemsize != size - file.tell():
        raise ValueError("it has another size than its header says")
    file.seek(0)
    array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def read_npz(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of an `.npz` file by name; members that are no arrays are passed over."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        found = {}
        for info in check_archive(archive, len(data)):
            name = info.filename.removesuffix(".npy")
            if name != info.filename:
                with archive.open(info) as file:
                    found[name] = read_array(file, info.file_size)
        return found


def make_sparse(kind: Any, data: Any, indices: Any, indptr: Any, shape: Sequence[int]) -> Any:
    """Return a compressed sparse matrix of this kind once its numbers are known to lie within it."""
    matrix = kind((data, indices, indptr), shape=tuple(int(n) for n in shape))
    # Products with it do not look whether its numbers lead out of it.
    matrix.check_format(full_check=True)
    return matrix


def check_numbers(name: str, values: Any, *shape: int) -> None:
    """Raise where this is no array of finite numbers in this shape."""
    if not (isinstance(values, np.ndarray) and values.dtype.kind in "fiu" and values.shape == shape):
        raise ValueError(f"{name} must be an array of numbers of shape {shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must hold finite numbers")


def check_floats(name: str, values: Any, *shape: int) -> None:
    """Raise where this is no array that a kernel can take: finite, in this shape, and of float64."""
    check_numbers(name, values, *shape)
    if values.dtype != np.float64:
        raise ValueError(f"{name} must be of float64, got {values.dtype}")


def check_reals(*values: Any) -> None:
    """Raise where one of these is not a number; it may be infinite."""
    if not all(isinstance(value, numbers.Real) for value in values):
        raise ValueError(f"these must be numbers, got {values!r}")


def check_finite(*values: Any) -> None:
    """Raise where one of these is not a finite number."""
    check_reals(*values)
    if not all(map(math.isfinite, values)):
        raise ValueError(f"these must be finite numbers, got {values!r}")
