"""Model files: damaged, forged with good checksums, and the round trip of those that can be loaded."""

import hashlib
import io
import json
import zipfile
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from singleindex import (
    LipschitzIsotonicRegression,
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexCompleter,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    Slisotron,
    load,
    save,
)
from singleindex.persistence import load_notes
from singleindex.solvers import OnePass, Stochastic
from singleindex.structures import GraphLowRank, GroupSparse, LowRank

from .mutations import WORDS, bomb, bomb_pieces, npy_bytes, spoil_array, spoil_bytes, spoil_tree
from .registry import Case, target

N, D = 40, 6
KINDS = (
    "float",
    "tuple",
    "range",
    "dict",
    "numpy scalar",
    "array",
    "object array",
    "sparse matrix",
    "instance",
)


@cache
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    return X, np.tanh(X[:, 0] - X[:, 1]) + 0.1 * rng.normal(size=N)


@cache
def saved_models() -> dict[str, tuple[bytes, Any]]:
    """Return files of fitted models of every kind, each with rows to predict."""
    X, y = data()
    thirds = np.digitize(y, [-0.4, 0.4])
    graph = sparse.csr_array(np.roll(np.eye(8), 1, axis=0) + np.roll(np.eye(8), -1, axis=0))
    pairs = np.random.default_rng(1).integers(8, size=(60, 2))
    regressor, classifier = SingleIndexRegressor, SingleIndexClassifier
    models = {
        "regressor": (regressor(3).fit(X, y), X),
        "two outputs": (regressor(3, shared_link=True).fit(X, np.column_stack([y, X[:, 2]])), X),
        "known link": (regressor(link="tanh", lipschitz=np.inf).fit(X, y), X),
        "classifier": (classifier(3, class_weight={0: 1, 1: 2.5}).fit(X, y > 0), X),
        "words": (classifier(3).fit(X, np.array(["a", "bé", "c"], dtype=object)[thirds]), X),
        "one pass": (regressor(3, solver=OnePass(n_bins=16)).fit(X, y), X),
        "stream": (regressor(3, solver=Stochastic(batch_size=16)).partial_fit(X, y), X),
        "sparse stream": (
            classifier(3, solver=Stochastic(16)).partial_fit(sparse.csr_array(X), thirds, [0, 1, 2]),
            X,
        ),
        "groups": (
            regressor(1, structure=GroupSparse([[0, 1, 2], [2, 3, 4, 5]], overlapping=True)).fit(X, y),
            X,
        ),
        "low rank": (regressor(1, structure=LowRank((2, 3))).fit(X, y), X),
        "graphs": (regressor(1, structure=GraphLowRank((2, 3), np.ones((2, 2)))).fit(X, y), X),
        "search": (SingleIndexRegressorCV(n_atoms=[1, 2], cv=2, max_iter=5).fit(X, y), X),
        "class search": (SingleIndexClassifierCV(n_atoms=[1, 2], cv=2, max_iter=5).fit(X, y > 0), X),
        "slisotron": (Slisotron(max_iter=5).fit(X, y), X),
        "isotonic": (LipschitzIsotonicRegression().fit(X[:, 0], y), X[:, 0]),
        "completer": (
            SingleIndexCompleter(2, max_iter=3).fit(pairs, pairs @ [0.5, 0.1], graph, shape=(8, 8)),
            pairs,
        ),
        "not fitted": (regressor(3), X),
    }
    notes = {"text": "é", "numbers": [1, 2.5], "array": np.arange(3), "nested": {"a": (1, None)}}
    return {name: (to_bytes(model, notes), rows) for name, (model, rows) in models.items()}


def to_bytes(model: Any, notes: Any = None) -> bytes:
    buffer = io.BytesIO()
    save(model, buffer, notes=notes)
    return buffer.getvalue()


# ---------------------------------------------------------------- forging


def unpack(content: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop("model.json")), members


def pack(manifest: Any, members: dict[str, bytes], extra: list[tuple[str, bytes]] = ()) -> bytes:
    """Return a file as `save` would have written it, with all checksums right."""
    if isinstance(manifest, dict) and "members" in manifest:
        manifest["members"] = {
            name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in members.items()
        }
    text = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("model.json", text, zipfile.ZIP_STORED)
        for name, content in [*members.items(), *extra]:
            archive.writestr(name, content, zipfile.ZIP_DEFLATED)
        archive.comment = bytes(71)
    return seal(buffer.getvalue())


def seal(content: bytes) -> bytes:
    body = content[:-71]
    return body + b"sha256:" + hashlib.sha256(body).hexdigest().encode()


def damaged(case: Case, content: bytes) -> bytes:
    return spoil_bytes(case, content)


def damaged_and_sealed(case: Case, content: bytes) -> bytes:
    return seal(spoil_bytes(case, content[:-71]) + content[-71:])


def forged_manifest(case: Case, content: bytes) -> bytes:
    manifest, members = unpack(content)
    part = case.pick(["model", "model", "model", "notes", None])
    if part is None:
        return pack(spoil_tree(case, manifest), members)
    manifest[part] = spoil_tree(case, manifest[part])
    return pack(manifest, members)


