"""Models in files that hold numbers and text only, so that loading one runs no code.

A file is a zip archive of a manifest, `model.json`, and one `.npy` member per array. The manifest
holds the class, its parameters and fitted attributes, and the size and SHA-256 of every array. The
comment of the archive, which is the end of the file, is the SHA-256 of all bytes before it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import io
import json
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from .. import link as links
from .. import structures
from ..files.arrays import make_sparse, read_array
from ..files.limits import LimitError, check_archive, check_size, read_member
from ..files.replace import replace_file
from ..solvers.settings import SOLVERS
from .loaded import check_loaded

FORMAT = "singleindex-model"
FORMAT_VERSION = 1
MANIFEST = "model.json"

_SEAL = b"sha256:"
_SEAL_LENGTH = len(_SEAL) + 64
_ZIP_START = b"PK\x03\x04"
_NAME_AT = 30  # where a zip archive names its first member

_NUMBERS = {
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
}  # fmt: skip

# What scikit-learn keeps on an estimator beside parameters and fitted attributes.
_OUTPUT_CONFIG = "_sklearn_output_config"
_OF_THE_SESSION = {"_skl_callbacks", "_parent_callback_ctx", "_metadata_request"}


_NO_NOTES: dict[str, Any] = {"type": "dict", "items": []}


class ModelFileError(ValueError):
    """A file is no model, is damaged, or needs another version of singleindex."""


def save(model, path, *, notes=None) -> None:
    """Write an estimator, fitted or not, to a file that :func:`load` reads.

    Parameters
    ----------
    model : estimator
        One of the estimators of singleindex.
    path : str, path or binary file object
        Where to write. An existing file is replaced whole or, where saving fails, left as it was; what is
        no regular file, such as a device or a pipe, is refused.
    notes : dict, default=None
        Text, numbers, lists, dicts and arrays to keep beside the model, for :func:`load_notes`.

    Raises
    ------
    TypeError
        Where `model` is not an estimator of singleindex.
    ValueError
        Where it holds what the format cannot: a link function or a structure of one's own.

    Notes
    -----
    Equal models give equal bytes. Callbacks and metadata requests of scikit-learn are not saved:
    they belong to the session.

    Examples
    --------
    >>> import os, tempfile
    >>> from singleindex import LipschitzIsotonicRegression
    >>> from singleindex.estimators.persistence import load, save
    >>> model = LipschitzIsotonicRegression().fit([0, 1, 2], [0, 5, 4])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.sim")
    ...     save(model, path)
    ...     load(path).predict([0, 1, 2])
    array([2., 3., 4.])
    """
    if not (isinstance(model, BaseEstimator) and _CODECS["instance"].holds(model)):
        raise TypeError(
            f"save takes an estimator of singleindex, got {type(model).__name__}; "
            "keep others, and subclasses of your own, with pickle."
        )
    data = _pack(model, notes)
    if hasattr(path, "write"):
        path.write(data)
    else:
        replace_file(path, data)


def load(path) -> Any:
    """Read an estimator from a file written by :func:`save`.

    Parameters
    ----------
    path : str, path or binary file object

    Returns
    -------
    model : estimator
        With the parameters and attributes of the one saved; it predicts the same, bit for bit.

    Raises
    ------
    ModelFileError
        A ValueError that names the file and says what is wrong: damaged, foreign, or too new.

    Notes
    -----
    Nothing in the file is run, imported or unpickled; known classes are made of numbers and text.
    The checksums show accidents, not intent: who can write the file can choose the coefficients. A file
    that would take more than 256 MiB of memory, and more than a hundred times its size, is refused; the
    environment variable SINGLEINDEX_MAX_BYTES sets another limit.

    Examples
    --------
    >>> import io
    >>> from singleindex import SingleIndexRegressor
    >>> from singleindex.estimators.persistence import load, save
    >>> file = io.BytesIO()
    >>> save(SingleIndexRegressor(n_atoms=5), file)
    >>> load(io.BytesIO(file.getvalue()))
    SingleIndexRegressor(n_atoms=5)
    """
    return _load_part(path, "model")


def load_notes(path) -> dict[str, Any]:
    """Read what was kept beside a model: the `notes` given to :func:`save`.

    Parameters
    ----------
    path : str, path or binary file object

    Returns
    -------
    notes : dict
        Empty where none were given.

    Examples
    --------
    >>> import io
    >>> from singleindex import SingleIndexRegressor
    >>> from singleindex.estimators.persistence import load_notes, save
    >>> file = io.BytesIO()
    >>> save(SingleIndexRegressor(), file, notes={"target": "yield", "rows": 60})
    >>> load_notes(io.BytesIO(file.getvalue()))
    {'target': 'yield', 'rows': 60}
    """
    return _load_part(path, "notes")


def _load_part(path, part: str) -> Any:
    name, data = _read_file(path)
    try:
        return _unpack(data, part)
    except (ModelFileError, LimitError) as error:
        raise ModelFileError(f"Cannot load {name}: {error}.") from error.__cause__
    except Exception as error:  # whatever a parser makes of a forged file
        raise ModelFileError(
            f"Cannot load {name}: its contents are malformed ({_in_short(error)})."
        ) from error


def _in_short(error: Exception) -> str:
    """Return what went wrong on one line; a ValueError says it in words, others by their name."""
    text = " ".join(str(error).split()).rstrip(".") if isinstance(error, ValueError) else ""
    return text[:300] or type(error).__name__


# ---------------------------------------------------------------- files


def _read_file(path) -> tuple[str, bytes]:
    """Return what to call the file in messages, and its bytes."""
    if hasattr(path, "read"):
        name = getattr(path, "name", None)
        data = path.read()
        if not isinstance(data, bytes):
            raise TypeError("load takes a file opened in binary mode, as by open(path, 'rb').")
        return (name if isinstance(name, str) else "the file object"), data
    file = Path(path)
    if file.exists() and not file.is_file():
        what = "it is a directory" if file.is_dir() else "it is not a regular file"
        raise ModelFileError(f"Cannot load {file}: {what}.")
    return str(file), file.read_bytes()


# ---------------------------------------------------------------- the archive


def _pack(model, notes) -> bytes:
    from .. import __version__  # the package is still being imported when this module is

    saving = _Saving()
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "singleindex_version": __version__,
        "model": saving.encode(model),
    }
    if notes is not None:
        saving.where = "notes"
        manifest["notes"] = saving.encode(dict(notes))
    manifest["members"] = {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in saving.members.items()
    }
    text = json.dumps(manifest, indent=1, allow_nan=False)
    return _seal(_zip({MANIFEST: text.encode("ascii"), **saving.members}))


def _zip(members: dict[str, bytes]) -> bytes:
    """Return an archive with room for the seal at its end; equal members give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, content, _compression(name), compresslevel=6)
        archive.comment = bytes(_SEAL_LENGTH)
    return buffer.getvalue()


