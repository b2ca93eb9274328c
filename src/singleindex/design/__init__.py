"""How data is read: X as an operator with matvec and rmatvec."""

from .base import Design
from .dense import DenseDesign
from .entries import EntriesDesign
from .expanded import ExpandedDesign
from .mapped import MappedDesign
from .scaled import ScaledDesign, as_design, column_scale
from .sparse import SparseDesign

__all__ = [
    "DenseDesign",
    "Design",
    "EntriesDesign",
    "ExpandedDesign",
    "MappedDesign",
    "ScaledDesign",
    "SparseDesign",
    "as_design",
    "column_scale",
]
