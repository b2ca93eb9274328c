"""Units of work: what is stored is found again, what is cut short is run again, nothing is run twice."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.lines import as_line
from benchmarks.provenance import ROOT
from experiments import __main__ as command
from experiments import run as stage
from experiments.units import Record, Store, Unit

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
UNITS = st.builds(Unit, NAMES, NAMES, NAMES, NAMES, st.integers(0, 99))
FIGURES = st.dictionaries(
    NAMES, st.floats(allow_nan=False) | st.lists(st.floats(allow_nan=False), max_size=3)
)


def make_units(n=6):
    return [Unit("part", "set", "plain", "m", seed) for seed in range(n)]


@given(unit=UNITS, figures=FIGURES, missing=NAMES | st.just(""))
def test_a_record_comes_back_from_its_line(unit, figures, missing):
    record = Record(unit, figures, {"a": 1}, missing, "run")
    assert Record.from_content(json.loads(as_line(record.as_content()))) == record


def test_a_line_cut_short_is_passed_over_and_the_next_one_is_whole(tmp_path):
    store = Store(tmp_path)
    first, second, third = make_units(3)
    store.append(Record(first, {"x": 1.0}))
    with (tmp_path / "part.jsonl").open("a") as file:
        file.write(as_line(Record(second, {"x": 2.0}).as_content())[:-5])
    assert set(store.records()) == {first}
    store.append(Record(third, {"x": 3.0}))
    assert set(store.records()) == {first, third}


def test_the_same_results_give_the_same_files(tmp_path):
    records = [Record(unit, {"x": float(unit.seed)}, run="a") for unit in make_units()]
    for name, order in (("a", records), ("b", records[::-1])):
        Store(tmp_path / name).replace(order, {"a": {}, "unused": {}})
    assert (tmp_path / "a" / "part.jsonl").read_text() == (tmp_path / "b" / "part.jsonl").read_text()
    assert Store(tmp_path / "a").runs() == {"a": {}}
    Store(tmp_path / "a").replace([], {})
    assert not list((tmp_path / "a").glob("*.jsonl"))


class Part:
    """A table whose units are counted, and raise what they are told to."""

    NAME, SEEDS, ROWS, METHODS = "part", 6, (("set", "plain"),), ("m",)

    def __init__(self):
        self.ran, self.errors = [], {}

    def measure(self, unit):
        if unit.seed in self.errors:
            raise self.errors[unit.seed]
        self.ran.append(unit.seed)
        return {"x": unit.seed / 7}, {}


@pytest.fixture
def part(monkeypatch):
    part = Part()
    monkeypatch.setattr(stage, "commit", lambda: "abc")
    monkeypatch.setitem(stage.TABLES, "part", part)
    return part


def test_a_stopped_run_goes_on_where_it_was(tmp_path, part):
    part.errors = {3: KeyboardInterrupt()}
    with pytest.raises(KeyboardInterrupt):
        stage.run_units(make_units(), Store(tmp_path), 1)
    assert part.ran == [0, 1, 2]
    part.errors = {}
    for _ in range(2):
        assert stage.run_units(make_units(), Store(tmp_path), 1) == []
        assert part.ran == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("now", ["def", "abc" + stage.DIRTY])
def test_what_another_commit_measured_is_measured_anew(tmp_path, part, monkeypatch, now):
    store = Store(tmp_path)
    stage.run_units(make_units(2), store, 1)
    monkeypatch.setattr(stage, "commit", lambda: now)
    stage.run_units(make_units(3), store, 1, keep=True)
    assert part.ran == [0, 1, 2]
    stage.run_units(make_units(2), store, 1)
    assert part.ran == [0, 1, 2, 0, 1]
    assert {store.runs()[record.run]["commit"] for record in store.records().values()} == {now}


def test_the_files_that_figures_depend_on_are_there():
    assert all((ROOT / name).exists() for name in stage.MEASURED)


def test_failures_are_told_missing_data_stored_and_both_tried_again(tmp_path, part):
    missing = "The data file a/b is missing. Put it at c."
    part.errors = {1: FileNotFoundError(missing), 2: ArithmeticError("no such number")}
    failed = stage.run_units(make_units(), Store(tmp_path), 1)
    assert failed == ["part/set/plain/m/2: ArithmeticError: no such number"]
    records = Store(tmp_path).records()
    assert {unit.seed: record.missing for unit, record in records.items() if unit.seed < 3} == {
        0: "",
        1: missing,
    }
    part.errors = {}
    stage.run_units(make_units(), Store(tmp_path), 1)
    assert part.ran == [0, 3, 4, 5, 1, 2]


def test_two_processes_give_what_one_gives(tmp_path):
    units = stage.units_of(stage.TABLES["figure"], 1)[:2]
    for n_jobs in (1, 2):
        assert stage.run_units(units, Store(tmp_path / str(n_jobs)), n_jobs) == []
    one, two = (Store(tmp_path / name).records() for name in "12")
    for name in ("distance", "direction"):
        assert {u: r.figures[name] for u, r in one.items()} == {u: r.figures[name] for u, r in two.items()}


@pytest.mark.parametrize("quick", [True, False])
def test_units_are_all_different_and_few_of_them_quick(quick):
    units = command.chosen_units(command.parse(["--quick"] if quick else []))
    assert len(set(units)) == len(units)
    assert (len(units) < 200) == quick
    assert {unit.table for unit in units} == set(stage.TABLES)


def test_a_part_of_the_run_prints_its_tables_and_leaves_the_stored_results(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "WORK", tmp_path / "work")
    monkeypatch.setattr(command.render, "STORED", tmp_path / "stored")
    asked = ["figure", "--seeds", "1", "--jobs", "1", "--datasets", "d = 400", "--methods", "CSI as printed"]
    assert command.main(asked) == 0
    assert "What is and what is not monotone" in capsys.readouterr().out
    assert not (tmp_path / "stored").exists()
    assert (tmp_path / "work" / "full" / "images" / "convergence.svg").exists()


def test_a_whole_run_becomes_the_stored_results(tmp_path, monkeypatch, part):
    monkeypatch.setattr(command, "TABLES", {"part": part})
    for name, folder in (("HERE", "here"), ("WORK", "work")):
        monkeypatch.setattr(command, name, tmp_path / folder)
    monkeypatch.setattr(command.render, "STORED", tmp_path / "stored")
    assert command.main(["--jobs", "1"]) == 0
    assert [unit.seed for unit in Store(tmp_path / "stored").records()] == [0, 1, 2, 3, 4, 5]
    assert (tmp_path / "here" / "RESULTS.md").exists()
