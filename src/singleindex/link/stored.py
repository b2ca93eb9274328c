"""The links that files hold: those of models, of streams and of checkpoints."""

from __future__ import annotations

from typing import Any

from .curve import MonotoneCurve
from .fitters import ShiftedLink

STORED_LINKS: dict[str, type[Any]] = {"MonotoneCurve": MonotoneCurve, "ShiftedLink": ShiftedLink}


def check_link(link: Any) -> None:
    """Raise where this is no link that a file can hold, or one whose parts do not go together."""
    if not isinstance(link, (MonotoneCurve, ShiftedLink)):
        raise ValueError(f"a link must be a curve or a known link, got a {type(link).__name__}")
    link.check()
