"""Values as JSON and arrays, for models and checkpoints: reading them runs no code but known constructors.

What JSON has is itself; everything else is an object with its type. Arrays are set apart and go by name. An
object of a known class is the parameters of its constructor, which it has to keep under their names.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .arrays import make_sparse
from .limits import check_size

_NUMBERS = {
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
}  # fmt: skip


class RecordError(ValueError):
    """A value cannot be written, or what was read is none."""


class Writer:
    """Turns values into JSON, and sets their arrays apart.

    Parameters
    ----------
    classes : dict
        The classes whose objects may be written, by the name they go by in the file.
    """

    def __init__(self, classes: Mapping[str, type[Any]]) -> None:
        self.names = {kind: name for name, kind in classes.items()}
        self.arrays: dict[str, NDArray[Any]] = {}
        self.where = "It"

    def write(self, value: Any) -> Any:
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float and math.isfinite(value):
            return value
        if type(value) is list:
            return [self.write(item) for item in value]
        for tag, codec in _CODECS.items():
            if codec.holds(value):
                return {"type": tag, **codec.write(value, self)}
        if type(value) in self.names:
            return {"type": "instance", **self.write_instance(value)}
        raise RecordError(f"{self.where} {self.why_not(value)}")

    def write_instance(self, value: Any) -> dict[str, Any]:
        name = self.names[type(value)]
        parameters = {}
        for parameter in saved_parameters(type(value)):
            self.where = f"The parameter {parameter} of {name}"
            parameters[parameter] = self.write(getattr(value, parameter))
        return {"class": name, "parameters": parameters}

    def write_array(self, array: Any) -> dict[str, Any]:
        name = f"array{len(self.arrays)}.npy"
        self.arrays[name] = np.asarray(array)
        return {"member": name}

    def why_not(self, value: Any) -> str:
        """Return the end of the sentence that says why a value cannot be written."""
        return f"holds a {type(value).__name__}, which cannot be saved."


class Reader:
    """Turns JSON and arrays back into values.

    Parameters
    ----------
    classes : dict
        The classes that may be named; nothing in a file leads to any other.
    arrays : dict
        By name; each is taken out when it is read.
    """

    def __init__(self, classes: Mapping[str, type[Any]], arrays: dict[str, NDArray[Any]]) -> None:
        self.classes, self.arrays = classes, arrays

    def read(self, spec: Any) -> Any:
        if isinstance(spec, list):
            return [self.read(item) for item in spec]
        if not isinstance(spec, dict):
            return spec
        tag = spec.get("type")
        if tag == "instance":
            return self.read_instance(spec)
        if tag not in _CODECS:
            raise RecordError(f"it holds a value of the unknown type {tag!r}")
        return _CODECS[tag].read(spec, self)

    def read_instance(self, spec: dict[str, Any]) -> Any:
        kind = self.classes.get(spec["class"])
        if kind is None:
            raise RecordError(f"this version does not know its class {spec['class']!r}")
        given = {name: self.read(part) for name, part in spec["parameters"].items()}
        unknown = sorted(set(given) - set(inspect.signature(kind).parameters))
        if unknown:
            raise RecordError(f"{kind.__name__} has no parameter {unknown[0]!r} in this version")
        # Earlier versions saved those of the session as well.
        return kind(**{name: given[name] for name in saved_parameters(kind) if name in given})

    def read_array(self, spec: dict[str, Any]) -> NDArray[Any]:
        name = spec["member"]
        # Taken out: arrays are saved once each, and two parts must not share one that is changed in place.
        array = self.arrays.pop(name, None)
        if array is None:
            raise RecordError(f"its member {name} is named twice, or not there")
        if not _is_plain(array.dtype):
            raise RecordError(f"its member {name} holds neither numbers nor text, but {array.dtype}")
        return array


def saved_parameters(kind: type[Any]) -> tuple[str, ...]:
    """Return the parameters of a constructor that go into files; some belong to the session."""
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    of_the_session = {field.name for field in fields if not field.metadata.get("saved", True)}
    return tuple(name for name in inspect.signature(kind).parameters if name not in of_the_session)


# ---------------------------------------------------------------- kinds of values


def _is_plain(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "U" or dtype.name in _NUMBERS


def _read_range(spec: dict[str, Any], reader: Reader) -> range:
    value = range(*spec["bounds"])
    check_size(8 * len(value), 0)  # a few letters, but an array where it is used
    return value


def _read_cells(spec: dict[str, Any], reader: Reader) -> NDArray[Any]:
    items = reader.read(spec["items"])
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array.reshape(spec["shape"])


def _write_sparse(matrix: Any, writer: Writer) -> dict[str, Any]:
    rows = matrix.tocsr()
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
    arrays = {name: writer.write(part) for name, part in parts.items()}
    return {"shape": list(rows.shape), "array": isinstance(matrix, sparse.sparray), **arrays}


def _read_sparse(spec: dict[str, Any], reader: Reader) -> Any:
    kind = sparse.csr_array if spec["array"] else sparse.csr_matrix
    data, indices, indptr = (reader.read(spec[name]) for name in ("data", "indices", "indptr"))
    return make_sparse(kind, data, indices, indptr, spec["shape"])


class _Codec(NamedTuple):
    """How values of one type are told apart, written as JSON and read back."""

    holds: Callable[[Any], bool]
    write: Callable[[Any, Writer], dict[str, Any]]
    read: Callable[[dict[str, Any], Reader], Any]


_CODECS: dict[str, _Codec] = {
    "float": _Codec(  # those that JSON has no way to write
        lambda v: type(v) is float,
        lambda v, _: {"value": repr(v)},
        lambda spec, _: float(spec["value"]),
    ),
    "tuple": _Codec(
        lambda v: type(v) is tuple,
        lambda v, writer: {"items": writer.write(list(v))},
        lambda spec, reader: tuple(reader.read(spec["items"])),
    ),
    "range": _Codec(
        lambda v: type(v) is range,
        lambda v, _: {"bounds": [v.start, v.stop, v.step]},
        _read_range,
    ),
    "dict": _Codec(  # as pairs: the keys of class_weight are labels, those of JSON only text
        lambda v: type(v) is dict,
        lambda v, writer: {"items": writer.write([list(pair) for pair in v.items()])},
        lambda spec, reader: dict(reader.read(spec["items"])),
    ),
    "numpy scalar": _Codec(
        lambda v: isinstance(v, np.generic) and _is_plain(v.dtype),
        lambda v, writer: writer.write_array(v),
        lambda spec, reader: reader.read_array(spec)[()],
    ),
    "array": _Codec(
        lambda v: type(v) is np.ndarray and _is_plain(v.dtype),
        lambda v, writer: writer.write_array(v),
        lambda spec, reader: reader.read_array(spec),
    ),
    "object array": _Codec(
        lambda v: type(v) is np.ndarray and v.dtype == object,
        lambda v, writer: {"shape": list(v.shape), "items": writer.write(v.ravel().tolist())},
        _read_cells,
    ),
    "sparse matrix": _Codec(sparse.issparse, _write_sparse, _read_sparse),
}
