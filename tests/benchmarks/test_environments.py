"""The peers' environments: made once, again for other pins; a failure is told. Nothing is installed."""

import subprocess
import sys
import venv

import pytest

from benchmarks.side_by_side import environments
from benchmarks.side_by_side.environments import GROUPS, Environment, make_environment

PINS = ("a-peer==1.0", "numpy==2.0")


@pytest.fixture
def machine(monkeypatch):
    """Stand in for venv and pip; return the list of what was installed."""
    installed = []

    def create(home, with_pip):
        assert with_pip
        assert not home.exists(), "what was there before must be gone"
        (home / "bin").mkdir(parents=True)
        (home / "bin" / "python").touch()

    def run(command, **options):
        installed.append(tuple(part for part in map(str, command) if "==" in part))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(venv, "create", create)
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(environments, "versions", lambda python, names: dict.fromkeys(names, "1.0"))
    monkeypatch.setitem(GROUPS, "a group", PINS)
    return installed


def fails(monkeypatch, error):
    def run(command, **options):
        raise error

    monkeypatch.setattr(subprocess, "run", run)


def test_what_is_there_is_not_installed_again(machine, tmp_path):
    first = make_environment("a group", tmp_path)
    assert machine == [PINS]
    assert make_environment("a group", tmp_path) == first
    assert machine == [PINS]
    assert first.error is None
    assert first.python == str(tmp_path / "a-group" / "bin" / "python")
    assert first.version("a-peer") == "1.0"
    assert first.version("another") is None


def test_other_pins_are_installed(machine, monkeypatch, tmp_path):
    make_environment("a group", tmp_path)
    newer = ("a-peer==1.1", "numpy==2.0")
    monkeypatch.setitem(GROUPS, "a group", newer)
    make_environment("a group", tmp_path)
    make_environment("a group", tmp_path)
    assert machine == [PINS, newer]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            subprocess.CalledProcessError(1, "pip", stderr="  building\nERROR: no wheel for it\nERROR: more"),
            "did not install: no wheel for it",
        ),
        (subprocess.CalledProcessError(1, "pip", stderr="killed"), "did not install: pip failed"),
        (subprocess.TimeoutExpired("pip", 600), "did not install: Command 'pip' timed out after 600 seconds"),
        (OSError("no space left"), "did not install: no space left"),
    ],
)
def test_a_failure_is_told_and_tried_again(machine, monkeypatch, tmp_path, error, reason):
    with monkeypatch.context() as failing:
        fails(failing, error)
        assert make_environment("a group", tmp_path) == Environment("a group", None, error=reason)
    assert make_environment("a group", tmp_path).error is None
    assert machine == [PINS]


def test_a_failed_update_leaves_no_stamp_of_the_old_pins(machine, monkeypatch, tmp_path):
    make_environment("a group", tmp_path)
    monkeypatch.setitem(GROUPS, "a group", ("a-peer==9.9",))
    with monkeypatch.context() as failing:
        fails(failing, OSError("offline"))
        make_environment("a group", tmp_path)
    monkeypatch.setitem(GROUPS, "a group", PINS)
    make_environment("a group", tmp_path)
    assert machine == [PINS, PINS]


def test_the_own_environment_is_this_one(tmp_path):
    own = make_environment("own", tmp_path)
    assert own.python == sys.executable
    assert {"singleindex", "numpy", "scipy", "scikit-learn", "clarabel", "piqp"} <= own.packages.keys()
    assert list(tmp_path.iterdir()) == []
