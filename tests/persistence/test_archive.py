"""The bytes of a model file: damaged, and forged with right checksums."""

import io
import json
import os
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from saved_models import MODELS, SAVED, SMALL, as_bytes, assert_same, forge, from_bytes, npy, parts_of

from singleindex.estimators import SingleIndexRegressor
from singleindex.persistence import ModelFileError, archive, load, save
from singleindex.persistence.archive import MANIFEST, seal
from singleindex.persistence.archive import zip_members as zipped


def test_archive_holds_a_manifest_and_arrays():
    with zipfile.ZipFile(io.BytesIO(as_bytes(MODELS["binary"][0]))) as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read(MANIFEST))
        assert archive.namelist() == [MANIFEST, *manifest["members"]]
    assert manifest["format"] == "singleindex-model"
    assert manifest["format_version"] == 1
    assert manifest["model"]["class"] == "SingleIndexClassifier"
    assert manifest["model"]["parameters"]["n_atoms"] == 3
    assert manifest["model"]["attributes"]["status_"] == MODELS["binary"][0].status_


@given(at=st.integers(0, len(SAVED) - 1), flip=st.integers(1, 255))
@example(at=len(SAVED) - 1, flip=32)
@example(at=0, flip=ord("P") ^ 0x80)
def test_a_changed_byte_is_refused(at, flip):
    damaged = bytearray(SAVED)
    damaged[at] ^= flip
    with pytest.raises(ModelFileError, match=r"^Cannot load the file object: .*[^.]\.$"):
        from_bytes(bytes(damaged))


@given(length=st.integers(0, len(SAVED) - 1))
def test_a_truncated_file_is_refused(length):
    with pytest.raises(ModelFileError, match=r"^Cannot load the file object: "):
        from_bytes(SAVED[:length])


def test_appended_bytes_are_refused():
    with pytest.raises(ModelFileError, match="cut off"):
        from_bytes(SAVED + b"\0")


def test_forging_works():
    assert_same(from_bytes(forge(*parts_of(SAVED))), SMALL)


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("pickle_was_run",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy(np.array([Bomb()], dtype=object)), "neither numbers nor text, but object"),
        (npy(np.zeros(2, dtype="f8,i4")), "neither numbers nor text"),
        (npy(np.zeros(2, dtype="S3")), "neither numbers nor text"),
        (npy(np.zeros(2)) + b"\0", "another size than its header says"),
        (npy(np.zeros(2)).replace(b"(2,)", b"(2000000000000000,)"), "malformed|another size"),
        (npy(np.zeros(10**12 // 10**11)).replace(b"(10,)", b"(-1,)"), "another size|malformed"),
        (pickle.dumps(Bomb()), "malformed"),
        (b"", "malformed"),
        (b"\x93NUMPY\x02\x00" + npy(np.zeros(1))[8:], "version 1.0"),
        (b"\x93NUMPY\x01\x00\xe0\x03" + b"-" * 991 + b"1", "malformed"),
        (b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535, "malformed"),
    ],
)
def test_arrays_that_are_no_arrays_are_refused(content, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    manifest, members = parts_of(SAVED)
    members["array0.npy"] = content
    with pytest.raises(ModelFileError, match=message):
        from_bytes(forge(manifest, members))
    assert not list(tmp_path.iterdir())


def rename(members, old, new):
    return {new if name == old else name: content for name, content in members.items()}


@pytest.mark.parametrize("name", ["../array0.npy", "/etc/array0.npy", "C:\\array0.npy", "a.npy", ""])
def test_odd_member_names_are_refused(name):
    manifest, members = parts_of(SAVED)
    renamed = rename(members, "array0.npy", name)
    with pytest.raises(ModelFileError, match="members are not those"):
        from_bytes(forge(manifest, renamed))
    manifest["members"] = rename(manifest["members"], "array0.npy", name)
    with pytest.raises(ModelFileError, match="members are not those"):
        from_bytes(forge(manifest, renamed))


def test_missing_and_unlisted_members_are_refused():
    manifest, members = parts_of(SAVED)
    last = list(members)[-1]
    short = {name: content for name, content in members.items() if name != last}
    extra = {**members, f"array{len(members)}.npy": npy(np.zeros(1))}
    for changed in (short, extra, {**members, "readme.txt": b""}):
        with pytest.raises(ModelFileError, match="members are not those"):
            from_bytes(forge(json.loads(json.dumps(manifest)), changed))
    del manifest["members"][last]
    with pytest.raises(ModelFileError, match="not there"):
        from_bytes(forge(manifest, short))


def test_recorded_sizes_and_checksums_are_compared():
    for key, wrong, message in [("size", 1, "recorded size"), ("sha256", "0" * 64, "checksum of")]:
        manifest, members = parts_of(SAVED)
        manifest["members"]["array1.npy"][key] = wrong
        file = seal(zipped({MANIFEST: json.dumps(manifest).encode(), **members}))
        with pytest.raises(ModelFileError, match=f"{message}|array1.npy has not the {message}"):
            from_bytes(file)


def test_members_that_share_bytes_are_refused():
    """The zip bomb of overlapping members: every entry points to the same data."""
    manifest, members = parts_of(SAVED)
    body = bytearray(forge(manifest, {**members, "array0.npy": npy(np.zeros(10**6))}))
    with zipfile.ZipFile(io.BytesIO(bytes(body))) as archive:
        start = archive.start_dir
    at = body.index(b"PK\x01\x02", start)
    while at >= 0:
        body[at + 20 : at + 24] = len(body).to_bytes(4, "little")
        at = body.find(b"PK\x01\x02", at + 1)
    with pytest.raises(ModelFileError, match="overlap"):
        from_bytes(seal(bytes(body)))


def test_manifest_must_not_be_compressed(monkeypatch):
    manifest, members = parts_of(SAVED)
    monkeypatch.setattr(archive, "compression", lambda name: zipfile.ZIP_DEFLATED)
    file = forge(manifest, members)
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match="compressed"):
        from_bytes(file)


def test_newer_formats_are_refused_with_the_way_out():
    manifest, members = parts_of(SAVED)
    manifest.update(format_version=2, singleindex_version="9.1")
    with pytest.raises(ModelFileError, match=r"singleindex 9\.1 .*newer format.* pip install -U"):
        from_bytes(forge(manifest, members))


CHANGES = {
    "another format": ({"format": "zoo"}, "did not write"),
    "version zero": ({"format_version": 0}, "positive integer"),
    "a boolean version": ({"format_version": True}, "positive integer"),
    "a version in words": ({"format_version": "one"}, "malformed"),
    "no model": ({"model": None}, "holds no estimator"),
    "a structure": (
        {"model": {"type": "instance", "class": "Sparse", "parameters": {}, "attributes": {}}},
        "holds no estimator",
    ),
    "an unknown type": ({"model": {"type": "module", "name": "os"}}, "unknown type 'module'"),
    "no type": ({"model": {}}, "unknown type None"),
    "a type that is a list": ({"model": {"type": []}}, "malformed"),
}


@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES)
def test_manifests_with_a_wrong_entry(change, message):
    manifest, members = parts_of(SAVED)
    with pytest.raises(ModelFileError, match=message):
        from_bytes(forge({**manifest, **change}, members))


