"""Models in files that hold numbers and text only, so that loading one runs no code."""

from .archive import ModelFileError
from .public import load, load_notes, save
from .tables import load_table

__all__ = ["ModelFileError", "load", "load_notes", "load_table", "save"]