def _compression(name: str) -> int:
    # Plain, because nothing says how large the manifest may become.
    return zipfile.ZIP_STORED if name == MANIFEST else zipfile.ZIP_DEFLATED


def _seal(archive: bytes) -> bytes:
    body = archive[:-_SEAL_LENGTH]
    return body + _SEAL + hashlib.sha256(body).hexdigest().encode()


def _unpack(data: bytes, part: str) -> Any:
    _check_sealed(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = check_archive(archive, len(data))
        if any(info.compress_type != _compression(info.filename) for info in infos):
            raise ModelFileError("its members are not compressed as singleindex.save does it")
        manifest = json.loads(read_member(archive, infos[0]), parse_constant=_refuse_constant)
        _check_version(manifest)
        _check_members(manifest["members"], infos)
        members = {info.filename: read_member(archive, info) for info in infos}
    for name, recorded in manifest["members"].items():
        if hashlib.sha256(members[name]).hexdigest() != recorded["sha256"]:
            raise ModelFileError(f"it is damaged: the checksum of {name} does not match")
    value = _Loading(members).decode(manifest[part] if part == "model" else manifest.get(part, _NO_NOTES))
    if not isinstance(value, BaseEstimator if part == "model" else dict):
        raise ModelFileError("it holds no estimator" if part == "model" else "its notes are malformed")
    return value


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
    if _seal(data) != data:
        raise ModelFileError("it is damaged: its checksum does not match")


def _refuse_constant(name: str) -> None:
    raise ModelFileError(f"its manifest holds {name}, which is not JSON")


def _check_version(manifest: dict[str, Any]) -> None:
    from .. import __version__

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


# ---------------------------------------------------------------- values


class _Saving:
    """Turns values into JSON, and arrays into members of the archive."""

    def __init__(self) -> None:
        self.members: dict[str, bytes] = {}
        self.where = "The model"

    def encode(self, value: Any) -> Any:
        # What JSON has is itself; everything else is an object with its type.
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float and math.isfinite(value):
            return value
        if type(value) is list:
            return [self.encode(item) for item in value]
        for tag, codec in _CODECS.items():
            if codec.holds(value):
                return {"type": tag, **codec.encode(value, self)}
        raise ValueError(f"{self.where} {_why_not(value)}")


class _Loading:
    """Turns JSON back into values, and members of the archive into arrays."""

    def __init__(self, members: dict[str, bytes]) -> None:
        self.members = members

    def decode(self, spec: Any) -> Any:
        if isinstance(spec, list):
            return [self.decode(item) for item in spec]
        if not isinstance(spec, dict):
            return spec
        if spec.get("type") not in _CODECS:
            raise ModelFileError(f"it holds a value of the unknown type {spec.get('type')!r}")
        return _CODECS[spec["type"]].decode(spec, self)


def _why_not(value: Any) -> str:
    kind = type(value).__name__
    if isinstance(value, structures.Structure):
        what = f"is a {kind}, and a model with a user-written structure cannot be saved"
        instead = "a structure of singleindex.structures"
    elif callable(value):
        what = f"is a {kind}, and a model with a user-written link function cannot be saved"
        instead = f"a link by name, 'learned' or one of {sorted(links.FIXED_LINKS)}"
    else:
        what = f"holds a {kind}, which cannot be saved"
        instead = "numbers, text, lists, dicts and arrays of them"
    return (
        f"{what} in this format; use {instead}, or keep the model with pickle, "
        "to be read only where you trust the file."
    )


def _is_plain(dtype: np.dtype) -> bool:
    return dtype.kind == "U" or dtype.name in _NUMBERS


def _encode_array(array: Any, saving: _Saving) -> dict[str, Any]:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), version=(1, 0), allow_pickle=False)
    name = f"array{len(saving.members)}.npy"
    saving.members[name] = buffer.getvalue()
    return {"member": name}


