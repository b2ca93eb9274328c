"""Reading within limits: small files that would become large ones are refused before memory is taken."""

import gzip
import io
import tracemalloc
import zipfile

import numpy as np
import pytest
from scipy import sparse

from singleindex.files.arrays import make_sparse, read_array, read_npz
from singleindex.files.limits import LimitError, check_archive, check_size, most_bytes, read_member, unpack

MiB = 2**20


def zip_of(compression=zipfile.ZIP_DEFLATED, **members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def with_declared_size(data, size):
    """Return an archive whose directory says that its one member has another size."""
    body = bytearray(data)
    at = body.index(b"PK\x01\x02")
    body[at + 24 : at + 28] = size.to_bytes(4, "little")
    return bytes(body)


def test_the_limit_grows_with_the_file_and_can_be_set(monkeypatch):
    assert most_bytes(MiB) == 256 * MiB
    assert most_bytes(10 * MiB) == 1000 * MiB
    check_size(256 * MiB, MiB)
    with pytest.raises(LimitError, match="SINGLEINDEX_MAX_BYTES=1073741824"):
        check_size(1024 * MiB, MiB)
    monkeypatch.setenv("SINGLEINDEX_MAX_BYTES", str(1024 * MiB))
    check_size(1024 * MiB, MiB)
    monkeypatch.setenv("SINGLEINDEX_MAX_BYTES", "many")
    with pytest.raises(LimitError, match="must be a number of bytes"):
        check_size(1, 1)


def test_what_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setenv("SINGLEINDEX_MAX_BYTES", str(2 * MiB))
    for size in (MiB, 2 * MiB):
        data = gzip.compress(bytes(size))
        assert unpack(gzip.GzipFile(fileobj=io.BytesIO(data)), len(data)) == bytes(size)
    data = gzip.compress(bytes(64 * MiB))
    tracemalloc.start()
    with pytest.raises(LimitError, match="unpack to more than"):
        unpack(gzip.GzipFile(fileobj=io.BytesIO(data)), len(data))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * MiB


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zip_of(a=bytes(3 * MiB)), "would take 3145728 in memory"),
        (zip_of(zipfile.ZIP_BZIP2, a=bytes(10)), "otherwise than by deflate"),
        (zip_of(zipfile.ZIP_LZMA, a=bytes(10)), "otherwise than by deflate"),
        (zip_of(a=b"1", b=b"2").replace(b"b", b"a"), "two members of one name"),
    ],
    ids=["declared", "bzip2", "lzma", "names"],
)
def test_archives_that_are_not_sound_are_refused(monkeypatch, data, message):
    monkeypatch.setenv("SINGLEINDEX_MAX_BYTES", str(2 * MiB))
    with zipfile.ZipFile(io.BytesIO(data)) as archive, pytest.raises(LimitError, match=message):
        check_archive(archive, len(data))


def test_a_member_gives_no_more_than_it_says_it_has():
    data = with_declared_size(zip_of(a=bytes(64 * MiB)), 100)
    tracemalloc.start()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        [info] = check_archive(archive, len(data))
        with pytest.raises(zipfile.BadZipFile, match="CRC"):
            read_member(archive, info)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * MiB


def test_arrays_come_back():
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array("ü"), "c": np.asfortranarray(np.eye(2))}
    for pack in (np.savez, np.savez_compressed):
        file = io.BytesIO()
        pack(file, **arrays)
        found = read_npz(file.getvalue())
        assert found.keys() == arrays.keys()
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype
            assert (found[name] == array).all()
    assert read_npz(zip_of(**{"read me": b"hello"})) == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy(np.array([None])), "neither numbers nor text"),
        (npy(np.zeros(2)).replace(b"(2,)", b"(2000000000000,)"), "another size"),
        (npy(np.zeros(2))[:-1], "another size"),
        (npy(np.array(["a"])).replace(b"<U1", b"<U0")[:-4], "neither numbers nor text"),
        (b"no array", "magic string"),
    ],
)
def test_arrays_that_are_none_are_refused(content, message):
    with pytest.raises(ValueError, match=message):
        read_array(io.BytesIO(content), len(content))
    with pytest.raises(ValueError, match=message):
        read_npz(zip_of(**{"a.npy": content}))


def test_sparse_matrices_are_checked():
    parts = ([1.0, 2.0], [0, 1], [0, 1, 2])
    assert make_sparse(sparse.csr_array, *parts, (2, 2)).toarray().tolist() == [[1, 0], [0, 2]]
    for bad in (
        ([1.0, 2.0], [0, 10**6], [0, 1, 2]),
        ([1.0, 2.0], [0, -1], [0, 1, 2]),
        ([1.0, 2.0], [0, 1], [0, 10**9, 2]),
        ([1.0, 2.0], [0, 1], [0, 2, 1]),
        ([1.0, 2.0], [0, 1], [1, 1, 2]),
        ([1.0], [0, 1], [0, 1, 2]),
    ):
        with pytest.raises(ValueError, match=r"ind|size"):
            make_sparse(sparse.csr_array, *bad, (2, 2))
    with pytest.raises(ValueError, match="index pointer"):
        make_sparse(sparse.csr_array, *parts, (10**12, 2))
