"""How much memory a file may take: a small one can be made to unpack to more than there is."""

from __future__ import annotations

import os
import zipfile
from typing import IO

# Coefficients that are nearly all zero shrink a thousandfold, so that some room is left to small files.
_LEAST, _TIMES = 256 * 2**20, 100
_VARIABLE = "SINGLEINDEX_MAX_BYTES"
_PIECE = 2**20
# Others are unpacked by Python without regard to how much is asked for.
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class LimitError(ValueError):
    """A file would take more memory than its size allows for."""


def most_bytes(n_packed: int) -> int:
    """Return the most bytes that a file of this size may become.

    256 MiB, or a hundred times its size where that is more; or, for all files alike, the number in the
    environment variable SINGLEINDEX_MAX_BYTES.
    """
    given = os.environ.get(_VARIABLE)
    if given is None:
        return max(_LEAST, _TIMES * n_packed)
    if not given.isdecimal():
        raise LimitError(f"the environment variable {_VARIABLE} must be a number of bytes, got {given!r}")
    return int(given)


def check_size(n_bytes: int, n_packed: int) -> None:
    """Raise where a file of `n_packed` bytes must not become `n_bytes` in memory."""
    if n_bytes > most_bytes(n_packed):
        raise LimitError(
            f"its {n_packed} bytes would take {n_bytes} in memory, more than the {most_bytes(n_packed)} that "
            f"are allowed; where you trust it, set the environment variable {_VARIABLE}={n_bytes}"
        )


def unpack(file: IO[bytes], n_packed: int) -> bytes:
    """Read a decompressing file to its end, or as far as the limit."""
    limit, parts, n = most_bytes(n_packed), [], 0
    while part := file.read(_PIECE):
        n += len(part)
        if n > limit:
            raise LimitError(
                f"its {n_packed} bytes unpack to more than the {limit} that are allowed; where you trust it, "
                f"set the environment variable {_VARIABLE} to a larger number"
            )
        parts.append(part)
    return b"".join(parts)


def check_archive(archive: zipfile.ZipFile, n_packed: int) -> list[zipfile.ZipInfo]:
    """Return the members of a zip archive once their names and sizes are known to be sound."""
    infos = archive.infolist()
    if len({info.filename for info in infos}) < len(infos):
        raise LimitError("it has two members of one name")
    # Members that share bytes could make a small file expand without bound.
    if sum(info.compress_size for info in infos) > n_packed:
        raise LimitError("its members overlap")
    if any(info.compress_type not in _COMPRESSIONS for info in infos):
        raise LimitError("its members are compressed otherwise than by deflate")
    check_size(sum(info.file_size for info in infos), n_packed)
    return infos


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Return a member's bytes, no more than it says it has: reading to the end would unpack them all."""
    with archive.open(info) as file:
        return file.read(info.file_size)