def _decode_array(spec: dict[str, Any], loading: _Loading) -> np.ndarray:
    name = spec["member"]
    # Taken out: arrays are saved once each, and one that is named again and again would be made as often.
    content = loading.members.pop(name, None)
    if content is None:
        raise ModelFileError(f"its member {name} is named twice, or not there")
    try:
        array = read_array(io.BytesIO(content), len(content))
    except ValueError as error:
        raise ModelFileError(f"its member {name} is malformed: {_in_short(error)}") from error
    if not _is_plain(array.dtype):
        raise ModelFileError(f"its member {name} holds neither numbers nor text, but {array.dtype}")
    return array


def _decode_range(spec: dict[str, Any], loading: _Loading) -> range:
    value = range(*spec["bounds"])
    check_size(8 * len(value), 0)  # a few letters, but an array where it is used
    return value


def _decode_cells(spec: dict[str, Any], loading: _Loading) -> np.ndarray:
    items = loading.decode(spec["items"])
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array.reshape(spec["shape"])


def _encode_sparse(matrix: Any, saving: _Saving) -> dict[str, Any]:
    rows = matrix.tocsr()
    parts = {name: saving.encode(getattr(rows, name)) for name in ("data", "indices", "indptr")}
    return {"shape": list(rows.shape), "array": isinstance(matrix, sparse.sparray), **parts}


def _decode_sparse(spec: dict[str, Any], loading: _Loading) -> Any:
    kind = sparse.csr_array if spec["array"] else sparse.csr_matrix
    data, indices, indptr = (loading.decode(spec[name]) for name in ("data", "indices", "indptr"))
    return make_sparse(kind, data, indices, indptr, spec["shape"])


def _classes() -> dict[str, type]:
    """Return the classes a file may name; nothing in it leads to any other."""
    from .. import estimators  # still being imported when this module is

    public = {n: getattr(package, n) for package in (estimators, structures) for n in package.__all__}
    known = {name: kind for name, kind in public.items() if _has_parameters(kind)}
    solvers = {kind.__name__: kind for kind in SOLVERS.values()}
    return {**known, **solvers, "MonotoneCurve": links.MonotoneCurve, "ShiftedLink": links.ShiftedLink}


def _has_parameters(kind: Any) -> bool:
    return isinstance(kind, type) and (issubclass(kind, BaseEstimator) or dataclasses.is_dataclass(kind))


def _parameters(value: Any) -> dict[str, Any]:
    """Return what the constructor must be given to make `value` anew."""
    if isinstance(value, BaseEstimator):
        return value.get_params(deep=False)
    if isinstance(value, links.MonotoneCurve):
        return {"x": value.x, "y": value.y}
    return {name: getattr(value, name) for name in _saved_fields(type(value))}


