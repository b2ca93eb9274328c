"""Every stored result tells the commit it was made from; those older than the code they tell of are named.

A stale result is an expected failure (`pytest tests/test_evidence.py -rx` lists them), and a failure where
SINGLEINDEX_EVIDENCE=strict, as before a release. Some draws are measured again: where the code gives other
figures than are stored, that is a failure, whatever the commits say.
"""

import os
import subprocess

import pytest

from benchmarks import evidence
from benchmarks.exact_steps import cells
from benchmarks.exact_steps.command import measure_cell
from benchmarks.exact_steps.store import Store
from benchmarks.intervals import prediction
from benchmarks.provenance import DIRTY, git
from benchmarks.uncertainty import coverage
from experiments import render, run
from experiments.units import Unit

# Draws of a second or two, by the file that they are stored in.
DRAWS = [
    ("exact_steps.jsonl", cells, "Gaussian 300 × 2000, logistic", 3),
    ("exact_steps.jsonl", cells, "neighbours .7 300 × 2000, logistic", 3),
    ("intervals.jsonl", prediction, "200 × 500, ρ .7, ramp", 0),
    ("uncertainty.jsonl", coverage, "400 × 60, ρ 0.7, clipped", 0),
]
UNITS = [
    Unit("table1", "link", "tfidf", "CSI as printed", 0),
    Unit("table2", "atp7d", "two targets", "CSI (chosen groups)", 6),
]


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
    path = tmp_path / "recovery.md"
    path.write_text(f"*made from commit {last}.*")
    assert evidence.why_stale(path) == ""
    path.write_text(f"*made from commit {last}{DIRTY}.*")
    assert "with changes" in evidence.why_stale(path)
    path.write_text(f"*made from commit {first}.*")
    assert f"commits to its code since {first}" in evidence.why_stale(path)


def expect_same(stored, found):
    """Times are of the machine; of the other figures, other processors may round the last digits."""
    known = {name: value for name, value in stored.items() if "second" not in name}
    assert known == pytest.approx({name: found[name] for name in known}, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(("file", "study", "cell", "seed"), DRAWS)
def test_a_draw_is_what_is_stored(file, study, cell, seed):
    stored = Store(evidence.FOLDERS[0] / file).read()
    (found, *_) = measure_cell(study, cell, seed, [study.MINE[0]], "")
    assert not found.error
    expect_same(stored[found.key].figures, found.figures)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_of_the_paper_is_what_is_stored(unit):
    results, _ = render.read(render.STORED)
    (stored,) = (record for record in results.of(unit.table) if record.unit == unit)
    found, wrong = run.measure(unit, "")
    if found.missing:
        pytest.skip(found.missing)
    assert not wrong
    expect_same(stored.figures, found.figures)


def test_another_figure_is_seen():
    stored = {"rmse": 0.1, "seconds": 1.0}
    expect_same(stored, {"rmse": 0.1, "seconds": 3.0})
    with pytest.raises(AssertionError):
        expect_same(stored, {"rmse": 0.101, "seconds": 1.0})
