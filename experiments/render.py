"""The third stage, second half: write RESULTS.md and its pictures."""

from __future__ import annotations

import json
from pathlib import Path

from .analyse import Results
from .document import IMAGES, Picture, as_markdown
from .sections import document
from .units import Store

HERE = Path(__file__).parent
STORED = HERE / "results"
TITLE = "The paper's evaluation, rerun"


def read(folder: Path) -> tuple[Results, dict[str, dict]]:
    path = folder / "runs.json"
    runs = json.loads(path.read_text()) if path.exists() else {}
    return Results(Store(folder).records().values()), runs


def as_files(folder: Path = STORED) -> dict[str, str]:
    """Return RESULTS.md and the pictures of the results in this folder, by their paths."""
    blocks = document(*read(folder))
    pictures = [block for block in blocks if isinstance(block, Picture)]
    return {"RESULTS.md": as_markdown(TITLE, blocks)} | {
        f"{IMAGES}/{one.name}.svg": one.svg for one in pictures
    }


def write(folder: Path, target: Path) -> list[Path]:
    """Write them for the results in `folder`; return where they are."""
    (target / IMAGES).mkdir(parents=True, exist_ok=True)
    files = {target / name: text for name, text in as_files(folder).items()}
    for path, text in files.items():
        path.write_text(text)
    return list(files)
