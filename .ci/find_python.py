"""Print the path of a Python to test with.

`oldest` is the one that requires-python begins at, `newest` the newest of those after the one that runs this.
Where there is none, says so and fails.
"""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
Version = tuple[int, int]

# What it takes to build the package in a new environment. Debian has a package for each.
PROBE = """
import ensurepip, os, sys, sysconfig, venv
has_headers = os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
sys.exit(not (has_headers and sys.version_info.releaselevel == "final"))
"""


def folders() -> Iterator[Path]:
    """Yield where Pythons may lie: on PATH, and beside the shims of pyenv, which run the chosen one only."""
    for folder in map(Path, os.environ["PATH"].split(os.pathsep)):
        yield folder
        if folder.name == "shims":
            yield from folder.parent.glob("versions/*/bin")


def find_pythons() -> dict[Version, Path]:
    """Return a Python of each version that runs and can build; the first on PATH of several."""
    found: dict[Version, Path] = {}
    for folder in folders():
        for path in folder.glob("python3.*"):
            named = re.fullmatch(r"python3\.(\d+)", path.name)
            if named and (3, int(named[1])) not in found and can_build(path):
                found[3, int(named[1])] = path
    return found


def can_build(python: Path) -> bool:
    return subprocess.run([python, "-c", PROBE], capture_output=True).returncode == 0


def choose(which: str) -> Path:
    pythons = find_pythons()
    if which == "newest":
        newest = max(pythons, default=(0, 0))
        if newest > sys.version_info[:2]:
            return pythons[newest]
        sys.exit(f"There is no Python newer than {sys.version_info[0]}.{sys.version_info[1]} here.")
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    major, minor = wanted.removeprefix(">=").split(".")
    if (int(major), int(minor)) in pythons:
        return pythons[int(major), int(minor)]
    sys.exit(f"There is no Python {major}.{minor} here that can build the package.")


if __name__ == "__main__":
    print(choose(sys.argv[1]))
