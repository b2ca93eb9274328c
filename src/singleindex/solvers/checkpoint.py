"""The state of a solver in a file, so that a fit can go on after a crash."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..files.arrays import read_array, read_npz
from ..files.limits import LimitError, check_archive
from ..files.replace import replace_file
from ..link import FIXED_LINKS, MonotoneCurve, ShiftedLink
from ..link.bins import Points, check_exponent
from .drive import Run
from .one_pass import State
from .result import FloatArray, Iterate

_VERSION = 2
_NUMBERS = ("n_iter", "objective", "mse", "n_atoms", "step_size", "change")


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
    shape : tuple of two int
        Of the data, as the solver sees them.
    every : int
        Iterations between two savings.
    """

    path: str | Path
    fingerprint: str
    shape: tuple[int, int]
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

    def load(self) -> Run | None:
        """Return the run that was kept, None where there is none."""
        path = Path(self.path)
        if not path.exists():
            return None
        if not path.is_file():
            raise CheckpointError(f"Cannot go on from {path}: it is not a regular file. Give another name.")
        try:
            run = _unpack(path.read_bytes(), self.fingerprint)
            _check_run(run, self.shape)
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
    state: State = run.state
    arrays: dict[str, FloatArray] = {"w": state.w, "w_old": state.w_old, "history": np.array(run.history)}
    head: dict[str, Any] = {
        "version": _VERSION, "fingerprint": mark, "step": state.step.hex(),
        "exponent": state.exponent, "link": _pack_link(state.link, "link", arrays),
    }  # fmt: skip
    if state.index_old is not None:
        arrays["index_old"] = state.index_old
    best: Iterate = run.best
    head["best"] = {name: float(getattr(best, name)).hex() for name in _NUMBERS}
    head["best_link"] = _pack_link(best.link, "best_link", arrays)
    arrays["best_coef"], arrays["best_index"] = best.coef, best.index
    assert best.points is not None
    arrays["points_index"], arrays["points_y"] = best.points.index, best.points.y
    if best.points.weight is not None:
        arrays["points_weight"] = best.points.weight
    head["within"] = best.points.within.hex()
    buffer = io.BytesIO()
    np.savez(buffer, head=np.array(json.dumps(head)), **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def _unpack(content: bytes, mark: str) -> Run:
    arrays = read_npz(content)
    head = json.loads(str(arrays["head"]))
    if head["version"] != _VERSION:
        raise CheckpointError("another version of singleindex wrote it.")
    if head["fingerprint"] != mark:
        raise CheckpointError("it belongs to a fit of other data, or with other settings.")
    numbers = {name: float.fromhex(value) for name, value in head["best"].items()}
    points = Points(
        arrays["points_index"], arrays["points_y"], arrays.get("points_weight"), float.fromhex(head["within"])
    )
    best = Iterate(
        int(numbers["n_iter"]), arrays["best_coef"], arrays["best_index"],
        _unpack_link(head["best_link"], "best_link", arrays), numbers["objective"], numbers["mse"],
        int(numbers["n_atoms"]), numbers["step_size"], numbers["change"], points,
    )  # fmt: skip
    state = State(
        arrays["w"], arrays["w_old"], _unpack_link(head["link"], "link", arrays), float.fromhex(head["step"]),
        head["exponent"], arrays.get("index_old"),
    )  # fmt: skip
    return Run(state, best, arrays["history"].tolist())


def _check_run(run: Run, shape: tuple[int, int]) -> None:
    """Raise where a run is not one of a fit to data of this shape: kernels rely on its lengths."""
    state, best = run.state, run.best
    points, d = best.points, (shape[1],)
    vectors = [(state.w, d), (state.w_old, d), (best.coef, d), (best.index, (best.index.size,))]
    vectors += [(points.index, (points.index.size,)), (points.y, points.index.shape)]
    vectors += [] if state.index_old is None else [(state.index_old, (shape[0],))]
    vectors += [] if points.weight is None else [(points.weight, points.index.shape)]
    for vector, expected in vectors:
        if vector.dtype != np.float64 or vector.shape != expected or not np.isfinite(vector).all():
            raise ValueError(f"an array of {vector.dtype} and shape {vector.shape} where {expected} is due.")
    if np.ndim(run.history) != 2 or np.shape(run.history)[1] != len(Iterate.RECORDED):
        raise ValueError("the history has not one line for each iteration.")
    if not np.isfinite([state.step, points.within, best.objective, best.mse]).all():
        raise ValueError("a number is not finite.")
    check_exponent(state.exponent)
    state.link.check()
    best.link.check()


def _pack_link(link: Any, name: str, arrays: dict[str, FloatArray]) -> dict[str, Any]:
    if isinstance(link, MonotoneCurve):
        arrays[f"{name}_x"], arrays[f"{name}_y"] = link.x, link.y
        return {"kind": "curve"}
    if not isinstance(link, ShiftedLink) or link.name not in FIXED_LINKS:
        raise CheckpointError("A fit with a link function of one's own keeps no checkpoints; leave them out.")
    return {"kind": "known", "name": link.name, "offset": link.offset.hex()}


def _unpack_link(head: dict[str, Any], name: str, arrays: dict[str, FloatArray]) -> Any:
    if head["kind"] == "curve":
        return MonotoneCurve(arrays[f"{name}_x"], arrays[f"{name}_y"])
    return ShiftedLink(head["name"], float.fromhex(head["offset"]))
