"""What became of the columns of a table, in words."""

from __future__ import annotations

from .columns import abridged
from .preparation import Preparation


def column_notes(preparation: Preparation) -> list[str]:
    """Return what was done to columns, as far as people should know it."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in preparation.dropped.items():
        kind = "constant" if reason.startswith("constant") else reason
        by_reason.setdefault(kind, []).append(name)
    notes = [f"left out {abridged(names, 5)}: {reason}" for reason, names in by_reason.items()]
    for name, values in preparation.categories.items():
        n = len(preparation.names_of(name))
        notes.append(f"column {name!r} is text: {n} feature{'' if n == 1 else 's'}, {abridged(values, 5)}")
    if preparation.imputed:
        notes.append(
            f"missing numbers filled with the {preparation.imputed}, text with its most frequent value"
        )
    return notes
