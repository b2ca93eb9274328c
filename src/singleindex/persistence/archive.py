"""The bytes of a model file: a manifest and arrays in a zip archive, under a seal.

The manifest, `model.json`, comes first; every array is an `.npy` member, whose size and SHA-256 the manifest
holds. The comment of the archive, which is the end of the file, is the SHA-256 of all bytes before it.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..files.arrays import read_array
from ..files.limits import check_archive, read_member

FORMAT = "singleindex-model"
FORMAT_VERSION = 1
MANIFEST = "model.json"

_SEAL = b"sha256:"
_SEAL_LENGTH = len(_SEAL) + 64
_ZIP_START = b"PK\x03\x04"
_NAME_AT = 30  # where a zip archive names its first member


class ModelFileError(ValueError):
    """A file is no model, is damaged, or needs another version of singleindex."""


# ---------------------------------------------------------------- writing


def pack(parts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the file of these parts of a manifest and these arrays; equal ones give equal bytes."""
    members = {name: _as_npy(array) for name, array in arrays.items()}
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "singleindex_version": __version__,
        **parts,
        "members": {
            name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in members.items()
        },
    }
    text = json.dumps(manifest, indent=1, allow_nan=False)
    return seal(zip_members({MANIFEST: text.encode("ascii"), **members}))


def _as_npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def zip_members(members: Mapping[str, bytes]) -> bytes:
    """Return an archive with room for the seal at its end."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, content, compression(name), compresslevel=6)
        archive.comment = bytes(_SEAL_LENGTH)
    return buffer.getvalue()


def compression(name: str) -> int:
    # Plain, because nothing says how large the manifest may become.
    return zipfile.ZIP_STORED if name == MANIFEST else zipfile.ZIP_DEFLATED


def seal(archive: bytes) -> bytes:
    """Return the archive with the checksum of all that comes before it at its end."""
    body = archive[:-_SEAL_LENGTH]
    return body + _SEAL + hashlib.sha256(body).hexdigest().encode()


# ---------------------------------------------------------------- reading


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the manifest of a file and its arrays, once all checksums match."""
    _check_sealed(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = check_archive(archive, len(data))
        if any(info.compress_type != compression(info.filename) for info in infos):
            raise ModelFileError("its members are not compressed as singleindex.save does it")
        manifest = json.loads(read_member(archive, infos[0]), parse_constant=_refuse_constant)
        _check_version(manifest)
        _check_members(manifest["members"], infos)
        arrays = {}
        for info in infos[1:]:
            content = read_member(archive, info)
            if hashlib.sha256(content).hexdigest() != manifest["members"][info.filename]["sha256"]:
                raise ModelFileError(f"it is damaged: the checksum of {info.filename} does not match")
            arrays[info.filename] = _as_array(info.filename, content)
    return manifest, arrays


def _as_array(name: str, content: bytes) -> NDArray[Any]:
    try:
        return read_array(io.BytesIO(content), len(content))
    except ValueError as error:
        raise ModelFileError(f"its member {name} is malformed: {in_short(error)}") from error


def in_short(error: Exception) -> str:
    """Return what went wrong on one line; a ValueError says it in words, others by their name."""
    text = " ".join(str(error).split()).rstrip(".") if isinstance(error, ValueError) else ""
    return text[:300] or type(error).__name__


def _check_sealed(data: bytes) -> None:
    if not data:
        raise ModelFileError("it is empty")
    if data[:1] == b"\x80":
        raise ModelFileError("it is a pickle, not a file by singleindex.save, and could run code")
    if not data.startswith(_ZIP_START):
        raise ModelFileError("singleindex.save did not write it")
    if data[_NAME_AT : _NAME_AT + len(MANIFEST)] != MANIFEST.encode():
        raise ModelFileError("it is a zip archive that singleindex.save did not write")
    if data[-_SEAL_LENGTH:][: len(_SEAL)] != _SEAL:
        raise ModelFileError("it is damaged or cut off: the checksum at its end is missing")
    if seal(data) != data:
        raise ModelFileError("it is damaged: its checksum does not match")


def _refuse_constant(name: str) -> None:
    raise ModelFileError(f"its manifest holds {name}, which is not JSON")


def _check_version(manifest: dict[str, Any]) -> None:
    if manifest["format"] != FORMAT:
        raise ModelFileError("it is a zip archive that singleindex.save did not write")
    if manifest["format_version"] > FORMAT_VERSION:
        raise ModelFileError(
            f"singleindex {manifest['singleindex_version']} wrote it in a newer format than "
            f"{__version__} can read; upgrade with pip install -U singleindex"
        )
    if type(manifest["format_version"]) is not int or manifest["format_version"] < 1:
        raise ModelFileError("its format version is not a positive integer")


def _check_members(recorded: dict[str, Any], infos: list[zipfile.ZipInfo]) -> None:
    """Refuse members that are missing, not listed, out of place or of another size."""
    expected = [f"array{i}.npy" for i in range(len(recorded))]
    names = [info.filename for info in infos]
    if list(recorded) != expected or names != [MANIFEST, *expected]:
        raise ModelFileError("it is damaged: its members are not those of its manifest")
    for info in infos[1:]:
        if info.file_size != recorded[info.filename]["size"]:
            raise ModelFileError(f"it is damaged: {info.filename} has not the recorded size")
