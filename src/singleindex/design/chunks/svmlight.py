"""svmlight files, cut at byte offsets."""

from __future__ import annotations

import io
import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from ..blocks import Block, ChunkError
from .sizes import bytes_per_chunk, file_marks

# More columns than any file has, for a first look at them.
_MANY_COLUMNS = 2**31 - 2


class SvmlightReader:
    """Sparse rows with their y. Columns are counted from 1, or from 0 where a column 0 is found."""

    feature_names: Sequence[str] | None = None
    dtype = np.dtype(np.float64)
    n_rows: int | None = None
    has_target = True

    def __init__(
        self,
        paths: list[str],
        target: Any,
        sample_weight: Any,
        chunk_rows: int | None,
        n_features: int | None = None,
    ) -> None:
        if target is not None or sample_weight is not None:
            raise ValueError(
                "svmlight files hold their own y, and no weights; leave out target and sample_weight."
            )
        self.paths = paths
        self.length = self._bytes(chunk_rows)
        lowest, highest = self._scan(1 if n_features is not None else None)
        self.zero_based = lowest == 0
        self.n_features = n_features or (highest + 1 if self.zero_based else highest)

    def chunks(self) -> Generator[Block]:
        for path, start, end, name in self._pieces():
            X, y = self._load(path, start, end, name, n_features=self.n_features, zero_based=self.zero_based)
            if len(y):
                yield Block(X, y, None, name, (path,))

    def targets(self) -> Generator[Block]:
        for block in self.chunks():
            yield replace(block, X=None)

    def fingerprint(self) -> tuple[Any, ...]:
        return ("svmlight", self.length, self.n_features, *file_marks(self.paths))

    def _bytes(self, chunk_rows: int | None) -> int:
        if chunk_rows is None:
            return bytes_per_chunk()
        fullest = max(self.paths, key=os.path.getsize)  # the first may be empty
        with open(fullest, "rb") as file:
            sample = file.read(1 << 20)
        return max(1, chunk_rows * len(sample) // max(sample.count(b"\n"), 1))

    def _pieces(self) -> Iterator[tuple[str, int, int, str]]:
        """Yield where each chunk begins and ends: at the beginning of a line, however long lines are."""
        for path in self.paths:
            size, start, number = os.path.getsize(path), 0, 0
            while start < size:
                with open(path, "rb") as file:
                    file.seek(min(start + self.length, size) - 1)
                    file.readline()
                    end = max(file.tell(), start + 1)  # of a file that was cut meanwhile, too
                yield path, start, end, f"{path}, chunk {number} (bytes {start} to {end - 1})"
                start, number = end, number + 1

    def _scan(self, n_chunks: int | None) -> tuple[int, int]:
        """Return the lowest and the highest column of the first chunks, or of all."""
        lowest, highest = _MANY_COLUMNS, 0
        for path, start, end, name in islice(self._pieces(), n_chunks):
            X, _ = self._load(path, start, end, name, n_features=_MANY_COLUMNS, zero_based=True)
            if X.nnz:
                lowest, highest = min(lowest, int(X.indices.min())), max(highest, int(X.indices.max()))
        return lowest, highest

    def _load(self, path: str, start: int, end: int, name: str, **options: Any) -> tuple[Any, Any]:
        from sklearn.datasets import load_svmlight_file  # slow to import, and seldom needed

        try:
            with open(path, "rb") as file:
                file.seek(start)
                X, y = load_svmlight_file(io.BytesIO(file.read(end - start)), **options)
        except (ValueError, OverflowError) as error:
            raise ChunkError(
                f"{name}: not in the svmlight format, or with more columns than n_features ({error}); "
                "correct these lines."
            ) from error
        return X, y
