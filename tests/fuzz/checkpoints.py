"""Checkpoints of fits: whole, damaged, forged, and files that belong to somebody else."""

import io
import json
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from singleindex import SingleIndexClassifier, SingleIndexRegressor
from singleindex.design import ChunkedData, chunk_arrays
from singleindex.solvers import OnePass, TwoPass

from .model_files import data
from .mutations import bomb, npy_bytes, spoil_array, spoil_bytes, spoil_tree
from .registry import Case, target

READINGS = 12  # of the data, after which the fit is broken off; each iteration has one or two

MODELS: dict[str, tuple[Any, dict[str, Any], OnePass | TwoPass]] = {
    "bins": (SingleIndexRegressor, {"n_atoms": 3}, OnePass(n_bins=16)),
    "exact": (SingleIndexRegressor, {"n_atoms": 3}, OnePass(n_bins=None)),
    "known link": (SingleIndexClassifier, {"link": "logistic"}, OnePass(n_bins=16)),
    "two passes": (SingleIndexRegressor, {"n_atoms": 3}, TwoPass()),
    "known link in two passes": (SingleIndexClassifier, {"link": "logistic"}, TwoPass()),
}


class BrokenOff(Exception):
    pass


def rows_for(name: str) -> ChunkedData:
    X, y = data()
    return chunk_arrays(X, y > 0 if MODELS[name][0] is SingleIndexClassifier else y, chunk_rows=16)


def make_model(name: str, path: Path | None) -> Any:
    kind, settings, solver = MODELS[name]
    solver = replace(solver, checkpoint=path, checkpoint_every=1)
    return kind(max_iter=16, tol=0, solver=solver, **settings)


@cache
def kept(name: str) -> tuple[bytes, np.ndarray]:
    """Return the checkpoint of a fit that was broken off, and the coefficients of one that was not."""
    rows = rows_for(name)
    chunks, left = rows.reader.chunks, iter(range(READINGS))

    def failing() -> Any:
        if next(left, None) is None:
            raise BrokenOff
        yield from chunks()

    rows.reader.chunks = failing  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.ckpt"
        try:
            make_model(name, path).fit(rows)
        except BrokenOff:
            return path.read_bytes(), make_model(name, None).fit(rows_for(name)).coef_
    raise AssertionError("the fit was not broken off")


# ---------------------------------------------------------------- forging


def forged_head(case: Case, content: bytes) -> bytes:
    arrays = unpack(content)
    head = json.loads(str(arrays["head"]))
    mark = head.pop("fingerprint")
    head = spoil_tree(case, head)
    arrays["head"] = np.array(json.dumps({**head, "fingerprint": mark}))
    return pack(case, arrays)


def forged_array(case: Case, content: bytes) -> bytes:
    arrays = unpack(content)
    name = case.pick([name for name in arrays if name != "head"])
    case.say("array", name)
    arrays[name] = spoil_array(case, arrays[name])
    return pack(case, arrays)


def forged_members(case: Case, content: bytes) -> bytes:
    """Leave a member out, or have one that is much larger than the file."""
    arrays = unpack(content)
    name = case.pick(arrays)
    if case.chance(0.2):
        return bomb(f"{name}.npy")
    if case.chance(0.5):
        del arrays[name]
    else:
        arrays[name] = np.zeros(case.pick([0, 1 << 16]))
    return pack(case, arrays)


def unpack(content: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(content)) as file:
        return dict(file)


def pack(case: Case, arrays: dict[str, np.ndarray]) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def foreign(case: Case, content: bytes) -> bytes:
    return case.pick([b"", b"my thesis\n", b"\x80\x04N.", npy_bytes(np.zeros(3)), b"PK\x05\x06" + bytes(18)])


def damaged(case: Case, content: bytes) -> bytes:
    return spoil_bytes(case, content)


FORGERIES = (damaged, *[forged_head] * 3, *[forged_array] * 4, forged_members, foreign)


@target("checkpoint")
def go_on_from_a_checkpoint(case: Case) -> None:
    name = case.pick(MODELS)
    content, coef = kept(name)
    model = make_model(name, case.folder / "fit.ckpt")
    if case.chance(0.95):
        forge = case.pick(FORGERIES)
        case.spoilt(f"{name}, {forge.__name__}")
        content = forge(case, content)
    path = case.write("fit.ckpt", content)
    case.write("copy.ckpt", content)
    try:
        model.fit(rows_for(name))
    except ValueError:
        case.need(path.read_bytes() == content, "a refused checkpoint was changed")
        raise
    case.need_finite(model.coef_, "coefficients after a checkpoint")
    case.need_finite(model.predict(data()[0]), "predictions after a checkpoint")
    case.need(not path.exists(), "a checkpoint is left over")
    if case.sound:
        case.need((model.coef_ == coef).all(), "another model than without a break")


@target("checkpoint-foreign")
def leave_other_files_alone(case: Case) -> None:
    """Name a file as the checkpoint that is none: it must be there, as it was, whatever is done."""
    content = foreign(case, b"")
    case.spoilt("content", content)
    path = case.write("thesis.txt", content)
    name = case.pick(MODELS)
    model = make_model(name, path)
    X, y = data()
    y = y > 0 if MODELS[name][0] is SingleIndexClassifier else y
    use = case.pick(["fit", "fit rows", "partial_fit", "stochastic"])
    case.say("used by", use)
    try:
        if use == "fit":
            model.fit(rows_for(name))
        elif use == "fit rows":
            model.fit(X, y)
        elif use == "partial_fit":
            model.partial_fit(X, y, *([[False, True]] if model.__class__ is SingleIndexClassifier else []))
        else:
            model.set_params(solver="stochastic").fit(X, y)
    finally:
        case.need(
            path.exists() and path.read_bytes() == content, f"a file that is no checkpoint is lost by {use}"
        )
