"""Which stored results are older than the code they tell of: `python -m benchmarks.evidence`.

Every stored result names the commit of the source it was made from. It is stale where the code that it
measures is another one now (words in docstrings and comments are no code), or where it was made from a tree
with changes. The exit code is the number of stale ones.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from .provenance import DIRTY, ROOT, git

FITS = ("design", "estimators", "fitting", "link", "solvers", "structures")
# What a result tells of, in src/singleindex; results that are not named here tell of fits.
SOURCES = {
    "cli.md": ("cli", "tables", *FITS),
    "service.json": ("cli", "tables", "persistence"),
    "mlflow.json": ("export", "persistence", "tables"),
    "uncertainty.jsonl": ("inspection", *FITS),
}
FOLDERS = (ROOT / "benchmarks" / "results", ROOT / "experiments" / "results")
DEMO = ROOT / "docs" / "images" / "demo.md"
MADE_FROM = re.compile(r"commit ([0-9a-f]{7,40}(?:-dirty)?)")


def stored_results() -> list[Path]:
    """Return the results that were measured, without the pages and the logs made from them."""
    files = [path for folder in FOLDERS for path in folder.iterdir()]
    found = [path for path in files if path.suffix in (".json", ".jsonl", ".md")]
    measured = {path.with_suffix("") for path in found if path.suffix != ".md"}
    pages = [path for path in found if path.suffix == ".md" and path.with_suffix("") in measured]
    return sorted(path for path in [*found, DEMO] if path not in pages and path.name != "runs.json")


def commits_of(path: Path) -> set[str]:
    """Return the commits that a result was made from; none where it does not tell."""
    if path.suffix == ".md":
        return set(MADE_FROM.findall(path.read_text(encoding="utf-8")))
    if path.suffix == ".json":
        return set(_commits_in(json.loads(path.read_text(encoding="utf-8"))))
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    if path.parent == FOLDERS[1]:
        runs = json.loads(path.with_name("runs.json").read_text(encoding="utf-8"))
        return {runs.get(line["run"], {}).get("commit", "") for line in lines} - {""}
    return {line["commit"] for line in lines} - {""}


def _commits_in(known) -> list[str]:
    """Return every `commit` of a tree of dictionaries and lists."""
    if isinstance(known, list):
        return [commit for one in known for commit in _commits_in(one)]
    if not isinstance(known, dict):
        return []
    own = [known["commit"]] if known.get("commit") else []
    return own + [commit for value in known.values() for commit in _commits_in(value)]


def changed_since(path: Path, commit: str) -> list[str]:
    """Return the files of what a result tells of whose code is another than at a commit."""
    folders = [f"src/singleindex/{name}" for name in SOURCES.get(path.name, FITS)]
    then = commit.removesuffix(DIRTY)
    names = git("diff", "--name-only", "--no-renames", then, "HEAD", "--", *folders).splitlines()
    return [name for name in names if code_at(then, name) != code_at("HEAD", name)]


@cache
def code_at(commit: str, name: str) -> str:
    """Return what a file does, without words in the case of Python; "" where it is not there."""
    try:
        text = git("show", f"{commit}:{name}")
    except subprocess.CalledProcessError:
        return ""
    return without_words(text) if name.endswith(".py") else text


def without_words(source: str) -> str:
    """Return the syntax tree of Python without its docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [ast.Pass(), *node.body[ast.get_docstring(node) is not None :]]
    return ast.dump(tree)


def why_stale(path: Path) -> str:
    """Return in what way a result is older than the code; "" where it is not."""
    reasons = []
    for commit in sorted(commits_of(path)):
        changed = changed_since(path, commit)
        if changed:
            reasons.append(f"{len(changed)} files of its code changed since {commit}, {changed[0]} first")
        elif commit.endswith(DIRTY):
            reasons.append(f"made from {commit.removesuffix(DIRTY)} with changes")
    return "; ".join(reasons)


def main() -> int:
    stale = 0
    for path in stored_results():
        told = "tells no commit" if not commits_of(path) else why_stale(path)
        stale += bool(told)
        print(f"{path.relative_to(ROOT)}: {told or 'up to date'}")
    return stale


if __name__ == "__main__":
    sys.exit(main())
