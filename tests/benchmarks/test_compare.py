"""Two result files: what must be flagged is, and nothing else. Figures are made up, see conftest.py."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.side_by_side.compare import NotResults, check_results, compare, machine_factor, main

SPARSE, STEPS = "sparse-300x40", "steps-900"


def slowed(row, factor):
    row["seconds"] = [factor * second for second in row["seconds"]]


def flagged(changes):
    return [(change.kind, change.problem, change.solver) for change in changes if change.flagged]


# ---------------------------------------------------------------- what must not be flagged


def test_a_file_agrees_with_itself(results):
    assert compare(results, copy.deepcopy(results)) == []


@given(factor=st.floats(0.05, 20))
def test_a_slower_machine_changes_nothing(made_up, factor):
    new = copy.deepcopy(made_up)
    for row in new["rows"]:
        slowed(row, factor)
    assert machine_factor(made_up, new) == pytest.approx(factor)
    assert compare(made_up, new) == []


def test_as_they_are_the_slower_machine_shows(results):
    new = copy.deepcopy(results)
    for row in new["rows"]:
        slowed(row, 3)
    found = flagged(compare(results, new, factor=1.0))
    assert found == [("slower", SPARSE, "singleindex"), ("slower", SPARSE, "singleindex two-pass")]


def test_a_millisecond_is_too_little(results, find):
    new = copy.deepcopy(results)
    slowed(find(new, STEPS, "singleindex"), 1.5)
    assert compare(results, new) == []
    assert flagged(compare(results, new, absolute=1e-4)) == [("slower", STEPS, "singleindex")]


def test_a_small_share_is_too_little(results, find):
    new = copy.deepcopy(results)
    slowed(find(new, SPARSE, "singleindex"), 1.15)
    assert compare(results, new) == []
    assert flagged(compare(results, new, relative=0.1)) == [("slower", SPARSE, "singleindex")]


def test_what_lies_within_the_spread_is_noise(results, find):
    new = copy.deepcopy(results)
    find(results, SPARSE, "singleindex")["seconds"] = [0.06, 0.08, 0.10, 0.16, 0.20]
    find(new, SPARSE, "singleindex")["seconds"] = [0.07, 0.15, 0.17, 0.18, 0.19]
    assert compare(results, new) == []
    find(new, SPARSE, "singleindex")["seconds"][1] = 0.165  # now the lower quartile is above the old upper
    assert flagged(compare(results, new)) == [("slower", SPARSE, "singleindex")]


def test_a_peer_that_became_slower_is_told_but_not_flagged(results, find):
    new = copy.deepcopy(results)
    slowed(find(new, SPARSE, "good-peer"), 3)
    changes = compare(results, new, factor=1.0)
    assert [(c.kind, c.solver, c.flagged) for c in changes] == [("peer slower", "good-peer", False)]


# ---------------------------------------------------------------- what must be flagged


@pytest.mark.parametrize("solver", ["singleindex", "singleindex two-pass"])
@pytest.mark.parametrize("machine", [1.0, 0.4, 2.5])
def test_ours_alone_becoming_slower_is_flagged_on_any_machine(results, find, solver, machine):
    new = copy.deepcopy(results)
    for row in new["rows"]:
        slowed(row, machine)
    slowed(find(new, SPARSE, solver), 1.5)
    assert flagged(compare(results, new)) == [("slower", SPARSE, solver)]


def test_a_speed_up_is_told_but_not_flagged(results, find):
    new = copy.deepcopy(results)
    slowed(find(new, SPARSE, "singleindex"), 0.5)
    (change,) = compare(results, new)
    assert (change.kind, change.solver, change.flagged) == ("faster", "singleindex", False)


@pytest.mark.parametrize(
    ("measure", "fine", "bad"),
    [("auc", 0.8985, 0.8975), ("brier", 0.1009, 0.1011), ("suboptimality", 5e-6, 2e-5)],
)
def test_a_worse_answer_is_flagged(results, find, measure, fine, bad):
    new = copy.deepcopy(results)
    find(new, SPARSE, "singleindex")["quality"][measure] = fine
    assert compare(results, new) == []
    find(new, SPARSE, "singleindex")["quality"][measure] = bad
    assert flagged(compare(results, new)) == [("worse", SPARSE, "singleindex")]


def test_a_better_answer_is_not_flagged(results, find):
    new = copy.deepcopy(results)
    find(new, SPARSE, "singleindex")["quality"] = {"auc": 0.99, "brier": 0.01, "suboptimality": 0.0}
    assert compare(results, new) == []


def test_rows_that_vanish_or_fail_are_flagged(results, find):
    new = copy.deepcopy(results)
    new["rows"].remove(find(new, STEPS, "slow-peer"))
    find(new, SPARSE, "good-peer")["error"] = "did not install"
    find(new, STEPS, "singleindex")["seconds"] = []
    assert flagged(compare(results, new)) == [
        ("failed", SPARSE, "good-peer"),
        ("failed", STEPS, "singleindex"),
        ("vanished", STEPS, "slow-peer"),
    ]


def test_what_failed_before_is_not_flagged_again(results, find):
    new = copy.deepcopy(results)
    find(new, SPARSE, "late-peer")["error"] = "timed out after 90 s"
    assert compare(results, new) == []
    find(new, SPARSE, "late-peer").update(error=None, seconds=[50.0])
    (change,) = compare(results, new)
    assert (change.kind, change.flagged) == ("runs again", False)


# ---------------------------------------------------------------- the machine


def test_two_peers_do_not_tell_a_machine(results, find):
    new = copy.deepcopy(results)
    for row in new["rows"]:
        slowed(row, 3)
    find(new, SPARSE, "good-peer")["error"] = "did not install"
    assert machine_factor(results, new) == 1
    assert ("slower", SPARSE, "singleindex") in flagged(compare(results, new))


def test_ours_do_not_tell_a_machine(results, find):
    new = copy.deepcopy(results)
    for row in new["rows"]:
        if row["package"] == "singleindex":
            slowed(row, 7)
    assert machine_factor(results, new) == 1


# ---------------------------------------------------------------- the command


@pytest.fixture
def stored(tmp_path):
    def store(name, content):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return store


def test_the_command_says_what_it_did(results, find, stored, capsys):
    new = copy.deepcopy(results)
    for row in new["rows"]:
        slowed(row, 2)
    old_file, new_file = stored("old.json", results), stored("new.json", new)
    assert main([old_file, old_file]) == 0
    assert "0 flagged" in capsys.readouterr().out
    assert main([old_file, new_file]) == 0
    assert "divided by 2, by which the peers' times changed" in capsys.readouterr().out
    assert main([old_file, new_file, "--raw"]) == 1
    told = capsys.readouterr().out
    assert "(--raw)" in told
    assert f"slower: singleindex on {SPARSE}" in told


def test_the_command_says_how_the_files_differ(results, find, stored, capsys):
    new = copy.deepcopy(results)
    new["quick"] = True
    new["problems"][1]["n"] = 77
    find(new, SPARSE, "good-peer")["version"] = "9.9"
    assert main([stored("old.json", results), stored("new.json", new)]) == 0
    told = capsys.readouterr().out
    assert "differ in quick" in told
    assert f"{SPARSE} is another problem now" in told
    assert "good-peer was 1.2, is 9.9" in told


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "not JSON"),
        ("[]", 'no "rows"'),
        ({"rows": []}, 'no "rows"'),
        ({"rows": [{"solver": "singleindex"}]}, '"problem"'),
        ({"rows": [{"solver": "a", "problem": "b"}] * 2}, "two rows"),
    ],
)
def test_other_files_are_refused(results, stored, capsys, content, why):
    good, bad = stored("good.json", results), stored("bad.json", content)
    for files in ([good, bad], [bad, good]):
        assert main(files) == 2
        told = capsys.readouterr()
        assert why in told.err
        assert "bad.json" in told.err
        assert told.out == ""


def test_a_file_that_is_not_there_is_refused(results, stored, tmp_path, capsys):
    assert main([stored("good.json", results), str(tmp_path / "none.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_older_files_with_fewer_fields_will_do(results, stored, capsys):
    keep = ("problem", "solver", "seconds")
    old = {"rows": [{k: row[k] for k in keep} for row in results["rows"]]}
    old_file, new_file = stored("old.json", old), stored("new.json", results)
    assert main([old_file, new_file]) == 0
    assert main([new_file, old_file]) == 0
    assert "auc was 0.9" in capsys.readouterr().out
    with pytest.raises(NotResults):
        check_results({"lines": old["rows"]}, "a file")
