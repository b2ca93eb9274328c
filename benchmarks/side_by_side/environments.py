"""The peers' environments: one per group whose pins go together, made once and kept.

`own` is the environment of this project, with scikit-learn, scipy and the QP solvers. A group that cannot be
installed is reported with the reason; its peers then appear in the results as rows that say so.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).with_name(".environments")
# Pinned, so that two runs compare. What a group needs besides is pinned by what these ask for.
GROUPS: dict[str, tuple[str, ...]] = {
    "own": (),
    "numba": ("skglm==0.5", "numba==0.68.1", "numpy==2.4.6", "scikit-learn==1.9.1"),
    # Its multi-task lasso calls what scikit-learn has not had since 1.6.
    "celer": ("celer==0.7.4", "numpy==2.2.6", "scikit-learn==1.5.2", "scipy==1.15.3"),
    "numpy 2": (
        "python-glmnet==2.6.1", "cyanure==1.2.2", "abess==0.4.11", "numpy==2.4.6",
        "scikit-learn==1.9.1",
    ),
    "numpy 1": ("adelie==1.1.52", "numpy==1.26.4", "scikit-learn==1.9.1"),
    "trees": ("lightgbm==4.7.0", "interpret-core==0.7.8", "numpy==2.4.6", "scikit-learn==1.9.1"),
    # For benchmarks.block_search alone.
    "cluster": ("dask-ml==2025.1.0", "dask[array]==2026.8.0", "distributed==2026.8.0", "numpy==2.4.6"),
    # For benchmarks.intervals alone.
    "conformal": ("MAPIE==1.6.0", "numpy==2.4.6", "scikit-learn==1.9.1"),
    "ratings": ("scikit-surprise==1.1.5", "implicit==0.7.3", "numpy==2.4.6", "pandas==3.0.6"),
}  # fmt: skip
OWN_PEERS = ("clarabel", "piqp")
# Told of beside the peers of a group.
_ALWAYS = ("numpy", "scipy", "scikit-learn")
_VERSIONS = """
import json, sys
from importlib.metadata import PackageNotFoundError, version
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = version(name)
    except PackageNotFoundError:
        pass
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Environment:
    """A group's interpreter and the versions it has, or the reason why there is none."""

    group: str
    python: str | None
    packages: dict[str, str] = field(default_factory=dict)
    error: str | None = None


def make_environment(group: str, folder: Path = FOLDER) -> Environment:
    """Install a group's peers, unless they are there already."""
    pins = GROUPS[group]
    if not pins:
        return Environment(group, sys.executable, versions(sys.executable, ("singleindex", *OWN_PEERS)))
    home = folder / group.replace(" ", "-")
    python, stamp = home / "bin" / "python", home / "pins.json"
    # `exists` follows the link: an interpreter that was removed from the machine leaves the stamp behind.
    if not python.exists() or not stamp.exists() or json.loads(stamp.read_text()) != list(pins):
        error = _install(home, python, pins)
        if error is not None:
            return Environment(group, None, error=f"did not install: {error}")
        stamp.write_text(json.dumps(pins))
    return Environment(group, str(python), versions(str(python), [pin.split("==")[0] for pin in pins]))


def _install(home: Path, python: Path, pins: tuple[str, ...]) -> str | None:
    """Return the reason why the pins could not be installed, None where they could."""
    shutil.rmtree(home, ignore_errors=True)
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pins]
    try:
        venv.create(home, with_pip=True)
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    except subprocess.CalledProcessError as failed:
        # venv runs ensurepip without a stderr of its own.
        lines = [line for line in (failed.stderr or "").splitlines() if line.startswith("ERROR")]
        return (lines or ["pip failed"])[0].removeprefix("ERROR: ")
    except (OSError, subprocess.TimeoutExpired) as failed:
        return str(failed)
    return None


def versions(python: str, packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of packages, as that interpreter sees them; those it has not are left out."""
    command = [python, "-c", _VERSIONS, *dict.fromkeys((*packages, *_ALWAYS))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found
