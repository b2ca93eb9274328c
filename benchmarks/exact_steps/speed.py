"""Single fits and paths on independent columns, beside those of an earlier commit: within 10 % is the aim.

Both versions are installed in environments of their own and fit in turns; the ratio is that of medians of
seven.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from importlib.metadata import version
from pathlib import Path

import numpy as np

from benchmarks.pages import as_table
from benchmarks.side_by_side.session import one_thread

from .compare import passed
from .ours import OURS
from .public_calls import CALLS

NAME = "speed"
TITLE = "Single fits and paths"
BASELINE = "4e2c9e8"
FOLDER = Path(__file__).with_name(".baseline")
MINE = ("ours",)
FAMILIES = {"ours": None}
REPEATS = 7
LIMIT = 1.1


def cells() -> list[str]:
    return list(CALLS)


def make(cell: str, seed: int):
    return cell, seed


def measure(family, task):
    """Let both versions make the same call in turns, after one to warm up."""
    call, seed = task
    pythons = {"now": sys.executable, "before": install_baseline()}
    processes = {name: start(python) for name, python in pythons.items()}
    try:
        seconds = {name: [] for name in processes}
        for turn in range(REPEATS + 1):
            for name, process in processes.items():
                taken = ask(process, call, seed)
                if turn:
                    seconds[name].append(taken)
    finally:
        for process in processes.values():
            process.kill()
            process.communicate()
    now, before = (float(np.median(seconds[name])) for name in ("now", "before"))
    return {OURS: {"seconds": now, "seconds_before": before, "ratio": now / before}}


def install_baseline() -> str:
    """Install the earlier commit, unless it is there; return its interpreter."""
    python = FOLDER / BASELINE / "bin" / "python"
    if not (FOLDER / BASELINE / "installed").exists():
        source = FOLDER / f"{BASELINE}-source"
        root = Path(__file__).parents[2]
        if not source.exists():
            subprocess.run(["git", "clone", "--quiet", str(root), str(source)], check=True)
        subprocess.run(["git", "checkout", "--quiet", BASELINE], cwd=source, check=True)
        venv.create(FOLDER / BASELINE, with_pip=True)
        pins = [f"{name}=={version(name)}" for name in ("numpy", "scipy", "scikit-learn")]
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(source), *pins], check=True)
        (FOLDER / BASELINE / "installed").touch()
    return str(python)


def start(python: str) -> subprocess.Popen:
    script = Path(__file__).with_name("public_calls.py")
    return subprocess.Popen(
        [python, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=one_thread(),
        cwd=FOLDER,
    )  # fmt: skip


def ask(process: subprocess.Popen, call: str, seed: int) -> float:
    process.stdin.write(json.dumps([call, seed]) + "\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def section(figures) -> list[str]:
    rows = []
    for cell, methods in figures.items():
        found = list(methods.get(OURS, {}).values())
        if found:
            now, before, ratio = (
                float(np.median([each[key] for each in found]))
                for key in ("seconds", "seconds_before", "ratio")
            )
            rows.append([cell, f"{now:.4f}", f"{before:.4f}", f"{ratio:.2f}", passed(ratio <= LIMIT)])
    return as_table(["call", "seconds", f"at {BASELINE}", "ratio", "within 10 %"], rows)
