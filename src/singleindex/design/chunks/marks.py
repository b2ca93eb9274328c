"""Files that change while they are read are found out."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..blocks import ChunkError


class FileMarks:
    """Size and time of change of files, as they were when this was made."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.marks = {path: _mark(path) for path in paths}

    def check(self, paths: Iterable[str] | None = None) -> None:
        """Raise where one of the files, of all by default, is no longer what it was."""
        for path in self.marks if paths is None else paths:
            if _mark(path) != self.marks[path]:
                raise ChunkError(
                    f"{path}: the file has changed since read_chunks was called; data must not change while "
                    "they are read. Call read_chunks and fit again once it is complete."
                )


def _mark(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:  # it is gone, or hidden: for reading it to tell
        return None
    return status.st_size, status.st_mtime_ns
