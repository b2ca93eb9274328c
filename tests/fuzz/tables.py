"""Files of rows in every format, sound or spoiled, for the command line and for chunks."""

import io
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from .mutations import bomb, edge_number, npy_bytes, spoil_array, spoil_bytes
from .registry import Case

CELLS = [
    "", "NA", "?", "inf", "-inf", "nan", "1e999", "1e-400", "1,5", "007", "0x10", "1_000", " 1 ", "−1",
    '"', '"a""b"', "a\nb", "=1+1", "\x1b[31m", "é", "\0", "12.13.2014", "2020-01-01", "True",
    "9" * 400, "x" * 3000,
]  # fmt: skip
NAMES = [
    "y", "a", "a", "a.1", "", " ", "w", "Unnamed: 0", "é", "a,b", 'q"', "\n", "\x1b[2J", "x" * 300, "0",
    "nan", "{{BODY}}",
]  # fmt: skip
LINES = [
    "1 3:1 2:1", "1 -1:2", "x 1:2", "1 1:", "1 1:nan", "1", "# no", "1,2 1:1", "1 qid:3 1:1", "1 1:1 1:2",
    "inf 1:1", "1 1:1e999", "1 400000:1", "1 2147483647:1", "1 99999999999:1",
]  # fmt: skip


@dataclass
class Drawn:
    """A file, and what is in it where it is sound."""

    path: Path
    kind: str
    X: np.ndarray
    y: np.ndarray
    names: list[str]
    first_column: int = 0  # as svmlight files count them


def draw_file(case: Case, kinds: list[str], spoil: float = 0.9, n_features: int | None = None) -> Drawn:
    """Write a file of one of these kinds, spoiled in so large a share of cases."""
    kind = case.pick(kinds)
    X, y, names = draw_rows(case, n_features)
    drawn = Drawn(case.folder / f"data.{kind}", kind, X, y, names)
    how = case.pick(["bytes", "cells", "shape"]) if case.chance(spoil) else None
    if how is not None:
        case.spoilt(f"{kind}, {how}")
    content = WRITERS[kind](case, drawn, how)
    if how == "bytes":
        content = (
            case.pick([b"", b"\n", b"\xef\xbb\xbf"]) if case.chance(0.05) else spoil_bytes(case, content)
        )
    drawn.path.write_bytes(content)
    case.wild = False  # numbers in data that are too large are to be refused
    return drawn


def draw_rows(case: Case, n_features: int | None) -> tuple[np.ndarray, np.ndarray, list[str]]:
    n, d = int(case.rng.integers(24, 60)), n_features or int(case.rng.integers(2, 6))
    X = case.rng.normal(size=(n, d)).round(3)
    y = (np.tanh(X[:, 0] - X[:, -1]) + 0.1 * case.rng.normal(size=n)).round(4)
    if case.chance(0.3):
        y = np.where(np.arange(n) < 8, np.arange(n) % 2, y > 0).astype(float)
    return X, y, [f"x{j}" for j in range(d)]


# ---------------------------------------------------------------- text


def as_csv(case: Case, drawn: Drawn, how: str | None) -> bytes:
    separator = "\t" if drawn.kind == "tsv" else ","
    names = [*drawn.names, "y"]
    lines = [[repr(float(v)) for v in (*row, y)] for row, y in zip(drawn.X, drawn.y, strict=True)]
    if how == "cells":
        _spoil_cells(case, lines)
    if how == "shape":
        names = _spoil_shape(case, names, lines)
    return (
        "\n".join(separator.join(line) for line in [names, *lines]).encode(errors="surrogateescape") + b"\n"
    )


def _spoil_cells(case: Case, lines: list[list[str]]) -> None:
    """Change some cells, or a whole column."""
    cell, column = case.pick(CELLS), int(case.rng.integers(len(lines[0])))
    case.say("cell", (cell[:50], column))
    whole = case.chance(0.3)
    for line in lines:
        if whole or case.chance(0.05):
            line[column] = cell


def _spoil_shape(case: Case, names: list[str], lines: list[list[str]]) -> list[str]:
    action = case.pick(
        ["names", "no rows", "few rows", "ragged", "no header", "wide", "one column", "many columns"]
    )
    case.say("shape", action)
    if action == "names":
        return [case.pick(NAMES) for _ in names]
    if action in ("no rows", "few rows"):
        del lines[0 if action == "no rows" else int(case.rng.integers(1, 6)) :]
    elif action == "ragged":
        lines[case.rng.integers(len(lines))] = ["1"] * int(case.rng.integers(0, 9))
    elif action == "wide":
        names[0] = "x" * 200_000
    elif action == "one column":
        lines[:] = [line[-1:] for line in lines]
        return names[-1:]
    elif action == "many columns":
        lines[:] = [[*line, *["0", "1", "2"] * 500] for line in lines]
        return names + [f"z{j}" for j in range(1500)]
    return names if action != "no header" else lines.pop(0)