@pytest.mark.parametrize("text", ["", "[", "NaN", "[" * 10**5, '{"format": 1' + "0" * 5000 + "}", "\xff"])
def test_manifests_that_are_not_json(text):
    with pytest.raises(ModelFileError):
        from_bytes(seal(zipped({MANIFEST: text.encode("latin-1")})))


@given(at=st.integers(0, len(SAVED) - 1), flip=st.integers(1, 255))
def test_a_changed_byte_under_a_right_seal_never_changes_the_model(at, flip):
    """Bytes of the zip format that mean nothing, such as dates, may change: the model must not."""
    damaged = bytearray(SAVED)
    damaged[at] ^= flip
    try:
        loaded = from_bytes(seal(bytes(damaged)))
    except ModelFileError:
        return
    assert_same(loaded, SMALL)


def test_a_file_that_would_not_fit_in_memory_is_refused(monkeypatch, tmp_path):
    model = SingleIndexRegressor()
    model.history_ = np.zeros(2**20)
    save(model, tmp_path / "model.sim")
    monkeypatch.setenv("SINGLEINDEX_MAX_BYTES", "1000000")
    with pytest.raises(ModelFileError, match=r"model\.sim: its .* would take .*SINGLEINDEX_MAX_BYTES=8"):
        load(tmp_path / "model.sim")
    monkeypatch.setenv("SINGLEINDEX_MAX_BYTES", "10000000")
    assert_same(load(tmp_path / "model.sim"), model)


def test_a_member_that_hides_its_size_is_not_unpacked():
    """Both the manifest and the directory say 128 bytes; unpacked to the end it would be 64 MiB."""
    model = SingleIndexRegressor()
    model.history_ = np.zeros(2**23)
    manifest, members = parts_of(as_bytes(model))
    manifest["members"]["array0.npy"]["size"] = 128
    body = bytearray(zipped({MANIFEST: json.dumps(manifest).encode(), **members}))
    with zipfile.ZipFile(io.BytesIO(bytes(body))) as archive:
        at = body.index(b"PK\x01\x02", body.index(b"PK\x01\x02", archive.start_dir) + 1)
    body[at + 24 : at + 28] = (128).to_bytes(4, "little")
    data = seal(bytes(body))
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="BadZipFile"):
        from_bytes(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23
