"""Long measurements go on where they were, and are made anew where the source is another."""

import json

import pytest

from benchmarks import parts


@pytest.fixture
def measure(monkeypatch, tmp_path):
    done = []
    measures = {name: lambda quick, name=name: done.append(name) or {"quick": quick} for name in "ab"}

    def at(commit, names="ab", **options):
        done.clear()
        monkeypatch.setattr(parts, "source_commit", lambda: commit)
        chosen = {name: measures[name] for name in names}
        return parts.measure_parts(tmp_path / "some.json", chosen, **options), list(done)

    return at


def test_what_is_of_this_commit_is_not_measured_again(measure, tmp_path):
    assert measure("c1", "a")[1] == ["a"]
    known, done = measure("c1")
    assert done == ["b"]
    assert known["a"] == {"quick": False}
    assert json.loads((tmp_path / "some.json").read_text()) == known
    known, done = measure("c2", "a")
    assert done == ["a"]
    assert known["made_from"] == {"a": {"commit": "c2"}, "b": {"commit": "c1"}}


def test_a_tree_with_changes_is_measured_every_time_and_a_quick_run_stores_nothing(measure, tmp_path):
    assert measure("c1-dirty", quick=True)[0] == {"a": {"quick": True}, "b": {"quick": True}}
    assert not list(tmp_path.iterdir())
    measure("c1-dirty")
    assert measure("c1-dirty")[1] == ["a", "b"]
