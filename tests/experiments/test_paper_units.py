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


def make_units(n=6, table="part", method="m"):
    return [Unit(table, "set", "plain", method, seed) for seed in range(n)]


@given(unit=UNITS, figures=FIGURES, missing=NAMES | st.just(""))
def test_a_record_comes_back_from_its_line(unit, figures, missing):
    record = Record(unit, figures, {"a": 1}, missing, "run")
    line = as_line(record.as_content())
    assert line.count("\n") == 1
    assert Record.from_content(json.loads(line)) == record


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
    records = [Record(unit, {"x": float(unit.seed)}) for unit in make_units()]
    for name, order in (("a", records), ("b", records[::-1])):
        Store(tmp_path / name).replace(order)
    assert (tmp_path / "a" / "part.jsonl").read_text() == (tmp_path / "b" / "part.jsonl").read_text()
    Store(tmp_path / "a").replace([])
    assert not list((tmp_path / "a").glob("*.jsonl"))


class Part:
    """A table whose units are counted, and fail, are missing or are stopped where they are told to."""

    NAME, SEEDS, DATASETS = "part", 6, ("set",)

    def __init__(self):
        self.ran, self.stop_at, self.fail_at, self.missing_at = [], None, None, None

    def units(self, n_seeds, quick=False):
        return make_units(n_seeds)

    def measure(self, unit):
        if unit.seed == self.stop_at:
            raise KeyboardInterrupt
        if unit.seed == self.fail_at:
            raise ArithmeticError("no such number")
        if unit.seed == self.missing_at:
            raise FileNotFoundError("The data file a/b is missing. Put it at c.")
        self.ran.append(unit.seed)
        return {"x": unit.seed / 7}, {}


@pytest.fixture
def part(monkeypatch):
    part = Part()
    monkeypatch.setattr(stage, "commit", lambda: "abc")
    monkeypatch.setitem(stage.TABLES, "part", part)
    return part


def test_a_stopped_run_goes_on_where_it_was(tmp_path, part):
    part.stop_at = 3
    with pytest.raises(KeyboardInterrupt):
        stage.run_units(make_units(), Store(tmp_path), 1)
    assert part.ran == [0, 1, 2]
    part.stop_at = None
    assert stage.run_units(make_units(), Store(tmp_path), 1) == []
    assert part.ran == [0, 1, 2, 3, 4, 5]
    stage.run_units(make_units(), Store(tmp_path), 1)
    assert part.ran == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("now", ["def", "abc" + stage.DIRTY])
def test_what_another_commit_measured_is_measured_anew(tmp_path, part, monkeypatch, now):
    stage.run_units(make_units(2), Store(tmp_path), 1)
    monkeypatch.setattr(stage, "commit", lambda: now)
    stage.run_units(make_units(3), Store(tmp_path), 1, keep=True)
    assert part.ran == [0, 1, 2]
    stage.run_units(make_units(2), Store(tmp_path), 1)
    assert part.ran == [0, 1, 2, 0, 1]
    runs = stage.read_runs(tmp_path)
    assert {runs[record.run]["commit"] for record in Store(tmp_path).records().values()} == {now}


def test_the_files_that_figures_depend_on_are_there():
    assert all((ROOT / name).exists() for name in stage.MEASURED)


def test_a_failure_is_told_and_not_stored(tmp_path, part):
    part.fail_at = 2
    failed = stage.run_units(make_units(), Store(tmp_path), 1)
    assert failed == ["part/set/plain/m/2: ArithmeticError: no such number"]
    assert {unit.seed for unit in Store(tmp_path).records()} == {0, 1, 3, 4, 5}


def test_missing_data_are_told_the_rest_runs_and_they_are_tried_again(tmp_path, part):
    part.missing_at = 1
    assert stage.run_units(make_units(), Store(tmp_path), 1) == []
    record = Store(tmp_path).records()[make_units()[1]]
    assert record.missing == "The data file a/b is missing. Put it at c."
    assert part.ran == [0, 2, 3, 4, 5]
    part.missing_at = None
    stage.run_units(make_units(), Store(tmp_path), 1)
    assert part.ran == [0, 2, 3, 4, 5, 1]


def test_two_processes_give_what_one_gives(tmp_path):
    units = stage.TABLES["figure"].units(1)[:4]
    for n_jobs in (1, 2):
        assert stage.run_units(units, Store(tmp_path / str(n_jobs)), n_jobs) == []
    one, two = (Store(tmp_path / name).records() for name in "12")
    for name in ("distance", "direction"):
        assert {u: r.figures[name] for u, r in one.items()} == {u: r.figures[name] for u, r in two.items()}


# ---------------------------------------------------------------- the command line


def test_units_are_all_different():
    units = [unit for part in stage.TABLES.values() for unit in part.units(2)]
    assert len(set(units)) == len(units) > 0


def test_a_part_of_the_run_prints_its_tables_and_leaves_the_stored_results(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "WORK", tmp_path / "work")
    monkeypatch.setattr(command.render, "STORED", tmp_path / "stored")
    assert command.main(["figure", "--seeds", "1", "--jobs", "1", "--datasets", "d = 400"]) == 0
    assert "What is and what is not monotone" in capsys.readouterr().out
    assert not (tmp_path / "stored").exists()
    assert (tmp_path / "work" / "full" / "RESULTS.md").exists()
