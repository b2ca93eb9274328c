"""Where the files of the data sets lie."""

import os
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "SINGLEINDEX_DATA"


@dataclass(frozen=True)
class Source:
    """A folder of files and where they are published."""

    folder: str
    published: str


def data_folders() -> list[Path]:
    """List the folders to look in: `$SINGLEINDEX_DATA` if it is set, then those of `shared_folders`."""
    named = os.environ.get(VARIABLE)
    return [*([Path(named).expanduser()] if named else []), *shared_folders()]


def shared_folders() -> list[Path]:
    """List every `shared/data` beside a parent of the working directory or of this file."""
    starts = [Path.cwd(), Path(__file__).resolve()]
    candidates = [parent / "shared" / "data" for start in starts for parent in [start, *start.parents]]
    return [folder for folder in dict.fromkeys(candidates) if folder.is_dir()]


def find_file(source: Source, name: str) -> Path:
    """Return the path of a file, or raise with where to get it and where to put it.

    Raises
    ------
    FileNotFoundError
    """
    folders = data_folders()
    for folder in folders:
        path = folder / source.folder / name
        if path.is_file():
            return path
    searched = ", ".join(map(str, folders)) or "no folder shared/data found"
    raise FileNotFoundError(
        f"The data file {source.folder}/{name} is missing (looked in: {searched}). "
        f"It is published at {source.published}. Put it at "
        f"${VARIABLE}/{source.folder}/{name}, or at shared/data/{source.folder}/{name} "
        "beside the checkout."
    )