def forged_class(case: Case, content: bytes) -> bytes:
    """Swap a class or the type of a value for another that the format knows."""
    manifest, members = unpack(content)
    other, other_members = unpack(case.pick(list(saved_models().values()))[0])
    kind = case.pick(["class", "attributes", "parameters", "type"])
    if kind == "type":
        text = json.dumps(manifest)
        old, new = case.pick(KINDS), case.pick(KINDS)
        return pack(json.loads(text.replace(f'"type": "{old}"', f'"type": "{new}"')), members)
    manifest["model"][kind] = other["model"][kind]
    case.say("taken from another model", kind)
    return pack(manifest, {**members, **{n: c for n, c in other_members.items() if n not in members}})


def forged_array(case: Case, content: bytes) -> bytes:
    manifest, members = unpack(content)
    if not members:
        return forged_manifest(case, content)
    for name in case.rng.permutation(list(members))[: case.rng.integers(1, 3)]:
        case.say("member", name)
        members[name] = forged_member(case, members[name])
    return pack(manifest, members)


def forged_member(case: Case, content: bytes) -> bytes:
    if case.chance(0.15):
        return spoil_bytes(case, content)
    if case.chance(0.1):  # a header that claims more than there is
        header = {"descr": "<f8", "fortran_order": False, "shape": (case.pick([10**12, 2**62, 10**30, 3]),)}
        buffer = io.BytesIO()
        np.lib.format.write_array_header_1_0(buffer, header)
        return buffer.getvalue() + bytes(24)
    return npy_bytes(spoil_array(case, np.load(io.BytesIO(content))))


def tricky_archive(case: Case, content: bytes) -> bytes:
    """What zip archives and JSON allow and nobody writes."""
    manifest, members = unpack(content)
    trick = case.pick(["deep", "twice", "unlisted", "bomb", "shared", "prefix", "whole numbers", "not json"])
    case.say("trick", trick)
    if trick == "deep":
        return pack(
            b'{"format": "singleindex-model", "format_version": 1, "model": ' + b"[" * 200_000, members
        )
    if trick == "twice":
        return pack(manifest, members, [(case.pick(["model.json", *members]), b"{}")])
    if trick == "unlisted":
        return pack(
            manifest, members, [(case.pick(["../x", "/x", "array99.npy", *filter(None, WORDS)]), b"1")]
        )
    if trick == "bomb":
        return sealed_bomb()
    if trick == "shared":
        member = npy_bytes(np.zeros(1 << 22))
        manifest["notes"] = {"type": "tuple", "items": [{"type": "array", "member": "array0.npy"}] * 300}
        return pack(manifest, {**members, "array0.npy": member})
    if trick == "prefix":
        return seal(case.rng.bytes(5) + content)
    if trick == "whole numbers":
        return pack(
            json.dumps(manifest).replace(": 1", ": " + "9" * case.pick([20, 400, 5000])).encode(), members
        )
    return pack(case.pick([b"", b"null", b"[]", b'"x"', b"\xff\xfe", b"{", b"NaN", b"1e999"]), members)


@cache
def sealed_bomb() -> bytes:
    """Return a file whose only array is a thousand times as large as the file, and recorded as such."""
    manifest, _ = unpack(saved_models()["regressor"][0])
    digest, size = hashlib.sha256(), 0
    for piece in bomb_pieces():
        digest.update(piece)
        size += len(piece)
    manifest["members"] = {"array0.npy": {"size": size, "sha256": digest.hexdigest()}}
    manifest["model"]["attributes"] = {"coef_": {"type": "array", "member": "array0.npy"}}
    manifest["notes"] = {"type": "dict", "items": []}
    return seal(bomb("array0.npy", before=("model.json", json.dumps(manifest).encode())))


FORGERIES = (
    damaged,
    damaged_and_sealed,
    *[forged_manifest] * 3,
    forged_class,
    *[forged_array] * 3,
    tricky_archive,
)


@target("model-file")
def load_a_file(case: Case) -> None:
    name = case.pick(saved_models())
    content, rows = saved_models()[name]
    if case.chance(0.97):
        forge = case.pick(FORGERIES)
        case.spoilt(f"{name}, {forge.__name__}")
        content = forge(case, content)
    case.write("model.sim", content)
    load_notes(io.BytesIO(content))
    model = load(io.BytesIO(content))
    again = to_bytes(model)
    case.need(to_bytes(load(io.BytesIO(again))) == again, "the round trip of a loaded model changes it")
    if name != "not fitted":
        use(case, model, rows)


def use(case: Case, model: Any, rows: Any) -> None:
    """Do with a model that was loaded what people do: it must work, or be refused in words."""
    repr(model)
    predicted = model.predict(rows)
    case.need(len(predicted) == len(rows), "there is not one prediction per row")
    if predicted.dtype.kind == "f":
        case.need_finite(predicted, "predictions of a loaded model")
    if hasattr(model, "predict_proba"):
        case.need_finite(model.predict_proba(rows), "probabilities of a loaded model")
    if hasattr(model, "index"):
        case.need_finite(model.index(rows), "the index by a loaded model")
    if hasattr(model, "summary"):
        str(model.summary())
    if hasattr(model, "stream_") and hasattr(model, "partial_fit"):
        model.partial_fit(rows, predicted)
