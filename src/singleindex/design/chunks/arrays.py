"""Arrays, memory maps and sparse matrices in chunks."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..blocks import Block
from ..checks import as_sound
from .sizes import rows_per_chunk


class ArrayReader:
    """Slices of rows; sparse matrices are held by rows."""

    feature_names: Sequence[str] | None = None
    has_target = True

    def __init__(self, X: Any, y: Any, sample_weight: Any, chunk_rows: int | None) -> None:
        if np.ndim(y) not in (1, 2) or X.ndim != 2:
            raise ValueError(f"X must have two dimensions and y one or two, got {X.ndim} and {np.ndim(y)}.")
        if np.iscomplexobj(X) or np.iscomplexobj(y):
            raise ValueError("X and y must hold real numbers, got complex ones.")
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        X = as_sound(X)
        self.X = X.tocsr() if sparse.issparse(X) else X
        self.y = y
        self.weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.n_rows, self.n_features = X.shape
        self.dtype = self.X.dtype
        if len(y) != self.n_rows or (self.weight is not None and len(self.weight) != self.n_rows):
            raise ValueError(f"X has {self.n_rows} rows; y and sample_weight must have as many.")
        self.rows = rows_per_chunk(self.n_features, self.dtype.itemsize, chunk_rows)

    def chunks(self) -> Generator[Block]:
        for block, rows in self._slices():
            yield Block(self.X[rows], block.y, block.weight, block.name)

    def targets(self) -> Generator[Block]:
        for block, _ in self._slices():
            yield block

    def fingerprint(self) -> tuple[Any, ...]:
        return ("arrays", self.n_rows, self.n_features, str(self.dtype), self.rows)

    def _slices(self) -> Iterator[tuple[Block, slice]]:
        for number, start in enumerate(range(0, self.n_rows, self.rows)):
            rows = slice(start, min(start + self.rows, self.n_rows))
            weight = None if self.weight is None else self.weight[rows]
            yield Block(None, self.y[rows], weight, f"chunk {number} (rows {start} to {rows.stop - 1})"), rows
