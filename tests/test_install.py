"""The scripts that `make` and `.ci/run` install by."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / ".ci"


def run_script(name, *args, **variables):
    done = subprocess.run(
        [sys.executable, SCRIPTS / name, *args], capture_output=True, text=True, env=variables or None
    )
    return done.returncode, done.stdout.strip(), done.stderr


def test_every_least_version_is_pinned():
    _, out, _ = run_script("minimums.py")
    pins = dict(line.split("==") for line in out.splitlines())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for requirement in [*project["dependencies"], *extras["plot"], *extras["onnx"], extras["dask"][0]]:
        name, least = requirement.split(">=")
        assert pins[name.split("[")[0]] == least
    assert "singleindex" not in pins


def put_python(folder, minor, text):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"python3.{minor}"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")
def test_the_newest_python_is_one_that_runs(tmp_path):
    shims, versions = tmp_path / "pyenv" / "shims", tmp_path / "pyenv" / "versions"
    put_python(shims, 98, "exit 127")
    put_python(versions / "3.99" / "bin", 99, "exit 1")
    newest = put_python(versions / "3.97" / "bin", 97, "exit 0")
    put_python(tmp_path, 96, "exit 0")
    assert run_script("find_python.py", "newest", PATH=f"{tmp_path}:{shims}")[:2] == (0, str(newest))


@pytest.mark.parametrize("which", ["oldest", "newest"])
def test_where_there_is_none_it_is_said(which, tmp_path):
    code, out, err = run_script("find_python.py", which, PATH=str(tmp_path))
    assert (code, out) == (1, "")
    assert "There is no Python" in err
