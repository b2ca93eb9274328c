"""Structures by name, and groups of features from a file."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..tables.columns import abridged
from .data import Data
from .messages import CliError
from .tables import decode

if TYPE_CHECKING:
    from .fitting import FitOptions


def make_structure(options: FitOptions, data: Data) -> tuple[Any, list[str]]:
    """Return the structure, None for plain sparsity, and notes on it."""
    from .. import structures

    if options.structure == "group" or (options.groups is not None and options.structure == "sparse"):
        check_of_columns(options, ())
        return group_structure(options.groups, data)
    if options.structure == "rows":
        if len(data.target.names) == 1 and len(data.target.classes) == 2:
            raise CliError(
                "--structure rows shares features between several targets; name more with --target"
            )
        check_of_columns(options, ("never_penalise",))
        return structures.RowSparse(factors=factors_of(options, data)), []
    if options.structure == "low-rank":
        check_of_columns(options, ())
        return structures.LowRank(matrix_shape(options.shape, len(data.preparation.names))), []
    if options.never_penalise or options.sign:
        return structures.Sparse(factors=factors_of(options, data), signs=signs_of(options, data)), []
    return None, []


def check_of_columns(options: FitOptions, allowed: tuple[str, ...]) -> None:
    """Refuse options on single columns that a structure has no place for."""
    for name in ("never_penalise", "sign"):
        if getattr(options, name) and name not in allowed:
            kind = "group" if options.groups is not None else options.structure
            raise CliError(
                f"--{name.replace('_', '-')} does not go with --structure {kind}; use --structure sparse"
            )


def factors_of(options: FitOptions, data: Data) -> dict[int, float] | None:
    """Return the factors of the features of columns that are never penalised, by position."""
    return {j: 0.0 for name in options.never_penalise for j in features_of(name, data)} or None


def signs_of(options: FitOptions, data: Data) -> dict[int, float] | None:
    """Return the signs of features, by position."""
    signs: dict[int, float] = {}
    for text in options.sign:
        name, mark = text[:-2], text[-2:]
        if mark not in ("=+", "=-"):
            raise CliError(f"--sign {text} must be a column and its sign, such as --sign dose=+ or dose=-")
        signs |= dict.fromkeys(features_of(name, data), 1.0 if mark == "=+" else -1.0)
    return signs or None


def features_of(name: str, data: Data) -> list[int]:
    """Return the positions of a feature, or of all features that a column has become."""
    names, sources = data.preparation.names, data.preparation.sources
    found = [j for j, pair in enumerate(zip(names, sources, strict=True)) if name in pair]
    if not found:
        raise CliError(f"{name!r} is no feature in use; the features are {abridged(names, 5)}")
    return found


def matrix_shape(text: str | None, n_features: int) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)[x×,](\d+)", text or "")
    if match is None:
        raise CliError("--structure low-rank needs the shape of the matrix, such as --shape 40x40")
    shape = int(match.group(1)), int(match.group(2))
    if shape[0] * shape[1] != n_features:
        raise CliError(
            f"--shape {text} has {shape[0] * shape[1]} entries, but there are {n_features} features"
        )
    return shape


def group_structure(path: str | None, data: Data) -> tuple[Any, list[str]]:
    from ..structures import GroupSparse

    names, sources = data.preparation.names, data.preparation.sources
    if path is None:
        if len(set(sources)) == len(names):
            raise CliError(
                "every column is one feature, so there are no groups; name them with --groups FILE"
            )
        return GroupSparse(np.array(sources), weights="sqrt"), []
    members = read_groups(path)
    groups, alone, unknown = match_groups(members, names, sources)
    notes = []
    if unknown:
        notes.append(f"{path} names {abridged(unknown, 5)}, which are no features in use")
    if alone:
        notes.append(f"{len(alone)} features are in no group of {path} and make one each")
    positions = [*groups.values(), *([j] for j in alone)]
    overlapping = sum(map(len, positions)) > len(names)
    return GroupSparse(positions, weights="sqrt", overlapping=overlapping), notes


def read_groups(path: str) -> list[tuple[str, str]]:
    """Return the pairs of feature and group in a CSV file, with or without a header."""
    if not Path(path).is_file():
        raise CliError(f"there is no file of groups {path}")
    lines = decode(Path(path).read_bytes(), path, "utf-8")[1].splitlines()
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines) if any(row)]
    for number, row in enumerate(rows, 1):
        if len(row) != 2:
            raise CliError(f"row {number} of {path} has {len(row)} columns; two are needed: feature,group")
    if rows and [cell.lower() for cell in rows[0]] in (["feature", "group"], ["column", "group"]):
        rows = rows[1:]
    if not rows:
        raise CliError(f"{path} names no groups; it needs rows of feature,group")
    return [(feature, group) for feature, group in rows]


def match_groups(
    members: list[tuple[str, str]], names: list[str], sources: list[str]
) -> tuple[dict[str, list[int]], list[int], list[str]]:
    """Return the positions of each group, those in none, and the names that are no features."""
    positions: dict[str, list[int]] = {}
    for j, (name, source) in enumerate(zip(names, sources, strict=True)):
        for key in {name, source}:
            positions.setdefault(key, []).append(j)
    groups: dict[str, dict[int, None]] = {}  # the positions in order, each once
    unknown = []
    for feature, group in members:
        if feature not in positions:
            unknown.append(feature)
            continue
        groups.setdefault(group, {}).update(dict.fromkeys(positions[feature]))
    if not groups:
        raise CliError(
            f"none of the features in the file of groups is there; the features are {abridged(names, 5)}"
        )
    used = {j for group in groups.values() for j in group}
    found = {name: list(group) for name, group in groups.items()}
    return found, [j for j in range(len(names)) if j not in used], unknown
