"""Values as JSON and arrays."""

import json
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy import sparse

from singleindex.files.records import Reader, RecordError, Writer


@dataclass(frozen=True)
class Inner:
    values: np.ndarray
    name: str | None = None


@dataclass(frozen=True)
class Outer:
    inner: Inner
    number: float = 0.0
    place: str | None = field(default=None, metadata={"saved": False})


CLASSES = {"an inner one": Inner, "Outer": Outer}


def written(value, classes=CLASSES):
    writer = Writer(classes)
    return json.loads(json.dumps(writer.write(value), allow_nan=False)), writer.arrays


def test_objects_within_objects_come_back():
    spec, arrays = written([Outer(Inner(np.arange(3)), np.inf, "/tmp/here"), {"a": (1, None)}])
    assert spec[0]["parameters"]["inner"]["class"] == "an inner one"
    outer, other = Reader(CLASSES, dict(arrays)).read(spec)
    assert (outer.inner.values == np.arange(3)).all()
    assert (outer.number, outer.inner.name, other) == (np.inf, None, {"a": (1, None)})


def test_what_belongs_to_the_session_is_neither_written_nor_read():
    spec, arrays = written(Outer(Inner(np.zeros(1)), 1.0, "/tmp/here"))
    assert "here" not in json.dumps(spec)
    spec["parameters"]["place"] = "/tmp/there"
    assert Reader(CLASSES, arrays).read(spec).place is None


def test_only_known_classes_are_written_and_read():
    with pytest.raises(RecordError, match="The parameter inner of Outer holds a Inner"):
        written(Outer(Inner(np.zeros(1))), {"Outer": Outer})
    spec, arrays = written(Outer(Inner(np.zeros(1))))
    with pytest.raises(RecordError, match="does not know its class 'an inner one'"):
        Reader({"Outer": Outer}, arrays).read(spec)


@pytest.mark.parametrize("change", [{"type": "set"}, {"class": "os.system"}, {"parameters": {"size": 3}}])
def test_records_of_nothing_known_are_refused(change):
    spec, arrays = written(Inner(np.zeros(1)))
    with pytest.raises(RecordError, match=r"unknown type|does not know|has no parameter"):
        Reader(CLASSES, arrays).read(spec | change)


def test_a_sparse_matrix_is_checked_when_it_is_read():
    spec, arrays = written(sparse.csr_array(np.eye(3)))
    assert (Reader({}, dict(arrays)).read(spec).toarray() == np.eye(3)).all()
    arrays[spec["indices"]["member"]] = np.full(3, 10**6, dtype=np.int32)
    with pytest.raises(ValueError, match="ind"):
        Reader({}, arrays).read(spec)
