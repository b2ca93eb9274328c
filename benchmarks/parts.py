"""Long measurements in parts: each is stored as it comes, and a rerun passes over those of this source."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .provenance import DIRTY, source_commit


def measure_parts(
    path: Path, measures: Mapping[str, Callable[[bool], Any]], quick: bool = False
) -> dict[str, Any]:
    """Run what the file has not of this commit, and return all that is known.

    A quick run reads and writes nothing.
    """
    if quick:
        return {name: measure(True) for name, measure in measures.items()}
    known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    made_from, commit = known.setdefault("made_from", {}), source_commit()
    for name, measure in measures.items():
        if commit.endswith(DIRTY) or made_from.get(name) != {"commit": commit}:
            known[name], made_from[name] = measure(False), {"commit": commit}
            path.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    return known
