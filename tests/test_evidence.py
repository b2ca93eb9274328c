"""Every stored result tells the commit it was made from; those older than the code they tell of are named.

A stale result is an expected failure (`pytest tests/test_evidence.py -rx` lists them), and a failure where
SINGLEINDEX_EVIDENCE=strict, as before a release.
"""

import os
import subprocess

import pytest

from benchmarks import evidence
from benchmarks.provenance import DIRTY, git


@pytest.fixture(scope="module", autouse=True)
def history():
    try:
        shallow = git("rev-parse", "--is-shallow-repository")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("there is no git history here")
    if shallow == "true":
        pytest.skip("the history is cut short")


@pytest.mark.parametrize("path", evidence.stored_results(), ids=lambda path: path.name)
def test_results_tell_a_commit_of_the_history(path):
    commits = evidence.commits_of(path)
    assert commits, f"{path.name} tells no commit: measure it anew"
    for commit in commits:
        git("merge-base", "--is-ancestor", commit.removesuffix(DIRTY), "HEAD")  # raises where it is not


@pytest.mark.parametrize("path", evidence.stored_results(), ids=lambda path: path.name)
def test_results_are_of_the_present_code(path):
    told = evidence.why_stale(path)
    if told and os.environ.get("SINGLEINDEX_EVIDENCE") != "strict":
        pytest.xfail(told)
    assert not told


def test_an_old_result_is_seen(tmp_path):
    first, last = git("rev-list", "--reverse", "HEAD", "--", "src").splitlines()[0], git("rev-parse", "HEAD")
    path = tmp_path / "small_n.md"
    path.write_text(f"*made from commit {last}.*")
    assert evidence.why_stale(path) == ""
    path.write_text(f"*made from commit {last}{DIRTY}.*")
    assert "with changes" in evidence.why_stale(path)
    path.write_text(f"*made from commit {first}.*")
    assert f"commits to its code since {first}" in evidence.why_stale(path)
