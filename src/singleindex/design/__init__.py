"""How data is read: X as an operator with matvec and rmatvec."""

from .base import Design
from .blocks import BlockDesign, ChunkError
from .chunks import ChunkedData, chunk_arrays, read_chunks
from .columns import DenseColumns, SparseColumns
from .convert import as_design, as_row_design, at_hand, multiply, take_rows
from .csr import CsrDesign
from .dense import DenseDesign
from .entries import EntriesDesign
from .folds import BlockKFold, GroupHashKFold, HashKFold
from .gpu import on_gpu
from .many import ManySweep, ManyVisit
from .moments import Moments
from .sparse import SparseDesign
from .sweep import Sweep, Visit
from .view import Chain, Scaling, View, column_factors

__all__ = [
    "BlockDesign",
    "BlockKFold",
    "Chain",
    "ChunkError",
    "ChunkedData",
    "CsrDesign",
    "DenseColumns",
    "DenseDesign",
    "Design",
    "EntriesDesign",
    "GroupHashKFold",
    "HashKFold",
    "ManySweep",
    "ManyVisit",
    "Moments",
    "Scaling",
    "SparseColumns",
    "SparseDesign",
    "Sweep",
    "View",
    "Visit",
    "as_design",
    "as_row_design",
    "at_hand",
    "chunk_arrays",
    "column_factors",
    "multiply",
    "on_gpu",
    "read_chunks",
    "take_rows",
]
