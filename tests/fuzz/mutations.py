"""How bytes, trees of JSON and arrays are spoiled."""

import copy
import io
import zipfile
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from .registry import Case

WHOLE = [0, 1, -1, 2, 7, 255, 2**31 - 1, 2**31, 2**32, 2**63 - 1, -(2**63), 2**64, 10**12, 10**30]
REAL = [0.0, -0.0, 0.5, -1.5, 1e-320, 1e-160, 1e-8, 1e8]
HUGE = [1e100, 1e154, 1e200, 1e308, -1e308, np.inf, -np.inf, np.nan]
WORDS = [
    "",
    "y",
    "nan",
    "inf",
    "0x1p3",
    "../../x",
    "/dev/null",
    "é\u202e\0",
    "[]",
    "curve",
    "known",
    "logistic",
    "x" * 5000,
]
DTYPES = ["i1", "u8", "i8", "f2", "f4", ">f8", "c16", "?", "U3", "S3", "M8[D]", "O"]


def edge_number(case: Case) -> Any:
    """Draw a number that breaks things; huge ones make the case a wild one."""
    kind = case.pick(["whole", "real", "huge"])
    value = case.pick({"whole": WHOLE, "real": REAL, "huge": HUGE}[kind])
    if not abs(value) < 1e50:
        case.wild = True
    return value


def edge_value(case: Case) -> Any:
    """Draw something that JSON can say."""
    kind = case.pick(["number", "word", "none", "switch", "list", "dict", "deep"])
    if kind == "number":
        value = edge_number(case)
        return value if isinstance(value, int) or np.isfinite(value) else str(value)
    if kind == "deep":
        return nested(case.pick([3, 50, 400]))
    return {"word": case.pick(WORDS), "none": None, "switch": case.chance(0.5), "list": [], "dict": {}}[kind]


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


# ---------------------------------------------------------------- bytes


def spoil_bytes(case: Case, data: bytes) -> bytes:
    """Change bytes at one to three places."""
    for _ in range(int(case.rng.integers(1, 4))):
        data = case.pick(BYTE_CHANGES)(case, bytearray(data))
    return data


def _flip(case: Case, data: bytearray) -> bytes:
    if data:
        data[case.rng.integers(len(data))] ^= 1 << int(case.rng.integers(8))
    return bytes(data)


def _overwrite(case: Case, data: bytearray) -> bytes:
    at = int(case.rng.integers(len(data) + 1))
    piece = case.pick(
        [b"\x00" * 4, b"\xff" * 4, b"\xff\xff\xff\x7f", b"\n", b",", b'"', b"nan", b"1e999", b"\x00"]
    )
    data[at : at + len(piece)] = piece
    return bytes(data)


def _insert(case: Case, data: bytearray) -> bytes:
    at = int(case.rng.integers(len(data) + 1))
    data[at:at] = case.rng.bytes(int(case.rng.integers(1, 20)))
    return bytes(data)


def _cut(case: Case, data: bytearray) -> bytes:
    return bytes(data[: case.rng.integers(len(data) + 1)])


def _remove(case: Case, data: bytearray) -> bytes:
    start, length = int(case.rng.integers(len(data) + 1)), int(case.rng.integers(1, 50))
    del data[start : start + length]
    return bytes(data)


def _repeat(case: Case, data: bytearray) -> bytes:
    start, length = int(case.rng.integers(len(data) + 1)), int(case.rng.integers(1, 200))
    return bytes(data[: start + length] + data[start:])


BYTE_CHANGES = (_flip, _overwrite, _insert, _cut, _remove, _repeat)


# ---------------------------------------------------------------- trees


def spoil_tree(case: Case, tree: Any) -> Any:
    """Return a copy of a tree of dicts and lists with one or two of its places changed."""
    tree = copy.deepcopy(tree)
    for _ in range(int(case.rng.integers(1, 3))):
        places = places_of(tree)
        if places:
            _change_place(case, tree, *case.pick(places), others=places)
    return tree