def as_svmlight(case: Case, drawn: Drawn, how: str | None) -> bytes:
    first = drawn.first_column = int(case.rng.integers(0, 2))
    lines = [
        f"{y} " + " ".join(f"{j + first}:{v}" for j, v in enumerate(row) if v)
        for row, y in zip(drawn.X, drawn.y, strict=True)
    ]
    if how in ("cells", "shape"):
        bad = case.pick(LINES)
        case.say("line", bad)
        lines[case.rng.integers(len(lines))] = bad
    if how == "shape" and case.chance(0.3):
        lines = lines[: case.rng.integers(0, 4)]
    return "\n".join(lines).encode() + b"\n"


# ---------------------------------------------------------------- arrays


def as_npz(case: Case, drawn: Drawn, how: str | None) -> bytes:
    arrays: dict[str, Any] = {"X": drawn.X, "y": drawn.y}
    if case.chance(0.5):
        matrix = sparse.csr_array(np.where(np.abs(drawn.X) > 0.3, drawn.X, 0))
        arrays = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "y": drawn.y,
                  "shape": np.array(matrix.shape), "format": np.array(b"csr")}  # fmt: skip
    if how == "shape" and case.chance(0.02):
        return bomb("X.npy")
    if how == "shape" and case.chance(0.3):
        arrays["shape"] = np.array([case.pick([0, 3, -1, 10**12, 2**62]), case.pick([1, 10**12, 2**31])])
    elif how in ("cells", "shape"):
        name = case.pick(arrays)
        case.say("array", name)
        arrays[name] = spoil_array(case, np.asarray(arrays[name]))
    buffer = io.BytesIO()
    np.savez(buffer, **{name: value for name, value in arrays.items()})
    return buffer.getvalue()


def as_npy(case: Case, drawn: Drawn, how: str | None) -> bytes:
    X = drawn.X.astype(case.pick(["f4", "f8"]), order=case.pick("CF"))
    drawn.X = X.astype(float)
    y = drawn.y
    if how in ("cells", "shape"):
        if case.chance(0.7):
            X = spoil_array(case, X)
        else:
            y = spoil_array(case, y)
    case.write("y.npy", npy_bytes(y))
    return npy_bytes(X)


# ---------------------------------------------------------------- Parquet


def as_parquet(case: Case, drawn: Drawn, how: str | None) -> bytes:
    frame = pd.DataFrame(drawn.X, columns=drawn.names).assign(y=drawn.y)
    if how == "cells":
        if case.chance(0.5):
            frame.loc[case.rng.integers(len(frame)), case.pick(drawn.names)] = float(edge_number(case))
        column = case.pick(frame.columns)
        kind = case.pick(odd_columns(len(frame)))
        case.say("column", (column, kind))
        frame[column] = odd_columns(len(frame))[kind]
    elif how == "shape":
        shapes = [frame[:0], frame[:2], frame[["y"]], frame[["y"]][:0], frame.rename(columns={"x0": "Y"})]
        frame = case.pick([*shapes, frame.T.rename(columns=str), frame.set_index("x0")])
    buffer = io.BytesIO()
    frame.to_parquet(buffer, row_group_size=case.pick([5, 100]))
    return buffer.getvalue()


@cache
def odd_columns(n: int) -> dict[str, Any]:
    return {
        "text": ["a", "b"] * (n // 2) + ["c"] * (n % 2),
        "lists": [[1, 2]] * n,
        "bytes": [b"\xff"] * n,
        "dates": pd.date_range("2020", periods=n),
        "times": pd.to_timedelta(range(n), unit="h"),
        "none": [None] * n,
        "some": [None, 1.5] * (n // 2) + [2.5] * (n % 2),
        "switch": [True, False] * (n // 2) + [True] * (n % 2),
        "large": np.full(n, 2**63 + 1, dtype=np.uint64),
        "categories": pd.Categorical(["u", "v"] * (n // 2) + ["u"] * (n % 2)),
        "records": [{"a": 1}] * n,
        "numbers and nothing": pd.array([1, None] * (n // 2) + [3] * (n % 2), dtype="Int64"),
    }


WRITERS = {
    "csv": as_csv, "tsv": as_csv, "svm": as_svmlight, "npz": as_npz, "npy": as_npy, "parquet": as_parquet,
}  # fmt: skip
