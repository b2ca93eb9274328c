"""How the sweep's kernel is laid out for data of a given width: arithmetic, the same on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from math import gcd
from typing import Any

import numpy as np

# How numbers may be stored, in the order of STORAGE in numbers.cuh, with their bytes.
STORAGES = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2}


@dataclass(frozen=True)
class Layout:
    """What a kernel may be made of.

    Attributes
    ----------
    warps : int
        Of a block.
    team : int
        The most warps of a team.
    columns : int
        The most columns, of all models together, that a thread keeps in registers.
    rows : int
        The most rows of a tile.
    stages : int
        The tiles in the ring of a team, where there is room for them; else three or two.
    held : bool
        Whether a thread keeps its part of the tile in registers, too.
    """

    warps: int
    team: int
    columns: int
    rows: int = 8
    stages: int = 3
    held: bool = False


# In the order in which they are tried, as measured. Many warps where rows are short, since each waits for its
# own link; few, with many columns each, where they are long. A tile that is held leaves its place at once, so
# that one is enough: what it leaves of shared memory is a cache for the link.
_LAYOUTS = {
    "float32": (Layout(8, 8, 64), Layout(16, 16, 32)),
    "float64": (Layout(16, 16, 16),),
    "float16": (Layout(12, 1, 8, 16, stages=1, held=True), Layout(16, 16, 32)),
    "bfloat16": (Layout(12, 1, 8, 16, stages=1, held=True), Layout(16, 16, 32)),
}
# The same where the index of data in single precision is summed in double, for one model, and the longest
# such rows: with more columns the registers for w leave too few teams to wait for each other.
_WIDE_LAYOUTS = (Layout(12, 1, 8, stages=1, held=True), Layout(16, 2, 16), Layout(8, 8, 32))
_MOST_WIDE = 4096
# The same for clusters.
_CLUSTERED = {"float32": Layout(8, 8, 64, 1)}
# Tiles of so many bytes are two in the ring of a team; of smaller ones, and in clusters, three do better.
_LONG_TILE = 48 << 10
# Registers of a thread for a tile that it holds.
_MOST_HELD = 64
# Shared memory for the tiles of a block, and what else lies there.
MOST_SHARED = 220 << 10
# Rows that are summed in the precision of the data before the sums are added up in double.
PATCH = 2048
# The most models that one visit serves.
MOST_MODELS = 8
_BULK = 16  # bytes that bulk copies, and where they begin, must be multiples of


@dataclass(frozen=True)
class Shape:
    """A layout of the kernel in `sweep.cu`, whose macros these are."""

    storage: str
    vec: int
    cpt: int
    models: int
    team: int
    teams: int
    rows: int
    stages: int
    cluster: int = 1
    held: bool = False
    wide: bool = False

    @property
    def threads(self) -> int:
        return 32 * self.team * self.teams

    def shared_bytes(self, d: int) -> int:
        """Return how much shared memory a block needs."""
        return self.teams * (
            self.stages * (_tile(self.rows, self.width(d), self.storage) + 8)
            + 16
            + 16 * self.rows * self.models * self.cluster * self.team
        )

    def width(self, d: int) -> int:
        """Return how many columns a block has, at most."""
        share = -(-d // self.cluster)
        return share if self.cluster == 1 else -(-share // self.vec) * self.vec

    @property
    def lanes(self) -> int:
        """How many lanes of a warp look after the rows of one model."""
        pairs = 1
        while pairs < self.rows * self.models:
            pairs *= 2
        return self.rows * (32 // pairs)

    def blocks(self, n_multiprocessors: int) -> int:
        """Return how many blocks there are: one for each multiprocessor, fewer in clusters.

        These must lie within parts of the chip that need not have a multiple of their number; a cluster that
        finds no place would wait until all others are done.
        """
        if self.cluster == 1:
            return n_multiprocessors
        return max(7 * n_multiprocessors // (8 * self.cluster), 1) * self.cluster

    def workers(self, n_blocks: int) -> int:
        """Return how many teams, or clusters, share the rows."""
        return n_blocks // self.cluster if self.cluster > 1 else n_blocks * self.teams

    def options(self) -> tuple[str, ...]:
        """Return the macros for the compiler."""
        return (
            *storage_options(self.storage, self.vec, self.wide), f"-DCPT={self.cpt}",
            f"-DMODELS={self.models}", f"-DTEAM={self.team}", f"-DTEAMS={self.teams}", f"-DROWS={self.rows}",
            f"-DSTAGES={self.stages}", f"-DCLUSTER={self.cluster}", f"-DPATCH={PATCH}",
            f"-DHELD={int(self.held)}",
        )  # fmt: skip


def storage_options(storage: str, vec: int, wide: bool = False) -> tuple[str, ...]:
    return f"-DSTORAGE={list(STORAGES).index(storage)}", f"-DVEC={vec}", f"-DWIDE={int(wide)}"


def is_wide(d: int, storage: str, models: int = 1) -> bool:
    """Tell whether w, and the sums of an index, are in double where the data are not."""
    return storage == "float32" and d <= _MOST_WIDE and models == 1


def type_of_w(d: int, storage: str, models: int = 1) -> np.dtype[Any]:
    """Return the type of w, and of sums of an index, on the device: `wide` in numbers.cuh."""
    return np.dtype(np.float64 if storage == "float64" or is_wide(d, storage, models) else np.float32)


def vector_length(d: int, storage: str) -> int:
    """Return how many numbers are read at once: as many as 16 bytes hold and every row begins at."""
    return gcd(d, _BULK // STORAGES[storage])


@lru_cache(maxsize=256)
def shape_for(d: int, storage: str, models: int = 1) -> Shape | None:
    """Return the layout for rows of d numbers, None where two products are the way to go.

    The smallest team is taken whose threads have room for all columns and whose tiles have room in shared
    memory: the smaller a team, the less it waits for its own. Where rows are too long, a cluster shares them.
    """
    if not 1 <= models <= MOST_MODELS:
        return None
    layouts = _WIDE_LAYOUTS if is_wide(d, storage, models) else _LAYOUTS[storage]
    by_teams = (shapes_of(layout, d, storage, models) for layout in layouts)
    return next(chain(*by_teams, clusters_of(_CLUSTERED.get(storage, layouts[-1]), d, storage, models)), None)


def shapes_of(layout: Layout, d: int, storage: str, models: int = 1) -> Iterator[Shape]:
    """Yield the shapes of teams for rows of d numbers, in the order in which they are wanted."""
    vec, size = vector_length(d, storage), STORAGES[storage]
    least_rows = _BULK // gcd(_BULK, d * size)
    team = 1
    while team <= layout.team:
        shape = Shape(
            storage, vec, 1, models, team, layout.warps // team, least_rows, 2, held=layout.held,
            wide=is_wide(d, storage, models),
        )  # fmt: skip
        yield from _with_rows(d, shape, layout)
        team *= 2


def clusters_of(layout: Layout, d: int, storage: str, models: int = 1) -> Iterator[Shape]:
    """Yield the shapes of clusters, whose blocks are one team each."""
    vec, size = vector_length(d, storage), STORAGES[storage]
    # Several models in a cluster would need more registers than there are.
    if models == 1 and (d * size) % _BULK == 0 and vec * size == _BULK:
        for cluster in (2, 4, 8):
            yield from _with_rows(d, Shape(storage, vec, 1, models, layout.warps, 1, 1, 2, cluster), layout)


def _with_rows(d: int, shape: Shape, layout: Layout) -> Iterator[Shape]:
    """Yield the shape with as many rows in a tile as there is room for, if there is."""
    cpt = -(-shape.width(d) // (shape.vec * 32 * shape.team))
    if cpt * shape.vec * shape.models > max(layout.columns, shape.vec):
        return
    is_long = shape.cluster == 1 and _tile(shape.rows, shape.width(d), shape.storage) >= _LONG_TILE
    held = _registers(shape.vec, cpt, shape.storage) if shape.held else 0
    most_rows = max(min(layout.rows, _MOST_HELD // max(held, 1)), shape.rows)
    for stages in dict.fromkeys((2 if is_long else layout.stages, 3, 2)):
        fitting = None
        rows = shape.rows
        while rows <= most_rows and rows * shape.models <= 32:
            grown = replace(shape, cpt=cpt, rows=rows, stages=stages)
            if grown.shared_bytes(d) > MOST_SHARED:
                break
            fitting, rows = grown, 2 * rows
        if fitting is not None:
            yield fitting


def _registers(vec: int, cpt: int, storage: str) -> int:
    """Return in how many registers a thread holds its part of a row, as it is stored."""
    return cpt * max(vec * STORAGES[storage] // 4, 1)


def _tile(rows: int, width: int, storage: str) -> int:
    return -(-rows * width * STORAGES[storage] // 128) * 128
