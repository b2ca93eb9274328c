"""The state of a solver in a file, so that a fit can go on after a crash."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..files.arrays import read_array, read_npz
from ..files.limits import LimitError, check_archive
from ..files.records import Reader, RecordError, Writer
from ..files.replace import replace_file
from ..link.bins import Points
from ..link.stored import STORED_LINKS
from . import completion, exact, gradient, one_pass
from .drive import Run
from .result import Iterate

_VERSION = 3
# What states and iterates are made of; each method checks its own before it goes on from them.
_CLASSES: dict[str, type[Any]] = {
    **STORED_LINKS,
    "Points": Points,
    "Iterate": Iterate,
    "ExactIterate": exact.ExactIterate,
    "Parts": completion.Parts,
    "CompletionIterate": completion.CompletionIterate,
    "gradient": gradient.State,
    "exact": exact.ExactState,
    "one pass": one_pass.State,
    "completion": completion.State,
}


class CheckpointError(ValueError):
    """A checkpoint is damaged, or belongs to another fit."""


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often a solver keeps its state.

    Parameters
    ----------
    path : str or path
        An existing file is taken up from; it is replaced whole, so that at no moment it is half written.
    fingerprint : str
        What the fit is; a checkpoint of another one is refused.
    every : int
        Iterations between two savings.
    """

    path: str | Path
    fingerprint: str
    every: int = 10

    def save(self, run: Run) -> None:
        """Keep the run, if it is time to."""
        if len(run.history) % self.every:
            return
        if Path(self.path).exists() and not self.is_kept():
            raise CheckpointError(
                f"Cannot keep the fit in {self.path}: it has become another file than its checkpoint. "
                "Give the checkpoint a name of its own."
            )
        replace_file(self.path, _pack(run, self.fingerprint))

    def load(self, check: Callable[[Run], None]) -> Run | None:
        """Return the run that was kept, None where there is none; `check` raises where it is no run."""
        path = Path(self.path)
        if not path.exists():
            return None
        if not path.is_file():
            raise CheckpointError(f"Cannot go on from {path}: it is not a regular file. Give another name.")
        try:
            run = _unpack(path.read_bytes(), self.fingerprint)
            check(run)
            return run
        except CheckpointError as error:
            raise CheckpointError(
                f"Cannot go on from {path}: {error} Delete the file to begin anew."
            ) from None
        except LimitError as error:
            raise CheckpointError(f"Cannot go on from {path}: {error}.") from None
        except Exception as error:  # whatever a parser makes of another file
            raise CheckpointError(
                f"Cannot go on from {path}: it is no checkpoint, or damaged. Delete the file to begin anew."
            ) from error

    def remove(self) -> None:
        """Delete the file, if it is the checkpoint of this fit: it has ended."""
        if self.is_kept():
            Path(self.path).resolve().unlink()

    def is_kept(self) -> bool:
        """Tell whether the file is there and is a checkpoint of this fit."""
        path = Path(self.path)
        try:
            if not path.is_file():
                return False
            with zipfile.ZipFile(path) as archive:
                check_archive(archive, path.stat().st_size)
                head = archive.getinfo("head.npy")
                with archive.open(head) as file:
                    found = json.loads(str(read_array(file, head.file_size)))
            return bool(found["fingerprint"] == self.fingerprint)
        except Exception:  # whatever a parser makes of another file
            return False


def fingerprint(*parts: Any) -> str:
    """Return a text that tells one fit from another."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        else:
            digest.update(repr(part).encode())
        digest.update(b"|")
    return digest.hexdigest()


# ---------------------------------------------------------------- the file


def _pack(run: Run, mark: str) -> bytes:
    writer = Writer(_CLASSES)
    try:
        parts = {"state": writer.write(run.state), "best": writer.write(run.best)}
    except RecordError as error:
        raise CheckpointError(
            "A fit with a link function of one's own keeps no checkpoints; leave them out."
        ) from error
    head = {"version": _VERSION, "fingerprint": mark, **parts}
    buffer = io.BytesIO()
    arrays: dict[str, Any] = writer.arrays
    np.savez(buffer, head=np.array(json.dumps(head)), history=np.array(run.history), **arrays)
    return buffer.getvalue()


def _unpack(content: bytes, mark: str) -> Run:
    arrays = read_npz(content)
    head, history = json.loads(str(arrays.pop("head"))), arrays.pop("history")
    if head["version"] != _VERSION:
        raise CheckpointError("another version of singleindex wrote it.")
    if head["fingerprint"] != mark:
        raise CheckpointError("it belongs to a fit of other data, or with other settings.")
    reader = Reader(_CLASSES, arrays)
    run = Run(reader.read(head["state"]), reader.read(head["best"]), history.tolist())
    if history.dtype != np.float64 or history.ndim != 2 or history.shape[1] != len(run.best.RECORDED):
        raise ValueError("the history has not one line for each iteration.")
    return run
