"""The lines of the benchmark of the default search: measured once, kept, and told of in a report."""

import pytest

from benchmarks.exact_steps import cells, command
from benchmarks.exact_steps.methods import OURS
from benchmarks.exact_steps.store import Line, Store, figures_of


class Study:
    """A study that keeps what it was asked to measure."""

    NAME, CELLS, MINE = "tiny", ("a", "b"), ("ours",)

    def __init__(self):
        self.asked, self.is_wrong = [], False
        self.FAMILIES = {"ours": lambda task: self.measure("ours", task, OURS),
                         "L1": lambda task: self.measure("L1", task, "L1", "L1 + isotonic")}  # fmt: skip

    def n_draws(self, cell, family):
        return 2 if family == "ours" else 1

    def make(self, cell, seed):
        return cell, seed

    def measure(self, family, task, *names):
        self.asked.append((family, *task))
        if self.is_wrong and task == ("b", 0):
            raise ValueError("too hard\nfor this")
        return {name: {"rmse": 0.1} for name in names}


@pytest.fixture
def measure(tmp_path, monkeypatch):
    """Return a function that runs a study at a commit, and says what was measured."""
    store, study = Store(tmp_path / "lines.jsonl"), Study()

    def at(commit, seeds=(0, 1), methods=(), cells=("a", "b")):
        monkeypatch.setattr(command, "source_commit", lambda: commit)
        study.asked.clear()
        families = command.wanted_families(study, list(methods))
        command.run_study(study, families, cells, store, seeds)
        return sorted(study.asked)

    at.store, at.study = store, study
    return at


def test_what_is_stored_is_not_measured_again(measure):
    assert len(measure("c1", methods=["rivals"])) == 4
    assert {family for family, *_ in measure("c1")} == {"ours"}
    assert measure("c1") == []
    assert len(measure("c1", seeds=(0, 1, 2))) == 4


def test_each_family_has_its_own_number_of_draws(measure):
    assert measure("c1", seeds=None, cells=["b"]) == [("L1", "b", 0), ("ours", "b", 0), ("ours", "b", 1)]


def test_a_new_commit_measures_ours_only_and_replaces_it(measure):
    measure("c1")
    assert {family for family, *_ in measure("c2")} == {"ours"}
    lines = measure.store.read().values()
    assert len(lines) == 2 * 2 * 3
    assert {(line.method == OURS, line.commit) for line in lines} == {(True, "c2"), (False, "")}
    measure.store.tidy()
    assert list(measure.store.read().values()) == sorted(lines, key=lambda line: line.key)
    assert len(measure.store.path.read_text().splitlines()) == len(lines)


def test_a_source_tree_with_changes_is_measured_every_time(measure):
    measure("c1-dirty")
    assert len(measure("c1-dirty")) == 4


def test_what_failed_is_told_and_tried_again(measure):
    measure.study.is_wrong = True
    measure("c1")
    failed = [line for line in measure.store.read().values() if line.error]
    assert {(line.cell, line.seed, line.error) for line in failed} == {("b", 0, "ValueError: too hard")}
    measure.study.is_wrong = False
    assert measure("c1") == [("L1", "b", 0), ("ours", "b", 0)]


def test_a_run_that_was_cut_short_goes_on_where_it_was(measure):
    measure("c1")
    lines = measure.store.path.read_text().splitlines(keepends=True)
    whole = [line for line in lines if '"cell": "b"' not in line]
    measure.store.path.write_text("".join(whole) + lines[-1][:20])  # a crash within a line
    assert {cell for _, cell, _ in measure("c1")} == {"b"}
    assert len(measure.store.read()) == len(lines)


# ---------------------------------------------------------------- the report


CELL = "Gaussian 1000 × 200, ramp"


def cell_lines(seed, commit, ours, rival):
    return [
        Line("cells", CELL, seed, OURS, "ours", {"rmse": ours, "cosine": 0.9} | OTHERS, commit),
        Line("cells", CELL, seed, "L1", "L1", {"rmse": rival, "cosine": 0.9} | OTHERS),
    ]


OTHERS = {"log_loss": 0.5, "auc": 0.8, "features": 10, "seconds": 1.0}


def write(tmp_path, lines):
    store = Store(tmp_path / "lines.jsonl")
    for line in lines:
        store.append(line)
    return command.write_report("# Title\n", [cells], store, 100).read_text()


def test_the_report_names_the_cells_lost(tmp_path):
    text = write(tmp_path, [*cell_lines(0, "c1", 0.2, 0.1), *cell_lines(1, "c1", 0.21, 0.1)])
    assert f"  - {CELL}: 0.205 against 0.100" in text
    assert "| Gaussian 1000 × 200 | ramp | 0.205 / 0.900 | – / – | **0.100** / 0.900 |" in text
    assert "*Ours at c1 (2 lines).*" in text


def test_the_report_leaves_tuning_seeds_out_and_tells_of_commits_and_failures(tmp_path):
    lines = [*cell_lines(0, "c1", 0.2, 0.1), *cell_lines(1, "c2", 0.2, 0.1), *cell_lines(100, "c3", 9.0, 0.1)]
    failed = Line("cells", CELL, 2, "ours", "ours", error="ValueError: too hard")
    text = write(tmp_path, [*lines, failed])
    assert "**Ours is of several commits: c1 (1 lines), c2 (1 lines).**" in text
    assert "9.0" not in text
    assert f"- {CELL}, ours, 1 ×: ValueError: too hard" in text
    assert figures_of([failed], "cells") == {}