def places_of(tree: Any) -> list[tuple[Any, Any]]:
    """Return every place in the tree as its container and its key."""
    found, waiting = [], [tree]
    while waiting:
        one = waiting.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        found += [(one, key) for key in keys]
        waiting += [one[key] for key in keys]
    return found


def _change_place(case: Case, tree: Any, container: Any, key: Any, others: list[Any]) -> None:
    action = case.pick(["value", "value", "array", "delete", "swap", "rename"])
    value = container[key]
    if action == "delete":
        del container[key]
    elif action == "swap":
        other, other_key = case.pick(others)
        container[key] = copy.deepcopy(other[other_key])
    elif action == "rename" and isinstance(container, dict):
        container[case.pick([*WORDS, *map(str, container)])] = container.pop(key)
    elif isinstance(value, np.ndarray):
        container[key] = spoil_array(case, value)
    else:
        container[key] = edge_value(case)
    case.say(f"{action} at {key!r}")


# ---------------------------------------------------------------- arrays


def spoil_array(case: Case, array: np.ndarray) -> np.ndarray:
    """Give an array another shape, another dtype, or other values."""
    change = case.pick(ARRAY_CHANGES)
    changed = np.asarray(change(case, array))
    case.say(f"array {change.__name__}", (array.shape, str(array.dtype), changed.shape, str(changed.dtype)))
    return changed


def _shape(case: Case, array: np.ndarray) -> np.ndarray:
    if not array.ndim:
        return case.pick([array[None], np.repeat(array, 3)])
    same = [array.ravel(), array.reshape(-1, 1), array.reshape(1, -1), array[None], array.T]
    longer = [np.concatenate([array, array]), np.concatenate([array, array[:1]])]
    return case.pick([*same, *longer, array[:0], array[:-1], array[1:], array[:1]])


def _dtype(case: Case, array: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        try:
            return array.astype(case.pick(DTYPES))
        except (ValueError, TypeError):
            return array.astype("U8")


def _one_value(case: Case, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in "fiu" or not array.size:
        return np.full(array.shape, edge_number(case), dtype=float)
    changed = array.copy()
    value = edge_number(case)
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        value = case.pick([-1, 1, 5, 100, info.max, info.min])
    at = int(case.rng.integers(array.size))
    case.say("one value", (at, value))
    with np.errstate(all="ignore"):
        changed.flat[at] = value
    return changed


def _reverse(case: Case, array: np.ndarray) -> np.ndarray:
    return array[::-1].copy() if array.ndim else array


def _all_zero(case: Case, array: np.ndarray) -> np.ndarray:
    return np.zeros(array.shape, dtype=array.dtype if array.dtype.kind in "fiub" else float)


ARRAY_CHANGES = (_shape, _shape, _dtype, _one_value, _one_value, _reverse, _all_zero)


def npy_bytes(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=True)
    return buffer.getvalue()


BOMB_SIZE = 768 << 20  # more than a child may take


def bomb_pieces() -> Iterator[bytes]:
    """Yield a .npy file of zeros that packs a thousand times smaller."""
    header = io.BytesIO()
    described = {"descr": "|u1", "fortran_order": False, "shape": (BOMB_SIZE,)}
    np.lib.format.write_array_header_1_0(header, described)
    yield header.getvalue()
    for _ in range(BOMB_SIZE >> 22):
        yield bytes(1 << 22)


@cache
def bomb(name: str, before: tuple[str, bytes] | None = None) -> bytes:
    """Return an archive with such a member, behind another one where `before` is given."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        if before is not None:
            archive.writestr(*before, zipfile.ZIP_STORED)
        with archive.open(name, "w", force_zip64=True) as member:
            for piece in bomb_pieces():
                member.write(piece)
        archive.comment = bytes(71)  # where model files have their seal
    return buffer.getvalue()
