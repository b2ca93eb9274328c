"""The fuzz run in short, always with the same cases; and that the harness sees each kind of failure."""

import subprocess
import sys

import pytest

from .registry import ordinary_targets
from .runner import ROOT, Limits, Run

CASES = 25

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by what Linux has")


@pytest.mark.parametrize("name", ordinary_targets())
def test_nothing_is_found(name, tmp_path):
    run = Run([name], seed=0, folder=tmp_path)
    run.for_cases(CASES)
    tally = run.tallies[name]
    assert tally.n_cases == CASES
    assert not tally.findings, list(tally.findings.values())


PLANTED = {
    "planted-error": "KeyError",
    "planted-empty-message": "ValueError without a message",
    "planted-warning": "RuntimeWarning",
    "planted-wrong-answer": "wrong answer",
    "planted-refusal": "refused sound input",
    "planted-crash": "killed by SIGSEGV",
    "planted-hang": "hang",
    "planted-memory": "MemoryError",
}


@pytest.mark.parametrize(("name", "kind"), PLANTED.items())
def test_a_planted_failure_is_found_and_kept(name, kind, tmp_path):
    run = Run([name], seed=0, folder=tmp_path, limits=Limits(seconds_per_case=3.0))
    run.for_cases(1, first=1)
    (finding,) = run.tallies[name].findings.values()
    assert (finding.kind, finding.cases) == (kind, [1])
    assert list((tmp_path / f"{name}-0-1").iterdir())


def test_the_run_goes_on_behind_a_crash(tmp_path):
    run = Run(["planted-crash"], seed=0, folder=tmp_path)
    run.for_cases(3)
    tally = run.tallies["planted-crash"]
    assert tally.n_cases == 3
    assert [finding.cases for finding in tally.findings.values()] == [[1]]


def test_where_nothing_is_wrong_nothing_is_found_or_kept(tmp_path):
    run = Run(["planted-sound"], seed=0, folder=tmp_path)
    run.for_cases(20)
    tally = run.tallies["planted-sound"]
    assert (tally.n_cases, run.n_findings) == (20, 0)
    assert 0 < tally.n_refused < 20
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_the_command_tells_how_to_bring_a_finding_back(tmp_path):
    command = [sys.executable, "-m", "tests.fuzz", "--only", "planted-error", "--seed", "3", "--case", "7"]
    told = subprocess.run([*command, "--out", tmp_path], cwd=ROOT, capture_output=True, text=True)
    assert told.returncode == 1, told.stderr
    assert "planted-error: KeyError at" in told.stdout
    assert "python -m tests.fuzz --only planted-error --seed 3 --case 7" in told.stdout
