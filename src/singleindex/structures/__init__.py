"""What w may look like: one file per atomic set."""

from .base import Structure
from .sparse import Sparse

__all__ = ["Sparse", "Structure"]
