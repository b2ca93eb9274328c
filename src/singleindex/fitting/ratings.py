"""Ratings as users have them: pairs of numbers or labels, graphs as matrices or lists of links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..design import EntriesDesign
from ..design.entries import IntArray
from ..link.lpav import check_vector
from ..solvers.result import FloatArray
from ..structures.graph import as_graph
from .checks import check_varies
from .extremes import check_reach, weight_within_reach

Labels = NDArray[Any]
Graphs = tuple[Any, Any]

_SIDES = ("row", "column")


@dataclass(frozen=True, eq=False)
class Ratings:
    """Checked ratings: positions and values, and the graphs of both sides."""

    design: EntriesDesign
    y: FloatArray
    graphs: Graphs

    def part(self, keep: IntArray) -> Ratings:
        """Return some of the ratings, over the same rows, columns and graphs."""
        return Ratings(self.design.part(keep), self.y[keep], self.graphs)


# ---------------------------------------------------------------- pairs


def is_frame(values: Any) -> bool:
    """Tell a pandas or polars data frame."""
    return hasattr(values, "columns") and hasattr(values, "dtypes")


def frame_columns(frame: Any, name: str, n_columns: tuple[int, ...]) -> list[Labels]:
    """Return the columns of a data frame as arrays."""
    if frame.shape[1] not in n_columns:
        wanted = " or ".join(map(str, n_columns))
        raise ValueError(
            f"{name} has {frame.shape[1]} columns where {wanted} are needed; select them, as in "
            f'{name}[["user", "item"]].'
        )
    columns = [np.asarray(frame[column]) for column in frame.columns]
    for side, column in zip(_SIDES, columns, strict=False):
        missing = np.array([label is None or label != label for label in column.tolist()], dtype=bool)
        if np.any(missing):
            raise ValueError(f"{name} has a missing {side} label (first at position {np.argmax(missing)}).")
    return columns


def as_positions(pairs: Any, name: str = "pairs") -> IntArray:
    """Return an (m, 2) array of integers, or raise with the fix in the message."""
    array = np.asarray(pairs)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"{name} must have two columns, the row and the column of each rating; got shape {array.shape}."
        )
    if len(array) == 0:
        raise ValueError(f"{name} is empty; at least one rating is needed.")
    if array.dtype.kind not in "iu":
        whole = array.dtype.kind == "f" and np.isfinite(array).all() and (array == np.round(array)).all()
        if not whole:
            raise ValueError(
                f"{name} must hold whole numbers counted from 0, got dtype {array.dtype}; pass labels as a "
                "data frame of two columns."
            )
    return array.astype(np.int64)


def check_range(positions: IntArray, shape: tuple[int, int], name: str = "pairs") -> None:
    for axis, side in enumerate(_SIDES):
        bad = (positions[:, axis] < 0) | (positions[:, axis] >= shape[axis])
        if bad.any():
            at = int(np.argmax(bad))
            raise ValueError(
                f"{name} names {side} {positions[at, axis]} (at position {at}) where there are "
                f"{shape[axis]} {side}s, 0 to {shape[axis] - 1}; pass shape= to fit where there are more."
            )


def check_shape(shape: Any) -> tuple[int, int]:
    sides = list(shape) if isinstance(shape, (tuple, list, np.ndarray)) else []
    if len(sides) != 2 or not all(isinstance(s, (int, np.integer)) and s >= 1 for s in sides):
        raise ValueError(f"shape must be two positive integers, rows and columns; got {shape!r}.")
    return int(sides[0]), int(sides[1])


def find_labels(labels: Labels, values: Labels) -> IntArray:
    """Return the position of each value among sorted labels, -1 where it is none of them."""
    known = {label: at for at, label in enumerate(labels.tolist())}
    return np.array([known.get(value, -1) for value in values.tolist()], dtype=np.int64)


def unique_labels(*parts: Labels) -> Labels:
    """Return the distinct labels, sorted."""
    distinct: set[Any] = set().union(*(part.tolist() for part in parts))
    try:
        ordered = sorted(distinct)
    except TypeError as error:
        raise ValueError(
            "the labels of a side must be of one kind, all numbers or all text, so that they can be sorted; "
            "convert the column, as by .astype(str)."
        ) from error
    labels = np.array(ordered)
    return labels if labels.tolist() == ordered else np.array(ordered, dtype=object)


# ---------------------------------------------------------------- what fit is given


def read_ratings(
    pairs: Any, y: Any, graphs: Graphs, shape: Any, sample_weight: Any
) -> tuple[Ratings, tuple[Any, Any]]:
    """Return the checked ratings, and the labels of rows and columns, None for numbered ones."""
    labels: tuple[Any, Any] = (None, None)
    if is_frame(pairs):
        if shape is not None:
            raise ValueError("shape is for numbered rows and columns; labels name their own. Leave it out.")
        positions, graphs, labels = _read_labels(pairs, graphs)
        shape = len(labels[0]), len(labels[1])
    else:
        positions = as_positions(pairs)
        shape = _numbered_shape(positions, graphs) if shape is None else check_shape(shape)
        check_range(positions, shape)
    y = check_vector(y, "y", len(positions))
    weight = _check_weight(sample_weight, len(y))
    if weight is not None:
        # A rating of weight zero is none.
        positions, y, weight = positions[weight > 0], y[weight > 0], weight[weight > 0]
    check_varies(y[:, None])
    check_reach(y, "y")
    names = ("row_graph", "col_graph")
    row_graph, col_graph = (as_graph(g, n, name) for g, n, name in zip(graphs, shape, names, strict=True))
    # Columns of their own: sums over ratings go through these arrays many times.
    rows, cols = np.ascontiguousarray(positions.T)
    return Ratings(EntriesDesign(rows, cols, shape, weight), y, (row_graph, col_graph)), labels


def _numbered_shape(positions: IntArray, graphs: Graphs) -> tuple[int, int]:
    """Return the least shape that holds all pairs, and as many rows and columns as the graphs have nodes."""
    sides = [int(side) + 1 for side in positions.max(axis=0)]
    for axis, graph in enumerate(graphs):
        if graph is not None and not is_frame(graph):
            sides[axis] = max(sides[axis], np.shape(graph)[0])
    return sides[0], sides[1]


def _check_weight(sample_weight: Any, n: int) -> FloatArray | None:
    if sample_weight is None:
        return None
    weight = check_vector(sample_weight, "sample_weight", n)
    if (weight < 0).any():
        bad = int(np.argmax(weight < 0))
        raise ValueError(f"sample_weight must not be negative (first at position {bad}); 0 leaves one out.")
    if not weight.any():
        raise ValueError("all sample weights are zero; at least one must be positive.")
    return weight_within_reach(weight)


def _read_labels(pairs: Any, graphs: Graphs) -> tuple[IntArray, Graphs, tuple[Labels, Labels]]:
    """Turn labels into positions; the links of the graphs may bring rows or columns without a rating."""
    columns = frame_columns(pairs, "pairs", (2,))
    if len(columns[0]) == 0:
        raise ValueError("pairs is empty; at least one rating is needed.")
    links: list[list[Labels] | None] = []
    for name, graph in zip(("row_graph", "col_graph"), graphs, strict=True):
        if graph is not None and not is_frame(graph):
            raise ValueError(
                f"{name} must be a data frame of links where pairs has labels: two columns of labels and, if "
                "links have weights, a third; nothing says which label a row of a matrix belongs to."
            )
        links.append(None if graph is None else frame_columns(graph, name, (2, 3)))
    rows, cols = (
        unique_labels(column, *(side_links or [])[:2])
        for column, side_links in zip(columns, links, strict=True)
    )
    positions = np.column_stack([find_labels(rows, columns[0]), find_labels(cols, columns[1])])
    row_graph, col_graph = (
        None if given is None else _matrix_of_links(known, given)
        for known, given in zip((rows, cols), links, strict=True)
    )
    return positions, (row_graph, col_graph), (rows, cols)


def _matrix_of_links(labels: Labels, links: Sequence[Labels]) -> Any:
    """Return the symmetric matrix of labelled links: each counts once, in whichever direction it is given."""
    ends = np.sort(np.column_stack([find_labels(labels, column) for column in links[:2]]), axis=1)
    weight = np.ones(len(ends)) if len(links) == 2 else check_vector(links[2], "weights of links", len(ends))
    ends, at = np.unique(ends, axis=0, return_inverse=True)
    # Of a link that is given more than once, the largest weight.
    largest = np.full(len(ends), -np.inf)
    np.maximum.at(largest, at.ravel(), weight)
    half = sparse.coo_matrix((largest, (ends[:, 0], ends[:, 1])), shape=(len(labels), len(labels)))
    return half + half.T
