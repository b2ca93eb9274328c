"""Which source a stored result was made from: the last commit that changed the library, told in one way."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIRTY = "-dirty"


def source_commit(*paths: str) -> str:
    """Return the last commit that changed these (by default the library), marked where they changed since."""
    paths = paths or ("src",)
    commit = git("log", "-1", "--format=%h", "--", *paths)
    return commit + DIRTY if git("status", "--porcelain", "--", *paths) else commit


def commits_text(commits: Iterable[str]) -> str:
    """Say which source figures are of; figures of several are no comparison."""
    known = sorted(set(commits))
    if not known:
        return "The commit is not known."
    several = f"**Of several commits: {', '.join(known)}.**"
    return several if len(known) > 1 else f"Made from commit {known[0]}."


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()