def _saved_fields(kind: Any) -> list[str]:
    """Return the fields of a record that go into files; some belong to the session."""
    return [f.name for f in dataclasses.fields(kind) if f.init and f.metadata.get("saved", True)]


def _is_fitted_name(name: str) -> bool:
    return name == _OUTPUT_CONFIG or (name.isidentifier() and name[0] != "_" and name[-1] == "_")


def _encode_instance(value: Any, saving: _Saving) -> dict[str, Any]:
    kind, parameters = type(value).__name__, _parameters(value)
    encoded: dict[str, Any] = {"class": kind, "parameters": {}, "attributes": {}}
    for name in parameters:
        saving.where = f"The parameter {name} of {kind}"
        encoded["parameters"][name] = saving.encode(parameters[name])
    if not isinstance(value, BaseEstimator):
        return encoded
    for name in sorted(set(vars(value)) - set(parameters) - _OF_THE_SESSION):
        saving.where = f"The attribute {name} of {kind}"
        if not _is_fitted_name(name):
            raise ValueError(
                f"{saving.where} cannot be saved: it is no parameter, and the names of fitted "
                f"attributes end in '_'; remove it with del model.{name}."
            )
        encoded["attributes"][name] = saving.encode(vars(value)[name])
    return encoded


def _decode_instance(spec: dict[str, Any], loading: _Loading) -> Any:
    kind = _classes().get(spec["class"])
    if kind is None:
        raise ModelFileError(f"this version does not know its class {spec['class']!r}")
    parameters = {name: loading.decode(part) for name, part in spec["parameters"].items()}
    unknown = sorted(set(parameters) - set(inspect.signature(kind).parameters))
    if unknown:
        raise ModelFileError(f"{kind.__name__} has no parameter {unknown[0]!r} in this version")
    if kind is links.ShiftedLink and parameters["name"] not in links.FIXED_LINKS:
        raise ModelFileError(f"this version does not know its link {parameters['name']!r}")
    if dataclasses.is_dataclass(kind):  # earlier versions saved them all
        parameters = {name: parameters[name] for name in _saved_fields(kind) if name in parameters}
    value = kind(**parameters)
    for name, part in spec["attributes"].items():
        if not (_is_fitted_name(name) and isinstance(value, BaseEstimator)):
            raise ModelFileError(f"it sets {name!r}, which is not the name of a fitted attribute")
        setattr(value, name, loading.decode(part))
    check_loaded(value)
    return value


class _Codec(NamedTuple):
    """How values of one type are told apart, written as JSON and read back."""

    holds: Callable[[Any], bool]
    encode: Callable[[Any, _Saving], dict[str, Any]]
    decode: Callable[[dict[str, Any], _Loading], Any]


_CODECS: dict[str, _Codec] = {
    "float": _Codec(  # those that JSON has no way to write
        lambda v: type(v) is float,
        lambda v, _: {"value": repr(v)},
        lambda spec, _: float(spec["value"]),
    ),
    "tuple": _Codec(
        lambda v: type(v) is tuple,
        lambda v, saving: {"items": saving.encode(list(v))},
        lambda spec, loading: tuple(loading.decode(spec["items"])),
    ),
    "range": _Codec(
        lambda v: type(v) is range,
        lambda v, _: {"bounds": [v.start, v.stop, v.step]},
        _decode_range,
    ),
    "dict": _Codec(  # as pairs: the keys of class_weight are labels, those of JSON only text
        lambda v: type(v) is dict,
        lambda v, saving: {"items": saving.encode([list(pair) for pair in v.items()])},
        lambda spec, loading: dict(loading.decode(spec["items"])),
    ),
    "numpy scalar": _Codec(
        lambda v: isinstance(v, np.generic) and _is_plain(v.dtype),
        _encode_array,
        lambda spec, loading: _decode_array(spec, loading)[()],
    ),
    "array": _Codec(
        lambda v: type(v) is np.ndarray and _is_plain(v.dtype),
        _encode_array,
        _decode_array,
    ),
    "object array": _Codec(
        lambda v: type(v) is np.ndarray and v.dtype == object,
        lambda v, saving: {"shape": list(v.shape), "items": saving.encode(v.ravel().tolist())},
        _decode_cells,
    ),
    "sparse matrix": _Codec(
        sparse.issparse,
        _encode_sparse,
        _decode_sparse,
    ),
    "instance": _Codec(
        lambda v: _classes().get(type(v).__name__) is type(v),
        _encode_instance,
        _decode_instance,
    ),
}
