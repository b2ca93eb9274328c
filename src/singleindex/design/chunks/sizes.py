"""How many rows make a chunk, and what tells one file from another."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

_CHUNK_BYTES = 8 << 20
# Each column of a table takes time in every chunk, however short: of wide tables chunks have so many rows,
_ROWS_OF_WIDE = 128
# unless they would be larger than this.
_WIDE_CHUNK_BYTES = 64 << 20


def rows_per_chunk(n_features: int, itemsize: int, chunk_rows: int | None) -> int:
    return chunk_rows or max(1, _CHUNK_BYTES // (itemsize * max(n_features, 1)))


def bytes_per_chunk() -> int:
    return _CHUNK_BYTES


def bytes_per_table_chunk(row_bytes: int) -> int:
    return max(_CHUNK_BYTES, min(_ROWS_OF_WIDE * row_bytes, _WIDE_CHUNK_BYTES))


def file_marks(paths: Iterable[str]) -> tuple[Any, ...]:
    """Return names and sizes: data that change while a fit is broken off must not be taken for the same."""
    return tuple((os.path.abspath(path), os.path.getsize(path)) for path in paths)
