"""Arrays in .npy files, read piece by piece.

Not by memory maps: their pages would count as memory of the process, as many as the system lets it keep.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from tokenize import TokenError
from typing import Any

import numpy as np

from ..blocks import Block, ChunkError
from .sizes import file_marks, rows_per_chunk


class NpyFile:
    """One array in a file, whose rows are read by number."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError, SyntaxError, TokenError) as error:
            raise ChunkError(
                f"{path}: it is no .npy file of numbers, or cut off ({error}); write it anew."
            ) from error
        self.shape, self.dtype = mapped.shape, mapped.dtype
        self.by_rows = bool(mapped.flags.c_contiguous)
        self.offset = int(mapped.offset)

    def read(self, start: int, stop: int) -> np.ndarray[Any, Any]:
        if not self.by_rows:
            # A map of its own, given back with its pages after the copy.
            return np.ascontiguousarray(np.load(self.path, mmap_mode="r")[start:stop])
        count = int(np.prod(self.shape[1:], dtype=np.int64))
        out = np.empty((stop - start, *self.shape[1:]), dtype=self.dtype)
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self.offset + start * count * self.dtype.itemsize)
            view, done = memoryview(out).cast("B"), 0  # type: ignore[arg-type]
            while done < len(view):
                got = file.readinto(view[done:])
                if not got:
                    raise ChunkError(
                        f"{self.path}, rows {start} to {stop - 1}: the file ends before them; write it anew."
                    )
                done += got
        return out


class NpyReader:
    """X in one file or several, y and the weights each in one, or as arrays."""

    feature_names: Sequence[str] | None = None

    def __init__(self, paths: list[str], target: Any, sample_weight: Any, chunk_rows: int | None) -> None:
        self.paths = paths
        self.files = [NpyFile(path) for path in paths]
        for file in self.files:
            self._check(file)
        self.n_rows = sum(file.shape[0] for file in self.files)
        self.n_features, self.dtype = self.files[0].shape[1], self._common_dtype()
        self.has_target = target is not None
        self.y = None if target is None else self._per_row(target, "target")
        self.weight = None if sample_weight is None else self._per_row(sample_weight, "sample_weight")
        self.beside = tuple(one.path for one in (self.y, self.weight) if isinstance(one, NpyFile))
        self.rows = rows_per_chunk(self.n_features, self.dtype.itemsize, chunk_rows)

    def chunks(self) -> Generator[Block]:
        for file, begin, start, stop in self._pieces():
            name = f"{file.path}, rows {start} to {stop - 1}"
            y, weight = self._targets(begin + start, begin + stop)
            X = file.read(start, stop).astype(self.dtype, copy=False)
            yield Block(X, y, weight, name, (file.path, *self.beside))

    def targets(self) -> Generator[Block]:
        for file, begin, start, stop in self._pieces():
            name = f"{file.path}, rows {start} to {stop - 1}"
            yield Block(None, *self._targets(begin + start, begin + stop), name, self.beside)

    def fingerprint(self) -> tuple[Any, ...]:
        return ("npy", self.rows, *file_marks(self.paths))

    def _pieces(self) -> Iterator[tuple[NpyFile, int, int, int]]:
        begin = 0
        for file in self.files:
            for start in range(0, file.shape[0], self.rows):
                yield file, begin, start, min(start + self.rows, file.shape[0])
            begin += file.shape[0]

    def _targets(self, start: int, stop: int) -> tuple[Any, Any]:
        y = None if self.y is None else self.y.read(start, stop)
        weight = None if self.weight is None else self.weight.read(start, stop).astype(np.float64, copy=False)
        return y, weight

    def _check(self, file: NpyFile) -> None:
        if len(file.shape) != 2 or file.dtype.kind not in "fiub":
            raise ChunkError(
                f"{file.path}: it must hold numbers in two dimensions, got {file.dtype} of shape "
                f"{file.shape}."
            )
        if file.shape[1] != self.files[0].shape[1]:
            raise ChunkError(
                f"{file.path}: it has {file.shape[1]} columns where {self.files[0].path} has "
                f"{self.files[0].shape[1]}; all files must have the same."
            )

    def _common_dtype(self) -> Any:
        small = all(file.dtype == np.float32 for file in self.files)
        return np.dtype(np.float32 if small else np.float64)

    def _per_row(self, source: Any, what: str) -> Any:
        values = NpyFile(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else InMemory(source)
        if values.shape[0] != self.n_rows:
            raise ValueError(f"{what} has {values.shape[0]} rows where X has {self.n_rows}; they must agree.")
        return values


class InMemory:
    """An array that is read like a file."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)
        self.shape = self.values.shape

    def read(self, start: int, stop: int) -> np.ndarray[Any, Any]:
        part: np.ndarray[Any, Any] = self.values[start:stop]
        return part
