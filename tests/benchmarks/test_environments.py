"""The peers' environments: made once, again for other pins; a failure is told. Nothing is installed."""

import subprocess
import sys
import venv

import pytest

from benchmarks.side_by_side import environments
from benchmarks.side_by_side.environments import GROUPS, Environment, make_environment

PINS = ("a-peer==1.0", "numpy==2.0")


@pytest.fixture
def installed(monkeypatch):
    """Stand in for venv and pip; return the list of what was installed, or an error in its place."""
    installed = []

    def create(home, with_pip):
        assert not home.exists(), "what was there before must be gone"
        (home / "bin").mkdir(parents=True)
        (home / "bin" / "python").touch()

    def run(command, **options):
        pins = tuple(part for part in map(str, command) if "==" in part)
        if installed and isinstance(installed[-1], Exception):
            raise installed.pop()
        installed.append(pins)

    monkeypatch.setattr(venv, "create", create)
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(environments, "versions", lambda python, names: dict.fromkeys(names, "1.0"))
    monkeypatch.setitem(GROUPS, "a group", PINS)
    return installed


def test_pins_are_installed_once_and_others_anew(installed, monkeypatch, tmp_path):
    first = make_environment("a group", tmp_path)
    assert make_environment("a group", tmp_path) == first
    assert first.python == str(tmp_path / "a-group" / "bin" / "python")
    assert (first.error, first.packages) == (None, {"a-peer": "1.0", "numpy": "1.0"})
    newer = ("a-peer==1.1", "numpy==2.0")
    monkeypatch.setitem(GROUPS, "a group", newer)
    make_environment("a group", tmp_path)
    make_environment("a group", tmp_path)
    assert installed == [PINS, newer]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (subprocess.CalledProcessError(1, "pip", stderr="  building\nERROR: no wheel\nERROR: x"), "no wheel"),
        (subprocess.CalledProcessError(1, "pip", stderr="killed"), "pip failed"),
        (subprocess.TimeoutExpired("pip", 600), "Command 'pip' timed out after 600 seconds"),
        (OSError("no space left"), "no space left"),
    ],
)
def test_a_failure_is_told_and_leaves_no_stamp(installed, monkeypatch, tmp_path, error, reason):
    make_environment("a group", tmp_path)
    monkeypatch.setitem(GROUPS, "a group", ("a-peer==9.9",))
    installed.append(error)
    failed = make_environment("a group", tmp_path)
    assert failed == Environment("a group", None, error=f"did not install: {reason}")
    monkeypatch.setitem(GROUPS, "a group", PINS)
    assert make_environment("a group", tmp_path).error is None
    assert installed == [PINS, PINS]


def test_the_own_environment_is_this_one(tmp_path):
    own = make_environment("own", tmp_path)
    assert own.python == sys.executable
    assert {"singleindex", "numpy", "scipy", "scikit-learn", "clarabel", "piqp"} <= own.packages.keys()
    assert list(tmp_path.iterdir()) == []
