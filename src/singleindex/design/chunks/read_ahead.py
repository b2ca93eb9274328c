"""The next chunk is read while the present one is worked on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator

from ..blocks import Block


class Reading(threading.Thread):
    """Reads one chunk and ends: a fit that is interrupted need not tell it, and leaves no thread behind."""

    def __init__(self, chunks: Iterator[Block]) -> None:
        super().__init__(name="singleindex-reader", daemon=True)
        self.chunks = chunks
        self.block: Block | None = None
        self.error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self.block = next(self.chunks, None)
        except BaseException as error:  # to come out where the chunk would
            self.error = error

    def result(self) -> Block | None:
        """Return the chunk, None behind the last."""
        self.join()
        if self.error is not None:
            raise self.error
        return self.block


def read_ahead(chunks: Callable[[], Generator[Block]]) -> Iterator[Block]:
    """Yield chunks that are read in a thread, one ahead of what is asked for."""
    source = chunks()
    reading = Reading(source)
    try:
        while (block := reading.result()) is not None:
            reading = Reading(source)
            yield block
    finally:
        reading.join()
        source.close()
