"""How data is read: X as an operator with matvec and rmatvec."""

from .base import Design
from .blocks import BlockDesign, ChunkError
from .chunks import ChunkedData, chunk_arrays, read_chunks
from .csr import CsrDesign
from .dense import DenseDesign
from .entries import EntriesDesign
from .expanded import ExpandedDesign
from .mapped import MappedDesign
from .scaled import ScaledDesign, as_design, as_row_design, column_scale
from .sparse import SparseDesign
from .sweep import Sweep, Visit

__all__ = [
    "BlockDesign",
    "ChunkError",
    "ChunkedData",
    "CsrDesign",
    "DenseDesign",
    "Design",
    "EntriesDesign",
    "ExpandedDesign",
    "MappedDesign",
    "ScaledDesign",
    "SparseDesign",
    "Sweep",
    "Visit",
    "as_design",
    "as_row_design",
    "chunk_arrays",
    "column_scale",
    "read_chunks",
]
