"""What w may look like: one file per atomic set."""

from .base import LinearMap as LinearMap
from .base import Structure
from .dictionary import Dictionary
from .each_output import EachOutput as EachOutput
from .graph import GraphSmoother as GraphSmoother
from .graph_low_rank import GraphLowRank
from .groups import GroupSparse
from .low_rank import LowRank
from .rows import RowSparse
from .sparse import Sparse

__all__ = [
    "Dictionary",
    "GraphLowRank",
    "GroupSparse",
    "LowRank",
    "RowSparse",
    "Sparse",
    "Structure",
]
