"""The third stage, second half: write RESULTS.md and the page."""

from __future__ import annotations

import json
from pathlib import Path

from .analyse import Results
from .document import Text, as_markdown, as_page
from .sections import document
from .units import Store

HERE = Path(__file__).parent
STORED = HERE / "results"
TITLE = "The paper's evaluation, rerun"
PAGE_NAME = "results.html"


def read(folder: Path) -> tuple[Results, dict[str, dict]]:
    path = folder / "runs.json"
    runs = json.loads(path.read_text()) if path.exists() else {}
    return Results(Store(folder).records().values()), runs


def as_text(folder: Path = STORED) -> str:
    """Return RESULTS.md for the results in this folder."""
    blocks = document(*read(folder))
    link = Text(f"With plots: [{PAGE_NAME}]({PAGE_NAME}), one file that needs nothing beside it.")
    return as_markdown(TITLE, [blocks[0], link, *blocks[1:]])


def as_html(folder: Path = STORED) -> str:
    return as_page(TITLE, document(*read(folder)))


def write(folder: Path, target: Path) -> list[Path]:
    """Write both files for the results in `folder`; return where they are."""
    target.mkdir(parents=True, exist_ok=True)
    paths = [target / "RESULTS.md", target / PAGE_NAME]
    paths[0].write_text(as_text(folder))
    paths[1].write_text(as_html(folder))
    return paths
