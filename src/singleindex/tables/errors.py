"""What is said of tables that cannot be used as they are."""

from __future__ import annotations


class TableError(ValueError):
    """A table that cannot be used as it is; the message contains the fix as an option."""


class LeakWarning(UserWarning):
    """A column nearly decides the target alone: often it was written down after it."""
